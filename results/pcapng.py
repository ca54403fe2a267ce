# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet captures in pcapng (draft-ietf-opsawg-pcapng), read and written as streams, times in nanoseconds.

Read: sections of either byte order, any `if_tsresol` and `if_tsoffset`, enhanced and simple packet blocks; other blocks are
passed over.
Written: one little-endian section of Ethernet interfaces, which may have names, nanoseconds, directions, and at the end what was
dropped at each.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from contracts.errors import WrongInput

SECTION, INTERFACE, SIMPLE, STATISTICS, ENHANCED = 0x0A0D0D0A, 1, 3, 5, 6
_SECTION_BYTES = struct.pack("<I", SECTION)  # the same in either order
BYTE_ORDER_MAGIC = 0x1A2B3C4D
LINKTYPE_ETHERNET = 1
_END_OF_OPTIONS = 0
_IF_NAME, _IF_DESCRIPTION, _TSRESOL, _TSOFFSET = 2, 3, 9, 14
_PACKET_FLAGS = 2
_RECEIVED, _DROPPED = 4, 5
#: Of a packet's flags, those that say which way it passed the interface.
_DIRECTION = 3
#: A longer block can only be damage: it would hold a packet larger than any Ethernet frame by far.
_LONGEST_BLOCK = 16 << 20
#: More can only be meant to fill the memory of who reads.
_MOST_INTERFACES = 4096
#: Of a time in ns, before and after 1970: what a signed number of 64 bits holds.
_TIMES = range(-(2**63), 2**63)
#: By the byte order: kind and length of a block; of an enhanced packet block what stands before the packet.
_HEADS = {order: struct.Struct(order + "II") for order in "<>"}
_ENHANCED_HEADS = {order: struct.Struct(order + "IIIII") for order in "<>"}


class BadCapture(WrongInput):
    """The file is not a pcapng capture, or is damaged before its last block."""

    def __init__(self, file: Path | str, damage: str) -> None:
        super().__init__(f"{file} is damaged: {damage}")
        #: What is wrong with it.
        self.damage = damage


class Packet(NamedTuple):
    """One captured packet. `time_ns` counts from 1970 (0 for a simple packet block, which has no time).

    `direction` is 1 into the node whose interface it is, 2 out of it, 0 where nothing says it.
    """

    time_ns: int
    data: bytes
    interface: int = 0
    direction: int = 0


class Point(NamedTuple):
    """What an interface block says of where its packets were captured."""

    name: str
    description: str


@dataclass(frozen=True)
class _Interface:
    units_per_second: int
    offset_s: int
    snapshot_length: int

    def time_ns(self, units: int) -> int:
        return self.offset_s * 10**9 + units * 10**9 // self.units_per_second


def read(path: Path | str) -> Iterator[Packet]:
    """Yield the packets of a capture in the order of the file.

    A last block that was cut short (the capture is still being written, or its writer died) ends the stream silently.
    Raises BadCapture for anything else that is not pcapng.
    """
    with Path(path).open("rb") as file:
        yield from packets(file, path)


def packets(file: BinaryIO, path: Path | str) -> Iterator[Packet]:
    """The same of an open file or pipe, each as soon as it is whole; `path` is what errors call it."""
    order = ""
    interfaces: list[_Interface] = []
    while len(head := file.read(8)) == 8:
        if is_section := head[:4] == _SECTION_BYTES:
            interfaces = []
            if not (order := _byte_order(file.read(4), path)):
                return
        elif not order:
            raise BadCapture(path, "not a pcapng capture: it does not begin with a section header")
        kind, length = _HEADS[order].unpack(head)
        if (body := _body(file, length, 12 if is_section else 8, head[4:], path)) is None:
            return
        if kind == INTERFACE:
            if len(interfaces) == _MOST_INTERFACES:
                raise BadCapture(path, f"a section with more than {_MOST_INTERFACES} interfaces")
            interfaces.append(_interface(body, order, path))
        elif kind == ENHANCED:
            yield _enhanced(body, order, interfaces, path)
        elif kind == SIMPLE:
            yield _simple(body, order, interfaces, path)


def _byte_order(magic: bytes, path: Path | str) -> str:
    """`<` or `>`, or nothing when the file ends here."""
    if len(magic) < 4:
        return ""
    for order in "<>":
        if struct.unpack(order + "I", magic)[0] == BYTE_ORDER_MAGIC:
            return order
    raise BadCapture(path, "not a pcapng capture: no byte-order magic in its section header")


def _body(file: BinaryIO, length: int, begun: int, written_length: bytes, path: Path | str) -> bytes | None:
    """What remains of a block of `length` bytes after those that it has `begun` with, without the length at its end.

    None when the file ends first. The length at its end has to be the same (clause 3.1): where a full disk took a part of a block
    it is not.
    """
    if length < begun + 4 or length % 4 or length > _LONGEST_BLOCK:
        raise BadCapture(path, f"a block has a length of {length} bytes")
    rest = file.read(length - begun)
    if len(rest) < length - begun:
        return None
    if rest[-4:] != written_length:
        raise BadCapture(path, f"a block of {length} bytes ends as another one")
    return rest[:-4]


