# SPDX-License-Identifier: GPL-2.0-or-later
"""The Ethernet frames of a synthetic flow as a host sends them, and what a router makes of one."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address

from contracts.flow import Flow

_ETHERNET, _IPV4, _UDP = 14, 20, 8
_TTL = 64
_TTL_AT, _CHECKSUM_AT = _ETHERNET + 8, _ETHERNET + 10
_ARP_BROADCAST = b"\xff" * 6


class FrameMaker:
    """Makes the datagrams of one flow over IPv4: each has its number where MGEN has it too, at the start of the payload."""

    def __init__(self, flow: Flow, payload: int, dscp: int, source_mac: bytes, destination_mac: bytes) -> None:
        if flow.source_ports is None or flow.destination_ports is None:
            raise ValueError(f"flow {flow.name} says no ports")
        self._ethernet = destination_mac + source_mac + b"\x08\x00"
        self._addresses = IPv4Address(flow.source_address).packed + IPv4Address(flow.destination_address).packed
        self._ports = (flow.source_ports[0], flow.destination_ports[0])
        self._payload, self._dscp = payload, dscp

    @property
    def key(self) -> bytes:
        """What tells this flow's frames from those of others: see `key_of`."""
        return self._addresses + struct.pack(">HH", *self._ports)

    def frame(self, number: int) -> bytes:
        """Without FCS; checksums are right."""
        length = _UDP + self._payload
        body = struct.pack(">I", number).ljust(self._payload, b"\0")
        pseudo = self._addresses + struct.pack(">BBH", 0, 17, length)
        udp = struct.pack(">HHHH", *self._ports, length, 0)
        udp = udp[:6] + struct.pack(">H", checksum(pseudo + udp + body[:4]) or 0xFFFF)
        head = struct.pack(">BBHHHBBH", 0x45, self._dscp << 2, _IPV4 + length, number & 0xFFFF, 0, _TTL, 17, 0) + self._addresses
        head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
        return (self._ethernet + head + udp + body).ljust(60, b"\0")


def key_of(frame: bytes) -> bytes:
    """Addresses and ports of a frame with IPv4 without options."""
    return frame[_ETHERNET + 12 : _ETHERNET + _IPV4 + 4]


def routed(frame: bytes, source_mac: bytes, destination_mac: bytes) -> bytes:
    """As a router sends it on: other Ethernet addresses, one hop less to live (RFC 1812, 5.3.1)."""
    head = bytearray(frame[_ETHERNET : _ETHERNET + _IPV4])
    head[_TTL_AT - _ETHERNET] -= 1
    head[_CHECKSUM_AT - _ETHERNET : _CHECKSUM_AT - _ETHERNET + 2] = b"\0\0"
    head[_CHECKSUM_AT - _ETHERNET : _CHECKSUM_AT - _ETHERNET + 2] = struct.pack(">H", checksum(head))
    return destination_mac + source_mac + frame[12:_ETHERNET] + bytes(head) + frame[_ETHERNET + _IPV4 :]


def announcement(mac: bytes, address: str) -> bytes:
    """An ARP announcement (RFC 5227, 2.3), by which bridges learn where an address is."""
    packed = IPv4Address(address).packed
    body = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + mac + packed + bytes(6) + packed
    return (_ARP_BROADCAST + mac + b"\x08\x06" + body).ljust(60, b"\0")


def checksum(data: bytes | bytearray) -> int:
    """RFC 1071."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) & ~1]))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
