# SPDX-License-Identifier: GPL-2.0-or-later
"""Wires: veth pairs made by netlink directly inside two namespaces, so that the host's own namespace never sees them."""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from ipaddress import IPv4Interface, IPv6Interface
from socket import AF_INET, AF_INET6
from typing import Any, Literal

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.ethtool.ioctl import (  # type: ignore[import-untyped]
    EthtoolError,
    IoctlEthtool,
    NoSuchDevice,
    NotSupportedError,
)
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from contracts.changes import WireState
from contracts.errors import NetBoxITError
from contracts.plan import InterfacePlan, NodePlan, Plan, RoutePlan, WirePlan
from system import namespaces

#: Forwarding and reverse path filtering are inherited from the host's settings unless written; a lab must not depend on them.
#: ping_group_range lets ping work without a capability.
_SETTINGS = {
    "ipv4/ip_forward": "0",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/ping_group_range": "0 2147483647",
}
#: Of a host, by what its plan says of ECN (ip-sysctl.rst, tcp_ecn).
_TCP_ECN = {None: "2", True: "1", False: "0"}
#: Of a router whose kernel routes. Redirects would have hosts leave it out.
_FORWARDING = {"ipv4/ip_forward": "1", "ipv4/conf/all/send_redirects": "0", "ipv4/conf/default/send_redirects": "0"}
_FORWARDING_IPV6 = {"ipv6/conf/all/forwarding": "1"}
_NO_IPV6 = {"ipv6/conf/all/disable_ipv6": "1", "ipv6/conf/default/disable_ipv6": "1"}
#: Addresses are the plan's alone: nothing is solicited, waited for or probed.
PLANNED_IPV6 = {
    "ipv6/conf/all/disable_ipv6": "0",
    "ipv6/conf/default/disable_ipv6": "0",
    "ipv6/conf/default/accept_ra": "0",
    "ipv6/conf/default/autoconf": "0",
    "ipv6/conf/default/router_solicitations": "0",
    "ipv6/conf/default/accept_dad": "0",
    "ipv6/conf/default/dad_transmits": "0",
}


class WireFailed(NetBoxITError):
    """A wire or an interface could not be made as planned."""


def mark(lab: str, wire: str) -> str:
    """The alternative name by which the kernel shows whose an interface is."""
    return f"netboxit:{lab}:{wire}"


def prepare_namespace(node: NodePlan) -> None:
    """Loopback and the kernel's settings, before the first wire is there."""
    with netlink_in(node.namespace, f"node {node.name}: loopback") as netlink:
        namespaces.write_settings(settings(node))
        netlink.link("set", index=1, state="up")


def settings(node: NodePlan) -> dict[str, str]:
    """Those of the node's namespace, as sysctls below net/."""
    ipv6 = any(address.version == 6 for interface in node.interfaces for address in _of_kernel(interface))
    forwarding = _FORWARDING | (_FORWARDING_IPV6 if ipv6 else {}) if node.forwards else {}
    return _SETTINGS | {"ipv4/tcp_ecn": _TCP_ECN[node.ecn]} | (PLANNED_IPV6 if ipv6 else _NO_IPV6) | forwarding


def create(plan: Plan, wire: WirePlan) -> None:
    """Makes the pair, both ends with name, MAC, MTU and mark, still down."""
    ends = [(plan.node(end.node), _interface(plan.node(end.node), end.interface)) for end in (wire.left, wire.right)]
    (left, left_interface), (right, right_interface) = ends
    with netlink_in(left.namespace, f"wire {wire.name}: veth pair {left_interface.name} – {right_interface.name}") as netlink:
        netlink.link(
            "add",
            kind="veth",
            ifname=left_interface.name,
            address=left_interface.mac,
            mtu=wire.mtu,
            peer=veth_end(right_interface.name, right_interface.mac, wire.mtu, right.namespace),
        )
    for node, interface in ends:
        with netlink_in(node.namespace, f"wire {wire.name}: mark {interface.name} in {node.name}") as netlink:
            netlink.link("property_add", index=index_of(netlink, interface.name), altname=mark(plan.lab, wire.name))


def veth_end(name: str, mac: str, mtu: int, namespace: str) -> dict[str, str | int]:
    """The second end of a pair that is made, as netlink takes it: in that namespace at once."""
    return {"ifname": name, "address": mac, "mtu": mtu, "net_ns_fd": str(namespaces.path(namespace))}


def configure(plan: Plan, node: NodePlan) -> None:
    """All interfaces, then routes."""
    configure_interfaces(plan, node, {interface.wire for interface in node.interfaces})
    with netlink_in(node.namespace, f"node {node.name}: routes") as netlink:
        for route in node.routes:
            add_route(netlink, "add", route)


