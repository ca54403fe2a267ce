# SPDX-License-Identifier: GPL-2.0-or-later
"""The segments of TCP at one host, as its captures have them: numbers, flags, windows (RFC 9293, 3.1; RFC 7323)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from results.captured_frames import Places
from results.datagram import PacketEnds, Packets

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

#: Of a header from its sequence number to its window.
_NUMBERS: Final = np.dtype([("sequence", ">u4"), ("acknowledgement", ">u4"), ("flags", ">u2"), ("window", ">u2")])
_FROM: Final = 4
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


def of_packets(packets: Packets, identities: NDArray[np.uint64], ends: Places) -> dict[str, NDArray[Any]]:
    """The columns of SEGMENT, of the segments among packets, whose `identities` and `ends` (`Packets.ends`) these are."""
    which = np.flatnonzero(packets.is_segment)
    frames, begin = packets.frames, packets.transport[which]
    numbers = frames.rows(begin + _FROM, _NUMBERS.itemsize).view(_NUMBERS)[:, 0]
    flags = numbers["flags"].astype(np.uint16) & 0xFF
    mss, scale = np.full(which.size, -1, np.int32), np.full(which.size, -1, np.int8)
    end = np.minimum(np.maximum(packets.payload[which], begin + _HEADER), frames.end[packets.frame[which]])
    for at in np.flatnonzero(flags & SYN).tolist():
        mss[at], scale[at] = _options(frames.content[begin[at] : end[at]])
    return {
        "time_ns": frames.time_ns[packets.frame[which]],
        "identity": identities[which],
        "ends": ends[which],
        "sequence": numbers["sequence"].astype(np.uint32),
        "acknowledgement": numbers["acknowledgement"].astype(np.uint32),
        "flags": flags,
        "window": numbers["window"].astype(np.uint16),
        "payload_bytes": packets.payload_bytes[which].astype(np.uint32),
        "mss": mss,
        "scale": scale,
    }


def collected(columns: Mapping[str, NDArray[Any]], ends: Sequence[PacketEnds]) -> Segments:
    """Those of a host. `ends` of the columns (`of_packets`) are places in `ends`."""
    present, first = np.unique(columns["ends"], return_index=True)
    present = present[np.argsort(first)]
    places = np.zeros(len(ends), np.uint32)
    places[present] = np.arange(present.size)
    own = [Ends(one.source, one.source_port, one.destination, one.destination_port) for one in map(ends.__getitem__, present)]
    return Segments(own, pl.DataFrame({**columns, "ends": places[columns["ends"]]}, schema=SEGMENT))


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
