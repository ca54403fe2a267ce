# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures at the ports of a running netbox, on memory wires; no root, no network."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.real import RunningNetbox, running_netbox, wait_for
from netboxes.engine.virtual import udp
from netboxes.engine.wire_end import WireEnd, wire_ends
from results import pcapng
from system import rings
from testbed.labs.lab import Lab
from testbed.nodes.control import Control, ParameterRefused
from testbed.observation import capture_sources, capturing
from testbed.observation.capture_files import CaptureFile
from testbed.observation.capture_points import CapturePoint

FOREVER_S = 100.0


class OneNetbox(Lab):
    """A lab of one netbox, `x`, whose folder the test sees as the netbox does."""

    def __init__(self, folder: Path) -> None:
        super().__init__("lab", folder)

    def control(self, netbox: str, timeout_s: float = 5.0) -> Control:
        return Control(netbox, self.folder / "control.sock", timeout_s)

    def node_folder(self, node: str) -> Path:
        return self.folder

    def is_confined(self, node: str) -> bool:
        return False


@pytest.fixture
def netbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[RunningNetbox, WireEnd, WireEnd]]:
    """A netbox between two ends of memory wires, at its stations a and b."""
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    monkeypatch.setattr(capture_sources, "NODE_FOLDER", str(tmp_path))
    wires = [rings.create("lab", name) for name in "ab"]
    stations = [
        {"name": name, "port": {"kind": "memory", "wire": str(rings.folder("lab", name)), "end": "left"}} for name in "ab"
    ]
    with (
        wire_ends((wires[0], "right"), (wires[1], "right")) as (a, b),
        running_netbox(tmp_path, "loopwire", stations=stations) as running,
    ):
        wait_for((tmp_path / "control.sock").exists)
        yield running, a, b


def begin(running: RunningNetbox, port: str, file: Path, frames: int = 1000, seconds: float = FOREVER_S) -> None:
    running.call("capture", port=port, file=str(file), frames=frames, seconds=seconds)
    wait_for(lambda: at(running, port)["state"] != "starting")


def at(running: RunningNetbox, port: str) -> Any:
    return next(status["capture"] for status in running.call("status")["ports"] if status["name"] == port)


def stop(running: RunningNetbox, port: str) -> dict[str, Any]:
    answers: list[dict[str, Any]] = []
    wait_for(lambda: answers.append(running.call("capture_stop", port=port)) or answers[-1]["written"])  # type: ignore[func-returns-value]
    return answers[-1]


