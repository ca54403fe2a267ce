# SPDX-License-Identifier: GPL-2.0-or-later
"""A TCP connection through Snoop on a channel of which each loss, delay, repetition and change of order is chosen, and its judge.

A wired sender has the base station, a wireless receiver acknowledges each segment at once (link_layer_steps.cc, ends 0 and 1).
What is promised is that Snoop hides losses of the radio from the sender and harms nobody (Xylomenos 1999, section 4.2.3).
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from netboxes.engine.virtual import address, checksum, ethernet, mac
from netboxes.link_layer.testing.chosen_channel import Steps, layer_settings
from netboxes.link_layer.testing.promise import Facts, Scheme, keep

BASE, MOBILE = 0, 1
_WIRED, _WIRELESS = 1, 2
_ACK: Final = 0x10
_NUMBERS: Final = 1 << 32
#: How often it repeats a segment (ns-2.1b4, snoop.cc).
_MOST_REPETITIONS: Final = 10
#: ns: a timer grows with the delays that were chosen.
_PATIENCE: Final = 600 * 10**9


def tcp(ports: tuple[int, int], sequence: int, acknowledged: int, window: int, payload: int, *, to_wired: bool) -> bytes:
    """An Ethernet frame with a segment (RFC 9293, 3.1); numbers are taken modulo 2^32."""
    ends = (_WIRELESS, _WIRED) if to_wired else (_WIRED, _WIRELESS)
    addresses = b"".join(address(end, 4).packed for end in ends)
    numbers = (sequence % _NUMBERS, acknowledged % _NUMBERS)
    body = struct.pack(">HHIIHHHH", *ports, *numbers, 5 << 12 | _ACK, window, 0, 0) + bytes(payload)
    pseudo = addresses + struct.pack(">BBH", 0, 6, len(body))
    body = body[:16] + struct.pack(">H", checksum(pseudo + body)) + body[18:]
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, 6, 0) + addresses
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return ethernet(mac(ends[0]), mac(ends[1]), 0x0800, header + body)


@dataclass
class _Segment:
    """Of the sender; bytes are numbered without end, from 0."""

    start: int
    end: int
    item: int
    repetitions: int = 0


@dataclass(frozen=True)
class _Acknowledgement:
    number: int
    window: int
    payload: int


@dataclass
class _Air:
    """What an end sends, by item: what waits for its first transmission, and by frame what is in transmission and on the air."""

    waiting: deque[int] = field(default_factory=deque)
    sending: dict[int, int] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)


class ChosenConnection:
    """Methods that do a step raise promise.Broken where a promise is broken. `first` is the number of the sender's first byte."""

    def __init__(self, steps: Steps, facts: Facts, scheme: Scheme, first: int) -> None:
        self._steps, self._facts, self._scheme, self._first = steps, facts, scheme, first
        self.window = 1000
        self._items = self._offered = 0
        self._air = (_Air(), _Air())
        self._segments: dict[int, _Segment] = {}
        self._acknowledgements: dict[int, _Acknowledgement] = {}
        #: What the base station must keep, by first byte, and what the acknowledgements that came to it said.
        self._kept: dict[int, _Segment] = {}
        self._acknowledged, self._latest_window = 0, -1
        #: Of duplicates that came to it while it had what they ask for, and of its repetitions.
        self._duplicates = self._repetitions = 0
        #: What the receiver has: all below `_expected`, and pieces behind a gap. Segments that it has not answered.
        self._expected = 0
        self._pieces: set[tuple[int, int]] = set()
        self._unanswered = 0
        #: The packet that arrived and has to be handed up, and whether it may be held back instead.
        self._due: tuple[int, bool] | None = None
        self._held_back: set[int] = set()
        self._judge(steps.do("reset", facts.settings(), layer_settings(scheme)))

    def send(self, size: int) -> None:
        """The sender's next bytes."""
        self._send(self._offered, self._offered + size)
        self._offered += size

    def send_again(self, number: int) -> None:
        """The sender's own retransmission of a segment that was not acknowledged to it."""
        if missing := [one for one in self._segments.values() if one.end > self._acknowledged]:
            segment = missing[number % len(missing)]
            self._send(segment.start, segment.end)

    def answer(self, payload: int = 0) -> None:
        """An acknowledgement of the receiver; one with data is no duplicate (RFC 5681, section 2)."""
        item = self._next_item()
        self._acknowledgements[item] = _Acknowledgement(self._expected, self.window, payload)
        self._hand(MOBILE, item, tcp((80, 40000), 1, self._first + self._expected, self.window, payload, to_wired=True))

    def pass_frame(self, end: int, number: int, *, stays: bool = False) -> None:
        """The frame with this number, from the one that left first, arrives; with `stays` its copy stays on the air."""
        if (frame := self._chosen(end, number)) is not None:
            item = self._air[end].frames[frame]
            self._do("repeat" if stays else "pass", end, frame)
            if stays:
                self._air[end].frames[frame] = item

    def lose(self, end: int, number: int) -> None:
        """A frame does not arrive."""
        if (frame := self._chosen(end, number)) is not None:
            del self._air[end].frames[frame]
            self._do("lose", end, frame)

    def advance(self, time: int) -> None:
        """What leaves meanwhile stays on the air."""
        self._do("advance", time)

    def settle(self) -> None:
        """The channel becomes good: what is kept and was not repeated too often arrives without the sender's help."""
        promised, pieces = self._expected, self._pieces | set(self._repairable())
        while further := [end for start, end in pieces if start <= promised < end]:
            promised = max(further)
        while self._expected < promised:
            handed_up = self._await()
            keep(handed_up, f"byte {self._expected} of {promised} does not come, and no timer expires")

    def _send(self, start: int, end: int) -> None:
        item = self._next_item()
        segment = self._segments[item] = _Segment(start, end, item)
        if end > self._acknowledged and (start in self._kept or len(self._kept) < self._scheme["cache"]):
            self._kept[start] = segment
        self._hand(BASE, item, tcp((40000, 80), self._first + start, 1, 1000, end - start, to_wired=False))

    def _repairable(self) -> Iterator[tuple[int, int]]:
        air = self._air[BASE]
        for item in (*air.waiting, *air.sending.values(), *air.frames.values()):
            yield self._segments[item].start, self._segments[item].end
        for segment in self._kept.values():
            if segment.repetitions < _MOST_REPETITIONS:
                yield segment.start, segment.end

    def _next_item(self) -> int:
        self._items += 1
        return self._items

    def _hand(self, end: int, item: int, frame: bytes) -> None:
        self._air[end].waiting.append(item)
        self._do("packet", end, item, frame.hex())

    def _chosen(self, end: int, number: int) -> int | None:
        if not self._air[end].frames:
            self.advance(self._facts.time(self._facts.frame + 5))
        frames = list(self._air[end].frames)
        return frames[number % len(frames)] if frames else None

    def _await(self) -> bool:
        """Whether the receiver got something."""
        answer = self._steps.do("await", _PATIENCE)
        self._judge(answer)
        handed_up = self._unanswered > 0
        self._answer_all()
        return handed_up

    def _do(self, *step: Any) -> None:
        self._judge(self._steps.do(*step))
        self._answer_all()

    def _answer_all(self) -> None:
        while self._unanswered:
            self._unanswered -= 1
            self.answer()

    def _judge(self, answer: Mapping[str, Any]) -> None:
        for _, kind, *what in answer["events"]:
            getattr(self, f"_on_{kind}")(*what)
        self._check_handled()
        told = answer["services"][BASE]
        keep(told["cached_segments"] == len(self._kept), f"it keeps {told['cached_segments']} segments, not {len(self._kept)}")
        keep(told["connections"] == (1 if self._segments else 0), "it follows another number of connections")
        expiries = told["timeouts"]
        keep(expiries * self._scheme["timer_floor"] * 1e9 <= answer["now"], "its timer expires before its shortest time")
        keep(self._repetitions <= self._duplicates + expiries, "it repeats a segment without a duplicate or a timer")

    def _check_handled(self) -> None:
        """What arrived was handed up, or is held back."""
        if self._due is not None:
            item, may_be_held_back = self._due
            keep(may_be_held_back, f"packet {item} arrived and is not handed up")
            self._held_back.add(item)
            self._due = None

    def _on_begins(self, end: int, number: int, kind: str, *header: Any) -> None:
        item, is_repeated = header[3], header[5]
        keep(kind == "data", f"a {kind} of a scheme that has none")
        air = self._air[end]
        if not is_repeated:
            keep(bool(air.waiting) and air.waiting.popleft() == item, f"packet {item} is sent out of its turn, or twice")
        else:
            keep(end == BASE, "the mobile repeats a frame")
            segment = self._segments[item]
            segment.repetitions += 1
            self._repetitions += 1
            keep(segment.repetitions <= _MOST_REPETITIONS, f"the segment of byte {segment.start} is repeated too often")
        air.sending[number] = item

    def _on_departs(self, end: int, number: int) -> None:
        self._air[end].frames[number] = self._air[end].sending.pop(number)

    def _on_arrives(self, end: int, number: int) -> None:
        self._check_handled()
        item = self._air[end].frames.pop(number)
        self._due = (item, end == MOBILE and self._acknowledges(self._acknowledgements[item]))

    def _acknowledges(self, came: _Acknowledgement) -> bool:
        """Whether an acknowledgement that came to the base station is a duplicate whose cause it can repair."""
        is_latest = came.number == self._acknowledged
        is_duplicate = is_latest and not came.payload and came.window == self._latest_window
        is_covered = is_duplicate and self._acknowledged in self._kept
        self._duplicates += is_covered
        if came.number > self._acknowledged:
            self._acknowledged = came.number
            self._kept = {start: one for start, one in self._kept.items() if one.end > came.number}
        if came.number == self._acknowledged:
            self._latest_window = came.window
        return is_covered

    def _on_delivers(self, end: int, item: int) -> None:
        keep(self._due is not None and self._due[0] == item, f"end {end} hands up packet {item}, which did not arrive")
        self._due = None
        if end == MOBILE:
            segment = self._segments[item]
            self._pieces.add((segment.start, segment.end))
            while further := [end for start, end in self._pieces if start <= self._expected < end]:
                self._expected = max(further)
            self._unanswered += 1

    def _on_settled(self, item: int, reason: str) -> None:
        """Nobody has a packet any more."""
        if reason == "suppressed":
            self._check_handled()
            keep(item in self._held_back, f"acknowledgement {item} is told to be held back, and never was")
