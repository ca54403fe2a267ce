# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from results.conftest import plan_of
from results.machines_verdict import judge_machines
from results.verdict import Verdict

PLAN = plan_of([])
READING = {"offset_ns": 2_000_000, "error_ns": 40_000, "round_trip_ns": 80_000, "samples": 100, "at_ns": 10**18}
CLOCK: dict[str, Any] = {"before": READING, "after": READING, "drift_ppm": 3.0, "problem": None, "error_us": 40.0}
DELAY = {"min": 90.0, "p50": 110.0, "p99": 300.0, "max": 500.0}


def verdict_of(
    clock: dict[str, Any] | None = None, way: dict[str, Any] | None = None, delay: dict[str, Any] | None = None, **wire: Any
) -> tuple[str, list[str]]:
    there = {
        "from": {"host": "alpha", "node": "meoc"},
        "to": {"host": "beta", "node": "sky"},
        **{"frames": 5_000, "lost": 0, "unseen": 0, "delay_us": DELAY | (delay or {}), "clock_error_us": 40.0},
        **(way or {}),
    }
    unused = there | {"frames": 0, "lost": 0, "delay_us": None}
    found: Any = {
        "machines": {"here": "alpha", "hosts": {"alpha": CLOCK | {"drift_ppm": 0.0}, "beta": CLOCK | (clock or {})}},
        "tunnels": [{"wire": "meoc-sky", "switched": False, "directions": [there, unused], **wire}],
    }
    verdict = Verdict()
    judge_machines(PLAN, found, verdict)
    return verdict.status, verdict.to_json()["reasons"]


def test_a_run_on_one_machine_is_not_judged() -> None:
    verdict = Verdict()
    judge_machines(PLAN, {}, verdict)
    assert verdict.status == "valid"


def test_tunnels_and_clocks_within_the_limit_are_no_fault() -> None:
    assert verdict_of() == ("valid", [])


@pytest.mark.parametrize(
    ("delay", "status", "words"),
    [
        (
            {"p99": 1_041.0, "max": 2_000.0},
            "invalid",
            "one in a hundred frames took 1,041 us or more, the limit is 1,000 us",
        ),
        ({"max": 1_041.0}, "degraded", "a frame took 1,041 us, the limit is 1,000 us"),
        ({"p99": 961.0, "max": 1_039.0}, "degraded", "961 us or more, which the clocks' 40 us leave on both sides of the limit"),
        ({"p99": 959.0, "max": 1_039.0}, "valid", None),
        ({"min": -39.0}, "valid", None),
        (
            {"min": -41.0},
            "degraded",
            "a frame seems to have arrived 41 us before it was sent, and the clocks are",
        ),
        ({"min": -5_000.0}, "invalid", "one of them was set while the run went on"),
    ],
)
def test_what_a_tunnel_adds_is_judged_as_far_as_the_clocks_tell(delay: dict[str, float], status: str, words: str | None) -> None:
    verdict, reasons = verdict_of(delay=delay)
    assert verdict == status
    assert len(reasons) == (words is not None)
    assert words is None or (words in reasons[0] and reasons[0].startswith("meoc-sky, from machine alpha to beta: "))


@pytest.mark.parametrize(("lost", "switched", "status"), [(5, False, "degraded"), (6, False, "invalid"), (6, True, "valid")])
def test_frames_lost_between_machines_count_as_those_that_a_netbox_drops(lost: int, switched: bool, status: str) -> None:
    verdict, reasons = verdict_of(way={"lost": lost}, switched=switched)
    assert verdict == status
    assert switched or f"{lost} of 5,000 frames were lost between the machines" in reasons[0]


def test_frames_that_a_capture_did_not_see_are_told() -> None:
    verdict, reasons = verdict_of(way={"unseen": 7})
    assert verdict == "degraded" and "7 frames crossed it and were captured at one end only" in reasons[0]


def read(offset_ns: int) -> dict[str, int]:
    return READING | {"offset_ns": offset_ns}


@pytest.mark.parametrize(
    ("clock", "status", "words"),
    [
        ({"error_us": 1_001.0}, "degraded", "its clock is known to 1,001 us only, more than the limit of 1,000 us"),
        ({"after": None, "drift_ppm": None}, "degraded", "its clock was not compared after the traffic"),
        (
            {"before": None, "drift_ppm": None, "problem": "nobody answered"},
            "degraded",
            "its clock was not compared before the traffic, so how it went meanwhile is not known: nobody answered",
        ),
        (
            {"before": None, "after": None, "drift_ppm": None, "error_us": None},
            "invalid",
            "its clock was not compared with this machine's, so delays between the two are not known",
        ),
        # 1.08 ms, of which the readings leave 1 ms; and a little more.
        ({"before": read(0), "after": read(1_080_000), "drift_ppm": 700.0}, "valid", None),
        ({"before": read(0), "after": read(1_082_000), "drift_ppm": 700.0}, "degraded", "1,002 us from this machine's"),
        ({"before": read(0), "after": read(-9_080_000), "drift_ppm": -700.0}, "degraded", "9,000 us from this machine's"),
        # Clocks that go evenly may go anywhere.
        ({"before": read(0), "after": read(9_000_000), "drift_ppm": 150.0}, "valid", None),
    ],
)
def test_a_clock_that_is_not_known_well_enough_is_told(clock: dict[str, Any], status: str, words: str | None) -> None:
    verdict, reasons = verdict_of(clock)
    assert verdict == status
    assert len(reasons) == (words is not None)
    assert words is None or (words in reasons[0] and reasons[0].startswith("machine beta: "))
