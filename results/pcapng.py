# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet captures in pcapng (draft-ietf-opsawg-pcapng), read and written as streams, times in nanoseconds.

Read: sections of either byte order, any `if_tsresol` and `if_tsoffset`, enhanced and simple packet blocks; other blocks are
passed over.
Written: one little-endian section of Ethernet interfaces, which may have names, nanoseconds, directions, and at the end what was
dropped at each.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from contracts.errors import WrongInput
from results.captured_frames import Frames

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
#: By the byte order: kind and length of a block.
_HEADS = {order: struct.Struct(order + "II") for order in "<>"}
#: Of an enhanced packet block: where its packet begins, and its length without one.
_PACKET, _LEAST_ENHANCED = 28, 32
#: What is read at once.
_PART_BYTES = 4 << 20


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

    @property
    def unit_ns(self) -> int:
        """Of times that are whole nanoseconds since 1970; 0 of others."""
        return 0 if self.offset_s or 10**9 % self.units_per_second else 10**9 // self.units_per_second

    def time_ns(self, units: int) -> int:
        return self.offset_s * 10**9 + units * 10**9 // self.units_per_second


def read(path: Path | str) -> Iterator[Packet]:
    """Yield the packets of a capture in the order of the file.

    A last block that was cut short (the capture is still being written, or its writer died) ends the stream silently.
    Raises BadCapture for anything else that is not pcapng.
    """
    with Path(path).open("rb") as file:
        yield from packets(file, path)


def packets(file: Source, path: Path | str) -> Iterator[Packet]:
    """The same of an open file or pipe, each as soon as it is whole; `path` is what errors call it."""
    for part in _parts(file, path):
        yield from part.packets()


def read_frames(path: Path | str) -> Iterator[Frames]:
    """The same by columns, some MB of the file at a time."""
    with Path(path).open("rb") as file:
        yield from frames(file, path)


def frames(file: Source, path: Path | str) -> Iterator[Frames]:
    """The same of an open file or pipe, as soon as there are any."""
    return (part.frames for part in _parts(file, path))


class Source(Protocol):
    """A file or pipe."""

    def read1(self, size: int, /) -> bytes:
        """What is there, but no more; nothing at the end."""


@dataclass(frozen=True)
class _Part:
    """Packets that follow each other in a file."""

    frames: Frames
    interface: NDArray[np.int64]
    #: Where each packet's block ends, without the length at its end.
    block_end: NDArray[np.int64]
    big_endian: NDArray[np.bool_]

    def packets(self) -> Iterator[Packet]:
        content = self.frames.content
        columns = (self.frames.begin, self.frames.end, self.block_end, self.big_endian, self.interface, self.frames.time_ns)
        for begin, end, block_end, big_endian, interface, time_ns in zip(*(own.tolist() for own in columns), strict=True):
            options = end + (begin - end) % 4
            direction = _direction(content[options:block_end], "<>"[big_endian]) if options < block_end else 0
            yield Packet(time_ns, content[begin:end], interface, direction)


def _parts(file: Source, path: Path | str) -> Iterator[_Part]:
    """Raises BadCapture, after what is whole before the damage."""
    blocks, rest = _Blocks(), b""
    while content := file.read1(_PART_BYTES):
        content = rest + content
        part, used, damage = blocks.take(content)
        if part.frames.begin.size:
            yield part
        if damage:
            raise BadCapture(path, damage)
        rest = content[used:]


class _Damage(Exception):
    """What is wrong with a block."""


class _Section(NamedTuple):
    """What holds from a packet on: the section's byte order, and which of the known interfaces it has so far."""

    order: str
    first: int
    known: int


