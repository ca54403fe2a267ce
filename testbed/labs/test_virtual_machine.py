# SPDX-License-Identifier: GPL-2.0-or-later
"""A real virtual machine as the equipment of a lab: QEMU at a tap, started as its user would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.plan import RealtimeSupport
from testbed.description.test_topology import load_text
from testbed.labs.lab import Lab
from testbed.plans.resolve import resolve
from tests.own_interfaces import own_interfaces
from tests.virtual_machine import VirtualMachine

TOPOLOGY = """\
name: machine
hosts:
  a: {address: 10.0.0.1/24}
netboxes:
  link:
    technology: link
    stations: {left: {}, right: {}}
    rate: 50 Mbit/s
    delay: 2 ms
equipment:
  machine: {tap: vm1, address: 10.0.0.9/24}
wires:
  - [a, link.left]
  - [link.right, machine]
"""

#: It answers pings, takes a stream, sends one, and says how much of the first it had.
GUEST = """\
ip link set lo up
ip address add 10.0.0.9/24 dev eth0
ip link set eth0 up
echo ready
ping -c 1 -W 10 10.0.0.1 >/dev/null && echo pinged
nc -l -p 7000 | wc -c | sed 's/^/received /'
dd if=/dev/zero bs=1000 count=500 2>/dev/null | nc 10.0.0.1 7001
echo over
sleep 600
"""

TAKES = """\
import socket
at = socket.create_server(("10.0.0.1", 7001))
with socket.create_connection(("10.0.0.9", 7000)) as to:
    to.sendall(bytes(500_000))
peer, total = at.accept()[0], 0
while got := peer.recv(65536):
    total += len(got)
print(total)
"""


@pytest.mark.lab
@pytest.mark.long
def test_a_virtual_machine_is_pinged_and_carries_streams_through_a_netbox(nothing_left: None, tmp_path: Path) -> None:
    with own_interfaces([]) as interfaces:
        plan = resolve(load_text(tmp_path, TOPOLOGY), lab=f"m{os.getpid()}", realtime=RealtimeSupport(False, None, "not tried"))
        before = interfaces.state()
        machine = VirtualMachine(tmp_path, interfaces.host, "vm1", GUEST)
        with interfaces.host.inside(), Lab.up_and_ready(plan) as lab, machine:
            machine.says("ready")
            machine.says("pinged")
            assert lab.run("a", ["ping", "-c", "1", "-W", "10", "10.0.0.9"]).returncode == 0
            taken = lab.run("a", ["/usr/bin/python3", "-c", TAKES])
            assert taken.stdout == "500000\n", taken.stderr
            machine.says("received 500000")
            machine.says("over")
            with lab.control("link") as control:
                ports = {port["name"]: port for port in control.statistics()["ports"]}
            assert all(port["oversize_drops"] == port["checksums_missing"] == 0 for port in ports.values())
        interfaces.becomes(before)
