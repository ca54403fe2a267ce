# SPDX-License-Identifier: GPL-2.0-or-later
"""What each machine gets of a lab over several."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.changes import EventPlan, ParameterChange, PowerChange, StagesChange, WireChange
from contracts.installation import CHECKOUT
from contracts.names import sealed_address
from contracts.plan import HostPlan, NodePlan, Plan, RealtimeSupport, WirePlan
from system.rootfs import hosts_file
from testbed import plan_part
from testbed.description.topology_file import load
from testbed.plans.resolve import resolve

REALTIME = RealtimeSupport(fifo=True, budget_us=950_000, reason="", keep_awake=True)
ALPHA = HostPlan("alpha", True, "192.0.2.1", "eth1", folder=str(CHECKOUT), awake_cores=(1,), realtime_budget_us=900_000)
BETA = HostPlan("beta", False, "192.0.2.2", "enp3s0", folder="/srv/netboxit", awake_cores=(2, 3), realtime_budget_us=500_000)


def emergency() -> Plan:
    return resolve(load(CHECKOUT / "topologies" / "emergency.yaml"), cores=(0, 1, 2, 3), realtime=REALTIME)


def over_two(plan: Plan, beyond: set[str], over: tuple[str, str] | None = None) -> Plan:
    """The plan with those nodes on beta."""

    def place(node: NodePlan) -> str:
        return "beta" if node.name in beyond else "alpha"

    def wire(one: WirePlan) -> WirePlan:
        if (one.left.node in beyond) == (one.right.node in beyond):
            return one
        return replace(one, kind="port", over=over) if over else replace(one, kind="vxlan", vni=4711)

    nodes = tuple(replace(node, host=place(node)) for node in plan.nodes)
    return replace(plan, nodes=nodes, wires=tuple(map(wire, plan.wires)), hosts=(ALPHA, BETA))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return over_two(emergency(), {"backhaul", "eoc"})


def leaving(plan: Plan) -> WirePlan:
    (wire,) = [wire for wire in plan.wires if wire.kind in ("vxlan", "port")]
    return wire


def test_each_node_is_on_one_machine_and_each_wire_on_one_or_an_end_of_it_on_two(plan: Plan) -> None:
    alpha, beta = plan_part.part(plan, "alpha"), plan_part.part(plan, "beta")
    assert {node.name for node in beta.nodes} == {"backhaul", "eoc"}
    assert sorted(node.name for node in (*alpha.nodes, *beta.nodes)) == sorted(node.name for node in plan.nodes)
    assert sorted(wire.name for wire in (*alpha.wires, *beta.wires, leaving(plan))) == sorted(wire.name for wire in plan.wires)


def test_a_part_is_a_plan_of_one_machine(plan: Plan) -> None:
    part = plan_part.part(plan, "beta")
    assert (part.hosts, part.traffic, {node.host for node in part.nodes}) == ((), (), {""})
    assert (part.awake_cores, part.realtime_budget_us) == (BETA.awake_cores, BETA.realtime_budget_us)
    assert Plan.from_json(json.loads(json.dumps(part.to_json()))) == part
    for node in part.nodes:
        assert [part.mtus()[interface.wire] for interface in node.interfaces]


def test_a_wire_between_machines_is_a_tunnels_end_on_each(plan: Plan) -> None:
    wire = leaving(plan)
    (near,), (far,) = plan_part.part(plan, "alpha").equipment, plan_part.part(plan, "beta").equipment
    assert (near.kind, near.device, near.local, near.remote, near.vni) == ("vxlan", "eth1", "192.0.2.1", "192.0.2.2", 4711)
    assert (far.kind, far.device, far.local, far.remote, far.vni) == ("vxlan", "enp3s0", "192.0.2.2", "192.0.2.1", 4711)
    assert {near.end, far.end} == {wire.left, wire.right}
    assert (near.wire, near.mtu, near.udp_port) == (wire.name, wire.mtu, 4789)


def test_a_sealed_wire_s_tunnel_is_between_the_addresses_of_wireguard(plan: Plan) -> None:
    sealed = replace(plan, hosts=tuple(replace(host, sealed=True) for host in plan.hosts))
    (near,), (far,) = plan_part.part(sealed, "alpha").equipment, plan_part.part(sealed, "beta").equipment
    # The first 64 bits of what `printf 'netboxit alpha' | sha256sum` says.
    alpha, beta = "fe80::396a:a82e:89e3:e0d", sealed_address("beta")
    assert (near.device, near.local, near.remote) == ("netboxit", alpha, beta)
    assert (far.device, far.local, far.remote) == ("netboxit", beta, alpha)


def test_a_wire_over_physical_ports_is_a_nic_on_each() -> None:
    plan = over_two(emergency(), {"backhaul", "eoc"}, over=("eth2", "eth3"))
    wire = leaving(plan)
    (near,), (far,) = plan_part.part(plan, "alpha").equipment, plan_part.part(plan, "beta").equipment
    of = {wire.left: "eth2", wire.right: "eth3"}
    assert (near.kind, near.device, far.kind, far.device) == ("nic", of[near.end], "nic", of[far.end])


def test_programs_are_those_of_the_machines_own_checkout(plan: Plan) -> None:
    (backhaul,) = [node for node in plan_part.part(plan, "beta").nodes if node.name == "backhaul"]
    assert backhaul.command[0] == "/srv/netboxit/build/bin/netbox-satellite"
    assert Path(plan_part.part(plan, "alpha").node("field").command[0]).is_relative_to(CHECKOUT)


def test_nodes_know_those_on_other_machines_by_name(plan: Plan) -> None:
    whole = set(hosts_file(plan).splitlines())
    assert set(hosts_file(plan_part.part(plan, "alpha")).splitlines()) == whole
    assert set(hosts_file(plan_part.part(plan, "beta")).splitlines()) == whole


def test_events_are_made_where_their_nodes_are_and_a_wire_between_machines_is_unplugged_at_both_ends(plan: Plan) -> None:
    wire = leaving(plan)
    events = (
        EventPlan(1.0, ParameterChange("field", "distance", 10.0, "10 m")),
        EventPlan(2.0, PowerChange("eoc", "off")),
        EventPlan(2.5, StagesChange("meoc", "ian.stages", [], "[]")),
        EventPlan(3.0, WireChange(wire.name, "down", wire.left.node, wire.left.interface)),
    )
    whole = replace(plan, events=events)
    alpha, beta = plan_part.part(whole, "alpha").events, plan_part.part(whole, "beta").events
    assert [event.at_s for event in alpha] == [1.0, 2.5, 3.0]
    assert [event.at_s for event in beta] == [2.0, 3.0]
    ends = [(one.change.node, one.change.interface) for one in (alpha[-1], beta[-1]) if isinstance(one.change, WireChange)]
    assert sorted(ends) == sorted((end.node, end.interface) for end in (wire.left, wire.right))


def test_a_machine_that_the_lab_does_not_have_has_no_part(plan: Plan) -> None:
    with pytest.raises(KeyError):
        plan_part.part(plan, "gamma")
