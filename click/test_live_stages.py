# SPDX-License-Identifier: GPL-2.0-or-later
"""Stages of interfaces that change while the router runs, on memory wires: no root, no network."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.real import DEADLINE_S
from netboxes.engine.virtual import udp
from netboxes.engine.wire_end import WireEnd, wire_ends
from netboxes.stages.stage import MOST_STAGES
from testbed.nodes.routers import STAGES_FILE, HandlerRefused, Handlers, stages_text
from tests.memory_router import BRIDGE, command, router
from tests.namespaces import wait_for

#: The third frame of 1200 bytes exceeds the burst, and the rate gives nothing back while a test lasts.
SLOW: dict[str, Any] = {"stage": "police", "rate": 8.0, "burst": 3000.0}
MARK: dict[str, Any] = {"stage": "mark", "dscp": 46}
PINK: dict[str, Any] = {"stage": "pink", "rate": 1e6}


def frames(count: int, first: int = 0) -> list[bytes]:
    """Packets of 1200 bytes."""
    return [udp(1, 2, 1172, identification=first + number) for number in range(count)]


@dataclass(frozen=True)
class Running:
    """A router between the far ends of its two wires."""

    left: WireEnd
    right: WireEnd
    handlers: Handlers
    process: subprocess.Popen[bytes]
    folder: Path

    def passed(self, sent: Sequence[bytes]) -> list[bytes]:
        """What arrives at the right of what is sent at the left."""
        assert self.left.send(*sent) == len(sent)
        wait_for(lambda: self.left.unread() == 0, "the router")
        self.handlers.read("version")  # it answers between two rounds, at whose end it sends
        return [frame for _, frame in self.right.received()]

    def counted(self) -> dict[str, Any]:
        """At its end, by interface."""
        self.process.terminate()
        assert self.process.wait(DEADLINE_S) == 0
        devices: dict[str, Any] = json.loads((self.folder / "statistics.json").read_text())["devices"]
        return devices


@contextmanager
def running(wires: list[Path], folder: Path, text: str = BRIDGE, *options: str) -> Iterator[Running]:
    with (
        wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right),
        router(wires, folder, text, *options) as process,
        Handlers(folder / "control.sock") as handlers,
    ):
        yield Running(left, right, handlers, process, folder)


def test_an_interface_gets_other_and_loses_stages_while_it_runs(wires: list[Path], tmp_path: Path) -> None:
    with running(wires, tmp_path) as gate:
        assert gate.handlers.stages() == {"ian": [], "jan": []}
        assert gate.passed(frames(10)) == frames(10)
        gate.handlers.set_stages("ian", [SLOW, MARK])
        assert gate.handlers.stages() == {"ian": [SLOW, MARK], "jan": []}
        assert [frame[15] >> 2 for frame in gate.passed(frames(10))] == [46, 46]
        gate.handlers.set_stages("ian", [])
        assert gate.passed(frames(10)) == frames(10)
        gate.handlers.set_stages("jan", [{**SLOW, "direction": "leaving"}])
        assert gate.passed(frames(10)) == frames(2)
        now = gate.handlers.counters()
        devices = gate.counted()
    assert now == {"devices": devices}
    assert (devices["ian"]["policed"], devices["jan"]["policed"]) == (8, 8)
    assert "stages" not in devices["ian"]
    assert [(stage["stage"], stage["passed"], stage["dropped"]) for stage in devices["jan"]["stages"]] == [("police", 2, 8)]


def test_a_stage_of_the_same_kind_at_its_place_keeps_what_it_knows(wires: list[Path], tmp_path: Path) -> None:
    """As at a netbox's port: a bucket that becomes larger is not full. One that is made anew at another place is."""
    with running(wires, tmp_path) as gate:
        gate.handlers.set_stages("ian", [SLOW])
        assert gate.passed(frames(10)) == frames(2)
        gate.handlers.set_stages("ian", [{**SLOW, "burst": 30_000.0}])
        assert gate.passed(frames(10)) == []
        gate.handlers.set_stages("ian", [MARK, SLOW])
        assert len(gate.passed(frames(10))) == 2
        assert gate.counted()["ian"]["policed"] == 26


def test_those_of_the_start_are_changed_too_and_come_back_with_a_start(wires: list[Path], tmp_path: Path) -> None:
    (file := tmp_path / STAGES_FILE).write_text(stages_text(1, {"ian": [SLOW]}))
    with running(wires, tmp_path, BRIDGE, f"--stages={file}") as gate:
        assert gate.handlers.stages() == {"ian": [SLOW], "jan": []}
        gate.handlers.set_stages("ian", [PINK])
        assert gate.passed(frames(10)) == frames(10)
    with running(wires, tmp_path, BRIDGE, f"--stages={file}") as gate:
        assert gate.passed(frames(10)) == frames(2)


