# SPDX-License-Identifier: GPL-2.0-or-later
"""Wires between two machines, which are two network namespaces here: what crosses them, and what is left of them."""

from __future__ import annotations

import os
import re
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from contracts.names import mac_address
from contracts.plan import HostPlan, Plan, RealtimeSupport
from ownership.ledger import Ledger
from system import equipment, namespaces, wires
from testbed import plan_part
from testbed.description.test_topology import load_text
from testbed.labs import equipment_here
from testbed.labs.removal import undoers
from testbed.plans.resolve import resolve
from tests.namespaces import DEADLINE_S, Namespace, Tap, ethernet, join, wait_for
from tests.own_interfaces import allow_ipv6, checked

pytestmark = pytest.mark.lab

TOPOLOGY = """\
name: two
hosts:
  a: {address: [10.0.0.1/24, fd00::1/64]}
  b: {address: [10.0.0.2/24, fd00::2/64]}
wires: [[a, b]]
"""
ADDRESSES = {4: ("192.0.2.1", "192.0.2.2"), 6: ("2001:db8::1", "2001:db8::2")}
_EXPERIMENTAL = 0x88B5  # IEEE 802, 12.2.3: an EtherType for experiments
#: What a tunnel over each adds to the MTU of its wire (RFC 7348, 5).
ROOM = {4: 50, 6: 70}


def planned(tmp_path: Path, version: int = 4, vni: int = 4711) -> Plan:
    """One node on each of two machines."""
    plan = resolve(load_text(tmp_path, TOPOLOGY), lab=f"t{os.getpid()}", realtime=RealtimeSupport(False, None, "not tried"))
    alpha, beta = ADDRESSES[version]
    return replace(
        plan,
        nodes=tuple(replace(node, host={"a": "alpha", "b": "beta"}[node.name]) for node in plan.nodes),
        wires=tuple(replace(wire, kind="vxlan", vni=vni) for wire in plan.wires),
        hosts=(HostPlan("alpha", True, alpha, "under"), HostPlan("beta", False, beta, "under")),
    )


class Machine:
    """What takes its part of a plan, but for the containers."""

    def __init__(self, network: Namespace, plan: Plan, folder: Path) -> None:
        self.network, self.part, self.ledger = network, plan, Ledger(folder / f"ledger-{network.name}")

    def up(self) -> None:
        with self.network.inside():
            for node in self.part.nodes:
                namespaces.create([node.namespace])
                wires.prepare_namespace(node)
            equipment_here.check(self.part)
            equipment.take(self.part, self.part.equipment, self.ledger)
            for node in self.part.nodes:
                wires.configure(self.part, node)

    def down(self) -> None:
        with self.network.inside():
            self.ledger.undo(undoers(Path("/nonexistent"), []))
            for node in self.part.nodes:
                namespaces.delete(node.namespace)


@pytest.fixture
def underlay() -> Iterator[tuple[Namespace, Namespace]]:
    """Two machines' networks, with a cable that carries packets of 1570 bytes."""
    with ExitStack() as stack:
        left, right = (stack.enter_context(Namespace(role)) for role in ("alpha", "beta"))
        for space in (left, right):
            allow_ipv6(space)
        join(left, "under", "02:00:00:00:00:01", right, "under", "02:00:00:00:00:02", mtu=1570)
        for at, space in enumerate((left, right)):
            for version, length in ((4, 24), (6, 64)):
                checked(space, "ip", "address", "add", f"{ADDRESSES[version][at]}/{length}", "dev", "under")
        for space in (left, right):
            # The kernel makes it when it has noticed the carrier, up to a second later: the last thing that changes by itself.
            shown = partial(checked, space, "ip", "-6", "address", "show", "dev", "under", "scope", "link")
            wait_for(lambda shown=shown: "fe80::" in shown(), "the link-local address of the underlay")  # type: ignore[misc]
        yield left, right


def set_mtu(underlay: tuple[Namespace, Namespace], mtu: int) -> None:
    for space in underlay:
        checked(space, "ip", "link", "set", "under", "mtu", str(mtu))


def tag_of(tap: Tap, payload: bytes) -> int:
    """The VLAN of the frame with that payload, which the kernel tells apart from it (packet(7), PACKET_AUXDATA)."""
    tap.socket.setsockopt(263, 8, 1)  # SOL_PACKET
    while select.select([tap.socket], [], [], DEADLINE_S)[0]:
        frame, ((_, _, told), *_), *_ = tap.socket.recvmsg(65536, 256)
        if frame.endswith(payload):
            return int(struct.unpack("IIIHHHH", told)[5])
    raise AssertionError("no such frame came")


def in_node(plan: Plan, name: str) -> Namespace:
    space = Namespace(name)
    space.name = plan.node(name).namespace
    return space


