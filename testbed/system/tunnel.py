# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels that are wires between machines (VXLAN, RFC 7348): what they ask of the interface that carries them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any, Final

from pyroute2 import IPRoute  # type: ignore[import-untyped]

from testbed.plan import EquipmentPlan
from testbed.system import interface_use

#: By the version of IP: its header, UDP's, VXLAN's, and that of the frame inside (RFC 7348, 5).
_ROOM: Final = {4: 20 + 8 + 8 + 14, 6: 40 + 8 + 8 + 14}


def room(address: str) -> int:
    """How many bytes longer than a packet inside the packet is that carries it to this address."""
    return _ROOM[ipaddress.ip_address(address).version]


def too_small(interface: str, found: int, needed: int, packet: int) -> str:
    """What is wrong with an interface, and the remedy."""
    return (
        f"{interface} carries packets of {found} bytes, and a packet of {packet} bytes takes {needed}; raise its MTU on both "
        f"machines and on what is between them (ip link set {interface} mtu {needed}), or join them by ports of their own (over)"
    )


def problems(netlink: IPRoute, port: EquipmentPlan) -> Iterator[str]:
    """Why this machine cannot be the end of a tunnel."""
    link = _carrier(netlink, str(port.local))
    if link is None:
        yield (
            f"no interface of this machine has the address {port.local}; "
            "say in the inventory which one carries the wires (netboxit_address)"
        )
        return
    name, needed = link.get("ifname"), port.mtu + room(str(port.local))
    if link.get("mtu") < needed:
        yield too_small(name, link.get("mtu"), needed, port.mtu)
    yield from (f"{name} {why}" for why in interface_use.why_not_under(link))


def _carrier(netlink: IPRoute, address: str) -> Any:
    wanted = ipaddress.ip_address(address)
    for one in netlink.get_addr():
        if ipaddress.ip_address(one.get("local") or one.get("address")) == wanted:
            return netlink.get_links(one["index"])[0]
    return None
