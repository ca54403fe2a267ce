# SPDX-License-Identifier: GPL-2.0-or-later
"""FRRouting in a router's container: what it is told, what runs it, and which routes a configuration has.

Nothing else in NetBoxIT knows how its daemons are configured. `frr_node.py` runs them.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Final

from contracts.addresses import Interface
from contracts.installation import CHECKOUT, PYTHON
from netboxes.stages.stage import NETBOX
from system.rootfs import NODE_FOLDER
from testbed.description.router import Ospf, Router
from testbed.description.wiring import End, Wiring, reached

Network = IPv4Network | IPv6Network

CONFIGURATION: Final = "frr.conf"
#: Whose costs follow what netboxes tell: {"reference_bps": …, "interfaces": […]}; absent where none does.
LINK_COSTS: Final = "link-costs.json"
#: Where Debian's package has its daemons.
DAEMONS: Final = Path("/usr/lib/frr")

#: Raw sockets and routes; FRRouting's daemons do not start without SYS_ADMIN, which they want for network namespaces.
CAPABILITIES: Final = ("net_admin", "net_raw", "net_bind_service", "sys_admin")

#: First wait after a change, least and greatest wait between two calculations, ms: FRRouting's defaults (0, 50, 5000) have links
#: that flap hold up the calculation for 5 s.
_SPF_THROTTLE: Final = "10 100 1000"
#: Least time between two advertisements of a router, and between two that others take, ms; s until one that was lost is repeated.
#: RFC 2328 has 5000 and 1000 (appendix B), and suggests 5 (C.3). By them a network that comes up takes wrong paths for 10 s:
#: what a router says first lacks neighbours that it has only just found.
_LSA_INTERVAL, _LSA_ARRIVAL, _RETRANSMIT = 200, 100, 1

#: Of an interface without `ip ospf cost`: ospfd's reference bandwidth by that of a veth interface.
DEFAULT_COST: Final = 10
#: Protocols by which a router would learn routes of which nothing is known here.
_OTHERS: Final = ("bgp", "isis", "rip", "ripng", "eigrp", "babel", "ospf6")


#: In the node's own folder, as `frr_node.py` knows it: what `c2ml` writes, for the node's journal.
PARTS_JOURNAL: Final = "parts.jsonl"
#: What runs them.
_PROGRAM: Final = (str(PYTHON), str(CHECKOUT / "testbed/nodes/frr_node.py"), NODE_FOLDER)


def command(neighbours: int, networks: Sequence[str]) -> tuple[str, ...]:
    """What the node runs; it is ready when it has so many OSPF neighbours, and routes to these networks."""
    return (*_PROGRAM, str(neighbours), *networks)


def awaited(command: Sequence[str]) -> tuple[int, list[str]]:
    """The neighbours and networks that a node waits for whose command is such a one."""
    _, _, _, neighbours, *networks = command
    return int(neighbours), networks


def waits_for(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether two commands of a node differ only in what it waits for when it starts."""
    return tuple(before[:3]) == tuple(after[:3]) == _PROGRAM


def neighbours(name: str, router: Router, routers: Mapping[str, Router], wiring: Wiring) -> dict[str, int]:
    """How many other routers with OSPF each interface of a router shares its segment with; nothing without OSPF of its own."""
    if router.ospf is None:
        return {}
    speaking = {other for other, router in routers.items() if router.ospf is not None} - {name}
    segments = wiring.segments()
    return {
        port: sum(end.node in speaking for segment in segments if End(name, port) in segment for end in segment)
        for port in router.interfaces
    }


def networks(name: str, routers: Mapping[str, Router], wiring: Wiring) -> list[str]:
    """The IPv4 networks of all routers that this one learns of by OSPF, its own ones included."""
    segments = [{end.node for end in segment} for segment in wiring.segments()]
    speaking = {other for other, router in routers.items() if router.ospf is not None}

    def beside(router: str) -> set[str]:
        return set[str]().union(*(nodes & speaking for nodes in segments if router in nodes))

    return sorted(
        {
            str(address.network)
            for router in reached(name, beside)
            for addresses in routers[router].interfaces.values()
            for address in addresses
            if address.version == 4
        }
    )


