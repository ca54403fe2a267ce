# SPDX-License-Identifier: GPL-2.0-or-later
"""Events happen at their times, and what became of each is recorded."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from contracts.changes import Condition, EventPlan, ParameterChange
from testbed.changing.schedule import EventFailed, Schedule
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.nodes.control import ParameterRefused
from tests.waiting import until

DEADLINE_S = 20.0


class Netbox:
    """Takes what it is told, and when; refuses a negative value."""

    def __init__(self) -> None:
        self.said: list[tuple[float, str, object]] = []
        self.connections, self.asked = 0, 0
        self.events: list[dict[str, Any]] = []
        self.quiet = False

    def statistics(self) -> dict[str, Any]:
        self.asked += 1
        return {"events": self.events, "ports": [{"name": "car", "sent": 0 if self.quiet else self.asked}]}

    def close(self) -> None:
        pass

    def set(self, parameter: str, value: float) -> None:
        if value < 0:
            raise ParameterRefused("netbox field: distance is at least 0 m")
        self.said.append((time.monotonic(), parameter, value))

    def __enter__(self) -> Netbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def control(self, netbox: str) -> Netbox:
        assert netbox == "field"
        self.connections += 1
        return self


def change(value: float) -> ParameterChange:
    return ParameterChange("field", "distance", value, f"{value:g} m")


def lab_of(netbox: Netbox, *events: EventPlan) -> Lab:
    return cast(Lab, SimpleNamespace(control=netbox.control, plan=SimpleNamespace(events=events)))


def carried_out(lab: Lab, file: Path, until: int) -> list[dict[str, Any]]:
    log = EventLog(file, file.parent)
    with Schedule(lab, log) as schedule:
        log.begin()
        schedule.start()
        deadline = time.monotonic() + DEADLINE_S
        while not file.exists() or len(file.read_text().splitlines()) < until:
            assert time.monotonic() < deadline
            schedule.check()
            time.sleep(0.005)
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_event_happens_no_earlier_than_its_time_and_is_recorded(tmp_path: Path) -> None:
    netbox = Netbox()
    lab = lab_of(netbox, EventPlan(0.05, change(10.0)), EventPlan(0.05, change(20.0)), EventPlan(0.1, change(30.0)))
    lines = carried_out(lab, tmp_path / "events.jsonl", 3)
    assert [(said[1], said[2]) for said in netbox.said] == [("distance", 10.0), ("distance", 20.0), ("distance", 30.0)]
    assert netbox.connections == 1
    assert [(line["at_s"], line["words"], line["error"]) for line in lines] == [
        (0.05, "field: distance 10 m", None),
        (0.05, "field: distance 20 m", None),
        (0.1, "field: distance 30 m", None),
    ]
    assert all(line["late_ms"] >= 0.0 and line["took_ms"] >= 0.0 for line in lines)


def test_a_change_that_is_refused_fails_by_its_name_and_ends_the_schedule(tmp_path: Path) -> None:
    netbox = Netbox()
    lab = lab_of(netbox, EventPlan(0.02, change(-1.0)), EventPlan(0.03, change(1.0)))
    with pytest.raises(EventFailed, match=r"event at 20 ms, field: distance -1 m: netbox field: distance is at least 0 m"):
        carried_out(lab, tmp_path / "events.jsonl", 2)
    (line,) = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert "at least 0 m" in line["error"]
    assert netbox.said == []


def test_events_that_a_run_does_not_come_to_do_not_happen(tmp_path: Path) -> None:
    netbox = Netbox()
    began = time.monotonic()
    assert len(carried_out(lab_of(netbox, EventPlan(0.01, change(1.0)), EventPlan(60.0, change(2.0))), tmp_path / "e", 1)) == 1
    assert time.monotonic() - began < DEADLINE_S
    assert len(netbox.said) == 1


def when(number: int, **said: Any) -> Condition:
    return Condition(number, netbox=None if "event" in said else "field", **said)


def test_changes_follow_what_a_netbox_says_and_what_follows_it(tmp_path: Path) -> None:
    netbox = Netbox()
    handed_over, after = when(0, happens="handover", station="car"), when(1, event="first")
    silent = when(2, silent_s=0.1, station="car")
    lab = lab_of(
        netbox,
        EventPlan(0.02, change(1.0), handed_over, "first"),
        EventPlan(0.04, change(2.0), handed_over, "first"),
        EventPlan(0.0, change(3.0), after),
        EventPlan(0.0, change(4.0), silent),
    )
    netbox.events = [{"event": "handover", "at_s": 0.1, "station": "bus"}, {"event": "link_up", "at_s": 0.1, "station": "car"}]
    log = EventLog(tmp_path / "events.jsonl", tmp_path)
    with Schedule(lab, log) as schedule:
        log.begin()
        schedule.start()
        until(lambda: netbox.asked > 3)
        assert netbox.said == []
        netbox.events.append({"event": "handover", "at_s": 0.2, "station": "car"})
        until(lambda: len(netbox.said) == 3)
        netbox.quiet = True
        until(lambda: len(netbox.said) == 4)
        schedule.check()
    assert [said[2] for said in netbox.said] == [1.0, 2.0, 3.0, 4.0]
    words = [json.loads(line)["words"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert words == [
        "field: distance 1 m (when field.car says handover)",
        "field: distance 2 m (when field.car says handover)",
        "field: distance 3 m (after first)",
        "field: distance 4 m (when nothing leaves by field.car for 100 ms)",
    ]


def test_what_does_not_come_in_its_time_fails_the_run(tmp_path: Path) -> None:
    lab = lab_of(Netbox(), EventPlan(0.0, change(1.0), when(0, happens="handover", within_s=0.1)))
    with pytest.raises(EventFailed, match=r"when field says handover: not within 100 ms"):
        carried_out(lab, tmp_path / "events.jsonl", 1)
