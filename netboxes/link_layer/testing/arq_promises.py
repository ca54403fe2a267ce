# SPDX-License-Identifier: GPL-2.0-or-later
"""What ARQ with a window promises (4.2.1): Go-Back-N, and Selective Repeat with its two variants."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netboxes.link_layer.testing.promise import OTHER, AirFrame, Facts, Promise, Scheme, keep


@dataclass
class _ArqSender:
    base: int = 0
    #: By packet that is not acknowledged: when its frame left last, and the shortest timeout since then.
    departed: dict[int, tuple[int, int]] = field(default_factory=dict)
    in_transmission: int = -1
    #: Frames that NAKs have named and that have not been sent since.
    named: set[int] = field(default_factory=set)
    # Go-Back-N.
    turn: int = 0
    has_expired: bool = False


@dataclass
class _ArqReceiver:
    expected: int = 0
    #: Up to where its acknowledgements have told that all has come.
    told: int = 0
    highest: int = 0
    stored: dict[int, int] = field(default_factory=dict)
    naks: dict[int, int] = field(default_factory=dict)
    is_named: bool = False
    #: NAKs that it has to send.
    queued_naks: deque[int] = field(default_factory=deque)
    acknowledges_at: int | None = None
    #: The same before a frame went that may have been queued earlier, and so may not have ended the wait.
    waited_until: int = 0


class _Arq(Promise):
    """ARQ with a window and acknowledgements (4.2.1): never gives up, and in order."""

    def __init__(self, scheme: Scheme, facts: Facts, at: int) -> None:
        super().__init__(scheme, facts, at)
        self.space: int = 1 << scheme["sequence_bits"]
        self.widest: int = scheme["window"]
        self.senders = (_ArqSender(), _ArqSender())
        self.receivers = (_ArqReceiver(), _ArqReceiver())
        self._set_limits()

    @property
    def timeout(self) -> int:
        return self.time_of("timer")

    def _set_limits(self) -> None:
        self.overtaking = max(0, self.space - 2 * self.widest - 1)

    def set(self, scheme: Scheme) -> None:
        if self._has_fresh_acks(scheme) != self._has_fresh_acks(self.scheme):
            # Those that were queued before tell what had come then.
            for receiver in self.receivers:
                receiver.told = 0
        self.scheme = scheme
        self.widest = max(self.widest, scheme["window"])
        self._set_limits()
        for sender in self.senders:
            sender.departed = {index: (at, min(least, self.timeout)) for index, (at, least) in sender.departed.items()}

    @staticmethod
    def _has_fresh_acks(scheme: Scheme) -> bool:
        return bool(scheme["fresh_acks"] or scheme["repeats_first"])

    def is_full(self, end: int) -> str:
        return "window_full" if len(self.packets[end]) - self.senders[end].base >= self.scheme["window"] else ""

    def begins(self, frame: AirFrame, at: int) -> None:
        sender, receiver = self.senders[frame.end], self.receivers[frame.end]
        super().begins(frame, at)
        if frame.kind == "data":
            keep(frame.sequence == frame.index % self.space, f"packet {frame.item} has the number of another one")
            keep(frame.index - sender.base < self.widest, f"packet {frame.item} is beyond the window")
            sender.in_transmission = frame.index
            sender.named.discard(frame.index)
        if frame.kind == "nak":
            keep(bool(receiver.queued_naks), f"a NAK of {frame.sequence} that nothing asked for")
            frame.index = receiver.queued_naks.popleft()
            keep(frame.sequence == frame.index % self.space, f"a NAK of {frame.sequence} where {frame.index} is missing")
        else:
            receiver.waited_until = receiver.acknowledges_at or receiver.waited_until
            receiver.acknowledges_at = None
        behind = (receiver.expected - frame.acknowledgement) % self.space
        frame.acknowledged = receiver.expected - behind
        keep(frame.acknowledged >= receiver.told, f"acknowledges all before {frame.acknowledgement}, which is wrong or goes back")
        receiver.told = frame.acknowledged
        if self._has_fresh_acks(self.scheme):
            keep(behind == 0, "a fresh acknowledgement tells what had come earlier")

    def departs(self, frame: AirFrame, at: int) -> None:
        sender = self.senders[frame.end]
        if frame.kind == "data":
            sender.in_transmission = -1
            if frame.index >= sender.base:
                sender.departed[frame.index] = (at, self.timeout)

    def arrives(self, frame: AirFrame, at: int) -> list[int]:
        end = OTHER[frame.end]
        sender, receiver = self.senders[end], self.receivers[end]
        if frame.kind == "nak":
            self.takes_nak(sender, frame, at)
            return []
        self.acknowledges(sender, frame.acknowledged, at)
        if frame.kind == "ack":
            return []
        if receiver.acknowledges_at is None:
            receiver.acknowledges_at = max(at + self.time_of("ack_delay"), receiver.waited_until)
        return self.takes_data(receiver, frame)

    def takes_data(self, receiver: _ArqReceiver, frame: AirFrame) -> list[int]:
        """What is handed up."""
        raise NotImplementedError

    def takes_nak(self, sender: _ArqSender, frame: AirFrame, at: int) -> None:
        """Of a frame that another end misses."""

    def acknowledges(self, sender: _ArqSender, number: int, at: int) -> None:
        """All before this one has come."""
        if number <= sender.base:
            return
        sender.departed = {index: left for index, left in sender.departed.items() if index >= number}
        sender.named = {index for index in sender.named if index >= number}
        sender.base = number

    def permits(self, frame: AirFrame) -> bool:
        # No frame that was sent a round trip later has overtaken it: it acknowledges a part of this window or of the one before.
        return self.senders[OTHER[frame.end]].base - frame.acknowledged <= self.widest

    def undelivered(self, end: int) -> list[int]:
        return self.packets[end][self.receivers[OTHER[end]].expected :]

    def is_due(self, end: int) -> str:
        sender, receiver = self.senders[end], self.receivers[end]
        waits = self.begun[end]
        if waits < len(self.packets[end]) and waits - sender.base < self.scheme["window"]:
            return "a packet for which the window has room"
        if receiver.queued_naks:
            return f"a NAK of {receiver.queued_naks[0]}"
        return f"{sorted(sender.named)[0]}, which a NAK has named" if sender.named else ""

    def is_late(self, end: int) -> str:
        sender, receiver = self.senders[end], self.receivers[end]
        if receiver.acknowledges_at is not None and receiver.acknowledges_at < self.now:
            return "an acknowledgement"
        if self.expiry(sender) < self.now:
            return f"{sender.base}, whose timer has expired"
        return ""

    def expiry(self, sender: _ArqSender) -> float:
        """Of the oldest frame's timer, which counts from when it left; infinite where it does not run."""
        left = sender.departed.get(sender.base)
        return left[0] + self.timeout if left else math.inf

    def check_rest(self) -> None:
        for end in (0, 1):
            taken = len(self.packets[end])
            keep(self.receivers[OTHER[end]].expected == taken, f"of {taken} packets of end {end} some never arrive")
            keep(self.senders[end].base == taken, f"of {taken} packets of end {end} some are never acknowledged")

    def check(self, end: int, told: Mapping[str, Any]) -> None:
        under_way = len(self.packets[end]) - self.senders[end].base
        keep(told["outstanding"] <= self.widest, "more is outstanding than the window has")
        keep(self.begun[end] - self.senders[end].base <= told["outstanding"] <= under_way, "it tells what is not outstanding")

    def patience(self) -> int:
        round_trip = self.facts.round_trip + self.time_of("ack_delay") + 2 * self.facts.time(self.facts.frame + 3)
        waiting = max(len(self.packets[end]) - self.senders[end].base for end in (0, 1))
        window = int(self.scheme["window"])
        return (1 + waiting // window) * (window + 4) * (self.timeout + round_trip)


class GoBackN(_Arq):
    """`go-back-n`: takes frames in their order only; one timer has everything outstanding sent again."""

    def takes_data(self, receiver: _ArqReceiver, frame: AirFrame) -> list[int]:
        if frame.index != receiver.expected:
            return []
        receiver.expected += 1
        return [frame.item]

    def expiry(self, sender: _ArqSender) -> float:
        # It does not run after the others went back, until the oldest one has left again.
        runs = sender.base < sender.turn and sender.base != sender.in_transmission
        return super().expiry(sender) if runs else math.inf

    def passes(self, at: int) -> None:
        super().passes(at)
        for sender in self.senders:
            sender.has_expired |= at >= self.expiry(sender)

    def acknowledges(self, sender: _ArqSender, number: int, at: int) -> None:
        super().acknowledges(sender, number, at)
        sender.turn = max(sender.turn, sender.base)

    def new_begins(self, frame: AirFrame) -> None:
        self.senders[frame.end].turn = frame.index + 1

    def again(self, frame: AirFrame, at: int) -> None:
        sender = self.senders[frame.end]
        if frame.index < sender.base:
            return  # it was acknowledged while it waited for the transmitter
        if frame.index != sender.turn:
            keep(sender.has_expired, f"packet {frame.item} is sent again before the timer has expired")
            sender.has_expired = False
        sender.turn = frame.index + 1


class SelectiveRepeat(_Arq):
    """`sr`: stores frames that come before their turn; names the earliest missing one, once for each position of the window."""

    def again(self, frame: AirFrame, at: int) -> None:
        sender = self.senders[frame.end]
        left, timeout = sender.departed.get(frame.index, (at, 0))
        keep(
            frame.index in sender.named or at >= left + timeout or frame.index < sender.base,
            f"packet {frame.item} is sent again, and nobody has named it, nor has its timer expired",
        )

    def new_begins(self, frame: AirFrame) -> None:
        first = [*self.receivers[frame.end].queued_naks, *self.senders[frame.end].named]
        keep(not (self.scheme["repeats_first"] and first), f"packet {frame.item}, a new one, goes before {first}")

    def takes_data(self, receiver: _ArqReceiver, frame: AirFrame) -> list[int]:
        index = frame.index
        if index < receiver.expected or index in receiver.stored:
            return []
        self.names(receiver, index)
        receiver.highest = max(receiver.highest, index + 1)
        receiver.stored[index] = frame.item
        handed_up = []
        while receiver.expected in receiver.stored:
            handed_up.append(receiver.stored.pop(receiver.expected))
            receiver.expected += 1
            receiver.is_named = False
        return handed_up

    def names(self, receiver: _ArqReceiver, arrived: int) -> None:
        """The frames that are missing when one arrives that had not."""
        if arrived != receiver.expected and not receiver.is_named:
            receiver.is_named = True
            receiver.queued_naks.append(receiver.expected)

    def takes_nak(self, sender: _ArqSender, frame: AirFrame, at: int) -> None:
        self.acknowledges(sender, frame.index, at)
        self._is_asked_for(sender, frame.index)

    def _is_asked_for(self, sender: _ArqSender, index: int) -> None:
        if index >= sender.base and index != sender.in_transmission:
            sender.named.add(index)

    def check(self, end: int, told: Mapping[str, Any]) -> None:
        super().check(end, told)
        keep(told["stored"] == len(self.receivers[end].stored), "it tells another number of stored frames")


class SelectiveRepeatM1(SelectiveRepeat):
    """`sr-m1`: each missing frame once, in ascending order; a NAK acknowledges nothing."""

    def names(self, receiver: _ArqReceiver, arrived: int) -> None:
        for missing in range(receiver.highest, arrived):
            self._name(receiver, missing)

    def _name(self, receiver: _ArqReceiver, missing: int) -> None:
        receiver.naks[missing] = receiver.naks.get(missing, 0) + 1
        receiver.queued_naks.append(missing)

    def takes_nak(self, sender: _ArqSender, frame: AirFrame, at: int) -> None:
        self._is_asked_for(sender, frame.index)


class SelectiveRepeatM2(SelectiveRepeatM1):
    """`sr-m2`: a missing frame that comes and is not the earliest has earlier ones named again that were named no more often."""

    def names(self, receiver: _ArqReceiver, arrived: int) -> None:
        super().names(receiver, arrived)
        if arrived < receiver.highest:
            often = receiver.naks.get(arrived, 0)
            for missing in range(receiver.expected, arrived):
                if missing not in receiver.stored and receiver.naks.get(missing, 0) <= often:
                    self._name(receiver, missing)
