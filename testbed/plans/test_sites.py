# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of labs over several machines: where nodes are, what wires become, and that the parts are the whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from contracts.installation import CHECKOUT
from contracts.names import sealed_address, tunnel_number
from contracts.plan import Plan, RealtimeSupport
from system.interface_facts import InterfaceFacts
from testbed import plan_part
from testbed.description.topology import Topology
from testbed.description.topology_file import load
from testbed.plans import fitness
from testbed.plans.facts import Facts
from testbed.plans.resolve import resolve
from testbed.plans.sites import Site, UnknownMachine
from testbed.plans.switch_plan import Datapaths

GRANTED = RealtimeSupport(True, 900_000, "SCHED_FIFO works", keep_awake=True)
EMERGENCY = load(CHECKOUT / "topologies" / "emergency.yaml")
DISASTER = load(CHECKOUT / "topologies" / "disaster.yaml")
SECTIONS = ("hosts", "netboxes", "routers", "switches")


def site(number: int, cores: int, realtime: RealtimeSupport = GRANTED, mtu: int = 1550, **what: Any) -> Site:
    """alpha, which is this machine, beta, gamma."""
    address = f"192.0.2.{number + 1}"
    interface = InterfaceFacts(f"eth{number}", mtu, True, (f"{address}/24",))
    facts = Facts(tuple(range(cores)), realtime, Datapaths(kernel=True, xdp=False), "6.1", (interface,))
    told = {"address": address, "here": not number, **what}
    return Site(("alpha", "beta", "gamma")[number], facts, **told)


def over(topology: Topology, machines: dict[str, str], default: str | None = None) -> Topology:
    """The topology with nodes on these machines."""
    nodes = {
        section: {
            name: node.model_copy(update={"host": machines.get(name, node.host)})
            for name, node in getattr(topology, section).items()
        }
        for section in SECTIONS
    }
    return topology.model_copy(update={**nodes, "host": default}).read_from(topology.path)


def planned(topology: Topology, *sites: Site, **options: Any) -> Plan:
    return resolve(topology, realtime=GRANTED, sites=sites, **options)


def names(topology: Topology) -> list[str]:
    return [name for section in SECTIONS for name in getattr(topology, section)]


def test_a_lab_on_one_machine_is_planned_as_without_any() -> None:
    alone = resolve(EMERGENCY, cores=(0, 1, 2), realtime=GRANTED)
    assert planned(EMERGENCY, site(0, 3), site(1, 8)) == alone
    assert planned(over(EMERGENCY, {}, "alpha"), site(0, 3)) == alone


def test_each_machine_deals_out_its_own_cores_and_budget() -> None:
    refused = RealtimeSupport(False, 0, "the kernel refuses it")
    plan = planned(over(EMERGENCY, {"backhaul": "beta", "eoc": "beta"}), site(0, 4), site(1, 2, refused))
    assert [(host.name, host.here, host.address, host.interface) for host in plan.hosts] == [
        ("alpha", True, "192.0.2.1", "eth0"),
        ("beta", False, "192.0.2.2", "eth1"),
    ]
    assert [host.realtime_budget_us for host in plan.hosts] == [900_000, 0]
    assert (plan.realtime_budget_us, plan.awake_cores) == (0, ())
    assert plan.node("backhaul").cores == (1,) and plan.node("backhaul").realtime_priority == 0
    assert {plan.node(name).cores for name in ("field", "longhaul", "meoc")} == {(1,), (2,), (3,)}
    assert plan.node("field").realtime_priority == 50
    assert json.loads(plan.node("backhaul").files["netbox.json"])["realtime"]["runtime_us"] == 0
    assert any(note.startswith("beta: netboxes and routers run without real-time") for note in plan.notes)


def test_wires_between_machines_are_tunnels_and_wires_inside_of_one_are_as_ever() -> None:
    plan = planned(over(EMERGENCY, {"backhaul": "beta", "eoc": "beta"}), site(0, 4), site(1, 4))
    kinds = {wire.name: (wire.kind, wire.vni) for wire in plan.wires}
    (between,) = [name for name, (kind, _) in kinds.items() if kind == "vxlan"]
    assert kinds[between][1] == tunnel_number(plan.lab, between)
    alone = {wire.name: (wire.kind, wire.vni) for wire in resolve(EMERGENCY, cores=(0, 1), realtime=GRANTED).wires}
    assert {name: kind for name, kind in kinds.items() if name != between} == {
        name: kind for name, kind in alone.items() if name != between
    }
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_wire_over_ports_is_a_nic_of_each_machine() -> None:
    apart = over(EMERGENCY, {"backhaul": "beta", "eoc": "beta"})
    said = [
        wire.model_copy(update={"over": {"beta": "eth8", "alpha": "eth9"}}) if {"meoc", "backhaul"} == _nodes(wire.ends) else wire
        for wire in apart.wires
    ]
    plan = planned(apart.model_copy(update={"wires": said}).read_from(apart.path), site(0, 4), site(1, 4))
    (wire,) = [wire for wire in plan.wires if wire.kind == "port"]
    devices = {plan_part.part(plan, name).equipment[0].device for name in ("alpha", "beta")}
    assert devices == {"eth8", "eth9"} and wire.vni is None
    assert fitness.problems(apart, plan, [site(0, 4), site(1, 4)]) == [
        f"alpha: there is no interface eth9 for the wire {wire.name}; see `ip link` there",
        f"beta: there is no interface eth8 for the wire {wire.name}; see `ip link` there",
    ]


