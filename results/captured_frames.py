# SPDX-License-Identifier: GPL-2.0-or-later
"""Captured Ethernet frames by columns, so that headers of thousands are read at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

ETHERNET_HEADER = 14
#: EtherTypes: IEEE 802.1Q and 802.1ad; IP.
_TAGS = (0x8100, 0x88A8)
IPV4, IPV6 = 0x0800, 0x86DD

Flags = NDArray[np.bool_]
Octets = NDArray[np.uint8]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Frames:
    """Frames without FCS in the order of their capture: each is `content[begin:end]`, and was seen at `time_ns`."""

    #: Not empty where there is a frame.
    content: bytes
    begin: Places
    end: Places
    time_ns: NDArray[np.int64]

    @classmethod
    def of(cls, frames: Sequence[bytes]) -> Self:
        """Frames without a time (0)."""
        lengths = np.array([len(frame) for frame in frames], np.int64)
        ends = lengths.cumsum()
        return cls(b"".join(frames) + b"\0", ends - lengths, ends, np.zeros(ends.size, np.int64))

    @cached_property
    def octets(self) -> Octets:
        return np.frombuffer(self.content, np.uint8)

    @cached_property
    def network_layers(self) -> tuple[Places, Places]:
        """Of each frame the EtherType behind VLAN tags, and where in the content what it names begins.

        A tag that is cut short is the EtherType. That of less than an Ethernet header is 0.
        """
        at = self.begin + ETHERNET_HEADER
        kind = np.where(at <= self.end, self.at(at - 2) << 8 | self.at(at - 1), 0)
        for place in np.flatnonzero((kind == _TAGS[0]) | (kind == _TAGS[1])).tolist():
            begin, end = int(at[place]), int(self.end[place])
            while (tag := int.from_bytes(self.content[begin - 2 : begin])) in _TAGS and end >= begin + 4:
                begin += 4
            kind[place], at[place] = tag, begin
        return kind, at

    def rows(self, places: Places, count: int) -> Octets:
        """For each place of the content `count` octets from there. What lies behind the content is whatever: mask it."""
        return self.octets.take(places[:, None] + np.arange(count), mode="clip")

    def at(self, places: Places) -> Places:
        """The octet at each place. What lies behind the content is whatever: mask it."""
        return self.octets.take(places, mode="clip").astype(np.int64)


def numbers(rows: Octets, kind: str) -> Places:
    """Rows of octets as one number each, say `>u2`."""
    return np.ascontiguousarray(rows).view(kind)[:, 0].astype(np.int64)
