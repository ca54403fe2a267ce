# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign file may say wrong in itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from campaigns import reference
from campaigns.campaign import Campaign, is_campaign
from campaigns.campaign_schema import schema
from campaigns.conftest import TOPOLOGY, Write
from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from testbed.description.yaml_source import read

EXAMPLES = sorted((CHECKOUT / "campaigns").glob("*.yaml"))
BOMB = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdef", "bcdefg", strict=True)
)


def wrong(write: Write, text: str) -> list[str]:
    with pytest.raises(BadTopology) as error:
        Campaign.load(write(text))
    return [str(one).partition("campaign.yaml:")[2] for one in error.value.errors]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: the file is empty; start with topology: … and parameters: …"),
        ("- a\n", "1:1: the file is not a mapping"),
        ("parameters: {}\n", "1:1: nothing says what is run; add topology: FILE"),
        ("topology: xx.yaml\n", '1:11: there is no file {folder}/xx.yaml; did you mean "x.yaml"?'),
        ("topologies: {a: x.yaml, b: z/y.yaml}\n", "1:28: there is no file {folder}/z/y.yaml"),
        ("topologies: {'a b': x.yaml}\n", '1:14: topologies.a b: "a b" is not a name'),
        (
            "topologies: {a: x.yaml}\nparameters: {p: {path: {b: c.d}, values: [1]}}\n",
            '2:28: parameters.p.path.b: there is no topology "b"',
        ),
        (
            "topologies: {a: x.yaml, b: y.yaml}\nparameters: {p: {path: {b: c.d}, values: [1]}}\n",
            "2:24: parameters.p.path: nothing says where a has it",
        ),
    ],
)
def test_a_mistake_in_a_whole_file_is_told_with_its_place(campaign_file: Write, text: str, expected: str) -> None:
    file = campaign_file(text)
    (told,) = wrong(campaign_file, text)
    assert expected.replace("{folder}", str(file.parent)) in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("topologies: {a: x.yaml}\n", "1:11: topology: there are topologies, too"),
        ("parametres: {}\n", '2:1: there is no key "parametres"; did you mean "parameters"?'),
        ("campaign: Big One\n", '2:11: campaign: "Big One" is not a name'),
        ("duration: 60\n", "2:11: duration: 60 has no unit"),
        ("retry: 100\n", "2:8: retry: 100 is outside 0 … 10"),
        ("keep: frame\n", "2:7: keep: 'frame' is not known here; did you mean \"frames\"?"),
        ("seed: -1\n", "2:7: seed: -1 is outside 0"),
        ("measures: [a.b, a.b]\n", "2:17: measures.1: a.b is there already"),
        # repetitions
        ("repetitions: 0\n", "2:14: repetitions: 0 is not a number of repetitions"),
        ("repetitions: true\n", "2:14: repetitions: True is not a number"),
        ("repetitions: {at_least: 5}\n", "2:14: repetitions: nothing says when it is enough"),
        ("repetitions: {until: {measure: a.b}}\n", 'repetitions.until: "half_width" is missing'),
        ("repetitions: {until: {measure: a.b, half_width: 0}}\n", "2:49: repetitions.until.half_width: 0 is no width"),
        ("repetitions: {until: {measure: a.b, half_width: 5 s}}\n", "2:49: repetitions.until.half_width: '5 s' is not a width"),
        (
            "repetitions: {until: {measure: a.b, half_width: 5 %}, at_least: 1}\n",
            "2:65: repetitions.at_least: one run has no interval",
        ),
        (
            "repetitions: {until: {measure: a.b, half_width: 5 %}, at_most: 3}\n",
            "2:14: repetitions: 5 is more than at_most, 3",
        ),
        # parameters
        ("parameters: {Rate: {path: a.b, values: [1]}}\n", '2:14: parameters.Rate: "Rate" is not the name of a parameter'),
        ("parameters: {seed: {path: a.b, values: [1]}}\n", '2:14: parameters.seed: "seed" is a column'),
        ("parameters: {p: {path: a.b}}\n", "2:17: parameters.p: a parameter needs values, or a range"),
        ("parameters: {p: {values: [1]}}\n", "2:17: parameters.p: nothing says where"),
        ("parameters: {p: {path: seed, values: [1]}}\n", "2:24: parameters.p.path: a campaign sets seed of each run itself"),
        ("parameters: {p: {path: name, values: [a]}}\n", "2:24: parameters.p.path: a campaign sets name"),
        ("parameters: {p: {path: a..b, values: [1]}}\n", '2:24: parameters.p.path: "a..b" is not a path'),
        (
            f"parameters: {{p: {{path: {'a.' * 100_000}b, values: [1]}}}}\n",
            "2:24: parameters.p.path: a path of 100001 keys leads",
        ),
        ("parameters: {p: {path: [], values: [1]}}\n", "2:24: parameters.p.path: an empty list leads nowhere"),
        ("parameters: {p: {path: [a.b, a.b], values: [1]}}\n", "2:24: parameters.p.path: a.b is there twice"),
        ("parameters: {p: {path: a.b, values: 1}}\n", "2:37: parameters.p.values: 1 is one value"),
        ("parameters: {p: {path: a.b, values: []}}\n", "2:37: parameters.p.values: the list is empty"),
        ("parameters: {p: {path: a.b, values: [1, 2, 1.0]}}\n", "2:37: parameters.p.values: 1.0 is there twice"),
        ("parameters: {p: {path: a.b, values: [{c: 1}]}}\n", "2:37: parameters.p.values: a mapping is among the values"),
        ("parameters: {p: {path: a.b, values: [null]}}\n", "2:37: parameters.p.values: nothing is among the values"),
        ("parameters: {p: {path: a.b, values: [1e999]}}\n", "2:37: parameters.p.values: inf is not finite"),
        ("parameters: {p: {values: {v: 3}}}\n", "2:26: parameters.p.values: v is not a mapping of paths"),
        ("parameters: {p: {path: a.b, values: {v: {a.b: 3}}}}\n", "2:24: parameters.p.path: variants have paths of their own"),
        ("parameters: {p: {path: a.b, values: [1], from: 2}}\n", "2:48: parameters.p.from: from is of a range"),
        ("parameters: {p: {path: a.b, from: 2, steps: 3}}\n", "2:17: parameters.p: a range has two ends; add to"),
        ("parameters: {p: {path: a.b, from: 2 s, to: 1 s, steps: 3}}\n", "2:35: parameters.p.from: '2 s' is not less"),
        ("parameters: {p: {path: a.b, from: .nan, to: 1, steps: 3}}\n", "2:35: parameters.p.from: '.nan' is neither"),
        (
            "parameters: {p: {path: a.b, from: 1, to: 2, steps: 1000000000}}\n",
            "2:52: parameters.p.steps: 1000000000 is outside 2 … 100000",
        ),
        (
            "parameters: {p: {path: a.b, from: 1, to: 3, steps: 9}}\n",
            "2:52: parameters.p.steps: 9 steps of this range are not 9 values",
        ),
        ("parameters: {p: {path: a.b, from: 1 s, to: 2 s}}\n", "2:17: parameters.p: a range needs steps here"),
        (
            "parameters: {p: {path: a.b, values: [1]}, q: {path: a.b, values: [2]}}\n",
            "2:46: parameters.q: a.b has a value of p already",
        ),
        (
            "parameters: {p: {path: a.b.c, values: [1]}, q: {path: a.b, values: [2]}}\n",
            "2:48: parameters.q: a.b has a value of p already",
        ),
        (
            "duration: 9 s\nparameters: {p: {path: traffic.flow.duration, values: [1 s]}}\n",
            "3:17: parameters.p: traffic.flow.duration is in vain",
        ),
        # design
        ("design: gird\n", "2:9: design: 'gird' is not a design"),
        ("design: {latin_hypercube: 1}\n", "2:27: design.latin_hypercube: 1 is outside 2"),
        ("design: {latin_hypercube: 5}\n", "2:27: design.latin_hypercube: no parameter is left for it"),
        ("design: {latin-hypercube: 5}\n", 'there is no key "latin-hypercube"; did you mean "latin_hypercube"?'),
        (
            "parameters: {rate: {path: a.b, values: [1]}}\ndesign: {pairs: [rat]}\n",
            '3:18: design.pairs.0: there is no parameter "rat"; did you mean "rate"?',
        ),
        ("parameters: {rate: {path: a.b, values: [1]}}\ndesign: {grid: [rate]}\n", "3:16: design.grid: without a hypercube"),
        (
            "parameters: {p: {path: a.b, values: [1]}, q: {path: a.c, values: [1, 2]}}\ndesign: pairs\n",
            "3:9: design: the nth values go together, and p has 1, q has 2",
        ),
        (
            "parameters: {p: {path: a.b, from: 1, to: 5, steps: 5}}\ndesign: {latin_hypercube: 3}\n",
            "2:52: parameters.p.steps: a Latin hypercube chooses",
        ),
        (
            "parameters: {p: {path: a.b, values: [1, 2]}}\ndesign: {latin_hypercube: 3}\n",
            "3:27: of 3 points only 2 are different",
        ),
        # too much
        (
            "parameters: {p: {path: a.b, from: 1 s, to: 2 s, steps: 1000}, q: {path: a.c, from: 1 s, to: 2 s, steps: 1000}}\n",
            "1:1: these are 1000000 points, and 100000 are the most",
        ),
        (
            "repetitions: 100000\nparameters: {p: {path: a.b, from: 1 s, to: 2 s, steps: 11}}\n",
            "1:1: these are up to 1100000 runs",
        ),
        (BOMB, "there are more than 50000 values, aliases followed"),
        ("parameters: &p {q: *p}\n", "an alias stands inside what it is an alias of"),
        ("parameters: " + "[" * 200 + "]" * 200, "nested too deeply"),
    ],
)
def test_a_mistake_below_the_topologys_line_is_told_with_its_place(campaign_file: Write, text: str, expected: str) -> None:
    (told,) = wrong(campaign_file, f"topology: x.yaml\n{text}")
    assert expected.replace("{folder}", str(campaign_file("").parent)) in told