def _nodes(ends: tuple[str, str]) -> set[str]:
    return {end.partition(".")[0] for end in ends}


def test_a_machine_that_is_not_known_is_told() -> None:
    with pytest.raises(UnknownMachine, match='eoc is on machine "bete", of which nothing is known; did you mean "beta"'):
        planned(over(EMERGENCY, {"eoc": "bete"}), site(0, 4), site(1, 4))


@pytest.mark.parametrize(
    ("beta", "told"),
    [
        (site(1, 4, mtu=1549), r"beta: eth1 carries packets of 1549 bytes, and a packet of 1500 bytes takes 1550; raise its MTU"),
        (site(1, 4, address=""), "beta: no address is known that carries wires to it; .*netboxit_address"),
        (site(1, 4, address="192.0.2.77"), "beta: no interface of this machine has the address 192.0.2.77"),
        (site(1, 4, address="127.0.0.1"), "beta: 127.0.0.1 is an address that other machines do not reach"),
        (site(1, 4, address="2001:db8::1"), "alpha has the address 192.0.2.1 and beta 2001:db8::1: one is IPv4 and one IPv6"),
        (site(1, 4, vxlan_port=8472), r"different UDP ports for tunnels \(4789, 8472\)"),
        (site(1, 4, address="192.0.2.1"), "alpha and beta have one address"),
    ],
)
def test_what_machines_lack_for_wires_between_them_is_told(beta: Site, told: str) -> None:
    apart = over(EMERGENCY, {"backhaul": "beta", "eoc": "beta"})
    sites = [site(0, 4), beta]
    with pytest.raises(fitness.MachinesUnfit, match=told):
        fitness.check(apart, planned(apart, *sites), sites)
    sites = [site(0, 4), site(1, 4)]
    fitness.check(apart, planned(apart, *sites), sites)


def sealed(number: int, mtu: int = 1640, carries: int = 1700, **what: Any) -> Site:
    """One whose tunnels are in WireGuard, in packets of that size, over an interface of another one."""
    made = site(number, 4, mtu=carries, sealed=True, **what)
    wireguard = InterfaceFacts("netboxit", mtu, True, (f"{sealed_address(made.name)}/64",))
    return replace(made, facts=replace(made.facts, interfaces=(*made.facts.interfaces, wireguard)))


@pytest.mark.parametrize(
    ("beta", "told"),
    [
        (site(1, 4), "only one of them has its tunnels sealed, beta has not; say netboxit_tunnels: wireguard of all"),
        (site(1, 4, sealed=True), r"beta: there is no WireGuard interface netboxit .*prepare the machines"),
        # A frame of 1500 bytes takes 14 of Ethernet, 8 of VXLAN, 8 of UDP, 40 of IPv6; WireGuard over IPv4 60 more.
        (sealed(1, mtu=1569), r"of 1569 bytes, .* of 1500 bytes takes 1570; raise the MTU of .* eth1, to 1630 .*mtu: 1499 at"),
        (sealed(1, mtu=1600, carries=1659), r"eth1, carries packets of 1659 bytes, and those of WireGuard take up to 1660"),
    ],
)
def test_what_machines_lack_for_sealed_wires_is_told(beta: Site, told: str) -> None:
    apart = over(EMERGENCY, {"backhaul": "beta", "eoc": "beta"})
    sites = [sealed(0), beta]
    with pytest.raises(fitness.MachinesUnfit, match=told):
        fitness.check(apart, planned(apart, *sites), sites)
    sites = [sealed(0), sealed(1, mtu=1570, carries=1630)]
    fitness.check(apart, planned(apart, *sites), sites)


def test_open_wires_between_machines_are_told_and_sealed_ones_are_not() -> None:
    apart = over(EMERGENCY, {"backhaul": "beta", "eoc": "beta"})
    told = [
        [note for note in planned(apart, *sites).notes if "are open" in note]
        for sites in ((site(0, 4), site(1, 4)), (sealed(0), sealed(1)))
    ]
    assert (len(told[0]), told[1]) == (1, [])
    assert "netboxit_tunnels: wireguard" in told[0][0]


