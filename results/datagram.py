# SPDX-License-Identifier: GPL-2.0-or-later
"""The headers of a captured Ethernet frame, as far as measuring needs them: addresses, ports, DSCP, lengths, TCP, RTP."""

from __future__ import annotations

import struct
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from results.identity import IPV4, IPV6, network_layer

#: Those that have a name here; IANA, "Protocol Numbers".
_PROTOCOLS = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmpv6", 89: "ospf", 132: "sctp"}
#: Of those that have ports: the least that a header has.
_TRANSPORT_HEADERS = {"tcp": 20, "udp": 8}
#: Source and destination port; sequence number and timestamp of RTP; total length, identification and fragment of IPv4.
_PORTS, _RTP, _IPV4_LENGTH = struct.Struct(">HH"), struct.Struct(">2xHI"), struct.Struct(">HHH")


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
    #: Of TCP: the number of the payload's first byte, or of a SYN (RFC 9293, 3.1).
    tcp_sequence: int | None = None
    #: Of TCP, with what was captured of its options.
    tcp_header: bytes = b""


#: Of IP: source, destination, number of the protocol, DSCP, and where in the frame what it carries begins and ends.
_Header = tuple[str, str, int, int, int, int]


class Rtp(NamedTuple):
    """What identifies a packet of RTP (RFC 3550, section 5.1)."""

    sequence: int
    timestamp: int


def datagram(frame: bytes) -> Packet | None:
    """The UDP or TCP packet in an Ethernet frame, or None: another protocol, a later fragment, or too little was captured."""
    captured = packet(frame)
    return captured if captured and captured.is_datagram else None


def packet(frame: bytes) -> Packet | None:
    """The IP packet in an Ethernet frame, or None: no IP, a later fragment, or too little was captured."""
    if (header := _header(frame)) is None:
        return None
    source, destination, number, dscp, start, end = header
    protocol = _PROTOCOLS.get(number) or f"ip-{number}"
    least = _TRANSPORT_HEADERS.get(protocol)
    if least is None or len(frame) < start + least:
        return Packet(source, destination, protocol, 0, 0, dscp, end, max(0, end - start), b"", is_datagram=False)
    source_port, destination_port = _PORTS.unpack_from(frame, start)
    begin = start + (8 if protocol == "udp" else (frame[start + 12] >> 4) * 4)
    size = max(0, end - begin)
    if protocol == "udp":
        return Packet(source, destination, protocol, source_port, destination_port, dscp, end, size, frame[begin:end], True)
    ends = (source, destination, protocol, source_port, destination_port)
    sequence = int.from_bytes(frame[start + 4 : start + 8])
    captured = frame[start : max(begin, start + least)]
    return Packet(*ends, dscp, end, size, frame[begin:end], is_datagram=True, tcp_sequence=sequence, tcp_header=captured)


def rtp(payload: bytes) -> Rtp | None:
    """The RTP header at the start of a UDP payload, or None when it is not RTP version 2 (or is RTCP, types 200 to 204)."""
    if len(payload) < 12 or payload[0] >> 6 != 2 or 200 <= payload[1] <= 204:
        return None
    return Rtp(*_RTP.unpack_from(payload))


def _header(frame: bytes) -> _Header | None:
    kind, start = network_layer(frame)
    return _ipv4(frame, start) if kind == IPV4 else _ipv6(frame, start) if kind == IPV6 else None


def _ipv4(frame: bytes, start: int) -> _Header | None:
    if len(frame) < start + 20:
        return None
    header = (frame[start] & 0x0F) * 4
    total, _, flags = _IPV4_LENGTH.unpack_from(frame, start + 2)
    if flags & 0x1FFF:
        return None
    source, destination = _address(frame[start + 12 : start + 16]), _address(frame[start + 16 : start + 20])
    return source, destination, frame[start + 9], frame[start + 1] >> 2, start + header, start + total


def _ipv6(frame: bytes, start: int) -> _Header | None:
    if len(frame) < start + 40:
        return None
    (length,) = struct.unpack_from(">H", frame, start + 4)
    source, destination = (_address(frame[start + at : start + at + 16]) for at in (8, 24))
    dscp = (frame[start] & 0x0F) << 2 | frame[start + 1] >> 6
    return source, destination, frame[start + 6], dscp, start + 40, start + 40 + length


@lru_cache(4096)
def _address(octets: bytes) -> str:
    """A capture has few addresses, and many packets."""
    return str(ip_address(octets))
