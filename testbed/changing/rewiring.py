# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of the kernel's part of a lab that is up: interfaces, addresses and routes of nodes that keep running.

Each step may be done again: it finds what is done already.
"""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]
from typing_extensions import TypedDict

from contracts.plan import InterfacePlan, NodePlan, Plan, WireEnd
from system import namespaces, wires
from system.interface_settings import altnames

#: What the kernel answers where there is nothing to remove.
_GONE = (errno.ENODEV, errno.ENOENT, errno.ESRCH, errno.EADDRNOTAVAIL)
_UP = 1  # IFF_UP of linux/if.h
_PERMANENT = 0x80  # NUD_PERMANENT of linux/neighbour.h


def delete(lab: str, namespace: str, end: WireEnd, wire: str) -> None:
    """Removes a wire's veth pair, if there is one, by an end of it, whatever name that end has now.

    One that was never marked was made by somebody who ended before that.
    """
    mark = wires.mark(lab, wire)
    with wires.netlink_in(namespace, f"wire {wire}: removing {end.interface} of {end.node}") as netlink:
        for link in netlink.get_links():
            marks = altnames(link)
            unmarked = not marks and link.get("ifname") == end.interface and (link.get("linkinfo") or {}).get("kind") == "veth"
            if mark in marks or unmarked:
                _unless_gone(lambda: netlink.link("del", index=link["index"]))  # noqa: B023
                return


def settle(plan: Plan, node: NodePlan, before: Sequence[NodePlan], new_wires: Collection[str]) -> None:
    """Gives a node that was planned as one of `before` what it has in the plan; its interfaces on `new_wires` are new.

    What neither plan knows of, somebody else has made, and it stays.
    """
    with wires.netlink_in(node.namespace, f"node {node.name}: settings"):
        namespaces.write_settings(wires.settings(node))
    wires.configure_interfaces(plan, node, new_wires)
    with wires.netlink_in(node.namespace, f"node {node.name}: interfaces and routes") as netlink:
        links = {link.get("ifname"): link for link in netlink.get_links()}
        mtus = plan.mtus()
        kept = [own for own in plan.kernel_interfaces(node) if own.wire not in new_wires and own.name in links]
        if wires.settings(node).items() >= wires.PLANNED_IPV6.items():
            for interface in kept:
                namespaces.write_settings(_of_interface(interface.name))
        for interface in kept:
            old = [own for was in before for own in was.interfaces if own.name == interface.name]
            _settle_interface(netlink, links[interface.name], interface, old, mtus.get(interface.wire))
        _settle_routes(netlink, node, before)


def forget_neighbours(plan: Plan, nodes: Collection[NodePlan], before: Sequence[Plan]) -> None:
    """Has nodes ask anew who has an address that is somebody else's now: what they know may be a minute old."""
    now = _owners(plan)
    moved = {address for was in before for address, mac in _owners(was).items() if now.get(address, mac) != mac}
    for node in nodes if moved else ():
        with wires.netlink_in(node.namespace, f"node {node.name}: neighbours") as netlink:
            for neighbour in [*netlink.get_neighbours(family=2), *netlink.get_neighbours(family=10)]:
                if neighbour.get("dst") in moved and not neighbour["state"] & _PERMANENT:
                    entry = {"ifindex": neighbour["ifindex"], "dst": neighbour.get("dst")}
                    _unless_gone(lambda: netlink.neigh("del", **entry))  # noqa: B023


def _settle_interface(
    netlink: IPRoute, link: Any, interface: InterfacePlan, old: Sequence[InterfacePlan], mtu: int | None
) -> None:
    index = link["index"]
    if mtu is not None and link.get("mtu") != mtu:
        netlink.link("set", index=index, mtu=mtu)
    if interface.mac and link.get("address") != interface.mac:
        netlink.link("set", index=index, address=interface.mac)
    # First those that go: with its first address an interface loses all others of that network.
    for text in {address for was in old for address in was.addresses} - {*interface.addresses}:
        _unless_gone(lambda: netlink.addr("del", index=index, **_address(text)))  # noqa: B023
    for text in interface.addresses:
        netlink.addr("replace", index=index, **_address(text))


def _settle_routes(netlink: IPRoute, node: NodePlan, before: Sequence[NodePlan]) -> None:
    for route in {route for was in before for route in was.routes} - {*node.routes}:
        _unless_gone(lambda: wires.add_route(netlink, "del", route))  # noqa: B023
    # By an interface that somebody took down there is no route until it is up again; that brings it back.
    up = {link.get("ifname") for link in netlink.get_links() if link["flags"] & _UP}
    addresses = [text for interface in node.interfaces if interface.name in up for text in interface.addresses]
    networks = [ipaddress.ip_interface(text).network for text in addresses]
    for route in node.routes:
        if any(ipaddress.ip_address(route.gateway) in network for network in networks):
            wires.add_route(netlink, "replace", route)


def _owners(plan: Plan) -> Mapping[str, str]:
    """Whose MAC address answers for each IP address."""
    return {
        str(ipaddress.ip_interface(text).ip): interface.mac
        for node in plan.nodes
        for interface in node.interfaces
        for text in interface.addresses
    }


class _Address(TypedDict):
    """As pyroute2 is given it."""

    address: str
    prefixlen: int


def _address(text: str) -> _Address:
    address = ipaddress.ip_interface(text)
    return {"address": str(address.ip), "prefixlen": address.network.prefixlen}


def _of_interface(name: str) -> dict[str, str]:
    """What new interfaces have by default, for one that was there before."""
    return {
        setting.replace("/default/", f"/{name}/"): value
        for setting, value in wires.PLANNED_IPV6.items()
        if "/all/" not in setting
    }


def _unless_gone(remove: Callable[[], object]) -> None:
    try:
        remove()
    except NetlinkError as error:
        if error.code not in _GONE:
            raise
