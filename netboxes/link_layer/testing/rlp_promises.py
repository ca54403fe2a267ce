# SPDX-License-Identifier: GPL-2.0-or-later
"""What RLP promises, in order (4.2.2) and out of sequence (5.2.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netboxes.link_layer.testing.promise import OTHER, AirFrame, Facts, Promise, Scheme, keep


@dataclass
class _RlpSender:
    #: What it took from the packets that are to go.
    taken: int = 0
    departed: int = 0
    #: The oldest packet in its ring.
    oldest: int = 0
    #: What the other end does not wait for.
    not_needed: set[int] = field(default_factory=set)
    #: What NAKs have asked for, in their order.
    asked_for: deque[int] = field(default_factory=deque)


@dataclass
class _Missing:
    naks: int = 0
    #: When its last NAK left; None: it has not yet.
    named: int | None = None
    #: Its next NAK was due before settings changed.
    was_due: bool = False


@dataclass
class _RlpReceiver:
    expected: int = 0
    released: int = 0
    missing: dict[int, _Missing] = field(default_factory=dict)
    stored: dict[int, int] = field(default_factory=dict)
    queued_naks: deque[int] = field(default_factory=deque)
    #: What came, or fell out of the ring, while its next NAK waited for the transmitter.
    late_naks: set[int] = field(default_factory=set)
    #: What fell out of the ring before it came.
    outlived: deque[int] = field(default_factory=deque)
    heard: int = 0


class Rlp(Promise):
    """`rlp` (4.2.2): sends again only what a NAK names, gives up after so many of them, and is in order."""

    in_order = True

    def __init__(self, scheme: Scheme, facts: Facts, at: int) -> None:
        super().__init__(scheme, facts, at)
        self.space: int = 1 << scheme["sequence_bits"]
        self.widest: int = scheme["ring"]
        self.overtaking = max(0, self.space - 2 * self.widest - 1)
        self.senders = (_RlpSender(), _RlpSender())
        self.receivers = (_RlpReceiver(heard=at), _RlpReceiver(heard=at))

    @property
    def timeout(self) -> int:
        return self.time_of("timer")

    @property
    def ring_time(self) -> int:
        return int(self.scheme["ring"]) * self.facts.time(self.facts.frame + 2)

    def set(self, scheme: Scheme) -> None:
        for receiver in self.receivers:
            for missing in receiver.missing.values():
                missing.was_due = self._is_due_again(missing)
        self.scheme = scheme
        self.widest = max(self.widest, scheme["ring"])
        self.overtaking = max(0, self.space - 2 * self.widest - 1)
        for end in (0, 1):
            self._take(end)

    def is_full(self, end: int) -> str:
        waiting = len(self.packets[end]) - self.senders[end].departed
        return "queue_full" if waiting >= self._room else ""

    @property
    def _room(self) -> int:
        return int(max(1, self.scheme["ring"] // 2))

    def takes(self, end: int, item: int, at: int) -> None:
        super().takes(end, item, at)
        self._take(end)

    def _take(self, end: int) -> None:
        """From what an earlier scheme left, too, as long as there is room."""
        sender = self.senders[end]
        while sender.taken < len(self.packets[end]) and sender.taken - sender.departed < self._room:
            sender.taken += 1
            sender.oldest = max(sender.oldest, sender.taken - self.scheme["ring"])
        sender.oldest = max(sender.oldest, sender.taken - self.scheme["ring"])

    def begins(self, frame: AirFrame, at: int) -> None:
        super().begins(frame, at)
        receiver = self.receivers[frame.end]
        if frame.kind == "keepalive":
            frame.index = self.begun[frame.end] - 1
        if frame.kind == "nak":
            frame.index = self._named(receiver, frame.sequence, at)
        keep(frame.sequence == frame.index % self.space, f"a {frame.kind} with number {frame.sequence} instead of {frame.index}")

    def _named(self, receiver: _RlpReceiver, sequence: int, at: int) -> int:
        """What a NAK asks for: a frame that is seen to be missing, or one whose timer has expired."""
        if receiver.queued_naks and receiver.queued_naks[0] % self.space == sequence:
            return receiver.queued_naks.popleft()
        for index, missing in receiver.missing.items():
            if index % self.space == sequence and missing.named is not None:
                keep(self._is_due_again(missing), f"{index} is named again after {missing.naks} NAKs, or too early")
                missing.naks += 1
                missing.named = None
                missing.was_due = False
                return index
        late = next((index for index in receiver.late_naks if index % self.space == sequence), -1)
        keep(late >= 0, f"a NAK of {sequence}, which is not missing, or before others")
        receiver.late_naks.remove(late)
        return late

    def new_begins(self, frame: AirFrame) -> None:
        first = [*self.receivers[frame.end].queued_naks, *self.senders[frame.end].asked_for]
        keep(not (self.scheme["repeats_first"] and first), f"packet {frame.item}, a new one, goes before {first}")

    def again(self, frame: AirFrame, at: int) -> None:
        asked_for = self.senders[frame.end].asked_for
        keep(bool(asked_for) and asked_for.popleft() == frame.index, f"packet {frame.item} is sent again; no NAK asked for it")

    def departs(self, frame: AirFrame, at: int) -> None:
        sender, receiver = self.senders[frame.end], self.receivers[frame.end]
        if frame.kind == "data" and frame.index == sender.departed:
            sender.departed += 1
            self._take(frame.end)
        if frame.kind == "nak" and frame.index in receiver.missing:
            receiver.missing[frame.index].named = at

    def arrives(self, frame: AirFrame, at: int) -> list[int]:
        end = OTHER[frame.end]
        sender, receiver = self.senders[end], self.receivers[end]
        receiver.heard = at
        if frame.kind == "nak":
            if sender.oldest <= frame.index and frame.index not in sender.not_needed:
                sender.asked_for.append(frame.index)
            return []
        handed_up: list[int] = []
        if frame.kind == "keepalive":
            self._sees(receiver, frame.index + 1, handed_up)
        elif frame.index in receiver.missing:
            self._misses_no_more(receiver, frame.index)
            self._takes(receiver, frame, handed_up)
        elif frame.index >= receiver.expected:
            self._sees(receiver, frame.index, handed_up)
            self._expects(receiver, handed_up)
            self._takes(receiver, frame, handed_up)
        return handed_up

    def _misses_no_more(self, receiver: _RlpReceiver, index: int) -> None:
        if self._is_due_again(receiver.missing.pop(index)):
            receiver.late_naks.add(index)

    def _is_due_again(self, missing: _Missing) -> bool:
        """Whether its next NAK goes, or waits for the transmitter."""
        has_expired = missing.named is not None and self.now >= missing.named + self.timeout
        return missing.was_due or (has_expired and missing.naks < self.scheme["attempts"])

    def _takes(self, receiver: _RlpReceiver, frame: AirFrame, handed_up: list[int]) -> None:
        if self.in_order:
            receiver.stored[frame.index] = frame.item
        else:
            handed_up.append(frame.item)
        self._release(receiver, handed_up)

    def _sees(self, receiver: _RlpReceiver, end: int, handed_up: list[int]) -> None:
        """All before this one were sent."""
        while receiver.expected < end:
            index = receiver.expected
            self._expects(receiver, handed_up)
            receiver.missing[index] = _Missing(naks=1)
            receiver.queued_naks.append(index)

    def _expects(self, receiver: _RlpReceiver, handed_up: list[int]) -> None:
        if receiver.expected - receiver.released == self._longest:
            receiver.outlived.append(receiver.released)
            self._misses_no_more(receiver, receiver.released)
            self._release(receiver, handed_up)
        receiver.expected += 1

    @property
    def _longest(self) -> int:
        """What the receiver waits for at once: the ring, in a power of two."""
        return int(1 << (self.widest - 1).bit_length())

    def _release(self, receiver: _RlpReceiver, handed_up: list[int]) -> None:
        while receiver.released < receiver.expected and receiver.released not in receiver.missing:
            if receiver.released in receiver.stored:
                handed_up.append(receiver.stored.pop(receiver.released))
            receiver.released += 1

    def gives_up(self, end: int, sequence: int, at: int) -> list[int]:
        receiver, other = self.receivers[end], self.senders[OTHER[end]]
        handed_up: list[int] = []
        if receiver.outlived and receiver.outlived[0] % self.space == sequence:
            other.not_needed.add(receiver.outlived.popleft())
            return handed_up
        index = next((index for index in receiver.missing if index % self.space == sequence), -1)
        keep(index >= 0, f"gives up {sequence}, which is not missing")
        missing = receiver.missing.pop(index)
        keep(missing.naks >= self.scheme["attempts"], f"gives up {index} after {missing.naks} NAKs")
        keep(missing.named is not None and at >= missing.named + self.timeout, f"gives up {index} before its timer has expired")
        other.not_needed.add(index)
        self._release(receiver, handed_up)
        return handed_up

    def permits(self, frame: AirFrame) -> bool:
        end = OTHER[frame.end]
        receiver = self.receivers[end]
        if frame.kind == "nak":
            # What it asks for comes before a silence of the ring's time.
            sender, asks = self.senders[end], self.receivers[frame.end]
            before = 3 + len(self.packets[end]) - sender.departed + len(sender.asked_for)
            comes = self.now + self.facts.delay + before * self.facts.time(self.facts.frame + 2)
            is_heard = frame.index in asks.missing or comes - asks.heard < self.ring_time
            return is_heard and sender.taken - frame.index < self.space
        if frame.kind == "data" and frame.index < receiver.expected:
            return frame.index in receiver.missing or self.now - receiver.heard < self.ring_time
        return frame.index - receiver.expected < self.space // 2

    def may_lose(self, frame: AirFrame) -> bool:
        return frame.kind != "data" or frame.index + 1 - self.receivers[OTHER[frame.end]].expected < self.space // 2

    def undelivered(self, end: int) -> list[int]:
        receiver, sender = self.receivers[OTHER[end]], self.senders[end]
        return [
            item
            for index, item in enumerate(self.packets[end])
            if (index >= receiver.expected or index in receiver.missing or index in receiver.stored)
            and index >= sender.oldest
            and index not in sender.not_needed
        ]

    def is_due(self, end: int) -> str:
        sender, receiver = self.senders[end], self.receivers[end]
        if self.begun[end] < len(self.packets[end]):
            return "a packet that was taken"
        if sender.asked_for:
            return f"{sender.asked_for[0]}, which a NAK has asked for"
        return f"a NAK of {receiver.queued_naks[0]}" if receiver.queued_naks else ""

    def is_late(self, end: int) -> str:
        for index, missing in self.receivers[end].missing.items():
            if missing.named is None or missing.named + self.timeout < self.now:
                return f"a NAK of {index}, or should have given it up"
        return ""

    def check_rest(self) -> None:
        for end in (0, 1):
            receiver, taken = self.receivers[OTHER[end]], len(self.packets[end])
            keep(receiver.expected == receiver.released == taken, f"of {taken} packets of end {end} some never arrive")

    def check(self, end: int, told: Mapping[str, Any]) -> None:
        keep(told["missing"] == len(self.receivers[end].missing), "it tells another number of missing frames")
        keep(told["restarts"] == 0, "it starts anew although no ring's time was silent")

    def patience(self) -> int:
        attempt = self.timeout + self.facts.round_trip + self.widest * self.facts.time(self.facts.frame + 2)
        return 4 * int(self.scheme["attempts"]) * attempt + 4 * self.time_of("keepalive")


class RlpOutOfSequence(Rlp):
    """`rlp-oos` (5.2.2): hands up each frame when it arrives."""

    in_order = False
