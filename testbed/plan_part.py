# SPDX-License-Identifier: GPL-2.0-or-later
"""What one machine has to make of a lab over several: the plan of a lab, in which wires to other machines are equipment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from contracts.changes import Change, WireChange
from contracts.names import SEALED_INTERFACE, sealed_address
from contracts.plan import EquipmentPlan, HostPlan, NodePlan, Plan, WireEnd, WirePlan

#: A lab that has this file in its folder is on several machines (`testbed.several_hosts.parts_file`).
PARTS_FILE: Final = "parts.json"

#: The key under which a change has the node that it is made at, by the kind of change.
_NODE_OF = {
    "parameter": "netbox",
    "power": "node",
    "freeze": "netbox",
    "configuration": "router",
    "handler": "router",
    "stages": "router",
    "wire": "node",
    "managed_link": "host",
}


def part(plan: Plan, host: str) -> Plan:
    """What the machine `host` has to make of a lab over several, as a lab of its own; KeyError when there is no such machine."""
    machine = plan.host(host)
    here = next((plan_host.folder for plan_host in plan.hosts if plan_host.here), machine.folder)
    places = {node.name: node.host for node in plan.nodes}
    own = {name for name, place in places.items() if place == host}
    leaving = [
        (wire, end, other)
        for wire in plan.wires
        for end, other in ((wire.left, wire.right), (wire.right, wire.left))
        if end.node in own and other.node not in own
    ]
    taken = (name.rpartition(":") for name in plan.take)
    return replace(
        plan,
        nodes=tuple(_moved(node, here, machine.folder) for node in plan.nodes if node.name in own),
        wires=tuple(wire for wire in plan.wires if {wire.left.node, wire.right.node} <= own),
        equipment=(
            *(port for port in plan.equipment if port.end.node in own),
            *(_end(wire, end, machine, plan.host(places[other.node])) for wire, end, other in leaving),
        ),
        traffic=(),
        events=tuple(
            replace(event, change=change)
            for event in plan.events
            for change in _changes(event.change, own, {wire.name: end for wire, end, _ in leaving})
        ),
        awake_cores=machine.awake_cores,
        realtime_budget_us=machine.realtime_budget_us,
        hosts=(),
        take=tuple(device for place, _, device in taken if place == machine.name or (not place and machine.here)),
        elsewhere={node.name: _addresses(node) for node in plan.nodes if node.name not in own and _addresses(node)},
        notes=(),
    )


def node_of(change: Change) -> str:
    """The node that a change is made at."""
    return str(getattr(change, _NODE_OF[change.kind]))


def _moved(node: NodePlan, here: str, there: str) -> NodePlan:
    """Its programs are in that machine's own checkout."""
    command = tuple(there + word.removeprefix(here) if word.startswith(f"{here}/") else word for word in node.command)
    return replace(node, host="", command=command)


def _end(wire: WirePlan, end: WireEnd, machine: HostPlan, other: HostPlan) -> EquipmentPlan:
    """A wire that leaves the machine, as what it is there. It has the wire's own name, of which there is but one."""
    if wire.over is not None:
        return EquipmentPlan(wire.name, "nic", wire.over[0 if end == wire.left else 1], end, wire.name, wire.mtu)
    return EquipmentPlan(
        wire.name,
        "vxlan",
        SEALED_INTERFACE if machine.sealed else machine.interface,
        end,
        wire.name,
        wire.mtu,
        vni=wire.vni,
        local=sealed_address(machine.name) if machine.sealed else machine.address,
        remote=sealed_address(other.name) if machine.sealed else other.address,
        udp_port=machine.vxlan_port,
    )


def _changes(change: Change, own: set[str], leaving: dict[str, WireEnd]) -> Iterator[Change]:
    """What this machine does of a change. A wire between machines is unplugged at both ends: neither has the other's carrier."""
    if isinstance(change, WireChange):
        end = leaving.get(change.wire)
        if end is not None:
            yield replace(change, node=end.node, interface=end.interface)
        elif change.node in own:
            yield change
    elif node_of(change) in own:
        yield change


def _addresses(node: NodePlan) -> tuple[str, ...]:
    return tuple(chain.from_iterable(interface.addresses for interface in node.interfaces))
