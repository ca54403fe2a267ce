# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports by AF_XDP, on veth pairs."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.real import RunningNetbox, running_netbox, wait_for
from netboxes.engine.virtual import BROADCAST, ethernet, mac, udp, vlan
from results import records
from tests.two_hosts import Lab, ip

pytestmark = pytest.mark.lab


def stations(*interfaces: str, fallback: bool = False) -> list[dict[str, Any]]:
    return [{"name": name, "port": {"kind": "xdp", "interface": name, "fallback": fallback}} for name in interfaces]


@contextmanager
def netbox(lab: Lab, folder: Path, *interfaces: str, fallback: bool = False) -> Iterator[RunningNetbox]:
    for port in "ab":
        lab.raise_port(port)
    inside = ("ip", "netns", "exec", lab.netbox)
    with running_netbox(folder, "loopwire", inside=inside, stations=stations(*interfaces, fallback=fallback)) as running:
        yield running


@contextmanager
def ready_netbox(lab: Lab, folder: Path, *interfaces: str, fallback: bool = False) -> Iterator[RunningNetbox]:
    with netbox(lab, folder, *interfaces, fallback=fallback) as running:
        wait_for((folder / "control.sock").exists)
        yield running


def program_at(lab: Lab, interface: str) -> bool:
    shown = subprocess.run(
        ["ip", "-n", lab.netbox, "-j", "link", "show", "dev", interface], check=True, capture_output=True, text=True
    ).stdout
    return "xdp" in json.loads(shown)[0]


def test_frames_of_every_kind_and_length_pass_unchanged_with_the_time_of_their_arrival(lab: Lab, tmp_path: Path) -> None:
    frames = [
        vlan(udp(1, 2, 300), 100, 5),
        vlan(ethernet(mac(1), BROADCAST, 0x0806, bytes(46)), 0),
        ethernet(mac(1), bytes.fromhex("0180c2000000"), 38, b"\x42\x42\x03" + bytes(43)),
        *(ethernet(mac(1), mac(2), 0x0800, b"\x45" + bytes(length - 15)) for length in (60, 61, 777, 1514)),
        ethernet(mac(1), mac(2), 0x0800, b"\x45"),
        udp(1, 2, 1452, version=6),
    ]
    begun = time.time_ns()
    with ready_netbox(lab, tmp_path, "a", "b") as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        assert [port["kind"] for port in running.call("status")["ports"]] == ["xdp", "xdp"]
        for frame in frames:
            sender.send(frame)
        received = [receiver.recv(2048) for _ in frames]
        statistics = running.end()
    # A plain packet socket is shown frames without their outer VLAN tag.
    assert received == [frame[:12] + frame[16:] if frame[12:14] == b"\x81\x00" else frame for frame in frames]
    assert statistics["frames"]["delivered"] == len(frames)
    rows = records.read(tmp_path / "frames.bin")
    assert list(rows["length"]) == [len(frame) for frame in frames]
    assert begun < rows["in_ns"][0] <= rows["out_ns"][0] < time.time_ns()


def test_more_frames_than_its_memory_holds_pass_one_after_the_other(lab: Lab, tmp_path: Path) -> None:
    rounds, burst = 110, 50
    with ready_netbox(lab, tmp_path, "a", "b") as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        for number in range(rounds):
            frames = [udp(1, 2, 60 + (number * burst + place) % 1000) for place in range(burst)]
            for frame in frames:
                sender.send(frame)
            assert [receiver.recv(2048) for _ in frames] == frames
        statistics = running.end()
    assert statistics["ports"][0]["received"] == statistics["ports"][1]["sent"] == rounds * burst


def test_frames_longer_than_the_wire_takes_are_refused_and_counted(lab: Lab, tmp_path: Path) -> None:
    for namespace, interface in ((lab.hosts[0], "eth0"), (lab.netbox, "a")):
        ip("-n", namespace, "link", "set", "dev", interface, "mtu", "3000")
    with ready_netbox(lab, tmp_path, "a", "b") as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        sender.send(ethernet(mac(1), mac(2), 0x0800, b"\x45" + bytes(1600)))
        sender.send(udp(1, 2))
        assert receiver.recv(4096) == udp(1, 2)
        statistics = running.end()
    assert statistics["ports"][1]["send_drops"] == statistics["frames"]["lost"]["unknown"] == 1


