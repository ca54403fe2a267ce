# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab over several machines is like just now, as data: that of its parts, and the wires between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from contracts.errors import NetBoxITError
from contracts.plan import NodePlan, Plan, WireEnd, WirePlan
from testbed.labs.lab_status import said_of
from testbed.several_hosts.connection import at_a_time
from testbed.several_hosts.lab_parts import LabParts
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import PartsRecord

if TYPE_CHECKING:
    from contracts.node_status import NetboxStatus, NodeStatus
    from testbed.documents.status import EndStatus, LabStatus, WireStatus


def merged(record: PartsRecord, own: LabStatus, others: Mapping[str, LabStatus | str]) -> LabStatus:
    """`others`: what each other machine said of its part, or why it said nothing."""
    plan = record.whole()
    parts = {record.here: own} | {name: part for name, part in others.items() if not isinstance(part, str)}
    silent = {name: why for name, why in others.items() if isinstance(why, str)}
    nodes: dict[str, NodeStatus] = {
        node["name"]: {**node, "host": name} for name, part in parts.items() for node in part["nodes"]
    }
    between = [wire for wire in plan.wires if plan.node(wire.left.node).host != plan.node(wire.right.node).host]
    names = {wire.name for wire in between}
    return {
        **own,
        "nodes": [nodes.get(node.name) or _unknown(node) for node in plan.nodes],
        "wires": [
            *(wire for part in parts.values() for wire in part["wires"]),
            *(_between(plan, wire, nodes) for wire in between),
        ],
        "equipment": [port for part in parts.values() for port in part["equipment"] if port["name"] not in names],
        "events": sorted((event for part in parts.values() for event in part["events"]), key=lambda event: float(event["at_s"])),
        "notes": [
            *plan.notes,
            *(f"{name}: {note}" for name, part in parts.items() for note in part["notes"]),
            *silent.values(),
        ],
        "hosts": {"here": record.here, "reached": list(parts), "not_reached": list(silent)},
    }


def statuses(lab: LabParts) -> dict[str, LabStatus | str]:
    """What each other machine says of its part, or why it says nothing."""

    def status(machine: Machine) -> LabStatus | str:
        try:
            with lab.connected(machine.name) as part:
                return part.status()
        except NetBoxITError as error:
            return str(error)

    machines = lab.record.machines
    return dict(zip((machine.name for machine in machines), at_a_time(status, machines), strict=True))


def _unknown(node: NodePlan) -> NodeStatus:
    """Of a node on a machine that does not answer: what was planned."""
    return {
        "name": node.name,
        "kind": node.kind,
        "alive": None,
        "confined": None,
        "cores": list(node.cores),
        "limits_reached": [],
        "network_changes": [],
        "awake": None,
        "addresses": [address for interface in node.interfaces for address in interface.addresses],
        "netbox": None,
        "program": None,
        "switch": None,
        "host": node.host,
    }


def _between(plan: Plan, wire: WirePlan, nodes: Mapping[str, NodeStatus]) -> WireStatus:
    netboxes = {name: node["netbox"] for name, node in nodes.items()}
    ends = [_end(plan, end, netboxes.get(end.node)) for end in (wire.left, wire.right)]
    return {"name": wire.name, "kind": wire.kind, "reason": wire.reason, "mtu": wire.mtu, "ends": ends}


def _end(plan: Plan, end: WireEnd, netbox: NetboxStatus | None) -> EndStatus:
    """By what its node reaches it: as a netbox says, else as planned."""
    planned = next(interface for interface in plan.node(end.node).interfaces if interface.name == end.interface)
    port, reason = said_of(netbox, end.interface) or (planned.port, None)
    return {"node": end.node, "interface": end.interface, "port": port, "reason": reason or planned.reason or None}
