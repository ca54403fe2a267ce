# SPDX-License-Identifier: GPL-2.0-or-later
"""A host or Linux router of a plan as a host of netboxes/endpoints: its interfaces, routes, and what its applications send."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from applications.virtual_traffic import FlowEnd
from contracts.plan import NodePlan
from testbed.nodes import frr, management, routers
from testbed.nodes.frr_ospf import ospf_of


def is_endpoint(node: NodePlan) -> bool:
    """Whether its kernel's IP stack is what packets meet."""
    return node.kind == "host" or (node.kind == "router" and not routers.is_click(node))


def _given(node: NodePlan) -> list[tuple[str, str]]:
    """Destination and gateway of each route that it was given, also by FRRouting's configuration."""
    static = _frr_routes(node).static
    return [*((route.destination, route.gateway) for route in node.routes), *((str(to), gateway) for to, gateway in static)]


def _frr_routes(node: NodePlan) -> frr.Routes:
    interfaces = {port.name: [ipaddress.ip_interface(text) for text in port.addresses] for port in node.interfaces}
    return frr.read_routes(node.files.get(frr.CONFIGURATION, ""), interfaces)


def is_known(node: NodePlan) -> bool:
    """Whether its routes are static, by way of a gateway, or OSPF's."""
    routes = _frr_routes(node)
    return not routes.others and not any(gateway in {port.name for port in node.interfaces} for _, gateway in routes.static)


def parameters(node: NodePlan, mtus: dict[str, int], ends: Sequence[FlowEnd]) -> dict[str, Any]:
    """What the segment is told (netboxes/endpoints/README.md); `mtus` are those of the wires by name."""
    return {
        "hosts": {
            node.name: {
                "interfaces": {
                    port.name: {"mac": port.mac, "addresses": list(port.addresses), "mtu": mtus[port.wire]}
                    for port in node.interfaces
                },
                "routes": [{"destination": to, "gateway": gateway} for to, gateway in _given(node)],
                "forwarding": node.forwards,
                "ospf": ospf_of(node),
                "management": management.in_virtual_time(node),
            }
        },
        "flows": [_with_ecn(node, end) for end in _of_host(node.name, ends)],
    }


def _with_ecn(node: NodePlan, end: FlowEnd) -> FlowEnd:
    """What the host says of ECN is said to each end of it that has TCP, as a kernel's is of all its connections."""
    if node.ecn is None or end["application"] == "datagrams":
        return end
    return {**end, "tcp": {**end.get("tcp", {}), "ecn": node.ecn}}


def _of_host(name: str, ends: Sequence[FlowEnd]) -> list[FlowEnd]:
    """Flows of several entries may come to one port: one receiver is enough for all of UDP, and one for all of TCP.

    Of those of TCP it is one that was told how to behave, if there is one.
    """
    own = [end for end in ends if end["host"] == name]
    asked = sorted((end for end in own if end["role"] == "receiver"), key=lambda end: "tcp" in end)
    receivers = {(end["application"], end["port"]): end for end in asked}
    return [*receivers.values(), *(end for end in own if end["role"] != "receiver")]
