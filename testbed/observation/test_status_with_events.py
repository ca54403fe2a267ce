# SPDX-License-Identifier: GPL-2.0-or-later
"""What `status` tells of what happened in a lab: by one clock, whichever node was rebooted meanwhile."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from system.realtime_support import realtime_support
from testbed.changing import apply_now
from testbed.labs.lab import Lab
from testbed.nodes.test_frr import RING
from testbed.observation.event_reader import EventReader, status_with_events
from testbed.plans.planning import plan_file
from testbed.views import lab_view
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient]


def test_reboots_wires_and_routes_are_told_at_times_of_the_lab(
    tmp_path: Path, state_folder: Path, nothing_left: None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(RING)
    with Lab.up_and_ready(plan_file(file, lab=f"told-{os.getpid()}", realtime=realtime_support())) as lab:
        began_ns = status_with_events(lab)["began_ns"]
        assert began_ns is not None
        begun_s = time.time() - began_ns / 1e9
        apply_now.change(lab, "near.left", "state=down")
        until(lambda: _routes_of_west(lab, begun_s))
        apply_now.change(lab, "far", "reboot=200 ms")
        apply_now.change(lab, "far", "delay=30 ms")
        apply_now.change(lab, "west", "reboot=200 ms")
        rebooted_s = time.time() - began_ns / 1e9
        apply_now.change(lab, "near.left", "state=up")
        until(lambda: _routes_of_west(lab, rebooted_s))
        status = status_with_events(lab)
        ended_s = time.time() - began_ns / 1e9
        assert status["began_ns"] == began_ns
        assert status["events"] == EventReader(lab).new()
    assert all(-0.5 <= event["at_s"] <= ended_s for event in status["events"])
    # Netboxes, routers and commands write by clocks of their own; here they are in the order in which all of it was done.
    events = [event for event in status["events"] if event["at_s"] >= begun_s]
    order = [(event["event"], event["node"]) for event in events]
    wire, route, power = order.index(("wire", None)), order.index(("route", "west")), order.index(("power", None))
    assert wire < route < power < order.index(("set", "far"))
    (delay,) = [event["at_s"] for event in events if event["event"] == "set"]
    assert events[power]["at_s"] < delay < rebooted_s
    lab_view.show_status([status], as_json=False)
    table = " ".join(capsys.readouterr().out.partition("latest events")[2].split())
    for words in (events[wire]["words"], events[power]["words"], "far: delay 0.03", "by far"):
        assert words in table


def _routes_of_west(lab: Lab, since_s: float) -> bool:
    events = EventReader(lab).new()
    return any((event["event"], event["node"]) == ("route", "west") and event["at_s"] >= since_s for event in events)
