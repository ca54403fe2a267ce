# SPDX-License-Identifier: GPL-2.0-or-later
"""What the views make of real values for programs agrees with the schemas; commands that need a lab have tests of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import report
from bench.settings import Settings
from bench.test_report import MACHINE, OUTCOMES
from contracts.changes import (
    ConfigurationChange,
    FreezeChange,
    HandlerWrite,
    ParameterChange,
    PowerChange,
    StagesChange,
    WireChange,
)
from contracts.plan import EquipmentPlan, WireEnd
from contracts.run_records import recorded
from testbed.changing.handlers import Element
from testbed.documents.host import Ability
from testbed.observation.capture_points import CapturedPoint, CapturePoint
from testbed.observation.capturing import Captured
from testbed.observation.record import Recorded
from testbed.observation.record_trace import PathTrace
from testbed.plans.test_calibration import MADE_UP
from testbed.plans.test_difference import NETWORK, edited, planned
from testbed.probes.finding import examined
from testbed.views import change_view, lab_view, plan_view, result_view
from tests.documents import result

EXAMINED = examined([Ability("wires", "yes", "made", needed=True), Ability("xdp", "no", "none", "speed", "another kernel")])
CHANGES: Any = [
    recorded(change, change.words())
    for change in (
        ParameterChange("cell", "one.position", [1.0, 2.0, 0.0], "[1 m, 2 m, 0 m]"),
        WireChange("a--b", "down", "a", "b"),
        PowerChange("mid", "off"),
        FreezeChange("cell", 0.3),
        ConfigurationChange("mid", "mid.click", "a whole file"),
        HandlerWrite("mid", "queue.capacity", "90"),
        StagesChange("mid", "lan.stages", [{"stage": "police", "rate": 1e6}], "[{stage: police, rate: 1 Mbit/s}]"),
    )
]
TAP = EquipmentPlan("modem", "tap", "tap0", WireEnd("a", "modem"), "a.modem--modem", 1500, user="alice", attached=True)
VLAN = EquipmentPlan("modem", "vlan", "eth2", WireEnd("a", "modem"), "a.modem--modem", 1500, vlan=7)
CAPTURED = Captured([CapturedPoint(CapturePoint("fr1", "fr1", "eth0", "kernel"), 17, 1)], [Path("x.pcapng")], 2)


@pytest.mark.parametrize(
    ("document", "show"),
    [
        ("doctor", lambda: result_view.show_examination(EXAMINED, True)),
        ("machines", lambda: result_view.show_machines({"beta": EXAMINED}, True)),
        ("calibrate", lambda: plan_view.show_calibration(MADE_UP, Path("calibration.json"), True)),
        ("changes", lambda: change_view.show_made(CHANGES, True)),
        ("put-back", lambda: change_view.show_put_back(("satellite-fade", CHANGES), True)),
        ("put-back", lambda: change_view.show_put_back(None, True)),
        ("handlers", lambda: change_view.show_handlers([Element("queue", "Queue", {"capacity": "rw"})], True)),
        ("handler-value", lambda: change_view.show_read("mid", "queue.capacity", "90\n\x1b[2J", True)),
        ("handler-written", lambda: change_view.show_written("mid", "queue.capacity", "one\ntwo", True)),
        ("attach", lambda: change_view.show_attached(TAP, ["it is there"], True)),
        ("detach", lambda: change_view.show_detached(VLAN, [], True)),
        ("capture", lambda: lab_view.show_captured(CAPTURED, True, sys.stdout)),
        ("record", lambda: lab_view.show_recorded([Recorded(Path("x.csv"), PathTrace("a", "b", (), 1.0))], True)),
        ("down", lambda: lab_view.show_down(["x"], ["eth2 is gone"], True)),
    ],
)
def test_what_programs_are_told(document: str, show: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    show()
    assert len(result(capsys.readouterr().out, document)) > 2


def test_each_kind_of_change_has_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    change_view.show_made(CHANGES, True)
    told = result(capsys.readouterr().out, "changes")["changes"]
    assert [change["kind"] for change in told] == ["parameter", "wire", "power", "freeze", "configuration", "handler", "stages"]
    assert "text" not in told[4], "a configuration is not told whole"


def test_what_apply_does_and_what_a_bench_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = edited(lambda network: network["netboxes"]["cell"].update(distance="90 m"), tmp_path)
    for difference in (found, None):
        applied: Any = SimpleNamespace(plan=planned(NETWORK, tmp_path), difference=difference)
        change_view.show_applied(applied, as_json=True)
        told = result(capsys.readouterr().out, "apply")
        assert told["brought_up"] is (difference is None)
    data = report.to_json(
        OUTCOMES, machine=MACHINE, settings=Settings().to_json(), command="bench", failures={"chain": "no core"}
    )
    assert result_view.show_bench("", data, tmp_path / "x.json", as_json=True) == 1
    assert result(capsys.readouterr().out, "bench")["ratios"]["setup_a_veth"]["median"] == 4