def test_what_passes_a_port_is_in_the_file_both_ways_to_the_nanosecond(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, a, b = netbox
    file = tmp_path / "a.pcapng"
    there, back = [udp(1, 2, size) for size in (18, 100, 1472, 33)], [udp(2, 1, size) for size in (19, 1000)]
    begin(running, "a", file)
    stamp = time.time_ns()
    a.send(*there, stamp_ns=stamp)
    assert b.expect(len(there)) == there
    b.send(*back)
    wait_for(lambda: running.call("statistics")["ports"][0]["sent"] == len(back))
    handed_over = a.received()
    status = stop(running, "a")
    assert (status["frames"], status["dropped"], status["error"]) == (6, 0, None)
    packets = list(pcapng.read(file))
    assert [packet.data for packet in packets] == there + back
    assert [packet.time_ns for packet in packets] == [stamp] * 4 + [at_ns for at_ns, _ in handed_over]
    shown = subprocess.run(
        ["tshark", "-r", file, "-T", "fields", "-e", "frame.packet_flags_direction"], check=True, capture_output=True, text=True
    ).stdout.split()
    assert [int(direction, 0) for direction in shown] == [1, 1, 1, 1, 2, 2]


def test_it_ends_after_its_frames_and_can_begin_again(netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path) -> None:
    running, a, b = netbox
    for file in (tmp_path / "first.pcapng", tmp_path / "second.pcapng"):
        begin(running, "b", file, frames=3)
        frames = [udp(1, 2, identification=number) for number in range(5)]
        a.send(*frames)
        assert b.expect(5) == frames
        wait_for(lambda: at(running, "b")["written"])
        assert at(running, "b")["frames"] == 3
        assert [packet.data for packet in pcapng.read(file)] == frames[:3]


def test_it_ends_after_its_time_so_that_a_caller_that_died_leaves_nothing_behind(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, _, _ = netbox
    running.call("capture", port="a", file=str(tmp_path / "a.pcapng"), frames=1000, seconds=0)
    wait_for(lambda: at(running, "a")["state"] == "ended")
    begin(running, "a", tmp_path / "again.pcapng")


def test_a_netbox_that_ends_writes_what_it_has(netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path) -> None:
    running, a, b = netbox
    begin(running, "a", tmp_path / "a.pcapng")
    a.send(udp(1, 2))
    assert b.expect(1) == [udp(1, 2)]
    running.end()
    assert [packet.data for packet in pcapng.read(tmp_path / "a.pcapng")] == [udp(1, 2)]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"port": "c"}, 'no port is called "c": there are a and b'),
        ({"file": "/nowhere/a.pcapng"}, "port a: cannot write the capture /nowhere/a.pcapng: No such file or directory"),
        ({"frames": 0}, "capture takes port, file (a path), frames (a number of 1 or more) and seconds (a number)"),
        ({"seconds": "10"}, "capture takes port, file (a path), frames (a number of 1 or more) and seconds (a number)"),
    ],
)
def test_what_cannot_be_captured_is_refused(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    params: dict[str, Any] = {"port": "a", "file": str(tmp_path / "a.pcapng"), "frames": 1, "seconds": 1} | changed
    with OneNetbox(tmp_path).control("x") as control, pytest.raises(ParameterRefused) as refused:
        control.capture(**params)
    assert str(refused.value) == f"netbox x: {message}"


def test_a_port_is_captured_once_at_a_time(netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path) -> None:
    running, _, _ = netbox
    begin(running, "a", tmp_path / "a.pcapng")
    with OneNetbox(tmp_path).control("x") as control:
        with pytest.raises(ParameterRefused, match=r"port a: it is being captured already, to .*a\.pcapng; end that"):
            control.capture("a", str(tmp_path / "b.pcapng"), 1, 1)
        with pytest.raises(ParameterRefused, match="port b: it is not being captured"):
            control.capture_stop("b")


def test_a_disk_that_is_full_ends_the_capture_and_not_the_netbox(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, a, b = netbox
    running.call("capture", port="a", file="/dev/full", frames=10, seconds=FOREVER_S)
    wait_for(lambda: at(running, "a")["error"] == "No space left on device")
    a.send(udp(1, 2))
    assert b.expect(1) == [udp(1, 2)]
    running.end()


def test_what_passes_can_be_read_from_a_pipe_while_it_does(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, a, b = netbox
    pipe, stream = pipe_at(tmp_path)
    begin(running, "a", pipe)
    os.set_blocking(stream.fileno(), True)
    packets = pcapng.packets(stream, pipe)
    for number in range(3):
        frame = udp(1, 2, identification=number)
        a.send(frame)
        assert b.expect(1) == [frame]
        assert next(packets)[1:] == (frame, 0, 1)
    assert stop(running, "a")["frames"] == 3
    assert list(packets) == []
    stream.close()


def test_a_pipe_whose_reader_died_ends_the_capture_without_a_frame_and_not_the_netbox(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, a, b = netbox
    pipe, stream = pipe_at(tmp_path)
    begin(running, "a", pipe)
    stream.close()
    wait_for(lambda: at(running, "a")["state"] == "ended")
    a.send(udp(1, 2))
    assert b.expect(1) == [udp(1, 2)]
    begin(running, "a", tmp_path / "again.pcapng")


def test_a_pipe_that_nobody_reads_is_refused_at_once(netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path) -> None:
    pipe, stream = pipe_at(tmp_path)
    stream.close()
    with OneNetbox(tmp_path).control("x") as control, pytest.raises(ParameterRefused, match="No such device or address"):
        control.capture("a", str(pipe), 1, 1)


def test_a_reader_that_takes_nothing_costs_frames_of_the_capture_and_of_nothing_else(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, a, b = netbox
    pipe, stream = pipe_at(tmp_path)
    begin(running, "a", pipe, frames=100_000)
    frame, more_than_it_holds = udp(1, 2, 1472), 4000
    for _ in range(more_than_it_holds // 50):
        a.send(*[frame] * 50)
        assert b.expect(50) == [frame] * 50
    status = at(running, "a")
    assert status["frames"] + status["dropped"] == more_than_it_holds and status["dropped"] > 0
    stream.close()


def pipe_at(folder: Path) -> tuple[Path, BufferedReader]:
    """A named pipe that is being read."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    return pipe, os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb")


def test_both_ports_of_a_netbox_are_captured_into_one_file(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    _, a, b = netbox
    wanted, sent = tmp_path / "wanted.pcapng", list[bytes]()

    def send(_: str) -> None:
        if not sent:
            sent.extend(udp(1, 2, identification=number) for number in range(3))
            a.send(*sent)
            assert b.expect(3) == sent

    points = [CapturePoint(f"x.{port}", "x", port, "netbox") for port in "ab"]
    captured = capturing.capture(
        OneNetbox(tmp_path), points, lambda path: CaptureFile(wanted, path), duration_s=0.2, progress=send
    )
    assert [(point.frames, point.dropped) for point in captured.points] == [(3, 0), (3, 0)]
    packets = list(pcapng.read(wanted))
    assert {(packet.data, packet.interface, packet.direction) for packet in packets} == {
        (frame, *direction) for frame in sent for direction in ((0, 1), (1, 2))
    }
    assert [packet.time_ns for packet in packets] == sorted(packet.time_ns for packet in packets)
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith("capture-")]


def test_a_capture_that_its_user_ends_is_whole(netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path) -> None:
    running, a, b = netbox
    wanted, sent = tmp_path / "wanted.pcapng", list[bytes]()

    def interrupt(_: str) -> None:
        if not sent:
            sent.append(udp(1, 2))
            a.send(*sent)
            assert b.expect(1) == sent
            signal.raise_signal(signal.SIGINT)

    point = CapturePoint("x.a", "x", "a", "netbox")
    lab = OneNetbox(tmp_path)
    captured = capturing.capture(lab, [point], lambda path: CaptureFile(wanted, path), progress=interrupt)
    assert captured.points[0].frames == 1
    assert [packet.data for packet in pcapng.read(wanted)] == sent
    assert subprocess.run(["capinfos", "-c", wanted], check=False, capture_output=True).returncode == 0
    assert at(running, "a") is None
