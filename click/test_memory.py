# SPDX-License-Identifier: GPL-2.0-or-later
"""Routers on memory wires: no root, no network."""

from __future__ import annotations

import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from netboxes.engine.real import DEADLINE_S, cpu_s, running_netbox
from netboxes.engine.virtual import udp, vlan
from netboxes.engine.wire_end import WireEnd, wire_ends
from system import rings
from testbed.nodes import routers
from tests.click_lab import counted
from tests.memory_router import BRIDGE, CAPACITY, command, router
from tests.namespaces import wait_for


def statistics(process: subprocess.Popen[bytes], folder: Path) -> dict[str, dict[str, int]]:
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_S) == 0
    return counted(folder)


def passes(sender: WireEnd, receiver: WireEnd, *frames: bytes) -> bool:
    return sender.send(*frames) == len(frames) and receiver.expect(len(frames)) == list(frames)


def test_a_textbook_bridge_passes_frames_unchanged_and_counts_them(wires: list[Path], tmp_path: Path) -> None:
    frames = [udp(1, 2), vlan(udp(1, 2, 300), 7), udp(1, 2, 1472), *(udp(1, 2, 60, identification=n) for n in range(100))]
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), router(wires, tmp_path) as process:
        before = time.time_ns()
        left.send(*frames)
        arrived: list[tuple[int, bytes]] = []
        wait_for(lambda: arrived.extend(right.received()) is None and len(arrived) == len(frames), "the frames")
        assert [frame for _, frame in arrived] == frames
        assert all(before <= stamp <= time.time_ns() for stamp, _ in arrived)
        assert passes(right, left, *frames[:3])
        counted = statistics(process, tmp_path)
    assert counted["ian"] | {"sent": 0} == {
        "received": len(frames),
        "sent": 0,
        "overload_drops": 0,
        "oversize_drops": 0,
        "malformed": 0,
        "send_drops": 0,
        "policed": 0,
    }
    assert counted["jan"]["sent"] == len(frames) and counted["ian"]["sent"] == counted["jan"]["received"] == 3


def test_frames_that_are_no_frames_or_find_no_room_are_counted(wires: list[Path], tmp_path: Path) -> None:
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), router(wires, tmp_path) as process:
        assert left.send(bytes(13), bytes(8193), udp(1, 2)) == 3
        assert right.expect(1) == [udp(1, 2)]
        process.send_signal(signal.SIGSTOP)
        taken = left.send(*[udp(1, 2, 966)] * 100)
        process.send_signal(signal.SIGCONT)
        assert taken < 100 and len(right.expect(taken)) == taken
        for _ in range(80):  # the right end has room for 64 at most
            left.send(udp(1, 2, 966))
            wait_for(lambda: left.unread() == 0, "the router")
        counted = statistics(process, tmp_path)
        sent = counted["jan"]["sent"] - taken - 1
        assert len(right.received()) == sent
    ian, jan = counted["ian"], counted["jan"]
    assert (ian["malformed"], ian["oversize_drops"], ian["overload_drops"]) == (1, 1, 100 - taken)
    assert sent + jan["send_drops"] == 80 and jan["send_drops"] >= 16


def test_an_idle_router_takes_no_time_of_the_processor(wires: list[Path], tmp_path: Path) -> None:
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right), router(wires, tmp_path) as process:
        assert passes(left, right, udp(1, 2))
        before, began = cpu_s(process), time.monotonic()
        time.sleep(0.3)
        assert cpu_s(process) - before < 0.3 * (time.monotonic() - began)


def test_a_router_that_is_killed_and_started_again_goes_on_with_what_comes_then(wires: list[Path], tmp_path: Path) -> None:
    with wire_ends((wires[0], "left"), (wires[1], "right")) as (left, right):
        for number in range(3):
            with router(wires, tmp_path):
                assert passes(left, right, udp(1, 2, identification=number))
                assert passes(right, left, udp(2, 1, identification=number))
            left.send(*[udp(1, 2, 1000)] * 100)  # more than has room, and old when the router is back


def test_netboxes_and_a_router_work_in_a_chain(wires: list[Path], tmp_path: Path) -> None:
    outer = [rings.create("lab", name, CAPACITY) for name in ("outer-left", "outer-right")]
    chains = [(outer[0], "right", wires[0], "left"), (wires[1], "right", outer[1], "left")]
    with wire_ends((outer[0], "left"), (outer[1], "right")) as (left, right), router(wires, tmp_path) as process:
        folders = [tmp_path / "first", tmp_path / "second"]
        netboxes = []
        for folder, (a, a_end, b, b_end) in zip(folders, chains, strict=True):
            folder.mkdir()
            ends = {"a": (a, a_end), "b": (b, b_end)}
            stations = [{"name": s, "port": {"kind": "memory", "wire": str(w), "end": e}} for s, (w, e) in ends.items()]
            netboxes.append(running_netbox(folder, "loopwire", stations=stations))
        with netboxes[0] as first, netboxes[1] as second:
            wait_for(lambda: all((folder / "control.sock").exists() for folder in folders), "the netboxes")
            assert passes(left, right, *(udp(1, 2, identification=number) for number in range(50)))
            assert passes(right, left, *(udp(2, 1, identification=number) for number in range(50)))
            for netbox in (first, second):
                assert netbox.end()["frames"]["delivered"] == 100
        assert statistics(process, tmp_path)["ian"]["received"] == 50


def test_an_interfaces_address_is_that_of_its_variable(wires: list[Path], tmp_path: Path) -> None:
    text = "FromDevice(ian) -> ARPResponder(10.0.0.1 ian:eth) -> Queue -> ToDevice(ian); FromDevice(jan) -> Discard;"
    request = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + bytes(6) + bytes([10, 0, 0, 2]) + bytes(6) + bytes([10, 0, 0, 1])
    address = "02:00:00:00:0a:01"
    with wire_ends((wires[0], "left")) as (left,), router(wires, tmp_path, text, f"--define=IAN_ETH={address}"):
        left.send(bytes(12) + b"\x08\x06" + request)
        assert left.expect(1)[0][22:28] == bytes.fromhex(address.replace(":", ""))


@pytest.mark.parametrize("wrong", ["ian", "ian=/x", "ian=/x:top", "=/x:left", "ian=:left"])
def test_a_memory_option_that_makes_no_sense_is_refused(wrong: str) -> None:
    ran = subprocess.run([str(routers.EXECUTABLE), "--memory", wrong, "x.click"], capture_output=True, text=True)
    assert ran.returncode == 2
    assert f"--memory takes NAME=FOLDER:left or NAME=FOLDER:right, not '{wrong}'" in ran.stderr


def test_a_wire_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    ran = subprocess.run(command([nowhere, nowhere], tmp_path, BRIDGE), capture_output=True, text=True)
    assert ran.returncode == 1
    assert f"interface 'ian': cannot open the bell {nowhere}/right.bell" in ran.stderr
