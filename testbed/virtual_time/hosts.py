# SPDX-License-Identifier: GPL-2.0-or-later
"""A host or Linux router of a plan as a host of netboxes/endpoints: its interfaces, routes, and what its applications send."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from applications.virtual_traffic import FlowEnd
from contracts.plan import NodePlan
from testbed.nodes import frr, routers


def is_endpoint(node: NodePlan) -> bool:
    """Whether its kernel's IP stack is what packets meet."""
    return node.kind == "host" or (node.kind == "router" and not routers.is_click(node))


def routes_of(node: NodePlan) -> list[tuple[str, str]] | None:
    """Destination and gateway of each route that it was given; None where others are found by a protocol."""
    interfaces = {port.name: [ipaddress.ip_interface(text) for text in port.addresses] for port in node.interfaces}
    read = frr.read_routes(node.files.get(frr.CONFIGURATION, ""), interfaces)
    if read.others or read.costs:
        return None
    return [*((route.destination, route.gateway) for route in node.routes), *((str(to), gateway) for to, gateway in read.static)]


def parameters(node: NodePlan, mtus: dict[str, int], ends: Sequence[FlowEnd]) -> dict[str, Any]:
    """What the segment is told (netboxes/endpoints/README.md). `mtus` are those of the wires by name."""
    return {
        "hosts": {
            node.name: {
                "interfaces": {
                    port.name: {"mac": port.mac, "addresses": list(port.addresses), "mtu": mtus[port.wire]}
                    for port in node.interfaces
                },
                "routes": [{"destination": to, "gateway": gateway} for to, gateway in routes_of(node) or ()],
                "forwarding": node.forwards,
            }
        },
        "flows": [end for end in ends if end["host"] == node.name],
    }