class _Blocks:
    """The blocks of a file, taken part by part."""

    def __init__(self) -> None:
        #: Those of the section.
        self._interfaces: list[_Interface] = []
        self._section = _Section("", 0, 0)
        #: Of the part that is taken: its packet blocks; those of them that are simple, with where they have their packet; and
        #: the sections, with how many packet blocks came before.
        self._places, self._simple = array("q"), dict[int, tuple[int, int]]()
        self._sections: list[tuple[int, _Section]] = []

    def take(self, content: bytes) -> tuple[_Part, int, str]:
        """The packets at the beginning, up to a block that is not whole; up to where; and what is wrong there, if anything."""
        self._places, self._simple = array("q"), {}
        self._sections = [(0, self._section)]
        try:
            used, damage = self._walk(content), ""
        except _Damage as error:
            used, damage = 0, str(error)
        part, earlier = self._columns(content)
        self._interfaces = self._interfaces[self._section.first :]
        self._section = self._section._replace(first=0)
        return part, used, earlier or damage

    def _walk(self, content: bytes) -> int:
        """Notes the blocks that are whole; returns where the last of them ends. Raises _Damage."""
        at, end = 0, len(content)
        while at + 8 <= end:
            if is_section := content[at : at + 4] == _SECTION_BYTES:
                if at + 12 > end:
                    return int(at)
                self._begin(_byte_order(content[at + 8 : at + 12]), len(self._interfaces), 0)
            elif not self._section.order:
                raise _Damage("not a pcapng capture: it does not begin with a section header")
            unpack, append = _HEADS[self._section.order].unpack_from, self._places.append
            kind, length = unpack(content, at)
            while kind == ENHANCED and _LEAST_ENHANCED <= length <= _LONGEST_BLOCK and not length & 3 and at + length <= end:
                append(at)
                at += length
                if at + 8 > end:
                    return int(at)
                kind, length = unpack(content, at)
            if content[at : at + 4] == _SECTION_BYTES and not is_section:
                continue
            if length < (16 if is_section else 12) or length % 4 or length > _LONGEST_BLOCK:
                raise _Damage(f"a block has a length of {length} bytes")
            if at + length > end:
                return int(at)
            if content[at + length - 4 : at + length] != content[at + 4 : at + 8]:
                raise _Damage(f"a block of {length} bytes ends as another one")
            self._note(kind, content, at, at + length - 4)
            at += length
        return int(at)

    def _note(self, kind: int, content: bytes, at: int, end: int) -> None:
        """A block other than those of packets of which more are to be known. Raises _Damage."""
        order, first, count = self._section
        if kind == INTERFACE:
            if count == _MOST_INTERFACES:
                raise _Damage(f"a section with more than {_MOST_INTERFACES} interfaces")
            self._interfaces.append(_interface(content[at + 8 : end], order))
            self._begin(order, first, count + 1)
        elif kind == ENHANCED:
            raise _Damage(f"a packet block of {end - at - 8} bytes")
        elif kind == SIMPLE:
            if end < at + 12 or not count:
                raise _Damage("a simple packet block without length or interface")
            (length,) = struct.unpack_from(order + "I", content, at + 8)
            limit = self._interfaces[first].snapshot_length or length
            self._simple[len(self._places)] = (at + 12, min(at + 12 + min(length, limit), end))
            self._places.append(at)

    def _begin(self, order: str, first: int, count: int) -> None:
        self._section = _Section(order, first, count)
        self._sections.append((len(self._places), self._section))

    def _columns(self, content: bytes) -> tuple[_Part, str]:
        """The packets of the noted blocks, up to the first that is damaged, and what is wrong with that."""
        at = np.array(self._places, np.int64)
        words, word = np.frombuffer(content, "<u4", len(content) // 4), at // 4
        since = np.array([since for since, _ in self._sections])
        span = np.diff(since, append=at.size)
        big_endian = np.repeat([section.order == ">" for _, section in self._sections], span)
        first, count = (np.repeat([section[of] for _, section in self._sections], span) for of in (1, 2))

        def field(number: int) -> NDArray[np.int64]:
            raw = words.take(word + number, mode="clip")
            return np.where(big_endian, raw.byteswap(), raw).astype(np.int64)

        simple = np.zeros(at.size, bool)
        simple[list(self._simple)] = True
        length, number, captured = field(1), field(2), field(5)
        other_end = words.take(word + length // 4 - 1, mode="clip") != words.take(word + 1, mode="clip")
        bad = other_end | (~simple & ((number >= count) | (captured > length - _LEAST_ENHANCED)))
        sound = int(bad.argmax()) if bad.any() else at.size
        damage = ""
        if sound < at.size and other_end[sound]:
            damage = f"a block of {length[sound]} bytes ends as another one"
        elif sound < at.size:
            damage = f"a packet of {captured[sound]} bytes on interface {number[sound]} in a block of {length[sound] - 12} bytes"
        number = np.where(simple, 0, number)
        units = field(3).astype(np.uint64) << np.uint64(32) | field(4).astype(np.uint64)
        try:
            time_ns = self._times(np.where(simple, 0, units)[:sound], (first + number)[:sound], simple[:sound])
        except _Untimely as error:
            sound, time_ns = error.times_ns.size, error.times_ns
            damage = str(error)
        begin, end = at + _PACKET, at + _PACKET + captured
        for place, (packet, behind) in self._simple.items():
            begin[place], end[place] = packet, behind
        frames = Frames(content, begin[:sound], end[:sound], time_ns)
        block_end = np.where(simple, end, at + length - 4)
        return _Part(frames, number[:sound], block_end[:sound], big_endian[:sound]), damage

    def _times(self, units: NDArray[np.uint64], interface: NDArray[np.int64], timeless: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Raises _Untimely."""
        if not units.size:
            return np.zeros(0, np.int64)
        unit_ns = np.array([own.unit_ns for own in self._interfaces] or [0], np.uint64)[interface]
        # Whole nanoseconds since 1970; the others, which are rare, one after the other and exactly.
        known = timeless | ((unit_ns > 0) & (units <= np.uint64(_TIMES[-1]) // np.maximum(unit_ns, np.uint64(1))))
        times_ns = (units * unit_ns).astype(np.int64)
        for place in np.flatnonzero(~known).tolist():
            if (time_ns := self._interfaces[interface[place]].time_ns(int(units[place]))) not in _TIMES:
                raise _Untimely(time_ns, times_ns[:place])
            times_ns[place] = time_ns
        return times_ns


class _Untimely(Exception):
    """A time that cannot be; with those before it."""

    def __init__(self, time_ns: int, times_ns: NDArray[np.int64]) -> None:
        super().__init__(f"a packet at {time_ns / 1e9:.3g} s of the Unix epoch")
        self.times_ns = times_ns


def _byte_order(magic: bytes) -> str:
    """`<` or `>`. Raises _Damage."""
    for order in "<>":
        if struct.unpack(order + "I", magic)[0] == BYTE_ORDER_MAGIC:
            return order
    raise _Damage("not a pcapng capture: no byte-order magic in its section header")


def _interface(body: bytes, order: str) -> _Interface:
    """Raises _Damage."""
    if len(body) < 8:
        raise _Damage(f"an interface block of {len(body)} bytes")
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


def _direction(options: bytes, order: str) -> int:
    for code, value in _options(options, 0, order):
        if code == _PACKET_FLAGS and len(value) == 4:
            return int(struct.unpack(order + "I", value)[0]) & _DIRECTION
    return 0


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
