# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox whose frames go in and out by a thread on a core of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from netboxes.engine.real import RunningNetbox, running_netbox, wait_for
from netboxes.engine.virtual import ethernet, mac, udp, vlan
from results import records
from tests.two_hosts import Lab, ip

pytestmark = pytest.mark.lab

IO_CORE = max(os.sched_getaffinity(0))


@contextmanager
def netbox(lab: Lab, folder: Path, kind: str = "packet", core: int = IO_CORE) -> Iterator[RunningNetbox]:
    for port in "ab":
        lab.raise_port(port)
    more = {"fallback": False} if kind == "xdp" else {}
    stations = [{"name": name, "port": {"kind": kind, "interface": name, **more}} for name in "ab"]
    inside = ("ip", "netns", "exec", lab.netbox)
    with running_netbox(folder, "loopwire", inside=inside, stations=stations, realtime={"io_core": core}) as running:
        yield running


@contextmanager
def ready_netbox(lab: Lab, folder: Path, kind: str = "packet") -> Iterator[RunningNetbox]:
    with netbox(lab, folder, kind) as running:
        wait_for((folder / "control.sock").exists)
        yield running


@pytest.mark.parametrize("kind", ["packet", "xdp"])
def test_frames_pass_unchanged_and_are_counted(lab: Lab, tmp_path: Path, kind: str) -> None:
    frames = [udp(1, 2, 60 + number % 1400) for number in range(500)]
    with ready_netbox(lab, tmp_path, kind) as running, lab.packet_socket(0) as sender, lab.packet_socket(1) as receiver:
        ports = running.call("status")["ports"]
        assert [(port["kind"], port["io_core"]) for port in ports] == [(kind, IO_CORE)] * 2
        for first in range(0, len(frames), 50):
            burst = frames[first : first + 50]
            for frame in burst:
                sender.send(frame)
            assert [receiver.recv(2048) for _ in burst] == burst
        sender.send(vlan(udp(1, 2, 1468), 7))
        receiver.recv(2048)
        statistics = running.end()
    inward, outward = statistics["ports"]
    assert (inward["received"], outward["sent"]) == (len(frames) + 1, len(frames) + 1)
    assert sum(port[key] for port in (inward, outward) for key in ("overload_drops", "send_drops", "oversize_drops")) == 0
    rows = records.read(tmp_path / "frames.bin")
    assert (rows["in_ns"] > 0).all()


def test_the_simulation_keeps_off_the_core_of_its_frames(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running:
        tasks = [int(task.name) for task in Path(f"/proc/{running.process.pid}/task").iterdir()]
        names = {(Path("/proc") / str(task) / "comm").read_text().strip(): os.sched_getaffinity(task) for task in tasks}
        running.end()
    assert names["io"] == {IO_CORE}
    simulation = names["netbox-loopwire"]
    assert IO_CORE not in simulation or simulation == {IO_CORE}


def test_a_wire_that_goes_down_and_comes_back_costs_only_its_frames(lab: Lab, tmp_path: Path) -> None:
    with ready_netbox(lab, tmp_path) as running, lab.packet_socket(0) as sender:
        ip("-n", lab.netbox, "link", "set", "dev", "b", "down")
        sender.send(udp(1, 2))
        wait_for(lambda: running.call("statistics")["ports"][1]["send_drops"] == 1)
        lab.raise_port("b")
        with lab.packet_socket(1) as receiver:
            sender.send(ethernet(mac(1), mac(2), 0x0800, b"\x45" + bytes(45)))
            assert receiver.recv(2048) == ethernet(mac(1), mac(2), 0x0800, b"\x45" + bytes(45))
        running.end()


def test_a_core_that_it_may_not_use_is_named(lab: Lab, tmp_path: Path) -> None:
    with netbox(lab, tmp_path, core=1000) as running:
        status, message = running.ended()
    assert status == 2
    assert "realtime.io_core: cannot run a thread on core 1000" in message
