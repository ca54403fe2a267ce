# SPDX-License-Identifier: GPL-2.0-or-later
"""The headers of captured Ethernet frames, as far as measuring needs them: addresses, ports, DSCP, lengths, TCP, RTP.

They are read by columns: an array has what one field is in each packet. Python handles each distinct pair of ends once.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple, Self

import numpy as np

from results.captured_frames import IPV4, IPV6, Flags, Frames, Octets, Places, numbers

#: Those that have a name here; IANA, "Protocol Numbers".
_PROTOCOLS = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmpv6", 89: "ospf", 132: "sctp"}
TCP, UDP, ICMPV6 = 6, 17, 58
#: The least that a header has.
_TCP_HEADER, _UDP_HEADER, _RTP_HEADER = 20, 8, 12
_IPV4_HEADER, _IPV6_HEADER = 20, 40
#: Types of RTCP, by which it is told from RTP on the same ports (RFC 5761, section 4).
_RTCP = (200, 204)


class PacketEnds(NamedTuple):
    """Between what an IP packet goes; ports are 0 where its protocol has none, or where too little was captured."""

    source: str
    destination: str
    protocol: str
    source_port: int
    destination_port: int


@dataclass(frozen=True)
class Packets:
    """The IP packets among captured frames, by columns. Lengths are as the headers tell, not as captured.

    Later fragments are left out, and so is what too little was captured of.
    """

    frames: Frames
    #: Of each the place of its frame.
    frame: Places
    #: The number of its protocol.
    protocol: Places
    dscp: Places
    #: It is of UDP or TCP, and its header was captured.
    is_datagram: Flags
    #: Where in the content what IP carries begins, and where the payload of the transport protocol (else of IP) does.
    transport: Places
    payload: Places
    #: How much of the payload was captured of a datagram.
    captured_bytes: Places
    payload_bytes: Places
    #: Of the whole frame without FCS and without padding.
    ethernet_bytes: Places
    #: What distinguishes its ends from those of others: source, destination, ports, protocol, version of IP.
    _ends: Octets

    @classmethod
    def of(cls, frames: Frames) -> Self:
        kind, at = frames.network_layers
        columns = [_ipv4(frames, kind, at), _ipv6(frames, kind, at)]
        frame, protocol, dscp, transport, stop, ends = (np.concatenate(column) for column in zip(*columns, strict=True))
        if columns[0][0].size and columns[1][0].size:
            order = np.argsort(frame)
            frame, protocol, dscp, transport, stop, ends = (
                column[order] for column in (frame, protocol, dscp, transport, stop, ends)
            )
        tcp, end = protocol == TCP, frames.end[frame]
        is_datagram = (tcp & (transport + _TCP_HEADER <= end)) | ((protocol == UDP) & (transport + _UDP_HEADER <= end))
        header = np.where(tcp, (frames.at(transport + 12) >> 4) * 4, _UDP_HEADER)
        payload = np.where(is_datagram, transport + header, transport)
        ends[:, _PORTS] = np.where(is_datagram[:, None], frames.rows(transport, 4), 0)
        return cls(
            frames,
            frame,
            protocol,
            dscp,
            is_datagram,
            transport,
            payload,
            captured_bytes=np.where(is_datagram, np.maximum(0, np.minimum(stop, end) - payload), 0),
            payload_bytes=np.maximum(0, stop - payload),
            ethernet_bytes=stop - frames.begin[frame],
            _ends=ends,
        )

    def ends(self, known: dict[bytes, int]) -> Places:
        """The number of each packet's ends in `known`, which gets those that are new; `ends_of` reads them."""
        keys = self._ends.view(f"V{self._ends.shape[1]}")[:, 0].tolist()
        for key in keys:
            if key not in known:
                known[key] = len(known)
        return np.array([known[key] for key in keys], np.int64)

    @property
    def is_segment(self) -> Flags:
        """A segment of TCP."""
        segments: Flags = self.is_datagram & (self.protocol == TCP)
        return segments

    @property
    def tcp_sequence(self) -> Places:
        """Of a segment: the number of the payload's first byte, or of a SYN (RFC 9293, 3.1)."""
        return numbers(self.frames.rows(self.transport + 4, 4), ">u4")

    def rtp(self) -> Rtp:
        """The RTP headers at the start of payloads: of version 2, and not RTCP (types 200 to 204)."""
        header = self.frames.rows(self.payload, _RTP_HEADER)
        is_rtp = (self.captured_bytes >= _RTP_HEADER) & (header[:, 0] >> 6 == 2)
        is_rtp &= (header[:, 1] < _RTCP[0]) | (header[:, 1] > _RTCP[1])
        return Rtp(
            is_rtp, header[:, 1], numbers(header[:, 2:4], ">u2"), numbers(header[:, 4:8], ">u4"), numbers(header[:, 8:12], ">u4")
        )


