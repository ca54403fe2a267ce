# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from results.advice import advice
from results.conftest import netbox_statistics, node_plan, node_status, plan_of

QUIET: Any = {"missed": 0, "overload_drops": 0, "send_drops": 0, "freezes": []}


def told(
    late: dict[str, Any],
    *,
    worked_s: dict[str, float],
    cores: dict[str, list[int]],
    awake: bool = True,
    worst_us: float = 6300.0,
) -> list[str]:
    """Of a run of 10 s; `late` is what netbox `field` missed."""
    lateness_us: Any = {name: {"max": 100.0, "event": {"max": worst_us if name == "field" else 50.0}} for name in cores}
    return advice(
        plan_of(node_plan(name, "netbox", cores=tuple(on)) for name, on in cores.items()),
        {name: netbox_statistics(scheduler={"cpu_s": worked + 2.0, "spin_s": 2.0}) for name, worked in worked_s.items()},
        {name: QUIET | (late if name == "field" else {}) for name in cores},
        lateness_us,
        [node_status(name, "netbox", awake=awake) for name in cores],
        10.0,
    )


def test_emulators_that_fill_their_core_are_told_apart_from_a_machine_that_is_late() -> None:
    together = {"field": [1], "longhaul": [1], "backhaul": [0]}
    busy = told({"missed": 3}, worked_s={"field": 5.0, "longhaul": 3.0, "backhaul": 9.9}, cores=together)
    assert "netboxes field and longhaul computed for 80% of the time of core 1: fewer netboxes on a core" in busy[0]
    idle = told({"missed": 3}, worked_s={"field": 1.0, "longhaul": 1.0, "backhaul": 9.9}, cores=together)
    assert "netboxes field and longhaul share core 1" in idle[0]
    assert "computed for 20% of the time of core 1 only, so it was this machine that was late" in idle[1]
    alone = told({"missed": 3}, worked_s={"field": 9.0}, cores={"field": [1]})
    assert "netbox field alone computed for 90% of the time of core 1, and cannot use a second one" in alone[0]


def test_a_core_that_may_sleep_is_told() -> None:
    alone: dict[str, Any] = {"worked_s": {"field": 1.0}, "cores": {"field": [1]}}
    assert any("keep_awake" in one for one in told({"missed": 1}, awake=False, **alone))
    assert not any("keep_awake" in one for one in told({"missed": 1}, **alone))


@pytest.mark.parametrize(("worst_us", "limit"), [(6300.0, "10 ms"), (1032.0, "2 ms"), (40_000.0, "50 ms"), (210.0, "0.5 ms")])
def test_the_limit_that_would_have_sufficed_is_the_next_round_one(worst_us: float, limit: str) -> None:
    *_, last = told({"missed": 1}, worked_s={"field": 1.0}, cores={"field": [1]}, worst_us=worst_us)
    assert f"`realtime: {{limit: {limit}}}`" in last


def test_no_limit_helps_where_frames_were_dropped_or_nothing_could_be_told_any_more() -> None:
    alone: dict[str, Any] = {"worked_s": {"field": 1.0}, "cores": {"field": [1]}}
    assert not any("limit" in one for one in told({"missed": 1, "overload_drops": 5}, **alone))
    assert not any("limit" in one for one in told({"missed": 1}, worst_us=400_000.0, **alone))


def test_nothing_is_told_of_a_run_in_time_or_of_what_a_drill_did() -> None:
    alone: dict[str, Any] = {"worked_s": {"field": 1.0}, "cores": {"field": [1]}, "awake": False}
    assert told({}, **alone) == []
    assert told({"missed": 3, "freezes": [{"at_s": 1.0, "for_s": 0.1}]}, **alone) == []
