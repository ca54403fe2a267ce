# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures at the ports of a running netbox, on memory wires; no root, no network."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.real import RunningNetbox, running_netbox, wait_for
from netboxes.engine.virtual import udp
from netboxes.engine.wire_end import WireEnd, wire_ends
from results import pcapng
from testbed import capturing, rings
from testbed.control import Control, ParameterRefused

FOREVER_S = 100.0


class Lab:
    """A lab of one netbox, `x`, whose folder the test sees as the netbox does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def control(self, netbox: str) -> Control:
        return Control(netbox, self.folder / "control.sock")

    def node_folder(self, node: str) -> Path:
        return self.folder


@pytest.fixture
def netbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[RunningNetbox, WireEnd, WireEnd]]:
    """A netbox between two ends of memory wires, at its stations a and b."""
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    monkeypatch.setattr(capturing, "NODE_FOLDER", str(tmp_path))
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
    return next(told["capture"] for told in running.call("status")["ports"] if told["name"] == port)


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
    told = stop(running, "a")
    assert (told["frames"], told["dropped"], told["error"]) == (6, 0, None)
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
    ("changed", "said"),
    [
        ({"port": "c"}, 'no port is called "c": there are a and b'),
        ({"file": "/nowhere/a.pcapng"}, "port a: cannot write the capture /nowhere/a.pcapng: No such file or directory"),
        ({"frames": 0}, "capture takes port, file (a path), frames (a number of 1 or more) and seconds (a number)"),
        ({"seconds": "10"}, "capture takes port, file (a path), frames (a number of 1 or more) and seconds (a number)"),
    ],
)
def test_what_cannot_be_captured_is_refused(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    params: dict[str, Any] = {"port": "a", "file": str(tmp_path / "a.pcapng"), "frames": 1, "seconds": 1} | changed
    with Lab(tmp_path).control("x") as control, pytest.raises(ParameterRefused) as refused:
        control.capture(**params)
    assert str(refused.value) == f"netbox x: {said}"


def test_a_port_is_captured_once_at_a_time(netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path) -> None:
    running, _, _ = netbox
    begin(running, "a", tmp_path / "a.pcapng")
    with Lab(tmp_path).control("x") as control:
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


def test_the_verb_brings_the_capture_to_where_the_user_wants_it(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    _, a, _ = netbox
    wanted = tmp_path / "wanted.pcapng"

    def send(text: str) -> None:
        assert text.startswith("capturing at x.a")
        a.send(udp(1, 2))

    captured = capturing.capture(Lab(tmp_path), "x.a", wanted, duration_s=60, frames=3, progress=send)
    assert (captured.frames, captured.dropped) == (3, 0)
    assert [packet.data for packet in pcapng.read(wanted)] == [udp(1, 2)] * 3
    assert not (tmp_path / "capture-a.pcapng").exists()


def interrupt(_: str) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_verb_ends_the_capture_and_leaves_no_file(
    netbox: tuple[RunningNetbox, WireEnd, WireEnd], tmp_path: Path
) -> None:
    running, _, _ = netbox
    with pytest.raises(KeyboardInterrupt):
        capturing.capture(Lab(tmp_path), "x.a", tmp_path / "wanted.pcapng", duration_s=60, progress=interrupt)
    assert at(running, "a") is None
    assert not list(tmp_path.glob("*.pcapng"))


@pytest.mark.parametrize(
    ("port", "file", "said"),
    [
        ("x", "y.pcapng", "'x' is no port: write NETBOX.PORT"),
        ("x.a", "nowhere/y.pcapng", "nowhere is no folder"),
        ("x.a", ".", "it is a folder"),
    ],
)
def test_what_the_verb_cannot_do_it_says_before_it_begins(tmp_path: Path, port: str, file: str, said: str) -> None:
    with pytest.raises((capturing.BadPort, capturing.CaptureFailed), match=said):
        capturing.capture(Lab(tmp_path), port, tmp_path / file, duration_s=1)
