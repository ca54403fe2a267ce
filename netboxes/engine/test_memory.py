# SPDX-License-Identifier: GPL-2.0-or-later
"""Netboxes on memory wires: between two ends of the test's own, and one behind another; no root, no network."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.real import RunningNetbox, cpu_s, running_netbox, wait_for
from netboxes.engine.virtual import BROADCAST, ethernet, mac, udp, vlan
from netboxes.engine.wire_end import WireEnd, wire_ends
from results import records
from system import rings

CAPACITY = 1 << 16


@pytest.fixture
def wires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders of three memory wires."""
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    return [rings.create("lab", name, CAPACITY) for name in ("one", "two", "three")]


@contextmanager
def between(folder: Path, left: Path, right: Path, **settings: Any) -> Iterator[RunningNetbox]:
    """A netbox at the right end of wire `left` (station a) and at the left end of wire `right` (station b)."""
    folder.mkdir(exist_ok=True)
    ports = {"a": (left, "right"), "b": (right, "left")}
    stations = [{"name": name, "port": {"kind": "memory", "wire": str(wire), "end": end}} for name, (wire, end) in ports.items()]
    with running_netbox(folder, "loopwire", stations=stations, **settings) as running:
        wait_for(lambda: (folder / "control.sock").exists() or running.process.poll() is not None)
        yield running


def idles(netbox: RunningNetbox) -> bool:
    """True when it takes far less than a core while nothing happens."""
    before, began = cpu_s(netbox.process), time.monotonic()
    time.sleep(0.3)
    return cpu_s(netbox.process) - before < 0.3 * (time.monotonic() - began)


def test_frames_of_every_kind_pass_unchanged_and_arrive_when_they_were_handed_over(wires: list[Path], tmp_path: Path) -> None:
    frames = [
        udp(1, 2, 18),
        vlan(udp(1, 2, 300), 100, 5),
        vlan(vlan(udp(1, 2, 1464), 7), 8),
        ethernet(mac(1), BROADCAST, 0x0806, bytes(46)),
        udp(1, 2, 1452, version=6),
    ]
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), between(tmp_path, *wires[:2]) as netbox:
        stamp = time.time_ns()
        assert left.send(*frames, stamp_ns=stamp) == len(frames)
        assert right.expect(len(frames)) == frames
        statistics = netbox.end()
    assert statistics["ports"][0]["received"] == statistics["ports"][1]["sent"] == len(frames)
    assert set(records.read(tmp_path / "frames.bin")["in_ns"]) == {stamp}


def test_frames_that_are_no_frames_or_too_long_are_counted(wires: list[Path], tmp_path: Path) -> None:
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), between(tmp_path, *wires[:2]) as netbox:
        left.send(bytes(13), bytes(1519), b"", udp(1, 2))
        assert right.expect(1) == [udp(1, 2)]
        port = netbox.end()["ports"][0]
    assert (port["received"], port["malformed"], port["oversize_drops"]) == (4, 2, 1)


def test_a_far_end_that_takes_nothing_costs_only_the_frames_that_find_no_room(wires: list[Path], tmp_path: Path) -> None:
    room = CAPACITY // (16 + 1008)
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), between(tmp_path, *wires[:2]) as netbox:
        frames = [udp(1, 2, 966, identification=number) for number in range(room + 10)]
        for frame in frames:
            wait_for(lambda frame=frame: left.send(frame) == 1)  # type: ignore[misc]
        wait_for(lambda: netbox.call("statistics")["ports"][1]["send_drops"] == 10)
        assert right.expect(room) == frames[:room]
        left.send(udp(1, 2))
        assert right.expect(1) == [udp(1, 2)]
        assert netbox.end()["frames"]["lost"]["unknown"] == 10


