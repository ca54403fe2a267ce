# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of a lab that stays up, without a lab; `testbed/test_lab_traffic.py` has labs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import numpy as np
import pytest

from contracts.announced import details
from contracts.control import RunningStatistics
from contracts.run_folder import JOURNAL_FILE
from results import journal, records
from testbed.labs import measuring
from testbed.labs.lab import Lab
from testbed.nodes.control import ControlFailed
from testbed.runs.standing_lab import StandingLab, since

HEADER = b"NETBOXIT" + (1).to_bytes(4, "little") + (48).to_bytes(4, "little")
PIECE = 340


class Netbox:
    """One that writes the records of frames that it has settled when it is told to, a piece at a time."""

    def __init__(self, folder: Path) -> None:
        self.settled, self.written, self.ended, self.resets = 0, 0, False, 0
        self.full = False
        self._file = folder / "frames.bin"
        self._file.write_bytes(HEADER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def settle(self, count: int) -> None:
        self.settled += count

    def write_records(self) -> dict[str, int]:
        if self.full:
            return {"written": self.written, "dropped": 0, "left": 0}
        upto = min(self.written + PIECE, self.settled)
        found = np.zeros(upto - self.written, records.RECORD)
        found["identity"], found["in_ns"] = range(self.written, upto), time.time_ns()
        with self._file.open("ab") as file:
            file.write(found.tobytes())
        self.written = upto
        return {"written": upto, "dropped": 0, "left": self.settled - upto}

    def reset(self) -> None:
        self.resets += 1

    def status(self) -> dict[str, Any]:
        return {"simulated_s": 7.0, "unlinked": {"mobile": "out of range"}}

    def statistics(self) -> dict[str, Any]:
        if self.ended:
            raise ControlFailed("netbox line: ended")
        return {
            "frames": {"delivered": self.settled, "lost": {"outage": 0}, "absorbed": 0, "inside": 3},
            "ports": [{"name": "a", "received": 10 + self.settled, "delay_s": 0.5}],
            "records": {"written": self.written, "dropped": 0},
            "journal": {"dropped": 1},
            "scheduler": {"policy": "fifo", "cpu_s": 2.5, "spin_s": 0.5, "stepped_back": 1},
            "segment": {"queued": 4},
        }


class Fake:
    """As much of a lab as is asked for."""

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = "sky", folder
        self.plan = SimpleNamespace(nodes=[SimpleNamespace(name="line", kind="netbox")], events=())
        self.node_folder("line").mkdir(parents=True)
        self.netbox = Netbox(self.node_folder("line"))

    def node_folder(self, node: str) -> Path:
        return self.folder / "nodes" / node

    def control(self, netbox: str) -> Netbox:
        return self.netbox


@pytest.fixture
def lab(tmp_path: Path) -> Fake:
    (tmp_path / "run").mkdir()
    return Fake(tmp_path / "sky")


def measured(lab: Fake, monkeypatch: pytest.MonkeyPatch) -> StandingLab:
    monkeypatch.setattr(StandingLab, "_capture", lambda _: None)
    return StandingLab(cast(Lab, lab), lab.folder.parent / "run")


def kept(lab: Fake, name: str) -> Path:
    return lab.folder.parent / "run/nodes/line" / name


def test_only_what_was_counted_meanwhile_is_kept() -> None:
    before = {
        "frames": {"delivered": 10, "lost": {"outage": 2}, "inside": 5},
        "ports": [{"name": "a", "received": 12, "delay_s": 1.5}],
        "records": {"written": 12, "dropped": 1},
        "journal": {"dropped": 0},
        "scheduler": {"policy": "fifo", "cpu_s": 1.0, "spin_s": 0.0, "stepped_back": 0},
        "missed": 0,
    }
    now = {
        "frames": {"delivered": 15, "lost": {"outage": 3}, "inside": 1},
        "ports": [{"name": "a", "received": 20, "delay_s": 2.0}],
        "records": {"written": 18, "dropped": 1},
        "journal": {"dropped": 4},
        "scheduler": {"policy": "fifo", "cpu_s": 1.5, "spin_s": 0.0, "stepped_back": 2},
        "missed": 6,
    }
    assert since(cast(RunningStatistics, before), cast(RunningStatistics, now)) == {
        "frames": {"delivered": 5, "lost": {"outage": 1}, "inside": 1},
        "ports": [{"name": "a", "received": 8, "delay_s": 0.5}],
        "records": {"written": 6, "dropped": 0},
        "journal": {"dropped": 4},
        "scheduler": {"policy": "fifo", "cpu_s": 0.5, "spin_s": 0.0, "stepped_back": 2},
        "missed": 6,
    }


def test_records_and_journal_are_those_of_the_traffic(lab: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    began_ns = time.time_ns() - 60_000_000_000
    (file := lab.node_folder("line") / JOURNAL_FILE).write_text(
        json.dumps({"began_ns": began_ns}) + "\n" + json.dumps({"at_s": 1.0, "event": "handover"}) + "\n"
    )
    lab.netbox.settle(5)
    lab.netbox.write_records()
    measured_run = measured(lab, monkeypatch)
    measured_run.prepare()
    measured_run.begin()
    lab.netbox.settle(20)
    with file.open("a") as more:
        more.write(json.dumps({"at_s": 61.0, "event": "link_up", "station": "mobile"}) + "\n")
    measured_run.keep_statistics()
    assert measured_run.collect() == []
    assert list(records.read(kept(lab, "frames.bin"))["identity"]) == list(range(5, 25))
    netbox_journal = journal.read(kept(lab, JOURNAL_FILE))
    assert netbox_journal is not None and [event["event"] for event in netbox_journal.events] == ["link_down", "link_up"]
    assert details(netbox_journal.events[0])["reason"] == "out of range"
    assert netbox_journal.events[0]["at_s"] + netbox_journal.offset_s(measured_run.log.began_ns) == pytest.approx(0.0, abs=0.01)
    assert netbox_journal.events[0]["at_s"] + netbox_journal.offset_s(measured_run.log.began_ns) <= 0.0
    statistics = json.loads(kept(lab, "statistics.json").read_text())
    assert (statistics["frames"]["delivered"], statistics["ports"][0]["received"]) == (20, 20)
    assert measuring.run_of(lab.folder) is None


def test_all_that_a_netbox_keeps_in_memory_is_written(lab: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    measured_run = measured(lab, monkeypatch)
    measured_run.prepare()
    measured_run.begin()
    lab.netbox.settle(3 * PIECE + 1)
    measured_run.keep_statistics()
    assert measured_run.collect() == []
    assert list(records.read(kept(lab, "frames.bin"))["identity"]) == list(range(3 * PIECE + 1))


def test_records_that_are_never_written_are_told(lab: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.netbox.full = True
    measured_run = measured(lab, monkeypatch)
    measured_run.prepare()
    measured_run.begin()
    lab.netbox.settle(20)
    measured_run.keep_statistics()
    assert any("has not written its last frame records" in problem for problem in measured_run.collect())
    assert records.read(kept(lab, "frames.bin")).size == 0


def test_a_netbox_that_ended_meanwhile_is_told_and_keeps_the_lab_free(lab: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    measured_run = measured(lab, monkeypatch)
    measured_run.prepare()
    measured_run.begin()
    lab.netbox.ended = True
    measured_run.keep_statistics()
    assert any("started again while the traffic ran" in problem for problem in measured_run.collect())
    assert not kept(lab, "statistics.json").exists() and measuring.run_of(lab.folder) is None


def test_one_that_was_interrupted_before_its_beginning_keeps_nothing_and_frees_the_lab(
    lab: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured_run = measured(lab, monkeypatch)
    assert measured_run.collect() == [] and measuring.run_of(lab.folder) is None
    assert lab.netbox.resets == 0
