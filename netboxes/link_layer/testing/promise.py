# SPDX-License-Identifier: GPL-2.0-or-later
"""What a scheme of the link layer promises: a model that judges what its two ends did, and the words that all models share.

Models are written from the algorithms of Xylomenos (1999), sections 4.2 and 5.2, and from "Schemes" in README.md. What both leave
open is as in the C++: for how many frames RLP's receiver waits, when a timer starts anew, what a change of schemes leaves. A
model numbers packets and blocks without end, and so knows what the few bits of a frame's header have to stand for. From the
frames that arrive it tells exactly which packets an end hands up next.

Times are ns. Ends are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Scheme = Mapping[str, Any]

_NS: Final = 1e9
OTHER: Final = (1, 0)


class Broken(AssertionError):
    """A promise was broken."""


def keep(is_kept: bool, promise: str) -> None:
    """Raises Broken with the promise where it is not kept."""
    if not is_kept:
        raise Broken(promise)


@dataclass(frozen=True)
class Facts:
    """The link below, as link_facts.h has it."""

    rate: float
    delay: int
    frame: int

    def time(self, size: int) -> int:
        """That so many bytes are in transmission."""
        return round(size * 8e9 / self.rate)

    @property
    def round_trip(self) -> int:
        return 2 * self.delay + self.time(self.frame)

    def settings(self) -> dict[str, float]:
        return {"rate": self.rate, "delay": self.delay, "frame": self.frame}


@dataclass(eq=False)
class AirFrame:
    """A frame between the two ends, as its header says it."""

    number: int
    end: int
    kind: str
    sequence: int
    acknowledgement: int
    block: int
    item: int
    size: int
    #: What its numbers stand for, without end: the packet, of FEC the block; and the packet that is expected next.
    index: int = -1
    acknowledged: int = 0
    #: By how many others that left later and have arrived, and when by the first one.
    overtaken: int = 0
    overtaken_at: int = 0
    #: Of the scheme that is in force.
    is_current: bool = True
    #: Its packet means something by itself.
    stands_alone: bool = False


class Promise:
    """Both directions of a service with one scheme, from when it takes its place to when another one does."""

    stands_alone: bool = False
    #: A frame that comes twice is handed up twice.
    repeats: bool = False
    #: Others that may overtake a frame; None: any number.
    overtaking: int | None = None

    def __init__(self, scheme: Scheme, facts: Facts, at: int) -> None:
        self.scheme, self.facts, self.began = scheme, facts, at
        #: By end, what it took from above, in the order in which it has to go.
        self.packets: tuple[list[int], list[int]] = ([], [])
        self._index: tuple[dict[int, int], dict[int, int]] = ({}, {})
        #: By end, packets that were sent for the first time.
        self.begun = [0, 0]
        self.now = at

    def arrives(self, frame: AirFrame, at: int) -> list[int]:
        """A frame arrived at the other end, which hands up these packets now."""
        raise NotImplementedError

    def time_of(self, key: str) -> int:
        """A setting of the scheme."""
        return round(float(self.scheme[key]) * _NS)

    def is_full(self, end: int) -> str:
        """Why a packet from above finds no room; "": it finds some."""
        return ""

    def takes(self, end: int, item: int, at: int) -> None:
        self._index[end][item] = len(self.packets[end])
        self.packets[end].append(item)

    def begins(self, frame: AirFrame, at: int) -> None:
        """A transmission."""
        if frame.kind == "data":
            keep(frame.item in self._index[frame.end], f"packet {frame.item} was refused, or is another end's")
            frame.index = self._index[frame.end][frame.item]
            if frame.index >= self.begun[frame.end]:
                keep(frame.index == self.begun[frame.end], f"packet {frame.item} goes before one that was taken earlier")
                self.begun[frame.end] += 1
                self.new_begins(frame)
            else:
                self.again(frame, at)

    def new_begins(self, frame: AirFrame) -> None:
        """A packet's first transmission."""

    def again(self, frame: AirFrame, at: int) -> None:
        """A packet is sent once more."""
        raise Broken(f"packet {frame.item} is sent twice by a scheme that repeats nothing")

    def departs(self, frame: AirFrame, at: int) -> None:
        """The end of a transmission."""

    def gives_up(self, end: int, sequence: int, at: int) -> list[int]:
        """An end waits no more for a frame, and hands up these packets."""
        raise Broken("a scheme that gives nothing up gave up a frame")

    def passes(self, at: int) -> None:
        """Time goes on to here."""
        self.now = at

    def permits(self, frame: AirFrame) -> bool:
        """Whether a frame may arrive now, by the limits of "Order of frames" in README.md."""
        return True

    def may_lose(self, frame: AirFrame) -> bool:
        """Whether a frame may be lost, by the same limits."""
        return True

    def set(self, scheme: Scheme) -> None:
        self.scheme = scheme

    def is_like(self, scheme: Scheme) -> bool:
        """Whether other settings leave the service in its place."""
        return all(self.scheme.get(key) == scheme.get(key) for key in ("scheme", "sequence_bits", "block", "repeats_first"))

    def undelivered(self, end: int) -> list[int]:
        """What a scheme that takes its place has to send."""
        return []

    def is_due(self, end: int) -> str:
        """What an end whose transmitter is idle should be sending; "": nothing."""
        return "a packet that was taken" if self.begun[end] < len(self.packets[end]) else ""

    def is_late(self, end: int) -> str:
        """What such an end should have sent before now; "": nothing."""
        return ""

    def check_rest(self) -> None:
        """After the channel was good for long."""

    def check(self, end: int, told: Mapping[str, Any]) -> None:
        """What an end tells of its service is so."""

    #: For how long a good channel may need until all arrives that was promised.
    def patience(self) -> int:
        return 20 * self.facts.round_trip
