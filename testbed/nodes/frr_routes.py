# SPDX-License-Identifier: GPL-2.0-or-later
"""What a configuration of FRRouting says of routes: interfaces with OSPF and their costs, static routes.

That is what decides which path packets take. Areas are taken for one; route maps, redistribution and the like are not read.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from contracts.addresses import Interface

Network = IPv4Network | IPv6Network

#: Of an interface without `ip ospf cost`: ospfd's reference bandwidth by that of a veth interface.
DEFAULT_COST: Final = 10
#: Protocols by which a router would learn routes of which nothing is known here.
_OTHERS: Final = ("bgp", "isis", "rip", "ripng", "eigrp", "babel", "ospf6")


@dataclass
class Routes:
    """Of one node. `costs` are those of the interfaces on which OSPF runs, by name; a passive one has no neighbours."""

    costs: dict[str, int] = field(default_factory=dict)
    passive: set[str] = field(default_factory=set)
    #: Networks with the gateways to them.
    static: list[tuple[Network, str]] = field(default_factory=list)
    #: Other protocols that it speaks.
    others: list[str] = field(default_factory=list)


def read(text: str, interfaces: Mapping[str, Sequence[Interface]]) -> Routes:
    """Of frr.conf in one (vtysh's "integrated" form), for a router with these interfaces."""
    found, costs, networks = Routes(), dict[str, int](), list[Network]()
    spoken: set[str] = set()
    section: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] in (["interface"], ["router"]):
            section = words[:2]
            found.others += [protocol for protocol in _OTHERS if section == ["router", protocol]]
        match words, section:
            case ["ip", "ospf", "cost", cost, *_], ["interface", name] if cost.isdigit():
                costs[name] = int(cost)
            case ["ip", "ospf", "area", *_], ["interface", name]:
                spoken.add(name)
            case ["ip", "ospf", "passive", *_], ["interface", name]:
                found.passive.add(name)
            case ["passive-interface", name, *_], ["router", "ospf"]:
                found.passive |= set(interfaces) if name == "default" else {name}
            case ["network", network, "area", *_], ["router", "ospf"]:
                networks += _network(network)
            case ["ip" | "ipv6", "route", network, gateway, *_], _:
                found.static += [(one, gateway) for one in _network(network)]
    for name, addresses in interfaces.items():
        if name in spoken or any(one.version == 4 and one.network.subnet_of(into) for one in addresses for into in networks):  # type: ignore[arg-type]
            found.costs[name] = costs.get(name, DEFAULT_COST)
    return found


def _network(text: str) -> list[Network]:
    with suppress(ValueError):
        return [ipaddress.ip_network(text, strict=False)]
    return []
