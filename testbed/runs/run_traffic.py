# SPDX-License-Identifier: GPL-2.0-or-later
"""The traffic of a run: each application is started when its time has come and stopped when its time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from testbed.labs.deployment import Progress
from testbed.labs.event_log import EventLog
from traffic.application import Application

#: How often the nodes are looked at while traffic runs.
_WATCH_S = 0.25


class Traffic:
    """What runs is stopped with `ends`."""

    def __init__(self, entries: Sequence[Application], log: EventLog, ends: ExitStack, progress: Progress) -> None:
        self._waiting = sorted(entries, key=lambda entry: entry.options.start)
        self._running: list[Application] = []
        self._log, self._ends, self._progress = log, ends, progress

    def carry(self, check: Callable[[], None], until: float) -> None:
        """Until all is over, `until` (monotonic) at least; raises as soon as `check` or an application does."""
        while self._waiting or self._running or time.monotonic() < until:
            check()
            for entry in self._running:
                entry.check()
            self._stop_what_is_over()
            if self._waiting and self._due(self._waiting[0]) <= time.monotonic():
                self._start(self._waiting.pop(0))
                continue
            self._progress(f"traffic, {self._left(until):.0f} s to go")
            next_start = min((self._due(entry) - time.monotonic() for entry in self._waiting), default=_WATCH_S)
            time.sleep(min(max(next_start, 0.0), _WATCH_S))
        check()

    def _due(self, entry: Application) -> float:
        return self._log.due(entry.options.start)

    def _start(self, entry: Application) -> None:
        self._progress(f"starting {entry.plan.name}")
        self._ends.callback(entry.stop)
        began = time.monotonic()
        entry.start()
        words = f"{entry.plan.name} starts"
        self._log.write(entry.options.start, began, {"kind": "traffic", "traffic": entry.plan.name, "words": words})
        self._running.append(entry)

    def _stop_what_is_over(self) -> None:
        for entry in [entry for entry in self._running if entry.ends <= time.monotonic()]:
            entry.stop()
            self._running.remove(entry)

    def _left(self, until: float) -> float:
        now = time.monotonic()
        waiting = (self._due(entry) + entry.options.duration - now for entry in self._waiting)
        return max([until - now, 0.0, *(entry.ends - now for entry in self._running), *waiting])