def configuration(name: str, router: Router, neighbours: Mapping[str, int]) -> str:
    """Of zebra, ospfd and bfdd in one (vtysh's "integrated" form).

    `neighbours` says how many other OSPF routers each interface sees: none means that OSPF is passive there, one that
    no designated router needs to be elected.
    """
    ospf = router.ospf
    assert ospf is not None, "asked for a router with OSPF only"
    lines = [
        *(f"hostname {name}", "log file /run/netboxit/frr.log informational", "!"),
        *(line for interface in router.interfaces for line in _of_interface(ospf, interface, neighbours[interface])),
        *("router ospf", f" ospf router-id {_router_id(router)}", f" timers throttle spf {_SPF_THROTTLE}"),
        *(f" timers throttle lsa all {_LSA_INTERVAL}", f" timers lsa min-arrival {_LSA_ARRIVAL}", "exit", "!"),
    ]
    if ospf.bfd:
        interval_ms = round(ospf.bfd.interval * 1e3)
        lines += [
            *("bfd", " profile netboxit", f"  detect-multiplier {ospf.bfd.multiplier}"),
            *(f"  receive-interval {interval_ms}", f"  transmit-interval {interval_ms}", " exit", "exit", "!"),
        ]
    return "\n".join(lines) + "\n"


def link_costs(ospf: Ospf | None) -> dict[str, str]:
    """The file that says whose costs follow their netboxes, by its name; none where no cost does."""
    followers = [name for name, cost in ospf.costs.items() if cost == NETBOX] if ospf is not None else []
    if ospf is None or not followers:
        return {}
    return {LINK_COSTS: json.dumps({"reference_bps": ospf.reference, "interfaces": followers}) + "\n"}


def _of_interface(ospf: Ospf, interface: str, neighbours: int) -> list[str]:
    said = ospf.costs.get(interface, DEFAULT_COST)
    cost = DEFAULT_COST if said == NETBOX else said  # until it is told
    spoken_to = [
        f" ip ospf network {'point-to-point' if neighbours == 1 else 'broadcast'}",
        f" ip ospf hello-interval {ospf.hello:.0f}",
        f" ip ospf dead-interval {ospf.dead:.0f}",
        f" ip ospf retransmit-interval {_RETRANSMIT}",
        *((" ip ospf bfd", " ip ospf bfd profile netboxit") if ospf.bfd else ()),
    ]
    return [
        *(f"interface {interface}", " ip ospf area 0", f" ip ospf cost {cost}"),
        *(spoken_to if neighbours else [" ip ospf passive"]),
        *("exit", "!"),
    ]


def _router_id(router: Router) -> str:
    """Its first IPv4 address (RFC 2328, C.1, asks for any number that no other router has)."""
    return next(str(address.ip) for own in router.interfaces.values() for address in own if address.version == 4)


@dataclass
class Routes:
    """Of one node. `costs` are those of the interfaces on which OSPF runs, by name; a passive one has no neighbours."""

    costs: dict[str, int] = field(default_factory=dict)
    passive: set[str] = field(default_factory=set)
    #: Networks with the gateways to them.
    static: list[tuple[Network, str]] = field(default_factory=list)
    #: Other protocols that it speaks.
    others: list[str] = field(default_factory=list)


def read_routes(text: str, interfaces: Mapping[str, Sequence[Interface]]) -> Routes:
    """Of frr.conf in one (vtysh's "integrated" form), for a router with these interfaces.

    That is what decides which path packets take. Areas are taken for one; route maps, redistribution and the like are not read.
    """
    routes, costs, networks = Routes(), dict[str, int](), list[Network]()
    spoken, section = set[str](), list[str]()
    for line in text.splitlines():
        words = line.split()
        if words[:1] in (["interface"], ["router"]):
            section = words[:2]
            routes.others += [protocol for protocol in _OTHERS if section == ["router", protocol]]
        match words, section:
            case ["ip", "ospf", "cost", cost, *_], ["interface", name] if cost.isdigit():
                costs[name] = int(cost)
            case ["ip", "ospf", "area", *_], ["interface", name]:
                spoken.add(name)
            case ["ip", "ospf", "passive", *_], ["interface", name]:
                routes.passive.add(name)
            case ["passive-interface", name, *_], ["router", "ospf"]:
                routes.passive |= set(interfaces) if name == "default" else {name}
            case ["network", network, "area", *_], ["router", "ospf"]:
                networks += _network(network)
            case ["ip" | "ipv6", "route", network, gateway, *_], _:
                routes.static += [(destination, gateway) for destination in _network(network)]
    for name, addresses in interfaces.items():
        if name in spoken or any(own.version == 4 and own.network.subnet_of(into) for own in addresses for into in networks):  # type: ignore[arg-type]
            routes.costs[name] = costs.get(name, DEFAULT_COST)
    return routes


def _network(text: str) -> list[Network]:
    with suppress(ValueError):
        return [ipaddress.ip_network(text, strict=False)]
    return []
