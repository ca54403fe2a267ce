# SPDX-License-Identifier: GPL-2.0-or-later
"""Test traffic from a generator to a sink in a lab, where time is real."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from system.realtime_support import realtime_support
from testbed.changing import apply_now
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file

pytestmark = pytest.mark.lab

NETWORK = """
name: traffic
netboxes:
  source: {technology: generator, stations: {out: {}}, rate: 2 kpps, count: 1000, active: false}
  drain: {technology: sink, stations: {in: {}}}
wires:
  - [source.out, drain.in]
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (tmp_path / "traffic.yaml").write_text(NETWORK)
    with Lab.up_and_ready(plan_file(tmp_path / "traffic.yaml", realtime=realtime_support(), lab=f"gt{os.getpid()}")) as up:
        yield up


def sent(lab: Lab) -> dict[str, Any]:
    with lab.control("source") as control:
        found: dict[str, Any] = control.statistics()["segment"]["stations"]["out"]
        return found


def arrived(lab: Lab) -> dict[str, Any]:
    with lab.control("drain") as control:
        found: dict[str, Any] = control.statistics()["segment"]
        return found


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_a_generator_sent_arrives_at_the_sink_and_both_say_so(lab: Lab) -> None:
    apply_now.change(lab, "source", "active=true")
    wait_for(lambda: not sent(lab)["active"] and arrived(lab)["received"] == 1000)
    said = arrived(lab)
    assert (said["lost"], said["duplicates"], said["reordered"], said["foreign"]) == (0, 0, 0, 0)
    assert said["flows"][0]["source"] == "198.18.0.1:40000"
    assert said["delay_us"]["count"] == 1000 and said["delay_us"]["max"] > 0
    assert said["first_ns"] >= sent(lab)["first_ns"]
    with lab.control("drain") as control:
        control.reset()
    assert arrived(lab)["flows"] == []


def test_a_generator_that_cannot_keep_its_rate_says_so_and_sends_no_burst_afterwards(lab: Lab) -> None:
    for change in ("rate=20 Mpps", "count=0", "active=true"):
        apply_now.change(lab, "source", change)
    wait_for(lambda: sent(lab)["behind"] > 0)
    apply_now.change(lab, "source", "active=false")
    said = sent(lab)
    assert said["intended"] == said["emitted"] + said["refused"] + said["behind"]
    assert said["rate"] < 20e6
    assert sent(lab) == said