def test_all_mistakes_are_told_at_once(campaign_file: Write) -> None:
    text = "topology: x.yaml\nretry: 11\nparameters: {Rate: {path: seed, values: []}}\nkeep: it\n"
    assert [one.partition(": ")[0] for one in wrong(campaign_file, text)] == ["2:8", "3:14", "3:27", "3:41", "4:7"]


def test_one_number_of_repetitions_is_the_least_and_the_most(campaign_file: Write) -> None:
    repetitions = Campaign.load(campaign_file("topology: x.yaml\nrepetitions: 3\n")).file.repetitions
    assert (repetitions.at_least, repetitions.at_most, repetitions.until) == (3, 3, None)


def test_a_width_is_in_the_measures_unit_or_a_share_of_its_mean(campaign_file: Write) -> None:
    widths = []
    for text in ("0.1", "5 %", "2.5%"):
        file = Campaign.load(
            campaign_file(f"topology: x.yaml\nrepetitions: {{until: {{measure: a.b, half_width: {text}}}}}\n")
        ).file
        assert file.repetitions.until is not None
        widths.append((file.repetitions.until.half_width.value, file.repetitions.until.half_width.relative))
    assert widths == [(0.1, False), (0.05, True), (0.025, True)]


def test_a_campaign_is_told_from_a_topology(campaign_file: Write) -> None:
    assert is_campaign(campaign_file("topology: x.yaml\n"))
    assert is_campaign(campaign_file("parameters: {}\n"))
    assert not is_campaign(campaign_file(TOPOLOGY))
    assert not is_campaign(campaign_file(f"{TOPOLOGY}design: grid\n"))
    assert not is_campaign(campaign_file("{{{"))
    assert not is_campaign(CHECKOUT / "topologies/no-such.yaml")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.stem))
def test_the_schema_takes_the_examples(example: Path) -> None:
    Draft202012Validator.check_schema(schema())
    assert not list(Draft202012Validator(schema()).iter_errors(read(example).data))


@pytest.mark.parametrize(
    "text",
    [
        "topologi: x.yaml\n",
        "retry: 11\n",
        "design: gird\n",
        "design: {latin_hypercube: 1}\n",
        "repetitions: 0\n",
        "duration: 3\n",
        "parameters: {A: {}}\n",
    ],
)
def test_the_schema_sees_what_is_wrong_in_one_key(campaign_file: Write, text: str) -> None:
    assert list(Draft202012Validator(schema()).iter_errors(read(campaign_file(text)).data))


def test_the_tables_of_the_document_are_those_of_the_models() -> None:
    assert reference.written() == reference.DOCUMENT.read_text(), (
        "a model has changed: write the tables anew with .venv/bin/python -m campaigns.reference"
    )
    assert reference.DOCUMENT.read_text().count("| key | value |") == 5