def _interface(body: bytes, order: str, path: Path | str) -> _Interface:
    if len(body) < 8:
        raise BadCapture(path, f"an interface block of {len(body)} bytes")
    units, offset = 10**6, 0
    for code, value in _options(body, 8, order):
        if code == _TSRESOL and len(value) == 1:
            units = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == _TSOFFSET and len(value) == 8:
            offset = struct.unpack(order + "q", value)[0]
    return _Interface(units, offset, snapshot_length=struct.unpack_from(order + "I", body, 4)[0])


def _options(body: bytes, at: int, order: str) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        if code == _END_OF_OPTIONS:
            return
        yield code, body[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _enhanced(body: bytes, order: str, interfaces: list[_Interface], path: Path | str) -> Packet:
    if len(body) < 20:
        raise BadCapture(path, f"a packet block of {len(body)} bytes")
    number, high, low, captured, _ = _ENHANCED_HEADS[order].unpack_from(body)
    if number >= len(interfaces) or captured > len(body) - 20:
        raise BadCapture(path, f"a packet of {captured} bytes on interface {number} in a block of {len(body)} bytes")
    if (time_ns := interfaces[number].time_ns(high << 32 | low)) not in _TIMES:
        raise BadCapture(path, f"a packet at {time_ns / 1e9:.3g} s of the Unix epoch")
    options = 20 + (captured + 3) // 4 * 4
    return Packet(time_ns, body[20 : 20 + captured], number, _direction(body, options, order) if options < len(body) else 0)


def _direction(body: bytes, options: int, order: str) -> int:
    for code, value in _options(body, options, order):
        if code == _PACKET_FLAGS and len(value) == 4:
            return int(struct.unpack(order + "I", value)[0]) & _DIRECTION
    return 0


def _simple(body: bytes, order: str, interfaces: list[_Interface], path: Path | str) -> Packet:
    if len(body) < 4 or not interfaces:
        raise BadCapture(path, "a simple packet block without length or interface")
    length = struct.unpack_from(order + "I", body)[0]
    limit = interfaces[0].snapshot_length or length
    return Packet(0, body[4 : 4 + min(length, limit)])


def write(path: Path | str, packets: Iterable[Packet | tuple[int, bytes]]) -> None:
    """Write packets (or pairs of time in ns and bytes, for interface 0) as they come."""
    with Path(path).open("wb") as file:
        writer = Writer(file)
        for item in packets:
            writer.write(Packet(*item))


class Writer:
    """A section with these interfaces, or with one without a name for each number that packets use. Blocks are written whole."""

    def __init__(self, file: BinaryIO, points: Sequence[Point] = ()) -> None:
        self._file, self._interfaces, self.bytes = file, 0, 0
        self._write(SECTION, struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1))
        for point in points:
            self._declare((_IF_NAME, point.name.encode()), (_IF_DESCRIPTION, point.description.encode()))

    def write(self, packet: Packet) -> None:
        while self._interfaces <= packet.interface:
            self._declare()
        if packet.time_ns < 0:
            raise ValueError(f"a packet at {packet.time_ns} ns, before 1970, cannot be written")
        size = len(packet.data)
        head = struct.pack("<IIIII", packet.interface, packet.time_ns >> 32, packet.time_ns & 0xFFFFFFFF, size, size)
        flags = _packed((_PACKET_FLAGS, struct.pack("<I", packet.direction))) if packet.direction else b""
        self._write(ENHANCED, head + packet.data + bytes(-size % 4) + flags)

    def count(self, interface: int, time_ns: int, received: int, dropped: int) -> None:
        """What was captured at an interface in all, and what was not for want of room."""
        counts = _packed((_RECEIVED, struct.pack("<Q", received)), (_DROPPED, struct.pack("<Q", dropped)))
        self._write(STATISTICS, struct.pack("<III", interface, time_ns >> 32, time_ns & 0xFFFFFFFF) + counts)

    def _declare(self, *options: tuple[int, bytes]) -> None:
        self._interfaces += 1
        self._write(INTERFACE, struct.pack("<HHI", LINKTYPE_ETHERNET, 0, 0) + _packed(*options, (_TSRESOL, b"\x09")))

    def _write(self, kind: int, body: bytes) -> None:
        length = len(body) + 12
        self.bytes += length
        self._file.write(struct.pack("<II", kind, length) + body + struct.pack("<I", length))


def _packed(*options: tuple[int, bytes]) -> bytes:
    return b"".join(struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options) + bytes(4)
