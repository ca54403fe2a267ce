# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of ARP (RFC 826) and IPv6 neighbour discovery (RFC 4861), for tests: of hosts with the addresses of virtual.udp."""

from __future__ import annotations

import ipaddress
import struct

from netboxes.engine.virtual import BROADCAST, address, checksum, ethernet, mac

ALL_NODES = ipaddress.IPv6Address("ff02::1")
UNSPECIFIED = ipaddress.IPv6Address("::")


def arp_request(asker: int, target: int, *, to: bytes = BROADCAST, probe: bool = False) -> bytes:
    """A question for the target's MAC address; with `target` = `asker` an announcement (RFC 5227). `probe`: from no address."""
    sender = bytes(4) if probe else address(asker, 4).packed
    return _arp(1, mac(asker), to, mac(asker) + sender + bytes(6) + address(target, 4).packed)


def arp_reply(owner: int, asker: int, *, at: int | None = None, probe: bool = False) -> bytes:
    """The owner's answer to the asker; `at`: the number of the MAC address, if not the owner's."""
    here = mac(owner if at is None else at)
    target = mac(asker) + (bytes(4) if probe else address(asker, 4).packed)
    return _arp(2, here, mac(asker), here + address(owner, 4).packed + target)


def solicitation(asker: int, target: int, *, to: bytes | None = None, probe: bool = False) -> bytes:
    """To the target's solicited-node group, or to the MAC address `to`. `probe`: duplicate address detection (RFC 4862)."""
    wanted = address(target, 6)
    group = ipaddress.IPv6Address(ipaddress.IPv6Address("ff02::1:ff00:0").packed[:13] + wanted.packed[13:])
    option = b"" if probe else b"\1\1" + mac(asker)
    source = UNSPECIFIED if probe else address(asker, 6)
    ethernet_to = to or b"\x33\x33" + group.packed[12:]
    message = bytes([135, 0, 0, 0]) + bytes(4) + wanted.packed + option
    return icmp6(mac(asker), ethernet_to, source, wanted if to else group, message)


def advertisement(owner: int, asker: int | None, *, router: bool = False, at: int | None = None) -> bytes:
    """To the asker, solicited; without one to all nodes. `at`: the number of the MAC address, if not the owner's."""
    here, flags = mac(owner if at is None else at), 0x20 | 0x80 * router | 0x40 * (asker is not None)
    destination = ALL_NODES if asker is None else address(asker, 6)
    ethernet_to = b"\x33\x33\0\0\0\1" if asker is None else mac(asker)
    message = bytes([136, 0, 0, 0, flags, 0, 0, 0]) + address(owner, 6).packed + b"\2\1" + here
    return icmp6(here, ethernet_to, address(owner, 6), destination, message)


def icmp6(
    source_mac: bytes,
    destination_mac: bytes,
    source: ipaddress.IPv4Address | ipaddress.IPv6Address,
    destination: ipaddress.IPv4Address | ipaddress.IPv6Address,
    message: bytes,
    hop_limit: int = 255,
) -> bytes:
    """An ICMPv6 message, whose checksum is put in."""
    addresses = source.packed + destination.packed
    right = checksum(addresses + struct.pack(">IHBB", len(message), 0, 0, 58) + message)
    sealed = message[:2] + struct.pack(">H", right) + message[4:]
    header = struct.pack(">IHBB", 6 << 28, len(message), 58, hop_limit)
    return ethernet(source_mac, destination_mac, 0x86DD, header + addresses + sealed)


def _arp(operation: int, source: bytes, destination: bytes, addresses: bytes) -> bytes:
    return ethernet(source, destination, 0x0806, struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation) + addresses)
