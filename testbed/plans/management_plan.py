# SPDX-License-Identifier: GPL-2.0-or-later
"""Which host has which part in the management of a link, from a topology's section `management:`."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from ipaddress import IPv4Network, collapse_addresses, ip_network
from typing import cast

from contracts.addresses import Network
from contracts.management import Part
from testbed.description.managed_link import ManagedLink
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
            parts[member] = _member(name, link, member, str(addresses[1]), _beside(topology, wiring, link, member))
    return parts


def _beside(topology: Topology, wiring: Wiring, link: ManagedLink, member: str) -> list[str]:
    """The IP networks that a member reaches without the link's netbox; of a network that is on both sides its addresses there."""
    if link.of is None:
        return []
    near = wiring.beside(link.of, member)
    networks: dict[Network, dict[bool, set[Network]]] = defaultdict(lambda: {True: set(), False: set()})
    for end, address, _ in Draft.of(topology).interfaces():
        networks[address.network][end.node in near].add(ip_network(address.ip))
    whole = [network for network, sides in networks.items() if sides[True] and not sides[False]]
    some = [address for sides in networks.values() if sides[False] for address in sides[True]]
    return [str(network) for version in (4, 6) for network in _collapsed([*whole, *some], version)]


def _collapsed(networks: Iterable[Network], version: int) -> Iterable[Network]:
    """The fewest prefixes with the same addresses, of one version of IP."""
    return collapse_addresses(cast(Iterable[IPv4Network], (network for network in networks if network.version == version)))


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
