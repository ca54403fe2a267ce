# SPDX-License-Identifier: GPL-2.0-or-later
"""Equipment at the ports of programs that have their interfaces open: a Click router, a switch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from system.realtime_support import realtime_support
from testbed.changing import attaching
from testbed.changing.attaching import Wanted
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file
from tests.own_interfaces import OwnInterfaces, checked, own_interfaces
from tests.waiting import until

pytestmark = pytest.mark.lab

TOPOLOGY = f"""\
name: plugs
hosts:
  left: {{address: 10.0.0.2/24, gateway: 10.0.0.1}}
  right: {{address: 10.1.0.2/24, gateway: 10.1.0.1}}
  far: {{address: 10.1.0.3/24, gateway: 10.1.0.1}}
  other: {{address: 10.2.0.4/24}}
routers:
  way:
    configuration: {CHECKOUT}/click/ip-router.click
    interfaces: {{a: 10.0.0.1/24, b: 10.1.0.1/24}}
switches:
  floor:
    ports: {{up: {{vlan: 5}}, right: {{vlan: 5, limit: 20 Mbit/s}}, far: {{vlan: 5, police: 50 Mbit/s}}, other: {{vlan: 6}}}}
wires:
  - [left, way.a]
  - [way.b, floor.up]
  - [right, floor.right]
  - [far, floor.far]
  - [other, floor.other]
"""
NIC = Wanted("nic", "eth2")


@pytest.fixture
def interfaces() -> Iterator[OwnInterfaces]:
    with own_interfaces(["eth2"]) as found:
        found.run("ip", "link", "set", "eth2", "up", "mtu", "1400")
        yield found


@pytest.fixture
def lab(interfaces: OwnInterfaces, nothing_left: None, tmp_path: Path) -> Iterator[Lab]:
    file = tmp_path / "network.yaml"
    file.write_text(TOPOLOGY)
    plan = plan_file(file, lab=f"plugs-{os.getpid()}", realtime=realtime_support())
    with interfaces.host.inside(), Lab.up_and_ready(plan) as found:
        yield found


def pings(lab: Lab, node: str, address: str) -> bool:
    return lab.run(node, ["ping", "-c", "1", "-W", "5", address]).returncode == 0


def test_a_nic_at_a_click_router_and_the_wire_again(lab: Lab, interfaces: OwnInterfaces) -> None:
    outside = interfaces.outside["eth2"]
    checked(outside, "ip", "address", "add", "10.0.0.7/24", "dev", "far")
    checked(outside, "ip", "route", "add", "default", "via", "10.0.0.1")
    before = interfaces.state()
    assert pings(lab, "left", "10.1.0.2")
    for _ in range(2):
        attaching.attach(lab, NIC, "way.a")
        assert outside.run("ping", "-c", "1", "-W", "5", "10.1.0.2").returncode == 0
        assert lab.run("left", ["ping", "-c", "1", "-W", "1", "10.1.0.2"]).returncode != 0
        _, notes = attaching.detach(Lab.open(lab.name), "eth2")
        assert notes == []
        interfaces.becomes(before)
        assert pings(lab, "left", "10.1.0.2")
    assert all(lab.alive().values())


def test_a_nic_at_a_switch_has_the_vlan_of_its_port_and_no_other_port_is_disturbed(
    lab: Lab, interfaces: OwnInterfaces, tmp_path: Path
) -> None:
    outside = interfaces.outside["eth2"]
    for address in ("10.1.0.7/24", "10.2.0.7/24"):
        checked(outside, "ip", "address", "add", address, "dev", "far")
    before = interfaces.state()
    assert pings(lab, "left", "10.1.0.3")
    steady = lab.start("left", ["ping", "-i", "0.01", "-c", "400", "-q", "10.1.0.2"], log=tmp_path / "steady")
    for _ in range(2):
        attaching.attach(lab, NIC, "floor.far")
        until(lambda: outside.run("ping", "-c", "1", "-W", "1", "10.1.0.2").returncode == 0, "the NIC is in its VLAN")
        assert outside.run("ping", "-c", "1", "-W", "1", "10.2.0.4").returncode != 0
        assert lab.run("left", ["ping", "-c", "1", "-W", "1", "10.1.0.3"]).returncode != 0
        _, notes = attaching.detach(Lab.open(lab.name), "eth2")
        assert notes == []
        interfaces.becomes(before)
        until(lambda: pings(lab, "left", "10.1.0.3"), "the wire is plugged in again")
    assert steady.wait(60) == 0
    assert " 0% packet loss" in (tmp_path / "steady").read_text()
    assert all(lab.alive().values())


def test_at_the_address_of_a_click_router_nobody_else_answers(lab: Lab) -> None:
    told = lab.run("left", ["ping", "-c", "3", "-i", "0.1", "-W", "5", "10.0.0.1"]).stdout
    assert "3 received, 0% packet loss" in told, told