def configure_interfaces(plan: Plan, node: NodePlan, of: Collection[str]) -> None:
    """Those at the ends of these wires: offloads off, addresses, up; then reads back what the kernel made of it."""
    mtus = plan.mtus()
    # VLANs and macvlans leave offloads to the interface below, which is the host's.
    below = {port.wire for port in plan.equipment if port.kind in ("vlan", "macvlan")}
    with netlink_in(node.namespace, f"node {node.name}: interfaces") as netlink:
        for interface in (end for end in plan.kernel_interfaces(node) if end.wire in of):
            if interface.wire not in below:
                turn_offloads_off(interface.name)
            index = index_of(netlink, interface.name)
            for address in _of_kernel(interface):
                netlink.addr("add", index=index, address=str(address.ip), prefixlen=address.network.prefixlen)
            _set_up(netlink, index, interface, plan)
            mtu, planned = netlink.get_links(index)[0].get("mtu"), mtus[interface.wire]
            if mtu != planned:
                raise WireFailed(f"interface {interface.name} of {node.name}: the kernel says MTU {mtu}, the plan {planned}")


def _set_up(netlink: IPRoute, index: int, interface: InterfacePlan, plan: Plan) -> None:
    try:
        netlink.link("set", index=index, state="up")
    except NetlinkError as error:
        tunnel = next((port for port in plan.equipment if port.wire == interface.wire and port.kind == "vxlan"), None)
        if tunnel is None or error.code != errno.EADDRINUSE:
            raise
        raise WireFailed(
            f"wire {interface.wire}: UDP port {tunnel.udp_port} of this machine is somebody else's (see `ss -ulnp`); end that, "
            "or give the machines another one in the inventory (netboxit_vxlan_port)"
        ) from error


def differences(plan: Plan, node: NodePlan) -> list[str]:
    """How a node's interfaces differ from the plan, in words: a host's user may configure its network at will.

    What the user has added is none of the lab's business. Raises NamespaceFailed.
    """
    mtus = plan.mtus()
    # The kernel is asked for these interfaces alone: a node may have any number of others, of any name.
    with namespaces.entered(node.namespace), IPRoute(strict_check=True) as netlink:
        descriptions = []
        for interface in plan.kernel_interfaces(node):
            try:
                (link,) = netlink.link("get", ifname=interface.name)
                own = list(_differences_of(netlink, link, interface, mtus[interface.wire]))
            except (NetlinkError, WireFailed):  # it may go at any moment
                own = ["is gone"]
            descriptions += [f"{interface.name} {difference}" for difference in own]
        return descriptions


def _differences_of(netlink: IPRoute, link: Any, interface: InterfacePlan, mtu: int) -> Iterator[str]:
    if link["state"] != "up":
        yield "is down"
    # That of a NIC is not planned.
    if interface.mac and link.get("address") != interface.mac:
        yield f"has the MAC address {link.get('address')}, not {interface.mac}"
    if link.get("mtu") != mtu:
        yield f"has the MTU {link.get('mtu')}, not {mtu}"
    has = {f"{address.get('address')}/{address['prefixlen']}" for address in netlink.get_addr(index=link["index"])}
    planned = interface.addresses if interface.port == "kernel" else ()
    yield from (f"has no address {address}" for address in planned if str(ipaddress.ip_interface(address)) not in has)
    if on := offloads_on(interface.name):
        yield f"has offloads on: {', '.join(on)}"


class Switch:
    """The interface at one end of a veth wire, to be taken down and brought back by one message: the node at the other end loses
    its carrier, as when a cable is unplugged.

    Belongs to the thread that made it. Coming back, the interface gets the addresses and routes of the plan, which an interface
    that is down loses.
    """

    def __init__(self, node: NodePlan, interface: str) -> None:
        self._node, self._interface = node, _interface(node, interface)
        with netlink_errors(WireFailed, f"node {node.name}: {interface}"), namespaces.entered(node.namespace):
            self._netlink = IPRoute()
            self._index = index_of(self._netlink, interface)

    def close(self) -> None:
        self._netlink.close()

    def set(self, state: WireState) -> None:
        """Raises WireFailed with the kernel's answer."""
        with netlink_errors(WireFailed, f"node {self._node.name}: {self._interface.name} {state}"):
            self._netlink.link("set", index=self._index, state=state)
            own = _of_kernel(self._interface) if state == "up" else []
            for address in own:
                self._netlink.addr("replace", index=self._index, address=str(address.ip), prefixlen=address.network.prefixlen)
            for route in self._node.routes:
                if any(ipaddress.ip_address(route.gateway) in address.network for address in own):
                    add_route(self._netlink, "replace", route)


