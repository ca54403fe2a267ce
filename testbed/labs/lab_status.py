# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab that is up is like just now, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from testbed.files import CHECKOUT
from testbed.labs import host_notes, switch_statistics
from testbed.ownership import recorded
from testbed.plan import WireEnd, WirePlan
from testbed.system import apparmor, awake, node_disks, users
from testbed.system.limits import Support

if TYPE_CHECKING:
    from testbed.labs.lab import Lab

#: Whose users may change their networks: by the rights of a host's root, by a router's own language.
_CONFIGURABLE = ("host", "router")
_CHANGING = "a command changes the lab, or one that did so ended half way: `netboxit apply` ends it, `down` removes the lab"


def status(lab: Lab) -> dict[str, Any]:
    """The lab as data.

    Each node with its cores, whether it runs, and what its netbox says of itself; each wire with its kind, by what each end
    reaches it, and why.
    """
    alive = lab.alive()
    programs = {node.name: lab.program(node.name) if alive[node.name] else None for node in lab.plan.nodes}
    nodes: list[dict[str, Any]] = [
        {
            "name": node.name,
            "kind": node.kind,
            "alive": alive[node.name],
            "confined": lab.is_confined(node.name) if alive[node.name] else None,
            "cores": list(node.cores),
            "limits_reached": lab.limits_reached(node.name),
            "network_changes": lab.network_changes(node.name) if node.kind in _CONFIGURABLE and alive[node.name] else [],
            "awake": all(map(awake.is_awake, node.cores)),
            "addresses": [address for interface in node.interfaces for address in interface.addresses],
            "netbox": lab.netbox_status(node.name) if node.kind == "netbox" and alive[node.name] else None,
            "program": asdict(program) if (program := programs[node.name]) else None,
            "switch": switch_statistics.of(lab, node.name) if node.kind == "switch" and alive[node.name] else None,
        }
        for node in lab.plan.nodes
    ]
    return {
        "lab": lab.name,
        "folder": str(lab.folder),
        "nodes": nodes,
        "wires": [_wire_status(lab, wire, {node["name"]: node["netbox"] for node in nodes}) for wire in lab.plan.wires],
        "equipment": [one.to_json() for one in lab.plan.equipment],
        "notes": [
            *lab.plan.notes,
            *host_notes.read(lab.folder),
            *_roots(lab, nodes),
            *_without_profile(),
            *Support.read().missing(),
            *_without_disks(lab),
            *(f"{node['name']} has reached its limit of {limit}" for node in nodes for limit in node["limits_reached"]),
            *_networks(nodes),
            *(f"{name}: {words}" for name, program in programs.items() if program and (words := program.words())),
            *([_CHANGING] if recorded.is_changing(lab.folder) else []),
        ],
    }


def _networks(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    changed = {node["name"]: node["network_changes"] for node in nodes if node["network_changes"]}
    return [f"{name}: its network is not as planned: {'; '.join(changes)}" for name, changes in changed.items()]


def _without_disks(lab: Lab) -> list[str]:
    names = [node.name for node in lab.plan.nodes if not lab.node_folder(node.name).is_mount()]
    why = node_disks.refused() or "the lab came up when the host did not allow it"
    return [f"{', '.join(names)}: the limit of disk is not enforced: {why}"] if names else []


def _roots(lab: Lab, nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of nodes whose root is the host's: which, and why."""
    known = users.support([lab.folder, CHECKOUT])
    by_reason: dict[str, list[str]] = {}
    for node in nodes:
        if node["confined"] is False:
            why = known.keeps_out(lab.node(node["name"])) or "the lab came up when the host did not allow it"
            by_reason.setdefault(why, []).append(node["name"])
    return [f"{', '.join(names)}: root is the host's own, with few capabilities: {why}" for why, names in by_reason.items()]


def _without_profile() -> list[str]:
    """Where the kernel has AppArmor on and containers are unconfined all the same: why."""
    found = apparmor.read()
    return [f"AppArmor does not confine the nodes: {found.refused} ({found.remedy})"] if found.enabled and found.refused else []


def _wire_status(lab: Lab, wire: WirePlan, netboxes: Mapping[str, Any]) -> dict[str, Any]:
    ends = [_end_status(lab, end, netboxes[end.node]) for end in (wire.left, wire.right)]
    return {"name": wire.name, "kind": wire.kind, "reason": wire.reason, "mtu": wire.mtu, "ends": ends}


def _end_status(lab: Lab, end: WireEnd, netbox: Mapping[str, Any] | None) -> dict[str, Any]:
    """By what a node reaches an end of a wire, and why: a netbox as it says (None while silent), the others as planned."""
    node = lab.node(end.node)
    planned = next(interface for interface in node.interfaces if interface.name == end.interface)
    port: Mapping[str, Any] = {"kind": planned.port if node.kind != "netbox" else None}
    if netbox:
        port = next((port for port in netbox["ports"] if port["name"] == end.interface), {"kind": None})
    reason = port.get("reason") or planned.reason or None
    return {"node": end.node, "interface": end.interface, "port": port["kind"], "reason": reason}
