# SPDX-License-Identifier: GPL-2.0-or-later
"""The identity of a frame: a hash of what routers leave alone, the same at every point of the network.

docs/architecture.md ("Identity of a frame") defines it, netboxes/engine/identity.cc computes the same; identity_vectors.json
holds frames on which both must agree.
"""

from __future__ import annotations

import struct

import xxhash

_ETHERNET_HEADER = 14
_TAGS = (0x8100, 0x88A8)
IPV4, IPV6 = 0x0800, 0x86DD
_IPV4_HEADER, _IPV6_HEADER = 20, 40
_PAYLOAD = 128


def identity(frame: bytes) -> int:
    """XXH3-64 of the invariant part of an Ethernet frame without FCS. Raises ValueError for less than an Ethernet header."""
    if len(frame) < _ETHERNET_HEADER:
        raise ValueError(f"{len(frame)} bytes are no Ethernet frame")
    kind, at = network_layer(frame)
    packet = frame[at:]
    material = _ipv4(packet) if kind == IPV4 else _ipv6(packet) if kind == IPV6 else None
    if material is None:
        material = struct.pack(">H", kind) + packet[:_PAYLOAD]
    return xxhash.xxh3_64_intdigest(material)


def network_layer(frame: bytes) -> tuple[int, int]:
    """The EtherType behind VLAN tags, and where in the frame what it names begins. A tag that is cut short is the EtherType."""
    at = _ETHERNET_HEADER
    while (kind := int.from_bytes(frame[at - 2 : at])) in _TAGS and len(frame) >= at + 4:
        at += 4
    return kind, at


def _ipv4(packet: bytes) -> bytes | None:
    """What is hashed of an IPv4 packet; None when its header is inconsistent or cut short."""
    if len(packet) < _IPV4_HEADER or packet[0] >> 4 != 4:
        return None
    header, total = (packet[0] & 0x0F) * 4, int.from_bytes(packet[2:4])
    if header < _IPV4_HEADER or total < header or len(packet) < header:
        return None
    size = total - header
    return packet[12:20] + packet[9:10] + packet[4:8] + size.to_bytes(2) + packet[header : min(total, header + _PAYLOAD)]


def _ipv6(packet: bytes) -> bytes | None:
    """What is hashed of an IPv6 packet; None when its header is inconsistent or cut short."""
    if len(packet) < _IPV6_HEADER or packet[0] >> 4 != 6:
        return None
    length = struct.unpack_from(">H", packet, 4)[0]
    payload = packet[_IPV6_HEADER : _IPV6_HEADER + length][:_PAYLOAD]
    return packet[8:40] + packet[6:7] + packet[4:6] + payload
