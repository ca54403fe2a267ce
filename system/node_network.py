# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab relies on of its nodes' networks, and how it is now: a host's user may configure its network at will."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface
from typing import Any

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from contracts.plan import InterfacePlan, NodePlan, Plan
from system import namespaces, wires


def changes(plan: Plan, node: NodePlan) -> list[str]:
    """How the interfaces that the plan gives a node differ from it; what its user added is none of the lab's business.

    Raises NamespaceFailed.
    """
    mtus = plan.mtus()
    # The kernel is asked for these interfaces alone: a node may have any number of others, of any name.
    with namespaces.entered(node.namespace), IPRoute(strict_check=True) as netlink:
        differences = []
        for interface in plan.kernel_interfaces(node):
            try:
                (link,) = netlink.link("get", ifname=interface.name)
                own = list(_of_interface(netlink, link, interface, mtus[interface.wire]))
            except (NetlinkError, wires.WireFailed):  # it may go at any moment
                own = ["is gone"]
            differences += [f"{interface.name} {difference}" for difference in own]
        return differences


def _of_interface(netlink: IPRoute, link: Any, interface: InterfacePlan, mtu: int) -> Iterator[str]:
    if link["state"] != "up":
        yield "is down"
    # That of a NIC is not planned.
    if interface.mac and link.get("address") != interface.mac:
        yield f"has the MAC address {link.get('address')}, not {interface.mac}"
    if link.get("mtu") != mtu:
        yield f"has the MTU {link.get('mtu')}, not {mtu}"
    has = {f"{address.get('address')}/{address['prefixlen']}" for address in netlink.get_addr(index=link["index"])}
    planned = interface.addresses if interface.port == "kernel" else ()
    yield from (f"has no address {address}" for address in planned if str(ip_interface(address)) not in has)
    if on := wires.offloads_on(interface.name):
        yield f"has offloads on: {', '.join(on)}"