class Rtp(NamedTuple):
    """Headers of RTP (RFC 3550, section 5.1) by columns; what is not `is_rtp` has nonsense in the others."""

    is_rtp: Flags
    #: Marker and payload type.
    kind: Octets
    sequence: Places
    timestamp: Places
    ssrc: Places


def ends_of(key: bytes) -> PacketEnds:
    """The ends that a key of `Packets.ends` stands for."""
    size, number, ports = 4 if key[_VERSION] == 4 else 16, key[_PROTOCOL], key[_PORTS]
    source, destination = (str(ip_address(key[address][:size])) for address in (_SOURCE, _DESTINATION))
    protocol = _PROTOCOLS.get(number) or f"ip-{number}"
    return PacketEnds(source, destination, protocol, int.from_bytes(ports[:2]), int.from_bytes(ports[2:]))


class Packet(NamedTuple):
    """One UDP or TCP packet, as `Packets` has them."""

    source: str
    destination: str
    protocol: str
    source_port: int
    destination_port: int
    dscp: int
    ethernet_bytes: int
    payload_bytes: int
    #: What was captured of it.
    payload: bytes


def datagram(frame: bytes) -> Packet | None:
    """The UDP or TCP packet in one Ethernet frame, or None: another protocol, a later fragment, or too little was captured."""
    packets = Packets.of(Frames.of([frame]))
    if not packets.is_datagram.any():
        return None
    keys: dict[bytes, int] = {}
    packets.ends(keys)
    dscp, ethernet_bytes, payload_bytes, payload, captured = (
        int(column[0])
        for column in (packets.dscp, packets.ethernet_bytes, packets.payload_bytes, packets.payload, packets.captured_bytes)
    )
    return Packet(*ends_of(next(iter(keys))), dscp, ethernet_bytes, payload_bytes, frame[payload : payload + captured])


#: Of a key of ends: where what is in it. Addresses of IPv4 have the first 4 of their 16 octets.
_SOURCE, _DESTINATION, _PORTS, _PROTOCOL, _VERSION, _KEY = slice(0, 16), slice(16, 32), slice(32, 36), 36, 37, 38

#: Place of the frame, protocol, DSCP, where what IP carries begins and ends, ends without ports.
_Columns = tuple[Places, Places, Places, Places, Places, Octets]


def _ipv4(frames: Frames, kind: Places, at: Places) -> _Columns:
    frame = np.flatnonzero((kind == IPV4) & (frames.end - at >= _IPV4_HEADER))
    # Of a packet in fragments the first one alone.
    frame = frame[(frames.at(at[frame] + 6) & 0x1F | frames.at(at[frame] + 7)) == 0]
    header, begin = frames.rows(at[frame], _IPV4_HEADER), at[frame]
    ends = np.zeros((frame.size, _KEY), np.uint8)
    ends[:, 0:4], ends[:, 16:20], ends[:, _PROTOCOL], ends[:, _VERSION] = header[:, 12:16], header[:, 16:20], header[:, 9], 4
    return (
        frame,
        header[:, 9].astype(np.int64),
        (header[:, 1] >> 2).astype(np.int64),
        begin + (header[:, 0] & 0x0F).astype(np.int64) * 4,
        begin + numbers(header[:, 2:4], ">u2"),
        ends,
    )


def _ipv6(frames: Frames, kind: Places, at: Places) -> _Columns:
    frame = np.flatnonzero((kind == IPV6) & (frames.end - at >= _IPV6_HEADER))
    header, begin = frames.rows(at[frame], _IPV6_HEADER), at[frame] + _IPV6_HEADER
    ends = np.zeros((frame.size, _KEY), np.uint8)
    ends[:, _SOURCE], ends[:, _DESTINATION], ends[:, _PROTOCOL] = header[:, 8:24], header[:, 24:40], header[:, 6]
    ends[:, _VERSION] = 6
    dscp = (header[:, 0] & 0x0F).astype(np.int64) << 2 | header[:, 1] >> 6
    return frame, header[:, 6].astype(np.int64), dscp, begin, begin + numbers(header[:, 4:6], ">u2"), ends
