# SPDX-License-Identifier: GPL-2.0-or-later
"""Two ends of a link layer on a channel of which each loss, delay, repetition and change of order is chosen, and their judge.

The ends are those of `link-layer-steps` (link_layer_steps.cc), in virtual time. What a scheme promises is in promise.py.
"""

from __future__ import annotations

import json
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any, cast

from netboxes.link_layer.testing.promise import AirFrame, Facts, Promise, Scheme, keep
from netboxes.link_layer.testing.promises import PROMISES
from netboxes.technology import build_folder

#: More frames than a queue of a service can hold in these tests: the queue does not limit.
LARGE_QUEUE = 1_000_000


class RefusedSettings(ValueError):
    """The link layer does not take these settings; says why."""


class Steps:
    """The program, which does one step after the other."""

    def __init__(self) -> None:
        self.done = 0
        self._process = subprocess.Popen(
            [build_folder() / "bin/link-layer-steps"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def do(self, *step: Any) -> Mapping[str, Any]:
        """The answer. Raises RefusedSettings."""
        self.done += 1
        cast("IO[str]", self._process.stdin).write(json.dumps(step) + "\n")
        line = cast("IO[str]", self._process.stdout).readline()
        if not line:
            raise RuntimeError(f"link-layer-steps ended at {step}: {self._process.wait()}")
        answer = json.loads(line)
        if "refused" in answer:
            raise RefusedSettings(answer["refused"])
        return cast("Mapping[str, Any]", answer)

    def close(self) -> None:
        cast("IO[str]", self._process.stdin).close()
        self._process.wait()


def layer_settings(scheme: Scheme) -> dict[str, Any]:
    """Of a layer with one service, as multi_service_link.h has them."""
    return {"services": [{"share": 1, **scheme}], "timer_factor": 1}


class ChosenChannel:
    """The channel, its two ends, and the judge. Methods that do a step raise promise.Broken where a promise is broken.

    A step that would go beyond the limits of the schemes is done as far as they permit.
    """

    def __init__(self, steps: Steps, facts: Facts, scheme: Scheme) -> None:
        self._steps, self._facts = steps, facts
        self._now = 0
        self._items = 0
        self._air: tuple[dict[int, AirFrame], dict[int, AirFrame]] = ({}, {})
        self._sending: list[AirFrame | None] = [None, None]
        self._due: tuple[deque[tuple[int, bool]], deque[tuple[int, bool]]] = (deque(), deque())
        self._delivered: tuple[list[int], list[int]] = ([], [])
        self._arrived: set[int] = set()
        self._settled: set[int] = set()
        self._is_repeating = False
        #: As often as a service was replaced (air_frame.h).
        self._generation = 1
        self._queue = scheme.get("queue", LARGE_QUEUE)
        self.promise: Promise = PROMISES[scheme["scheme"]](scheme, facts, 0)
        self._services: Sequence[Mapping[str, Any]] = steps.do("reset", facts.settings(), layer_settings(scheme))["services"]

    def send(self, end: int, size: int) -> None:
        """A packet from above."""
        self._items += 1
        item = self._items
        answer = self._steps.do("send", end, item, size)
        reason = next((event[3] for event in answer["events"] if event[1] == "settled" and event[2] == item), "")
        full = self.promise.is_full(end)
        waits = self._services[end]["waiting_frames"] >= self._queue
        if not reason:
            keep(not full and not waits, f"packet {item} was taken, although {full or 'its queue is full'}")
            self.promise.takes(end, item, self._now)
        elif self._queue == LARGE_QUEUE or reason != "queue_full":
            keep(reason == full, f"packet {item} was dropped: {reason}; the model says {full or 'that there is room'}")
        self._judge(answer)

    def pass_frame(self, end: int, number: int, *, stays: bool = False) -> None:
        """The frame with this number, from the one that left first, arrives; with `stays` its copy stays on the air."""
        if (frame := self._chosen(end, number)) is None:
            return
        if not self._permits(frame):
            self._lose(frame)
            return
        for other in self._air[end].values():
            if other.number < frame.number:
                other.overtaken_at = other.overtaken_at or self._now
                other.overtaken += 1
        self._is_repeating = stays
        self._judge(self._steps.do("repeat" if stays else "pass", end, frame.number))
        self._is_repeating = False

    def lose(self, end: int, number: int) -> None:
        """A frame does not arrive."""
        if (frame := self._chosen(end, number)) is None:
            return
        if not frame.is_current or self.promise.may_lose(frame):
            self._lose(frame)
        else:
            self.pass_frame(end, 0)

    def advance(self, time: int) -> None:
        """What leaves meanwhile stays on the air."""
        self._judge(self._steps.do("advance", time))

    def run(self, time: int) -> None:
        """All frames arrive, in order, after the link's delay; those that are on the air now at once."""
        for end in (0, 1):
            while self._air[end]:
                self.pass_frame(end, 0)
        self._judge(self._steps.do("run", time))

    def set(self, scheme: Scheme) -> None:
        """Other settings of the same scheme at both ends. Those that the link layer refuses change nothing."""
        try:
            answer = self._steps.do("set", layer_settings(scheme))
        except RefusedSettings:
            return
        self._queue = scheme.get("queue", LARGE_QUEUE)
        self.promise.set(scheme)
        self._judge(answer)

    def change(self, scheme: Scheme) -> None:
        """Another scheme at both ends."""
        if self.promise.is_like(scheme):
            self.set(scheme)
            return
        answer = self._steps.do("change", layer_settings(scheme))
        self._queue = scheme.get("queue", LARGE_QUEUE)
        before, self.promise = self.promise, PROMISES[scheme["scheme"]](scheme, self._facts, self._now)
        self._generation = (self._generation + 1) % 256
        for end in (0, 1):
            for item in before.undelivered(end):
                self.promise.takes(end, item, self._now)
            for frame in (*self._air[end].values(), self._sending[end]):
                if frame is not None:
                    frame.is_current = False
        self._judge(answer)

    def settle(self) -> None:
        """The channel becomes good, and all that was promised arrives: nobody waits for ever."""
        self.run(self.promise.patience())
        self.promise.check_rest()

    def delivered(self, end: int) -> Sequence[int]:
        """Packets that this end handed up."""
        return self._delivered[end]

    def _chosen(self, end: int, number: int) -> AirFrame | None:
        """One that overtakes none that was overtaken by as many as may be. Where none is on the air: the next that leaves."""
        if not self._air[end]:
            self.advance(self._facts.time(self._facts.frame + 5))
        frames = list(self._air[end].values())
        if not frames:
            return None
        chosen = number % len(frames)
        most = self.promise.overtaking
        if most is not None and any(frame.overtaken >= most for frame in frames[:chosen]):
            chosen = 0
        if chosen > 0 and not self._permits(frames[chosen]):
            chosen = 0
        return frames[chosen]

    def _permits(self, frame: AirFrame) -> bool:
        return not frame.is_current or self.promise.permits(frame)

    def _lose(self, frame: AirFrame) -> None:
        del self._air[frame.end][frame.number]
        self._judge(self._steps.do("lose", frame.end, frame.number))

    def _judge(self, answer: Mapping[str, Any]) -> None:
        for at, kind, *what in answer["events"]:
            self.promise.passes(at)
            getattr(self, f"_on_{kind.replace(' ', '_')}")(at, *what)
        has_passed = answer["now"] > self._now
        self._now = answer["now"]
        self.promise.passes(self._now)
        self._services = answer["services"]
        for end in (0, 1):
            keep(not self._due[end], f"end {end} does not hand up {[item for item, _ in self._due[end]]}")
            self.promise.check(end, self._services[end])
            keep(self._services[end]["delivered"] == len(self._delivered[end]), "it counts other deliveries")
            if self._sending[end] is None:
                due = self.promise.is_due(end) or (self.promise.is_late(end) if has_passed else "")
                keep(not due, f"end {end} is idle and does not send {due}")

    def _on_begins(self, at: int, end: int, number: int, kind: str, *header: int) -> None:
        sequence, acknowledgement, block, item, size, _, generation = header
        frame = AirFrame(number, end, kind, sequence, acknowledgement, block, item, size)
        frame.is_current = generation == self._generation
        frame.stands_alone = frame.is_current and self.promise.stands_alone
        self._sending[end] = frame
        if frame.is_current:
            self.promise.begins(frame, at)
        else:
            keep(kind == "data", f"a {kind} of a service that is gone")
            frame.stands_alone = True

    def _on_departs(self, at: int, end: int, number: int) -> None:
        frame = cast("AirFrame", self._sending[end])
        self._sending[end] = None
        self._air[end][number] = frame
        if frame.is_current:
            self.promise.departs(frame, at)

    def _on_arrives(self, at: int, end: int, number: int) -> None:
        frame = self._air[end][number] if self._is_repeating else self._air[end].pop(number)
        if frame.is_current:
            self._due[1 - end].extend((item, self.promise.repeats) for item in self.promise.arrives(frame, at))
        elif frame.stands_alone and frame.kind == "data":
            self._due[1 - end].append((frame.item, True))

    def _on_delivers(self, at: int, end: int, item: int) -> None:
        keep(bool(self._due[end]), f"end {end} hands up {item}, whose turn it is not")
        due, may_repeat = self._due[end].popleft()
        keep(item == due, f"end {end} hands up {item} instead of {due}")
        keep(may_repeat or item not in self._arrived, f"end {end} hands up {item} twice")
        self._arrived.add(item)
        self._delivered[end].append(item)

    def _on_gives_up(self, at: int, end: int, sequence: int) -> None:
        self._due[end].extend((item, False) for item in self.promise.gives_up(end, sequence, at))

    def _on_settled(self, at: int, item: int, reason: str) -> None:
        keep(item not in self._settled, f"packet {item} is settled twice")
        self._settled.add(item)
        keep((reason == "delivered") == (item in self._arrived), f"packet {item} is told to be {reason}")
