# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab that is up is like just now, as data."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.installation import INSTALLATION
from contracts.node_status import NetboxStatus, NodeStatus
from contracts.plan import WireEnd
from ownership import recorded
from system import apparmor, awake, node_disks, users
from system.limits import Support
from testbed.documents.status import EndStatus, LabNow
from testbed.labs import host_notes, switch_statistics
from testbed.labs.lab import Lab
from testbed.nodes import management

#: Whose users may change their networks: by the rights of a host's root, by a router's own language.
_CONFIGURABLE = ("host", "router")
_CHANGING = "a command changes the lab, or one that did so ended half way: `netboxit apply` ends it, `down` removes the lab"


def of(lab: Lab) -> LabNow:
    """The lab as data.

    Each node with its cores, whether it runs, and what its netbox says of itself; each wire with its kind, by what each end
    reaches it, and why.
    """
    alive = lab.alive()
    programs = {node.name: lab.program(node.name) if alive[node.name] else None for node in lab.plan.nodes}
    managed = {node.name: lab.management(node.name) for node in lab.plan.nodes if alive[node.name]}
    nodes: list[NodeStatus] = [
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
            "program": (
                {"state": program.state, "status": program.status, "starts": program.starts, "log": program.log}
                if (program := programs[node.name])
                else None
            ),
            "management": [part.status() for part in parts] if (parts := managed.get(node.name)) else None,
            "switch": switch_statistics.of(lab, node.name) if node.kind == "switch" and alive[node.name] else None,
        }
        for node in lab.plan.nodes
    ]
    netboxes = {node["name"]: node["netbox"] for node in nodes}
    return {
        "lab": lab.name,
        "folder": str(lab.folder),
        "nodes": nodes,
        "wires": [
            {
                "name": wire.name,
                "kind": wire.kind,
                "reason": wire.reason,
                "mtu": wire.mtu,
                "ends": [_end_status(lab, end, netboxes[end.node]) for end in (wire.left, wire.right)],
            }
            for wire in lab.plan.wires
        ],
        "equipment": [
            {
                "name": port.name,
                "kind": port.kind,
                "what": port.words(),
                "mtu": port.mtu,
                "node": port.end.node,
                "interface": port.end.interface,
            }
            for port in lab.plan.equipment
        ],
        "notes": [
            *lab.plan.notes,
            *host_notes.read(lab.folder),
            *_roots(lab, nodes),
            *_without_profile(),
            *Support.read().missing(),
            *_without_disks(lab),
            *(f"{node['name']} has reached its limit of {limit}" for node in nodes for limit in node["limits_reached"]),
            *(
                f"{node['name']}: its network is not as planned: {'; '.join(node['network_changes'])}"
                for node in nodes
                if node["network_changes"]
            ),
            *(f"{name}: {words}" for name, program in programs.items() if program and (words := program.words())),
            *(f"{name}: {words}" for name, parts in managed.items() for part in parts or () if (words := part.words())),
            *(f"{name}: {words}" for name in managed if (words := _of_manager(lab, name))),
            *([_CHANGING] if recorded.is_changing(lab.folder) else []),
        ],
    }


def _of_manager(lab: Lab, node: str) -> str | None:
    """Where the program by which a host has its part in the management of a link does not do what it is to do."""
    state = lab.program(node, management.NAME)
    return None if state is None else state.words(management.NAME)


def _without_disks(lab: Lab) -> list[str]:
    names = [node.name for node in lab.plan.nodes if not lab.node_folder(node.name).is_mount()]
    why = node_disks.refused() or "the lab came up when the host did not allow it"
    return [f"{', '.join(names)}: the limit of disk is not enforced: {why}"] if names else []


def _roots(lab: Lab, nodes: Sequence[NodeStatus]) -> list[str]:
    """Of nodes whose root is the host's: which, and why."""
    support = users.support([lab.folder, INSTALLATION])
    by_reason: dict[str, list[str]] = {}
    for node in nodes:
        if node["confined"] is False:
            why = support.keeps_out(lab.node(node["name"])) or "the lab came up when the host did not allow it"
            by_reason.setdefault(why, []).append(node["name"])
    return [f"{', '.join(names)}: root is the host's own, with few capabilities: {why}" for why, names in by_reason.items()]


def _without_profile() -> list[str]:
    """Where the kernel has AppArmor on and containers are unconfined all the same: why."""
    support = apparmor.read()
    if not support.enabled or not support.refused:
        return []
    return [f"AppArmor does not confine the nodes: {support.refused} ({support.remedy})"]


def _end_status(lab: Lab, end: WireEnd, netbox: NetboxStatus | None) -> EndStatus:
    """By what a node reaches an end of a wire, and why: a netbox as it says (None while silent), the others as planned."""
    node = lab.node(end.node)
    planned = next(interface for interface in node.interfaces if interface.name == end.interface)
    kind, reason = said_of(netbox, end.interface) or (None if node.kind == "netbox" else planned.port, None)
    return {"node": end.node, "interface": end.interface, "port": kind, "reason": reason or planned.reason or None}


def said_of(netbox: NetboxStatus | None, port: str) -> tuple[str, str | None] | None:
    """What kind a netbox says that its port is, and why, if it says that in words; None when it says nothing of it."""
    for status in netbox["ports"] if netbox else ():
        if status["name"] == port:
            reason = status.get("reason")
            return status["kind"], reason if isinstance(reason, str) else None
    return None