def test_stages_stay_when_another_configuration_takes_over_and_its_interfaces_can_have_some(
    wires: list[Path], tmp_path: Path
) -> None:
    half = "FromDevice(ian) -> Queue(200) -> ToDevice(ian);"
    with running(wires, tmp_path, half) as gate:
        with pytest.raises(HandlerRefused, match="the router has no interface 'jan'; there are ian"):
            gate.handlers.set_stages("jan", [SLOW])
        gate.handlers.set_stages("ian", [SLOW])
        assert gate.passed(frames(10)) == []
        assert len(gate.left.received()) == 2
        gate.handlers.write("hotconfig", BRIDGE)
        assert gate.handlers.stages() == {"ian": [SLOW], "jan": []}
        assert gate.passed(frames(10)) == []
        gate.handlers.set_stages("jan", [MARK])
        gate.handlers.set_stages("ian", [])
        assert len(gate.passed(frames(10))) == 10


def test_changes_beside_swaps_of_the_configuration_lose_nothing(wires: list[Path], tmp_path: Path) -> None:
    """With stages that let all pass: whichever the frames meet, they arrive, in order."""
    over = threading.Event()

    def swap() -> None:
        with Handlers(tmp_path / "control.sock", 15.0) as own:
            while not over.is_set():
                own.write("hotconfig", BRIDGE)

    with running(wires, tmp_path) as gate:
        swaps = threading.Thread(target=swap)
        swaps.start()
        try:
            for number in range(100):
                sent = frames(10, 10 * number)
                assert gate.left.send(*sent) == len(sent)
                gate.handlers.set_stages("ian", [[PINK, MARK], [], [MARK]][number % 3])
                # Their identifications: the marker changes other bytes.
                assert [frame[18:20] for frame in gate.right.expect(10)] == [frame[18:20] for frame in sent]
        finally:
            over.set()
            swaps.join()
        assert gate.handlers.stages()["ian"] == [PINK, MARK]
        assert gate.counted()["ian"]["policed"] == 0


BAD = [
    ("nowhere []", r"the router has no interface 'nowhere'; there are ian, jan"),
    ("", r"the router has no interface ''; there are ian, jan"),
    ("[]", r"the router has no interface '\[\]'"),
    ("ian", r"stages of interface 'ian': .*unexpected end of input.*; write ian \[\{\"stage\": …\}, …\], or ian \[\] for none"),
    ("ian [{]", r"stages of interface 'ian': .*syntax error"),
    ("ian [] []", r"stages of interface 'ian': .*syntax error"),
    ("ian [1e999]", r"stages of interface 'ian': .*1e999"),
    ("ian {}", r"stages of interface 'ian': stages are a list of 16 at most"),
    ("ian null", r"stages are a list of 16 at most"),
    ("ian [7]", r"stages of interface 'ian': "),
    ('ian [{"stage": 7}]', r"stages of interface 'ian': "),
    ('ian [{"stage": "punk"}]', r'no stage is called "punk"; there are green, mark, pink, police, qrm'),
    ('ian [{"stage": "police"}]', r"stages of interface 'ian': .*rate"),
    ('ian [{"stage": "police", "rate": 0}]', r"police: rate is 0, not a number above 0"),
    ('ian [{"stage": "mark", "dscp": 46}, {"stage": "police", "rate": "fast"}]', r'police: rate is "fast", not a number'),
    ("ian " + json.dumps([PINK] * (MOST_STAGES + 1)), r"stages are a list of 16 at most"),
    ("ian " + "[" * 500_000, r"lists and mappings in one another, more than 8"),
    ("ian " + '{"a":' * 200_000, r"lists and mappings in one another, more than 8"),
    ('ian [{"stage": "' + "x" * 900_000 + '"}]', r'no stage is called "xxx'),
    ('ian [{"stage": "police", "rate": "' + "x" * 900_000 + '"}]', r"police: rate is"),
    ("ian [" + " " * (1 << 20) + "]", r"a router takes 1048576 bytes at most"),
]


def test_what_cannot_be_is_refused_with_its_place_and_what_there_was_stays(wires: list[Path], tmp_path: Path) -> None:
    with running(wires, tmp_path) as gate:
        gate.handlers.set_stages("ian", [MARK, SLOW])
        for text, told in BAD:
            with pytest.raises(HandlerRefused, match=told) as refused:
                gate.handlers.write("stages", text)
            assert len(str(refused.value)) < 600
            assert gate.handlers.stages() == {"ian": [MARK, SLOW], "jan": []}
        assert len(gate.passed(frames(10))) == 2