def test_what_nobody_receives_in_time_is_counted_as_dropped_for_overload(lab: Lab, tmp_path: Path) -> None:
    frames = 6000
    with ready_netbox(lab, tmp_path, "a", "b") as running, lab.packet_socket(0) as sender:
        running.stop()
        for _ in range(frames):
            sender.send(udp(1, 2))
        running.resume()
        wait_for(lambda: running.call("statistics")["ports"][0]["received"] == frames)
        assert running.call("statistics")["ports"][0]["overload_drops"] >= frames - 4096


def test_a_wire_that_goes_down_and_comes_back_costs_only_its_frames(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path, "a", "b") as running, lab.packet_socket(0) as sender:
        for namespace, interface in ((lab.netbox, "b"), (lab.hosts[1], "eth0")):
            before = running.call("statistics")["ports"][1]["send_drops"]
            ip("-n", namespace, "link", "set", "dev", interface, "down")
            sender.send(udp(1, 2))
            wait_for(lambda before=before: running.call("statistics")["ports"][1]["send_drops"] == before + 1)  # type: ignore[misc]
            ip("-n", namespace, "link", "set", "dev", interface, "up")
            with lab.packet_socket(1) as receiver:
                sender.send(udp(1, 2))
                assert receiver.recv(2048) == udp(1, 2)
        running.end()


def test_a_wire_that_is_removed_leaves_the_netbox_alive(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path, "a", "b") as running, lab.packet_socket(0) as sender:
        ip("-n", lab.netbox, "link", "del", "dev", "b")
        sender.send(udp(1, 2))
        wait_for(lambda: running.call("statistics")["ports"][1]["send_drops"] == 1)
        running.end()


def test_a_killed_netbox_leaves_no_program_behind_and_its_successor_starts(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path, "a", "b") as running:
        assert program_at(lab, "a")
        running.process.kill()
        running.process.wait()
        wait_for(lambda: not program_at(lab, "a") and not program_at(lab, "b"))
    (tmp_path / "control.sock").unlink()
    with ready_netbox(lab, tmp_path, "a", "b") as running:
        running.end()
    assert not program_at(lab, "a")


def test_once_its_ports_are_open_it_may_not_attach_programs_any_more(lab: Lab, tmp_path: Path) -> None:
    # CAP_NET_ADMIN and CAP_BPF are bits 12 and 39 of capabilities(7).
    with ready_netbox(lab, tmp_path, "a", "b") as running:
        status = Path(f"/proc/{running.process.pid}/status").read_text()
        for kind in ("CapEff", "CapPrm"):
            assert int(status.split(f"{kind}:")[1].split()[0], 16) & (1 << 12 | 1 << 39) == 0
        running.end()


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (("link", "set", "dev", "a", "mtu", "4000"), "an MTU of 4000 is too large for AF_XDP: at most 3822"),
        (("link", "set", "dev", "lo", "name", "renamed"), "an MTU of 65536 is too large"),
    ],
)
def test_where_it_cannot_be_had_it_says_why_and_a_packet_socket_takes_its_place(
    lab: Lab, tmp_path: Path, command: tuple[str, ...], cause: str
) -> None:
    ip("-n", lab.netbox, *command)
    first = command[3] if command[-1] == "4000" else command[-1]
    ip("-n", lab.netbox, "link", "set", "dev", first, "up")
    with netbox(lab, tmp_path, first, "b") as refused:
        status, message = refused.ended()
    assert status == 2
    assert cause in message
    with ready_netbox(lab, tmp_path, first, "b", fallback=True) as running:
        ports = running.call("status")["ports"]
        assert [port["kind"] for port in ports] == ["packet", "xdp"]
        assert cause in ports[0]["reason"]
        running.end()


def test_a_far_end_with_too_large_an_mtu_is_named(lab: Lab, tmp_path: Path) -> None:
    ip("-n", lab.hosts[0], "link", "set", "dev", "eth0", "mtu", "4000")
    with netbox(lab, tmp_path, "a", "b") as running:
        status, message = running.ended()
    assert status == 2
    assert "the MTU of the far end is too large for native XDP" in message


def test_an_interface_with_several_receive_queues_is_refused_with_the_remedy(lab: Lab, tmp_path: Path) -> None:
    subprocess.run(["ip", "netns", "exec", lab.netbox, "ethtool", "-L", "a", "rx", "2"], check=True, capture_output=True)
    with netbox(lab, tmp_path, "a", "b") as running:
        status, message = running.ended()
    assert status == 2
    assert "it has 2 receive queues and one is served; `ethtool -L a rx 1` leaves it one" in message
