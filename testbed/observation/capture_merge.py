# SPDX-License-Identifier: GPL-2.0-or-later
"""Several streams of frames become one in the order of their times, while they are still coming."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from operator import attrgetter

from results.pcapng import Packet

_TIME = attrgetter("time_ns")


class Merge:
    """Many threads `put` frames, one thread `take`s them. A frame waits until no earlier one can be expected any more.

    A frame that comes even later is handed on at once, out of its order, and counted in `late`.
    """

    def __init__(self) -> None:
        self._coming: deque[Packet] = deque()
        self._held: list[Packet] = []
        self._last_ns = 0
        self.late = 0

    def put(self, packet: Packet) -> None:
        self._coming.append(packet)

    def waiting(self) -> int:
        return len(self._coming)

    def take(self, until_ns: int | None) -> Iterator[Packet]:
        """All frames that were captured until this time; None: all frames."""
        self._held.extend(self._coming.popleft() for _ in range(len(self._coming)))
        self._held.sort(key=_TIME)
        count = len(self._held) if until_ns is None else bisect_right(self._held, until_ns, key=_TIME)
        ready, self._held = self._held[:count], self._held[count:]
        for packet in ready:
            self.late += packet.time_ns < self._last_ns
            self._last_ns = max(self._last_ns, packet.time_ns)
            yield packet