@pytest.mark.parametrize("version", [4, 6])
def test_all_that_ethernet_carries_crosses_a_wire_between_machines_in_whole_frames(
    underlay: tuple[Namespace, Namespace], tmp_path: Path, version: int
) -> None:
    plan = planned(tmp_path, version)
    set_mtu(underlay, 1500 + ROOM[version] + 4)  # for the tag
    with ExitStack() as stack:
        for name, network in zip(("alpha", "beta"), underlay, strict=True):
            machine = Machine(network, plan_part.part(plan, name), tmp_path)
            stack.callback(machine.down)
            machine.up()
        a, b = in_node(plan, "a"), in_node(plan, "b")
        for far in ("10.0.0.2", "fd00::2"):  # by ARP and by neighbour solicitations
            assert a.run("ping", "-c", "1", "-W", "5", "-M", "do", "-s", "1452", far).returncode == 0
        with Tap(a, "eth0") as sender, Tap(b, "eth0") as receiver:
            near, far = (mac_address(plan.lab, node, "eth0") for node in ("a", "b"))
            for length in (46, 1500):
                sender.send(frame := ethernet(far, near, os.urandom(length), _EXPERIMENTAL))
                receiver.expect(lambda got, sent=frame: got == sent)  # type: ignore[misc]
            tagged = struct.pack("!HH", 5, _EXPERIMENTAL) + os.urandom(1500)
            sender.send(ethernet(far, near, tagged, 0x8100))
            assert tag_of(receiver, tagged[4:]) == 5
        shown = checked(a, "ip", "-d", "link", "show", "eth0")
        assert f"vxlan id 4711 remote {ADDRESSES[version][1]} local {ADDRESSES[version][0]}" in shown
        assert re.search(r"dstport 4789 .*nolearning", shown) and "ttl 64" in shown and " mtu 1500 " in shown
        assert wires.mark(plan.lab, plan.wires[0].name) in shown
        assert "eth0" not in checked(underlay[0], "ip", "link")


def test_a_wire_may_be_a_cable_between_two_machines_whose_ports_are_given_back(
    underlay: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    join(underlay[0], "eth2", "02:00:00:00:01:01", underlay[1], "eth3", "02:00:00:00:01:02", mtu=1600)
    for space, port in zip(underlay, ("eth2", "eth3"), strict=True):
        checked(space, "ip", "link", "set", port, "down")
    plan = planned(tmp_path)
    plan = replace(plan, wires=tuple(replace(wire, kind="port", vni=None, over=("eth2", "eth3")) for wire in plan.wires))
    with ExitStack() as stack:
        for name, network in zip(("alpha", "beta"), underlay, strict=True):
            machine = Machine(network, plan_part.part(plan, name), tmp_path)
            stack.callback(machine.down)
            machine.up()
        a = in_node(plan, "a")
        assert a.run("ping", "-c", "1", "-W", "5", "-M", "do", "-s", "1472", "10.0.0.2").returncode == 0
        assert "02:00:00:00:01:01" in checked(a, "ip", "link", "show", "eth0")
    for space, port, mac in zip(underlay, ("eth2", "eth3"), ("02:00:00:00:01:01", "02:00:00:00:01:02"), strict=True):
        shown = checked(space, "ip", "link", "show", port)
        assert " mtu 1600 " in shown and mac in shown and "DOWN" in shown and "altname" not in shown


def test_nothing_is_left_of_it(underlay: tuple[Namespace, Namespace], tmp_path: Path) -> None:
    before = [checked(space, "ip", "-d", "address") for space in underlay]
    machines = [
        Machine(one, plan_part.part(planned(tmp_path), name), tmp_path)
        for name, one in zip(("alpha", "beta"), underlay, strict=True)
    ]
    for machine in machines:
        machine.up()
        machine.down()
    assert [checked(space, "ip", "-d", "address") for space in underlay] == before


def test_a_tunnel_that_somebody_has_is_told_with_the_remedy(underlay: tuple[Namespace, Namespace], tmp_path: Path) -> None:
    vxlan = "link add theirs type vxlan id 4711 remote 192.0.2.2 local 192.0.2.1 dstport 4789 nolearning"
    checked(underlay[0], "ip", *vxlan.split())
    machine = Machine(underlay[0], plan_part.part(planned(tmp_path), "alpha"), tmp_path)
    try:
        with pytest.raises(equipment.EquipmentFailed, match=r"tunnel 4711 at UDP port 4789; .*another --name"):
            machine.up()
    finally:
        machine.down()
    assert "theirs" in checked(underlay[0], "ip", "link")


def test_a_udp_port_that_somebody_has_is_told_with_the_remedy(underlay: tuple[Namespace, Namespace], tmp_path: Path) -> None:
    machine = Machine(underlay[0], plan_part.part(planned(tmp_path), "alpha"), tmp_path)
    with underlay[0].inside(), closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as theirs:
        theirs.bind(("", 4789))
        try:
            with pytest.raises(wires.WireFailed, match=r"UDP port 4789 .*netboxit_vxlan_port"):
                machine.up()
        finally:
            machine.down()


def test_what_a_machine_lacks_for_a_tunnel_is_told_before_anything_is_made(
    underlay: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    part = plan_part.part(planned(tmp_path), "alpha")
    set_mtu(underlay, 1549)
    checked(underlay[0], "ethtool", "-K", "under", "gro", "on")
    with underlay[0].inside():
        small, merging = equipment_here.problems(part)
    assert "under carries packets of 1549 bytes" in small and "of 1500 bytes takes 1550; " in small and "mtu 1550" in small
    assert "merges frames that arrive (rx-gro)" in merging and "ethtool -K under gro off" in merging
    checked(underlay[0], "ip", "link", "set", "under", "down")
    with underlay[0].inside():
        assert any("under is down" in one for one in equipment_here.problems(part))
    checked(underlay[0], "ip", "address", "del", "192.0.2.1/24", "dev", "under")
    with underlay[0].inside():
        (missing,) = equipment_here.problems(part)
    assert "no interface of this machine has the address 192.0.2.1" in missing and "netboxit_address" in missing