def test_what_the_netbox_does_not_take_in_time_is_counted(wires: list[Path], tmp_path: Path) -> None:
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), between(tmp_path, *wires[:2]) as netbox:
        netbox.process.send_signal(signal.SIGSTOP)
        taken = left.send(*[udp(1, 2, 1000)] * 100)
        netbox.process.send_signal(signal.SIGCONT)
        wait_for(lambda: netbox.call("statistics")["ports"][0]["received"] == 100)
        port = netbox.end()["ports"][0]
        assert len(right.received()) == 100 - port["overload_drops"]
    # Besides those that found no room, the netbox drops itself what has waited for too long.
    assert taken < 100 and port["overload_drops"] >= 100 - taken


def test_it_says_what_kind_of_port_it_has(wires: list[Path], tmp_path: Path) -> None:
    with between(tmp_path, *wires[:2]) as netbox:
        port = netbox.call("status")["ports"][0]
    assert (port["kind"], port["wire"], port["capacity_bytes"], port["ring_resets"]) == ("memory", str(wires[0]), CAPACITY, 0)


def test_nonsense_in_a_ring_is_counted_and_passed_over(wires: list[Path], tmp_path: Path) -> None:
    chance = random.Random(3)
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), between(tmp_path, *wires[:2]) as netbox:
        for _ in range(200):
            left.spoil(chance)
        wait_for(lambda: netbox.call("status")["ports"][0]["ring_resets"] > 0)
        assert idles(netbox)
        wait_for(lambda: left.send(udp(1, 2)) == 1 and udp(1, 2) in [frame for _, frame in right.received()])
        netbox.end()


def test_a_wire_that_is_not_there_or_in_use_is_named(wires: list[Path], tmp_path: Path) -> None:
    with between(tmp_path / "x", tmp_path / "nowhere", wires[1]) as netbox:
        status, message = netbox.ended()
        assert status == 2
        assert f"port a: cannot open the bell {tmp_path}/nowhere/right.bell: No such file" in message
    with between(tmp_path / "one", *wires[:2]), between(tmp_path / "two", wires[2], wires[1]) as second:
        status, message = second.ended()
        assert status == 2
        assert f"port b: another process holds this end of the wire ({wires[1]}/left.bell)" in message


@contextmanager
def chain(wires: list[Path], folder: Path) -> Iterator[tuple[WireEnd, ExitStack, RunningNetbox, WireEnd]]:
    """left end – netbox – netbox – right end. The second netbox is in the stack, so that it can be killed and replaced."""
    with (
        wire_ends((wires[0], "left"), (wires[2], "right")) as (left, right),
        between(folder / "first", wires[0], wires[1]) as first,
        ExitStack() as second,
    ):
        second.enter_context(between(folder / "second", wires[1], wires[2]))
        yield left, second, first, right


def send_drops(netbox: RunningNetbox) -> int:
    dropped: int = netbox.call("statistics")["ports"][1]["send_drops"]
    return dropped


def passes(sender: WireEnd, receiver: WireEnd, number: int) -> bool:
    frame = udp(1, 2, identification=number)
    sender.send(frame)
    return receiver.expect(1) == [frame]


def test_a_netbox_that_is_killed_leaves_its_neighbour_running_and_finds_it_again(wires: list[Path], tmp_path: Path) -> None:
    with chain(wires, tmp_path) as (left, second, first, right):
        assert passes(left, right, 1)
        for restart in range(3):
            second.close()  # kill -9
            # Asleep or not when it died, its ring fills up, and what comes then is lost and counted.
            dropped = send_drops(first)
            frames = 2 * CAPACITY // 1024
            for number in range(frames):
                left.send(udp(1, 2, 1000, identification=number))
                time.sleep(0.0001)
            wait_for(lambda so_far=dropped: send_drops(first) > so_far)  # type: ignore[misc]
            assert idles(first)
            (tmp_path / "second/control.sock").unlink()
            second.enter_context(between(tmp_path / "second", wires[1], wires[2]))
            assert passes(left, right, 2 + restart), "what was in the ring is old, and must not come out"
            assert passes(right, left, 2 + restart)
        assert idles(first)
        first.end()
