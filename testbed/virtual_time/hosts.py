# SPDX-License-Identifier: GPL-2.0-or-later
"""A host or Linux router of a plan as a host of netboxes/endpoints: its interfaces, routes, and what its applications send."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from applications.virtual_traffic import FlowEnd
from contracts.plan import NodePlan
from testbed.nodes import frr, routers
from testbed.plans.routing import RoutesUnknown, Routing


def is_endpoint(node: NodePlan) -> bool:
    """Whether its kernel's IP stack is what packets meet."""
    return node.kind == "host" or (node.kind == "router" and not routers.is_click(node))


def routes_of(node: NodePlan, routing: Routing) -> list[tuple[str, str]]:
    """Destination and gateway of each route: those it was given, and where it speaks OSPF those that this finds while all is up.

    Raises RoutesUnknown.
    """
    given = [(route.destination, route.gateway) for route in node.routes]
    if frr.CONFIGURATION not in node.files:
        return given
    own = [ipaddress.ip_interface(text).network for port in node.interfaces for text in port.addresses]
    found = []
    for network in routing.networks():
        hops = routing.next_hops(node.name, network[1])
        if hops and network not in own:
            found.append((str(network), str(min(hops)[1])))
    return [*given, *found]


def is_known(node: NodePlan, routing: Routing) -> bool:
    """Whether it can be said before what routes it will have."""
    try:
        routes_of(node, routing)
    except RoutesUnknown:
        return False
    return True


def parameters(node: NodePlan, routing: Routing, mtus: dict[str, int], ends: Sequence[FlowEnd], folder: Path) -> dict[str, Any]:
    """What the segment is told (netboxes/endpoints/README.md).

    `mtus` are those of the wires by name; `folder` is the node's, for logs of its flows.
    """
    return {
        "hosts": {
            node.name: {
                "interfaces": {
                    port.name: {"mac": port.mac, "addresses": list(port.addresses), "mtu": mtus[port.wire]}
                    for port in node.interfaces
                },
                "routes": [{"destination": to, "gateway": gateway} for to, gateway in routes_of(node, routing)],
                "forwarding": node.forwards,
            }
        },
        "flows": [{**end, "log": str(folder / end["log"])} if "log" in end else end for end in _of_host(node.name, ends)],
    }


def _of_host(name: str, ends: Sequence[FlowEnd]) -> list[FlowEnd]:
    """Flows of several entries may come to one port: one receiver is enough for all of UDP, and one for all of TCP.

    Of those of TCP it is one that was told how to behave, if there is one.
    """
    own = [end for end in ends if end["host"] == name]
    asked = sorted((end for end in own if end["role"] == "receiver"), key=lambda end: "tcp" in end)
    receivers = {(end["application"], end["port"]): end for end in asked}
    return [*receivers.values(), *(end for end in own if end["role"] != "receiver")]
