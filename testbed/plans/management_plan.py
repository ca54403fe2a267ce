# SPDX-License-Identifier: GPL-2.0-or-later
"""Which host has which part in the management of a link, from a topology's section `management:`."""

from __future__ import annotations

import hashlib

from contracts.management import Part
from testbed.description.managed_link import ManagedLink
from testbed.description.networks_beside import networks_beside
from testbed.description.topology import Topology
from testbed.description.wiring import Draft, Wiring, addresses_between


def plan_management(topology: Topology, wiring: Wiring) -> dict[str, Part]:
    """By host; each has one part at most (testbed.description.wiring_checks)."""
    parts: dict[str, Part] = {}
    for name, link in topology.management.items():
        parts[link.gateway] = _allocator(name, link)
        for member in link.members:
            hosts = topology.hosts
            addresses = addresses_between(wiring, (member, hosts[member]), (link.gateway, hosts[link.gateway]))
            assert addresses is not None, "topology_file.load refuses members that do not reach the gateway"
            beside = networks_beside(Draft.of(topology), wiring, link.of, member) if link.of else []
            parts[member] = _member(name, link, member, str(addresses[1]), beside)
    return parts


def _allocator(name: str, link: ManagedLink) -> Part:
    return {
        "name": name,
        "role": "allocator",
        "domain": _domain(name),
        "kind": link.kind,
        "key": link.key,
        "capacity_bps": round(link.rate),
        "equations": link.equations,
        "recovers": True,
    }


def _member(name: str, link: ManagedLink, member: str, allocator: str, beside: list[str]) -> Part:
    access = link.access.get(member)
    return {
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


def _domain(name: str) -> int:
    """The number of a link in messages, 32 bits: of its name, so that two links of a lab hardly have the same."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
