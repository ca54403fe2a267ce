# SPDX-License-Identifier: GPL-2.0-or-later
"""The expected outcome of each experiment, in virtual time and short: what `make e4`, `e5`, `e6` judge in full."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from experiments import e4, e5, e6
from experiments.agreement import Tolerance, agree
from experiments.carrying import Carried, in_virtual_time
from experiments.document import section, show
from experiments.figures import Figures
from experiments.outcome import Curve, Expectation, Outcome, Plot, Table, Verdict
from experiments.variant import variant


def as_known(expectations: Iterable[Expectation]) -> None:
    """All are met but those that are known to differ from the thesis, which are not."""
    outcomes = list(expectations)
    assert outcomes
    assert [expectation for expectation in outcomes if not expectation.is_as_known] == []


def test_e4_loads(tmp_path: Path) -> None:
    def shorter(content: dict[str, Any]) -> None:
        for turn, entry in enumerate(content["traffic"].values()):
            entry.update(start=f"{2 * turn} s", duration="1 s")

    as_known(e4.expectations_of_loads(in_virtual_time(variant("e4", tmp_path, "e4", shorter)), "virtual time"))


@pytest.mark.long
def test_e4_distances() -> None:
    distances = (10, 20, 35, 40, 50, 55, 60, 70, 80, 90)
    as_known(e4.expectations_of_distances(e4.Sweep(distances, e4.sweep_distances(distances, seconds=1.0))))


def test_e5_chain(tmp_path: Path) -> None:
    def shorter(content: dict[str, Any]) -> None:
        content["traffic"]["udp"]["duration"] = "3 s"

    as_known(e5.expectations_of(in_virtual_time(variant("e5", tmp_path, "e5", shorter)), "virtual time"))


def test_e5_segments_alone() -> None:
    as_known(e5.expectations_alone({segment.netbox: e5.alone(segment, seconds=2.0) for segment in e5.SEGMENTS}))


@pytest.mark.long
def test_e6_stages() -> None:
    as_known(e6.expectations_of(e6.carry(in_virtual_time, seconds=20.0), "virtual time"))


def test_e6_without_grants_to_connections_voice_gets_earlier_with_company(tmp_path: Path) -> None:
    """What docs/experiments.md says of `grants: station`: the expectation can fail, and does there."""

    def stage(which: e6.Stage) -> Figures:
        file = e6.topology_of(which, tmp_path, 5.0)
        file.write_text(file.read_text().replace("grants: connection", "grants: station"))
        return in_virtual_time(file).segment(e6.WIMAX, "voice")

    second, third = (stage(which).delay_mean_ms for which in e6.STAGES[1:3])
    assert third < second - 5.0


FIGURES = Figures(100, 90, 1000.0, 10.0, 5.0, 20.0, 1.0, {"queue full": 10})


@pytest.mark.parametrize(
    ("change", "met"),
    [
        ({}, True),
        ({"goodput_ip_kbps": 1040.0}, False),
        ({"goodput_ip_kbps": math.nan}, False),
        ({"delay_mean_ms": math.nan}, False),
        ({"arrived": 86}, False),
        ({"delay_mean_ms": 11.9}, True),
        ({"delay_mean_ms": 12.1}, False),
    ],
)
def test_real_and_virtual_time_agree_within_the_tolerance(change: dict[str, Any], met: bool) -> None:
    assert agree("a flow", replace(FIGURES, **change), FIGURES, Tolerance(lateness_ms=1.0)).met is met


def test_two_that_carried_nothing_do_not_agree() -> None:
    nothing = replace(FIGURES, goodput_ip_kbps=math.nan, delay_mean_ms=math.nan)
    assert not agree("a flow", nothing, nothing, Tolerance(lateness_ms=1.0)).met


def test_what_nothing_arrived_for_meets_no_expectation() -> None:
    nothing = Figures(100, 0, math.nan, math.nan, math.nan, math.nan, math.nan, {"queue full": 100})

    class Silent:
        measured: tuple[()] = ()

        def whole(self, *_: str) -> Figures:
            return nothing

        segment = whole

    silent = cast(Carried, Silent())
    stages = dict.fromkeys((1, 2, 3, 4), silent)
    judged = [
        *e4.expectations_of_loads(silent, "real time"),
        *e5.expectations_of(silent, "real time"),
        *e6.expectations_of(stages, "real time"),
    ]
    assert len(judged) > 15
    assert [expectation for expectation in judged if expectation.met] == []


def test_what_was_found_is_drawn_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    met = Expectation("goodput [x]", "7", "7", True)
    show(Outcome("e0", "E0", "What was run.", [], [met], [], [Verdict("loads", "degraded", ["late [x]"])]))
    drawn = capsys.readouterr().out
    assert "goodput [x]" in drawn
    assert "run loads: degraded\n  - late [x]\n" in drawn
    assert "[green]" not in drawn


def test_points_that_nothing_arrived_for_are_null_in_json() -> None:
    plot = Plot("p", "P", "x", "y", [Curve("c", [1.0, 2.0], [math.nan, 3.0], "real")])
    document = Outcome("e0", "E0", "", [], [], [plot], []).to_json()
    assert document["plots"][0]["curves"][0]["y"] == [None, 3.0]


def test_an_outcome_that_was_not_expected_is_told() -> None:
    missed = Expectation("goodput", "7", "3", False)
    differing = Expectation("delay", "1", "2", False, differs="another queue")
    overtaken = replace(differing, met=True)
    table = Table("T", ("a", "b"), [("1", "2|3")])
    outcome = Outcome("e0", "E0", "What was run.", [table], [missed, differing, overtaken], [], [])
    assert outcome.surprises == [missed, overtaken]
    text = section(outcome, "")
    assert "1 of 3 met" in text
    assert "| 1 | 2/3 |" in text
    assert "| delay | 1 | 2 | no, known to differ |" in text
    assert "- another queue" in text
