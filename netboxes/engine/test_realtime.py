# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine in real time between two network namespaces, around a segment that only delays (netboxes/engine/testing)."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netboxes.engine.real import DEADLINE_S, RunningNetbox, running_netbox, wait_for
from netboxes.engine.test_virtual import LIVE
from netboxes.engine.virtual import BROADCAST, ethernet, mac, udp, vlan
from results import records
from tests.two_hosts import Lab, ip

pytestmark = pytest.mark.lab

DELAY = 0.02


@contextmanager
def netbox(lab: Lab, folder: Path, **changes: Any) -> Iterator[RunningNetbox]:
    stations = [{"name": port, "port": {"kind": "packet", "interface": port}} for port in "ab"]
    settings = {"stations": stations, "parameters": {"delay": DELAY}, "live": LIVE, **changes}
    with running_netbox(folder, "loopwire", inside=("ip", "netns", "exec", lab.netbox), **settings) as running:
        yield running


@contextmanager
def ready_netbox(lab: Lab, folder: Path, **changes: Any) -> Iterator[RunningNetbox]:
    for port in "ab":
        lab.raise_port(port)
    with netbox(lab, folder, **changes) as running:
        wait_for((folder / "control.sock").exists)
        yield running


def test_hosts_reach_each_other_after_the_delay_and_every_frame_is_recorded(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running:
        ping = ("ip", "netns", "exec", lab.hosts[0], "ping", "-c", "10", "-i", "0.05", "10.9.0.2")
        shown = subprocess.run(ping, check=True, capture_output=True, text=True).stdout
        assert float(shown.split(" = ")[1].split("/")[0]) >= 2 * DELAY * 1000
        assert running.call("status")["ready"] is True
        statistics = running.end()
    rows = records.read(tmp_path / "frames.bin")
    assert len(rows) == statistics["frames"]["delivered"] >= 22  # 2 of ARP, 20 of ping
    assert statistics["records"] == {"written": len(rows), "dropped": 0}
    assert np.all(rows["out_ns"] - rows["in_ns"] >= int(DELAY * 1e9))
    assert np.all(rows["in_ns"] > 0)
    assert abs(int(rows["out_ns"][-1]) - time.time_ns()) < DEADLINE_S * 1e9


def test_frames_computed_before_their_time_wait_for_it(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path, parameters={"delay": DELAY, "lead": DELAY / 2, "tick": 0.001}) as running:
        ping = ("ip", "netns", "exec", lab.hosts[0], "ping", "-c", "10", "-i", "0.003", "10.9.0.2")
        subprocess.run(ping, check=True, capture_output=True)
        running.end()
    rows = records.read(tmp_path / "frames.bin")
    assert len(rows) >= 22
    assert np.all(rows["out_ns"] - rows["in_ns"] >= int(DELAY * 1e9))
    assert np.all(rows["lateness_ns"] >= 0)


def test_frames_of_every_kind_pass_unchanged(lab: Lab, tmp_path: Path) -> None:
    frames = [
        vlan(udp(1, 2, 300), 100, 5),
        vlan(ethernet(mac(1), BROADCAST, 0x0806, bytes(46)), 0),
        vlan(vlan(udp(1, 2, 1468), 7), 8)[:1518],
        ethernet(mac(1), bytes.fromhex("0180c2000000"), 38, b"\x42\x42\x03" + bytes(43)),
        ethernet(mac(1), mac(2), 0x0800, b"\x45" + bytes(45)),
        udp(1, 2, 1452, version=6),
    ]
    with ready_netbox(lab, tmp_path) as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        for frame in frames:
            sender.send(frame)
        received = [receiver.recv(2048) for _ in frames]
        statistics = running.end()
    assert received == [stripped(frame) for frame in frames]
    assert statistics["frames"]["delivered"] == len(frames)
    lengths = records.read(tmp_path / "frames.bin")["length"]
    assert list(lengths) == [len(frame) for frame in frames]


def stripped(frame: bytes) -> bytes:
    """The frame as the kernel shows it to a plain packet socket: without its outer VLAN tag."""
    return frame[:12] + frame[16:] if frame[12:14] == b"\x81\x00" else frame


def test_live_parameters_change_over_the_control_socket(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        assert running.call("set", parameter="delay", value=0.2) == {"parameter": "delay", "value": 0.2}
        sender.send(udp(1, 2))
        receiver.recv(2048)
        refused = running.ask('{"jsonrpc":"2.0","id":2,"method":"set","params":{"parameter":"delay","value":99}}')
        assert refused["error"] == {"code": -32602, "message": "delay cannot be 99; it is a number from 0 to 10 s"}
        running.end()
    rows = records.read(tmp_path / "frames.bin")
    assert rows["out_ns"][0] - rows["in_ns"][0] >= 200_000_000


def test_reset_starts_the_statistics_of_lateness_and_of_the_segment_anew(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        before = time.time_ns() - round(running.call("status")["simulated_s"] * 1e9)
        assert running.call("statistics")["epoch_ns"] == pytest.approx(before, abs=DEADLINE_S * 1e9)
        sender.send(udp(1, 2))
        receiver.recv(2048)
        assert running.call("statistics")["segment"]["bytes"] > 0
        running.call("reset")
        statistics = running.call("statistics")
        assert (statistics["segment"]["bytes"], statistics["lateness_us"]["frame"]["count"]) == (0, 0)
        running.end()


def test_the_control_socket_survives_rude_clients(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running:
        with running.connect() as rude, running.connect() as silent:
            silent.sendall(b'{"jsonrpc"')
            rude.sendall(b"x" * 70_000)
            assert "longer than 64 KiB" in rude.makefile().readline()
        with running.connect() as deaf:
            deaf.sendall(b'{"jsonrpc":"2.0","id":1,"method":"statistics"}\n' * 100)
        assert running.ask("nonsense")["error"]["code"] == -32700
        assert running.ask('{"jsonrpc":"2.0","id":1,"method":"dance"}')["error"]["code"] == -32601
        assert running.call("reset") == {}
        running.end()
    assert not (tmp_path / "control.sock").exists()


def test_an_interface_that_comes_late_is_waited_for(lab: Lab, tmp_path: Path) -> None:
    with netbox(lab, tmp_path) as running:
        for port in "ab":
            lab.raise_port(port)
        wait_for((tmp_path / "control.sock").exists)
        assert [port["interface"] for port in running.call("status")["ports"]] == ["a", "b"]


def test_while_it_waits_for_an_interface_it_can_be_ended(lab: Lab, tmp_path: Path) -> None:
    with netbox(lab, tmp_path) as running:
        status = Path(f"/proc/{running.process.pid}/status")
        terminate_blocked = 1 << (signal.SIGTERM - 1)
        wait_for(lambda: int(status.read_text().split("SigBlk:")[1].split()[0], 16) & terminate_blocked != 0)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(DEADLINE_S) == 0


def test_a_wire_that_goes_down_and_comes_back_costs_only_its_frames(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running, lab.packet_socket(0) as sender:
        ip("-n", lab.netbox, "link", "set", "dev", "b", "down")
        sender.send(udp(1, 2))
        wait_for(lambda: running.call("statistics")["ports"][1]["send_drops"] == 1)
        lab.raise_port("b")
        with lab.packet_socket(1) as receiver:
            sender.send(udp(1, 2))
            assert receiver.recv(2048) == udp(1, 2)
        statistics = running.end()
    assert statistics["frames"]["lost"]["unknown"] == 1


def test_with_policy_abort_a_miss_ends_it_with_status_3(lab: Lab, tmp_path: Path) -> None:
    # No machine runs an event at the very nanosecond.
    realtime = {"limit_us": 0, "policy": "abort", "priority": 0}
    with netbox(lab, tmp_path, parameters={"tick": 0.001}, realtime=realtime) as running:
        for port in "ab":
            lab.raise_port(port)
        assert running.process.wait(DEADLINE_S) == 3
        assert running.process.stderr is not None
        assert re.search(r"policy abort: an event due at .* us late, and the limit is 0 us", running.process.stderr.read())
    assert json.loads((tmp_path / "statistics.json").read_text())["missed"] >= 1


def test_without_rights_it_says_what_it_runs_without(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path, realtime={"runtime_us": 0}) as running:
        scheduler = running.call("status")["scheduler"]
    assert scheduler["policy"] == "other"
    assert "no real-time CPU time" in scheduler["reasons"][0]
