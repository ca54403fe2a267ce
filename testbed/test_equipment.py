# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs with real equipment: interfaces of a made host that become a node's, and are given back as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.lab import Lab
from testbed.plan import Plan, RealtimeSupport
from testbed.resolve import resolve
from testbed.test_topology import load_text
from tests.own_interfaces import OwnInterfaces, checked, own_interfaces

pytestmark = pytest.mark.lab

TOPOLOGY = """\
name: real
hosts:
  a: {address: [10.0.0.1/24, fd00::1/64]}
  b: {address: 10.1.0.1/24}
  c: {address: 10.2.0.1/24}
netboxes:
  cell:
    technology: ethernet
    medium: switched
    stations: {one: {}, other: {}}
    rate: 100 Mbit/s
equipment:
  phone: {nic: eth2, take_addresses: true}
  modem: {nic: eth3}
  pc: {macvlan: {of: eth4}}
wires:
  - [a, phone]
  - [b, cell.one]
  - [cell.other, modem]
  - [c, pc]
"""


@pytest.fixture
def interfaces() -> Iterator[OwnInterfaces]:
    with own_interfaces(("eth2", "eth3", "eth4")) as made:
        made.run("ip", "link", "set", "eth4", "up")
        yield made


def planned(tmp_path: Path, text: str = TOPOLOGY) -> Plan:
    lab = f"e{os.getpid()}"
    return resolve(load_text(tmp_path, text), lab=lab, realtime=RealtimeSupport(False, None, "not tried"))


def pings(lab: Lab, node: str, address: str) -> bool:
    return lab.run(node, ["ping", "-c", "1", "-W", "5", address]).returncode == 0


def test_equipment_is_reached_without_anything_between_and_given_back_as_it_was(
    interfaces: OwnInterfaces, nothing_left: None, tmp_path: Path
) -> None:
    for line in ("link set eth2 up mtu 1400 promisc on", "address add 192.0.2.1/24 dev eth2", "link set eth3 txqueuelen 5"):
        interfaces.run("ip", *line.split())
    interfaces.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.9", "table", "77")
    for name, address in (("eth2", "10.0.0.9/24"), ("eth2", "fd00::9/64"), ("eth3", "10.1.0.9/24"), ("eth4", "10.2.0.9/24")):
        checked(interfaces.outside[name], "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0")
        checked(interfaces.outside[name], "ip", "address", "add", address, "dev", "far", *(["nodad"] if ":" in address else []))
    before = interfaces.state()
    with interfaces.host.inside(), Lab.up_and_ready(planned(tmp_path)) as lab:
        assert pings(lab, "a", "10.0.0.9") and pings(lab, "a", "fd00::9")
        assert pings(lab, "b", "10.1.0.9")
        assert pings(lab, "c", "10.2.0.9")
        shown = lab.run("a", ["ip", "-br", "link", "show", "eth0"]).stdout
        assert checked(interfaces.host, "cat", "/sys/class/net/eth4/address") not in shown
    interfaces.becomes(before)
