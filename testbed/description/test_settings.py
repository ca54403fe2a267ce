# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that the command line says in place of a topology file's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from testbed.description import settings, yaml_source
from testbed.description.topology_file import load, source_of

_FILE = """\
name: x
centre: b
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
netboxes:
  net: {technology: link, stations: &both {a: {rate: 10 Mbit/s}, b: {rate: 10 Mbit/s}}}
  other: {technology: link, stations: *both}
wires:
  - [a, net.a]
  - [net.b, other.a]
  - [other.b, b]
traffic:
  flow: {application: udp-flow, from: a, to: b, rate: 1 Mbit/s}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (file := tmp_path / "x.yaml").write_text(_FILE)
    return file


def said(*texts: str) -> tuple[settings.Setting, ...]:
    return settings.read(texts)


def test_a_value_stands_in_place_of_the_files(file: Path) -> None:
    topology = load(file, said=said("traffic.flow.rate=2 Mbit/s", "netboxes.net.delay=5 ms", "seed=7", "wires.0=[a, net.a]"))
    assert topology.traffic["flow"].options.model_dump()["rate"] == 2e6
    assert (topology.seed, load(file).seed) == (7, 1)


def test_what_an_alias_repeats_is_changed_where_it_is_said_only(file: Path) -> None:
    data = source_of(file, said("netboxes.other.stations.a.rate=1 Mbit/s")).data
    assert [data["netboxes"][name]["stations"]["a"]["rate"] for name in ("net", "other")] == ["10 Mbit/s", "1 Mbit/s"]


def test_a_section_that_the_file_lacks_is_made_and_the_last_one_counts(file: Path) -> None:
    assert load(file, said=said("realtime.limit=1 ms", "realtime.limit=3 ms")).realtime.limit == 3e-3


def test_values_are_those_of_yaml(file: Path) -> None:
    texts = {"1": 1, "1.5": 1.5, "true": True, "x y": "x y", "[1, b]": [1, "b"], "{b: 2}": {"b": 2}, "'1'": "1", "": None}
    assert [setting.value for setting in said(*(f"a={text}" for text in texts))] == list(texts.values())


@pytest.mark.parametrize(("text", "expected"), [("no", "no"), ("1e-6", 1e-6), ("010", 10), ("1_000", "1_000"), ("1:30", "1:30")])
def test_values_are_those_of_a_file(file: Path, text: str, expected: object) -> None:
    (same := file.with_name("same.yaml")).write_text(f"a: {text}\n")
    assert said(f"a={text}")[0].value == yaml_source.read(same).data["a"] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("traffic.flaw.rate=1 Mbit/s", '--set traffic.flaw.rate=1 Mbit/s: there is no traffic.flaw; did you mean "flow"?'),
        ("trafic.flow.rate=1 Mbit/s", 'there is no trafic; did you mean "traffic"?'),
        ("traffic.flow.rat=1 Mbit/s", "--set traffic.flow.rat=1 Mbit/s: "),
        ("netboxes.net.delay=5 parsecs", "--set netboxes.net.delay=5 parsecs: "),
        ("wires.9=[a, b]", "wires has no 9; it is a list of 3; say a number from 0 to 2"),
        ("wires.first=[a, b]", "wires has no first; it is a list of 3"),
        ("name.of=x", "name has no of; it is one value, which has no parts"),
        ("seed", "is not PATH=VALUE"),
        ("=1", "is not PATH=VALUE"),
        ("a..b=1", "is not PATH=VALUE"),
        ("seed=[1", "is not a value as in YAML"),
        ("seed=" + "[" * 5000, "is not a value as in YAML"),
        ("seed=\x1b[31m", "not a value"),
        ("seed=&a [*a]", "an alias stands inside what it is an alias of"),
        ("seed={a: 1, a: 2}", 'key "a" is there a second time'),
        (f"seed=[&a [{'1, ' * 99}], &b [{'*a, ' * 99}], {'*b, ' * 99}]", "more than 50000 values, aliases followed"),
    ],
)
def test_what_leads_nowhere_is_told_with_the_nearest(file: Path, text: str, message: str) -> None:
    with pytest.raises(BadTopology) as told:
        load(file, said=said(text))
    assert message in str(told.value) and "\x1b" not in str(told.value)


def test_all_that_is_wrong_is_told_at_once(file: Path) -> None:
    with pytest.raises(BadTopology) as told:
        load(file, said=said("a.b=1", "c.d=2"))
    assert len(told.value.errors) == 2


@pytest.mark.parametrize(
    "name", sorted(file.name for file in (CHECKOUT / "topologies").glob("*.yaml") if "reference" not in file.name)
)
def test_a_file_as_the_settings_make_it_says_the_same(name: str, tmp_path: Path) -> None:
    values = said("seed=11", "name=other")
    source = source_of(CHECKOUT / "topologies" / name, values)
    (kept := tmp_path / name).write_text(settings.as_file(source, values))
    # Also in the same order, by which stations are numbered.
    assert json.dumps(yaml_source.read(kept).data) == json.dumps(source.data)
    assert kept.read_text().splitlines()[1:3] == ["#   --set seed=11", "#   --set name=other"]


@pytest.mark.parametrize(
    "value", ["no", "1e3", "1_000", "0o17", "12:30:00", "2026-01-01", "~", " x ", "#", "a: b", "\u2028", "=", "<<"]
)
def test_text_that_looks_like_something_else_stays_text(value: str, tmp_path: Path, file: Path) -> None:
    source: Any = source_of(file)
    source.data["name"] = value
    (kept := tmp_path / "kept.yaml").write_text(settings.as_file(source, ()))
    assert yaml_source.read(kept).data["name"] == value