def test_where_frames_have_tags_a_tunnel_has_room_for_one(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(
        """\
name: tags
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24, host: beta}
switches:
  one: {ports: {a: {vlan: 5}, up: {trunk: [5]}}}
  other: {ports: {b: {vlan: 5}, up: {trunk: [5]}}, host: beta}
wires: [[a, one.a], [one.up, other.up], [other.b, b]]
"""
    )
    topology = load(tmp_path / "lab.yaml")
    sites = [site(0, 2), site(1, 2)]
    found = fitness.problems(topology, planned(topology, *sites), sites)
    assert len(found) == 2 and all("of 1504 bytes takes 1554" in one for one in found)


def test_auto_leaves_all_on_this_machine_when_its_cores_suffice() -> None:
    alone = resolve(EMERGENCY, cores=(0, 1, 2, 3, 4), realtime=GRANTED)
    plan = planned(over(EMERGENCY, {}, "auto"), site(0, 5), site(1, 8))
    assert plan == replace(alone, notes=plan.notes)
    assert plan.notes[0].startswith("auto: ") and any("no other choice is better" in note for note in plan.notes)


def test_auto_parts_a_network_where_the_fewest_and_slowest_wires_are() -> None:
    """Four need a core and each machine has two to give: of the wires of the chain, the satellite's or the radio's is cut."""
    plan = planned(over(EMERGENCY, {}, "auto"), site(0, 3), site(1, 3))
    (wire,) = [wire for wire in plan.wires if wire.kind == "vxlan"]
    assert {wire.left.node, wire.right.node} == {"longhaul", "meoc"}
    needing = [node for node in plan.nodes if node.kind in ("netbox", "router")]
    assert len({(node.host, node.cores) for node in needing}) == 4
    assert any("alpha has 2 and needs 2 and beta has 2 and needs 2; 1 wire is between machines" in note for note in plan.notes)
    assert planned(over(EMERGENCY, {}, "auto"), site(0, 3), site(1, 3)) == plan


def test_auto_leaves_what_a_running_lab_has_where_it_is() -> None:
    free = over(EMERGENCY, {}, "auto")
    parted = planned(free, site(0, 3), site(1, 3))
    again = planned(free, site(0, 8), site(1, 8), running=parted)
    assert [node.host for node in again.nodes] == [node.host for node in parted.nodes]


def test_auto_leaves_together_what_one_machine_has_to_have(tmp_path: Path) -> None:
    """Netboxes that share a core, the ends of a memory wire, and what waits with what it waits for."""
    (tmp_path / "lab.yaml").write_text(
        """\
name: tied
host: auto
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  one: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s}
  two: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s, share: core}
  three: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s}
  four: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s, share: core}
  five: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s}
wires:
  - [a, one.left]
  - [one.right, two.left]
  - [two.right, three.left]
  - [three.right, four.left]
  - {ends: [four.right, five.left], wire: memory}
  - [five.right, b]
events:
  - {when: {netbox: one, station: left, silent: 1 s}, drill: link-flap, with: {wire: [five.right, b]}}
"""
    )
    topology = load(tmp_path / "lab.yaml")
    for cores in (2, 3, 4):
        plan = planned(topology, site(0, cores), site(1, cores), site(2, cores))
        assert len({plan.node(name).host for name in ("one", "two", "four", "five", "b")}) == 1
        assert not plan.hosts or plan.node("two").cores == plan.node("four").cores


@given(some.data())
@settings(max_examples=60)
def test_the_parts_of_a_plan_are_the_whole(data: some.DataObject) -> None:
    choices = some.sampled_from(["alpha", "beta", "gamma", "auto"])
    topology = data.draw(some.sampled_from([EMERGENCY, DISASTER]))
    free = over(topology, {name: data.draw(choices, label=name) for name in names(topology)})
    if waiting := [event for event in free.events if event.when]:
        free = free.model_copy(update={"events": [one for one in free.events if one not in waiting]}).read_from(free.path)
    plan = planned(free, site(0, 4), site(1, 3), site(2, 6))
    parts = {host.name: plan_part.part(plan, host.name) for host in plan.hosts} or {"": plan}
    assert sorted(node.name for part in parts.values() for node in part.nodes) == sorted(node.name for node in plan.nodes)
    for name, part in parts.items():
        assert {node.name for node in part.nodes} == {node.name for node in plan.nodes if node.host == name}
        for node in part.nodes:
            assert part.mtus().keys() >= {interface.wire for interface in node.interfaces}
    ends = [(port.wire, port.end) for part in parts.values() for port in part.equipment]
    for wire in plan.wires:
        whole = [name for name, part in parts.items() if wire in part.wires]
        cut = [end for of, end in ends if of == wire.name]
        assert (len(whole), sorted(cut, key=str)) in (
            (1, []),
            (0, sorted((wire.left, wire.right), key=str)),
        )
    vnis = [wire.vni for wire in plan.wires if wire.kind == "vxlan"]
    assert len(set(vnis)) == len(vnis) and None not in vnis