def _of_kernel(interface: InterfacePlan) -> list[IPv4Interface | IPv6Interface]:
    """The addresses at which the kernel answers. Those of a Click router are Click's: nobody shall be answered twice."""
    return [ipaddress.ip_interface(text) for text in interface.addresses if interface.port == "kernel"]


def set_aside(plan: Plan, wire: WirePlan, node: NodePlan) -> None:
    """Takes a wire's interface in a node down, and its name away, so that another can have it: the cable is unplugged there."""
    with netlink_in(node.namespace, f"wire {wire.name}: set aside in {node.name}") as netlink:
        index = index_of(netlink, mark(plan.lab, wire.name), by="altname")
        netlink.link("set", index=index, state="down")
        netlink.flush_addr(index=index)
        netlink.link("set", index=index, ifname=f"aside{index}")


def take_back(plan: Plan, wire: WirePlan, node: NodePlan, interface: str) -> None:
    """Gives the wire's interface its name again; it is still down. One that has it is fine."""
    with netlink_in(node.namespace, f"wire {wire.name}: take back in {node.name}") as netlink:
        netlink.link("set", index=index_of(netlink, mark(plan.lab, wire.name), by="altname"), ifname=interface)


def turn_offloads_off(interface: str) -> None:
    """Frames cross a wire as they are: no segmentation, no merging, checksums really there, VLAN tags in the frame.

    Acts in the namespace that the calling thread is in. Raises WireFailed when an offload stays on.
    """
    with _ethtool(interface) as ethtool:
        features = ethtool.get_features()
        for name in _active(features):
            features[name] = False
        with suppress(NotSupportedError):  # some cannot be turned off: told below
            ethtool.set_features(features)
    if left := offloads_on(interface):
        raise WireFailed(
            f"interface {interface}: the kernel keeps these offloads on: {', '.join(left)}; frames would not be what was sent"
        )


def offloads_on(interface: str) -> list[str]:
    """The offloads that are on and can be turned off: each of them changes what a frame looks like.

    The interface is in the namespace that the calling thread is in. Raises WireFailed.
    """
    with _ethtool(interface) as ethtool:
        return _active(ethtool.get_features())


@contextmanager
def _ethtool(interface: str) -> Iterator[IoctlEthtool]:
    with closing(IoctlEthtool(interface)) as ethtool:
        try:
            yield ethtool
        except (EthtoolError, OSError) as error:
            gone = isinstance(error, NoSuchDevice) or getattr(error, "errno", None) == errno.ENODEV
            cause = "it is gone" if gone else getattr(error, "strerror", None) or "its driver does not support it"
            raise WireFailed(f"interface {interface}: offloads could not be read or set: {cause}") from error


def _active(features: object) -> list[str]:
    return [
        name
        for name, active, changeable, *_ in features  # type: ignore[attr-defined]
        if active and changeable and name.startswith(("tx-", "rx-")) and name != "tx-nocache-copy"
    ]


def add_route(netlink: IPRoute, how: str, route: RoutePlan) -> None:
    family = AF_INET if ipaddress.ip_address(route.gateway).version == 4 else AF_INET6
    netlink.route(how, family=family, dst=route.destination, gateway=route.gateway)


def _interface(node: NodePlan, name: str) -> InterfacePlan:
    return next(interface for interface in node.interfaces if interface.name == name)


def index_of(netlink: IPRoute, name: str, *, by: Literal["ifname", "altname"] = "ifname") -> int:
    """Of the interface with that name, or alternative name. Raises WireFailed."""
    if not (indices := netlink.link_lookup(**{by: name})):
        remedy = {"ifname": "is it the end of a wire in the plan?", "altname": "`netboxit down` and `up` bring the lab back"}[by]
        raise WireFailed(f"interface {name} is not there; {remedy}")
    return int(indices[0])


@contextmanager
def netlink_in(namespace: str, what: str) -> Iterator[IPRoute]:
    """A netlink socket inside a namespace, the calling thread inside too; errors say `what` was tried."""
    with namespaces.entered(namespace), netlink_errors(WireFailed, what), IPRoute() as netlink:
        yield netlink


@contextmanager
def netlink_errors(kind: type[NetBoxITError], what: str) -> Iterator[None]:
    """What the kernel refuses in the block becomes an error of that kind, which says what was tried."""
    try:
        yield
    except NetlinkError as error:
        raise kind(f"{what}: the kernel answered: {error.args[-1]}") from error
