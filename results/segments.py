# SPDX-License-Identifier: GPL-2.0-or-later
"""The segments of TCP at one host, as its captures have them: numbers, flags, windows (RFC 9293, 3.1; RFC 7323)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from results.datagram import Packet

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

#: Of a header from its sequence number to its window.
_NUMBERS: Final = np.dtype([("sequence", ">u4"), ("acknowledgement", ">u4"), ("flags", ">u2"), ("window", ">u2")])
_FROM, _UNTIL = 4, 16
#: Octets of a header without options.
_HEADER: Final = 20
#: Kinds of options: the end of them, one octet of nothing, maximum segment size, window scale (RFC 9293, 3.2; RFC 7323, 2.2).
_END, _NOTHING, _MSS, _SCALE = 0, 1, 2, 3
#: More is taken for so much (RFC 7323, 2.3).
_LARGEST_SCALE: Final = 14

#: Of one segment. `ends` is a place in `Segments.ends`; of a SYN `mss` and `scale` are its options, -1 where it has none.
SEGMENT: Final = {
    "time_ns": pl.Int64,
    "identity": pl.UInt64,
    "ends": pl.UInt32,
    "sequence": pl.UInt32,
    "acknowledgement": pl.UInt32,
    "flags": pl.UInt16,
    "window": pl.UInt16,
    "payload_bytes": pl.UInt32,
    "mss": pl.Int32,
    "scale": pl.Int8,
}


class Ends(NamedTuple):
    """From where to where a segment goes."""

    source: str
    source_port: int
    destination: str
    destination_port: int


@dataclass(frozen=True)
class Segments:
    """Those of a host; columns of `table` as in SEGMENT, in the order of the captures."""

    ends: list[Ends] = field(default_factory=list)
    table: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SEGMENT))


class SegmentCollector:
    """Takes the segments of a capture one after the other."""

    def __init__(self) -> None:
        self._ends: dict[Ends, int] = {}
        self._of, self._times, self._identities, self._payloads = array("I"), array("q"), array("Q"), array("I")
        self._numbers = bytearray()
        #: By the place of a SYN.
        self._options: dict[int, tuple[int, int]] = {}

    def add(self, time_ns: int, identity: int, packet: Packet) -> None:
        """`packet` is a segment whose header was captured (`Packet.tcp_header`)."""
        header = packet.tcp_header
        ends = Ends(packet.source, packet.source_port, packet.destination, packet.destination_port)
        if header[13] & SYN:
            self._options[len(self._of)] = _options(header)
        self._of.append(self._ends.setdefault(ends, len(self._ends)))
        self._times.append(time_ns)
        self._identities.append(identity)
        self._payloads.append(packet.payload_bytes)
        self._numbers += header[_FROM:_UNTIL]

    def collected(self) -> Segments:
        numbers = np.frombuffer(bytes(self._numbers), _NUMBERS)
        mss, scale = np.full(numbers.size, -1, np.int32), np.full(numbers.size, -1, np.int8)
        for at, (size, shift) in self._options.items():
            mss[at], scale[at] = size, shift
        columns = {
            "time_ns": np.asarray(self._times),
            "identity": np.asarray(self._identities),
            "ends": np.asarray(self._of),
            "sequence": numbers["sequence"].astype(np.uint32),
            "acknowledgement": numbers["acknowledgement"].astype(np.uint32),
            "flags": numbers["flags"].astype(np.uint16) & 0xFF,
            "window": numbers["window"].astype(np.uint16),
            "payload_bytes": np.asarray(self._payloads),
            "mss": mss,
            "scale": scale,
        }
        return Segments(list(self._ends), pl.DataFrame(columns, schema=SEGMENT))


def _options(header: bytes) -> tuple[int, int]:
    """Maximum segment size and window scale of a SYN; -1 for one that is not there, or not whole."""
    mss = scale = -1
    for kind, content in _each_option(header):
        if kind == _MSS and len(content) == 2:
            mss = int.from_bytes(content)
        elif kind == _SCALE and len(content) == 1:
            scale = min(content[0], _LARGEST_SCALE)
    return mss, scale


def _each_option(header: bytes) -> Iterator[tuple[int, bytes]]:
    """Until the end of them, or the first that is nonsense."""
    at = _HEADER
    while at < len(header) and (kind := header[at]) != _END:
        if kind == _NOTHING:
            at += 1
            continue
        length = header[at + 1] if at + 1 < len(header) else 0
        if length < 2 or at + length > len(header):
            return
        yield kind, header[at + 2 : at + length]
        at += length
