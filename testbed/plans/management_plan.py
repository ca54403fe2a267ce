# SPDX-License-Identifier: GPL-2.0-or-later
"""Which node has which part in the management of a link, from a topology's section `management:`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final, Literal

from contracts.management import Part
from contracts.quantities import RATE
from testbed.description.managed_link import ManagedLink
from testbed.description.networks_beside import networks_beside, on_the_gateways_side
from testbed.description.topology import Topology
from testbed.description.wiring import Draft, Wiring, address_reached, both_ways

_LOCAL_SCOPE: Final = IPv4Network("239.255.0.0/16")


def plan_management(topology: Topology, wiring: Wiring) -> dict[str, Part]:
    """By node; each has one part at most (testbed.description.wiring_checks)."""
    draft = Draft.of(topology)
    parts: dict[str, Part] = {}
    for name, link in topology.management.items():
        parts[link.gateway] = _allocator(name, link, wiring)
        for member in link.members:
            address = address_reached(draft, wiring, member, link.gateway)
            assert address is not None, "topology_file.load refuses members that do not reach the gateway"
            beside = networks_beside(draft, wiring, link.of, member) if link.of else []
            parts[member] = _member(name, link, member, str(address), beside)
            if link.announcements == "multicast":
                parts[member]["group"] = parts[link.gateway]["group"] = _group(name)
                # The same for all members (testbed.description.wiring_checks).
                parts[link.gateway]["address"] = str(address)
    return parts


def notes(topology: Topology, wiring: Wiring) -> Iterator[str]:
    """Where budgets together are more than their link carries, so that they keep no queue short."""
    for name, link in topology.management.items():
        if link.of is None or not isinstance(link.rate, float):
            continue
        _, station = wiring.path(link.members[0], link.of)[-1]
        carried = topology.netboxes[link.of].parameters.rate_from(station.port)
        if carried is not None and link.rate > carried:
            yield (
                f"the managed link {name} divides {RATE.write(link.rate)}, and {link.of} carries {RATE.write(carried)} from "
                f"{station.port} at most: a queue can grow there whatever the budgets"
            )


def _allocator(name: str, link: ManagedLink, wiring: Wiring) -> Part:
    part: Part = {
        "name": name,
        "role": "allocator",
        "domain": _domain(name),
        "kind": link.kind,
        "key": link.key,
        "equations": link.equations,
        "recovers": True,
    }
    if isinstance(link.rate, float):
        return {**part, "capacity_bps": round(link.rate)}
    assert link.of is not None, "the model of a managed link asks for one"
    interface = next(own.port for own, far in both_ways(wiring.wires) if (own.node, far.node) == (link.gateway, link.of))
    # What members on the gateway's own side send leaves by that interface; what those on the far side send comes in.
    direction: Literal["transmit", "receive"] = "transmit" if on_the_gateways_side(wiring, link, link.members[0]) else "receive"
    return {**part, "follows": direction, "interface": interface, "exploitation": link.exploitation}


def _member(name: str, link: ManagedLink, member: str, allocator: str, beside: list[str]) -> Part:
    access = link.access.get(member)
    part: Part = {
        "name": name,
        "role": "member",
        "domain": _domain(name),
        "kind": link.kind,
        "key": link.key,
        "allocator": allocator,
        "interface": None,
        "beside": beside,
        "threshold": link.threshold,
        "access_bps": round(access) if isinstance(access, float) else None,
        "telemetry": access == "netbox",
        "without_lease": link.without_lease,
        "enforcement": "none" if member in link.unruly else "shaper",
    }
    if link.while_sending:
        part["while_sending"] = True
    return part


def _group(name: str) -> str:
    """The multicast group of a link's announcements, of the local scope of RFC 2365 (section 6.1)."""
    return str(_LOCAL_SCOPE[1 + _domain(name) % (_LOCAL_SCOPE.num_addresses - 1)])


def _domain(name: str) -> int:
    """The number of a link in messages, 32 bits: of its name, so that two links of a lab hardly have the same."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
