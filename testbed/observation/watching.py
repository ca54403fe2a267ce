# SPDX-License-Identifier: GPL-2.0-or-later
"""Watching labs that are up, all of them or one, as they come and go."""

from __future__ import annotations

import json
import select
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import NetBoxITError, WrongInput
from contracts.run_folder import PLAN_FILE
from ownership import state
from testbed.documents.kinds import WATCH
from testbed.documents.watch import Event, IntervalLine, LabLine, WatchLine
from testbed.labs.lab import Lab
from testbed.observation.event_reader import EventReader
from testbed.observation.interval import interval
from testbed.observation.reading import LabReader, Reading

SHORTEST_S: Final = 0.2
_EVENTS_KEPT: Final = 50


class BadInterval(WrongInput):
    """Labs cannot be looked at so often."""


@dataclass
class WatchedLab:
    """A lab that is up, and what is known of it. `interval` is there from the second look on."""

    lab: Lab
    reader: LabReader
    event_reader: EventReader
    plan: tuple[int, int]
    #: From which the times of `events` count.
    began_ns: int | None = None
    #: The latest reading.
    now: Reading | None = None
    interval: IntervalLine | None = None
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_EVENTS_KEPT))


class Watch:
    """Each `look` returns what is new since the last one, as lines for programs. `labs` is the present state, for people."""

    def __init__(self, only: str | None) -> None:
        """Raises NoSuchLab for a lab that is not there."""
        self._only = None if only is None else state.lab_folder(only).name
        self.labs: dict[str, WatchedLab] = {}

    def close(self) -> None:
        for watched in self.labs.values():
            watched.reader.close()

    def look(self) -> list[WatchLine]:
        return [*self._come_and_gone(), *(line for name in sorted(self.labs) for line in self._look_at(self.labs[name]))]

    def _come_and_gone(self) -> Iterator[LabLine]:
        there = {name: plan for name in state.lab_names() if (plan := _plan_of(name)) is not None and self._only in (None, name)}
        for name in [name for name, watched in self.labs.items() if there.get(name) != watched.plan]:
            self.labs.pop(name).reader.close()
            if name not in there:
                yield {"kind": "lab", "lab": name, "state": "gone"}
        for name in there.keys() - self.labs.keys():
            try:
                lab = Lab.open(name)
                self.labs[name] = WatchedLab(lab, LabReader(lab), EventReader(lab), there[name])
                self.labs[name].events.extend(self.labs[name].event_reader.new())
            except NetBoxITError:
                continue  # it went just now, or is half up
            yield self._up(self.labs[name])

    def _look_at(self, watched: WatchedLab) -> list[WatchLine]:
        try:
            now, events = watched.reader.read(), watched.event_reader.new()
        except (NetBoxITError, OSError):
            watched.now = None
            return []  # it is going down; the next look tells
        again = [] if watched.event_reader.began_ns == watched.began_ns else [self._up(watched)]
        watched.events.extend(events)
        try:
            watched.interval = None if watched.now is None else interval(watched.lab.plan, watched.now, now)
        except (LookupError, ValueError):  # something in the place of a netbox, which says one thing now and another then
            watched.interval = None
        watched.now = now
        return [*again, *events, *([watched.interval] if watched.interval is not None else [])]

    @staticmethod
    def _up(watched: WatchedLab) -> LabLine:
        """Announces a lab and when its network's time began, which is later than it is up, and again with a run's traffic."""
        before_ns, watched.began_ns = watched.began_ns, watched.event_reader.began_ns
        if before_ns is not None and watched.began_ns is not None:
            for event in watched.events:
                event["at_s"] += (before_ns - watched.began_ns) / 1e9
        return {"kind": "lab", "lab": watched.lab.name, "state": "up", "began_ns": watched.began_ns}


def lines(only: str | None, interval_s: float, ended: threading.Event, write: Callable[[str], object] = sys.stdout.write) -> None:
    """One JSON object a line, until `ended` is set or nobody reads any more. The first interval ends after `interval_s`."""
    with closing(Watch(only)) as watch:
        while True:
            for line in watch.look():
                write(json.dumps(WATCH.of(line), allow_nan=False) + "\n")
            sys.stdout.flush()
            if _reader_gone() or ended.wait(interval_s):
                return


def _reader_gone() -> bool:
    """Whether nobody reads the pipe any more, which else shows when something is written."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def checked_interval(seconds: float) -> float:
    """Raises BadInterval."""
    if seconds < SHORTEST_S:
        raise BadInterval(f"--interval: {seconds:g} s is too short, {SHORTEST_S:g} s is the least: looking costs time, too")
    return seconds


def _plan_of(name: str) -> tuple[int, int] | None:
    """What changes with each plan that a lab of this name gets; None while it has none."""
    try:
        status = (state.labs_folder() / name / PLAN_FILE).stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns
