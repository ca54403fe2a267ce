# SPDX-License-Identifier: GPL-2.0-or-later
"""The headers of a captured Ethernet frame, as far as measuring needs them: addresses, ports, DSCP, lengths, RTP."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

_ETHERNET_HEADER = 14
_VLAN_TAGS = (0x8100, 0x88A8)
#: Those that have a name here; IANA, "Protocol Numbers".
_PROTOCOLS = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmpv6", 89: "ospf", 132: "sctp"}
#: Of those that have ports: the least that a header has.
_TRANSPORT_HEADERS = {"tcp": 20, "udp": 8}


class Packet(NamedTuple):
    """An IP packet. Lengths are as the headers tell, not as captured."""

    source: str
    destination: str
    protocol: str
    #: 0 where its protocol has none, or where too little was captured.
    source_port: int
    destination_port: int
    dscp: int
    #: Of the whole frame without FCS and without padding.
    ethernet_bytes: int
    #: Of the transport protocol, else of IP.
    payload_bytes: int
    #: What was captured of the payload of a datagram.
    payload: bytes
    #: It is of UDP or TCP, and its header was captured.
    is_datagram: bool


class _Header(NamedTuple):
    """Of IP. `start` and `end` of what it carries, in the frame."""

    source: str
    destination: str
    protocol: int
    dscp: int
    start: int
    end: int


class Rtp(NamedTuple):
    """The fixed header of RTP (RFC 3550, section 5.1)."""

    payload_type: int
    sequence: int
    timestamp: int


def datagram(frame: bytes) -> Packet | None:
    """The UDP or TCP packet in an Ethernet frame, or None: another protocol, a later fragment, or too little was captured."""
    captured = packet(frame)
    return captured if captured is not None and captured.is_datagram else None


def packet(frame: bytes) -> Packet | None:
    """The IP packet in an Ethernet frame, or None: no IP, a later fragment, or too little was captured."""
    if (header := _header(frame)) is None:
        return None
    source, destination, number, dscp, start, end = header
    protocol = _PROTOCOLS.get(number, f"ip-{number}")
    least = _TRANSPORT_HEADERS.get(protocol)
    if least is None or len(frame) < start + least:
        return Packet(source, destination, protocol, 0, 0, dscp, end, max(0, end - start), b"", is_datagram=False)
    source_port, destination_port = struct.unpack_from(">HH", frame, start)
    begin = start + (8 if protocol == "udp" else (frame[start + 12] >> 4) * 4)
    size = max(0, end - begin)
    return Packet(
        source, destination, protocol, source_port, destination_port, dscp, end, size, frame[begin:end], is_datagram=True
    )


def rtp(payload: bytes) -> Rtp | None:
    """The RTP header at the start of a UDP payload, or None when it is not RTP version 2 (or is RTCP, types 200 to 204)."""
    if len(payload) < 12 or payload[0] >> 6 != 2 or 200 <= payload[1] <= 204:
        return None
    _, marker_and_type, sequence, timestamp = struct.unpack_from(">BBHI", payload)
    return Rtp(marker_and_type & 0x7F, sequence, timestamp)


def _network_layer(frame: bytes) -> tuple[int, int]:
    at = 12
    while len(frame) >= at + 2:
        kind = int.from_bytes(frame[at : at + 2], "big")
        if kind not in _VLAN_TAGS:
            return kind, at + 2
        at += 4
    return 0, len(frame)


def _header(frame: bytes) -> _Header | None:
    kind, start = _network_layer(frame)
    if kind == 0x0800:
        return _ipv4(frame, start)
    return _ipv6(frame, start) if kind == 0x86DD else None


def _ipv4(frame: bytes, start: int) -> _Header | None:
    if len(frame) < start + 20:
        return None
    header = (frame[start] & 0x0F) * 4
    total, _, flags = struct.unpack_from(">HHH", frame, start + 2)
    if flags & 0x1FFF:
        return None
    source, destination = (str(IPv4Address(frame[start + at : start + at + 4])) for at in (12, 16))
    return _Header(source, destination, frame[start + 9], frame[start + 1] >> 2, start + header, start + total)


def _ipv6(frame: bytes, start: int) -> _Header | None:
    if len(frame) < start + 40:
        return None
    (length,) = struct.unpack_from(">H", frame, start + 4)
    source, destination = (str(IPv6Address(frame[start + at : start + at + 16])) for at in (8, 24))
    dscp = (frame[start] & 0x0F) << 2 | frame[start + 1] >> 6
    return _Header(source, destination, frame[start + 6], dscp, start + 40, start + 40 + length)
