# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels that are wires between machines (VXLAN, RFC 7348): what they ask of the interface that carries them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from typing import Final

from contracts.names import SEALED_INTERFACE, sealed_address
from system import interface_facts
from system.interface_facts import InterfaceFacts

#: By the version of IP: its header, UDP's, VXLAN's, and that of the frame inside (RFC 7348, 5).
_ROOM: Final = {4: 20 + 8 + 8 + 14, 6: 40 + 8 + 8 + 14}
_REMEDY: Final = "say in the inventory which one carries the wires (netboxit_address)"
#: IEEE 802.1Q.
TAG: Final = 4


#: What WireGuard puts around a packet, by the version of IP that carries it: its header, UDP's, and of WireGuard's own message
#: the type, the receiver's index, the counter and the authentication tag (whitepaper, 5.4.6).
_SEAL: Final = {4: 20 + 8 + 4 + 4 + 8 + 16, 6: 40 + 8 + 4 + 4 + 8 + 16}
_PREPARE: Final = "prepare the machines (ansible/hosts.yml --tags sealed)"


def room(address: str) -> int:
    """How many bytes longer than a packet inside the packet is that carries it to this address."""
    return _ROOM[ipaddress.ip_address(address).version]


def problems(interfaces: Iterable[InterfaceFacts], address: str, packet: int) -> Iterator[str]:
    """Why a machine with these cannot be the end of a tunnel by that address for packets of so many bytes, with the remedy."""
    if (end := ipaddress.ip_address(address)).is_loopback or end.is_link_local:
        yield f"{address} is an address that other machines do not reach; {_REMEDY}"
        return
    if (interface := interface_facts.with_address(interfaces, address)) is None:
        yield f"no interface of this machine has the address {address}; {_REMEDY}"
        return
    needed = packet + room(address)
    if interface.mtu < needed:
        yield (
            f"{interface.name} carries packets of {interface.mtu} bytes, and a packet of {packet} bytes takes {needed}; raise "
            f"its MTU on both machines and on what is between them (ip link set {interface.name} mtu {needed}), or say mtu: "
            f"{packet - needed + interface.mtu} at the wire"
        )
    yield from _unfit(interface, f"set it up first (ip link set {interface.name} up)")


def sealed_problems(interfaces: Iterable[InterfaceFacts], machine: str, packet: int, underlay: str = "") -> Iterator[str]:
    """The same of a tunnel inside of WireGuard, on the machine of that name; `underlay` is its address that carries WireGuard."""
    interfaces = tuple(interfaces)
    sealed = next((interface for interface in interfaces if interface.name == SEALED_INTERFACE), None)
    address = sealed_address(machine)
    if sealed is None or interface_facts.with_address([sealed], address) is None:
        yield (
            f"there is no WireGuard interface {SEALED_INTERFACE} with the address {address}, for which netboxit_tunnels in the "
            f"inventory asks; {_PREPARE}, or take that out of the inventory, where the kernel has no WireGuard say"
        )
        return
    needed = packet + room(address)
    carrier = interface_facts.with_address(interfaces, underlay) if underlay else None
    seal = _SEAL[ipaddress.ip_address(underlay).version] if underlay else max(_SEAL.values())
    below = f"the interface that carries WireGuard{f', {carrier.name},' if carrier else ''}"
    if sealed.mtu < needed:
        yield (
            f"WireGuard carries packets of {sealed.mtu} bytes, and a packet of {packet} bytes takes {needed}; raise the MTU of "
            f"{below} to {needed + seal} on both machines and on what is between them and {_PREPARE}, or say mtu: "
            f"{packet - needed + sealed.mtu} at the wire"
        )
    elif carrier is not None and carrier.mtu < sealed.mtu + seal:
        yield (
            f"{below} carries packets of {carrier.mtu} bytes, and those of WireGuard take up to {sealed.mtu + seal}; raise its "
            f"MTU (ip link set {carrier.name} mtu {sealed.mtu + seal}), or {_PREPARE}"
        )
    yield from _unfit(sealed, f"start it (systemctl start wg-quick@{sealed.name})")


def _unfit(interface: InterfaceFacts, remedy_when_down: str) -> Iterator[str]:
    if interface.merging:
        yield f"{interface.name} {interface_facts.merges(interface.name, interface.merging)}"
    if not interface.up:
        yield f"{interface.name} is down; {remedy_when_down}"