def test_stages_of_the_start_that_cannot_be_are_refused_with_their_interface(wires: list[Path], tmp_path: Path) -> None:
    (file := tmp_path / STAGES_FILE).write_text(stages_text(1, {"ian": [{**SLOW, "rate": 0}]}))
    ran = subprocess.run(command(wires, tmp_path, BRIDGE, f"--stages={file}"), capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.startswith("click-router: stages of interface 'ian': police: rate is 0, not a number above 0")


def test_counters_can_be_read_and_not_written(wires: list[Path], tmp_path: Path) -> None:
    with running(wires, tmp_path) as gate:
        with pytest.raises(HandlerRefused, match=r"write of Click handler counters refused \(530\)"):
            gate.handlers.write("counters", "0")
        gate.passed(frames(3))
        assert gate.handlers.counters()["devices"]["ian"]["received"] == 3


def test_a_policer_that_drops_is_an_event_of_the_journal_also_after_a_new_start(wires: list[Path], tmp_path: Path) -> None:
    (file := tmp_path / STAGES_FILE).write_text(stages_text(1, {"ian": [SLOW]}))
    for _ in range(2):
        with running(wires, tmp_path, BRIDGE, f"--stages={file}") as gate:
            assert gate.passed(frames(10)) == frames(2)
    first, *lines = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
    events = [line for line in lines if "event" in line]
    assert list(first) == ["began_ns"] and first["began_ns"] == pytest.approx(time.time_ns(), abs=60e9)
    for event in events:
        assert {**event, "at_s": 0} == {
            **{"at_s": 0, "event": "policing", "station": "ian"},
            **{"stage": "police", "node": "10.0.0.1", "dropped": 1},
        }
    assert len(events) == 2 and 0 < events[0]["at_s"] < events[1]["at_s"] < 60


def test_what_stages_count_is_taken_down_each_second_while_there_are_some(wires: list[Path], tmp_path: Path) -> None:
    def samples() -> list[dict[str, Any]]:
        lines = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
        return [line for line in lines if "statistics" in line]

    with running(wires, tmp_path) as gate:
        gate.passed(frames(1))
        gate.handlers.set_stages("ian", [MARK, SLOW, SLOW])
        gate.passed(frames(10))
        # Nothing arrives meanwhile.
        wait_for(lambda: len(samples()) == 3, "three samples")
        gate.handlers.set_stages("ian", [])
        time.sleep(1.2)
    before, *taken = samples()
    assert len(taken) == 2 and list(before["statistics"]["stations"]) == ["ian"]
    assert all(later["at_s"] - earlier["at_s"] >= 0.99 for earlier, later in pairwise([before, *taken]))
    counted = taken[-1]["statistics"]["stations"]["ian"]
    assert list(counted) == ["mark", "police", "police-2"]
    assert counted["police"]["dropped"] == 8


def test_samples_leave_half_of_the_journal_to_events(wires: list[Path], tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with journal.open("w") as file:
        file.write('{"began_ns": 1}\n')
        file.truncate(32 << 20)
    with running(wires, tmp_path) as gate:
        gate.handlers.set_stages("ian", [SLOW])
        assert gate.passed(frames(10)) == frames(2)
    with journal.open("rb") as file:
        file.seek(32 << 20)
        (line,) = file.read().splitlines()
    assert json.loads(line)["event"] == "policing"


def test_a_full_disk_costs_events_and_no_packet(wires: list[Path], tmp_path: Path) -> None:
    with running(wires, tmp_path, BRIDGE, "--journal=/dev/full") as gate:
        gate.handlers.set_stages("ian", [SLOW])
        assert gate.passed(frames(10)) == frames(2)
        gate.handlers.set_stages("ian", [])
        assert gate.passed(frames(10)) == frames(10)


def test_a_full_pipe_in_the_journals_place_costs_events_and_no_packet(wires: list[Path], tmp_path: Path) -> None:
    os.mkfifo(journal := tmp_path / "journal.jsonl")
    pipe = os.open(journal, os.O_RDWR | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while os.write(pipe, bytes(4096)):
            pass
    try:
        with running(wires, tmp_path) as gate:
            gate.handlers.set_stages("ian", [SLOW])
            assert gate.passed(frames(10)) == frames(2)
            gate.handlers.set_stages("ian", [])
            assert gate.passed(frames(10)) == frames(10)
    finally:
        os.close(pipe)


@pytest.mark.parametrize("first", ['{"began_ns": 18446744073709551615}', '{"began_ns": -1}', "[[[", '{"began_ns": "1"}'])
def test_a_journal_that_somebody_wrote_is_believed_in_nothing_that_cannot_be(
    first: str, wires: list[Path], tmp_path: Path
) -> None:
    (journal := tmp_path / "journal.jsonl").write_text(first + "\n")
    with running(wires, tmp_path) as gate:
        gate.handlers.set_stages("ian", [SLOW])
        assert gate.passed(frames(10)) == frames(2)
    _, began, *lines = journal.read_text().splitlines()
    assert json.loads(began)["began_ns"] == pytest.approx(time.time_ns(), abs=60e9)
    assert lines and all(0 <= json.loads(line)["at_s"] < 60 for line in lines)
