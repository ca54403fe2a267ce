# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits until conditions of a run's events come true, by what netboxes say of themselves."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from contracts.changes import Condition
from contracts.quantities import TIME
from testbed.nodes.control import ControlFailed

if TYPE_CHECKING:
    from contracts.control import RunningStatistics
    from testbed.labs.event_log import EventLog
    from testbed.labs.lab import Lab
    from testbed.nodes.control import Control

#: How often netboxes are asked. An answer costs a netbox some 0.1 ms between two of its events.
_POLL_S = 0.05


class Watcher:
    """Tells of each condition once, at the end of the wait for it: when it came true, on the monotonic clock, or why it did not
    within its time. Conditions that wait for an event are only told of when that is too late.
    """

    def __init__(
        self,
        lab: Lab,
        log: EventLog,
        conditions: Collection[Condition],
        tell: Callable[[tuple[Condition, float | str]], None],
    ) -> None:
        self._lab, self._log, self._tell = lab, log, tell
        self._waiting, self._lock = set(conditions), threading.Lock()
        #: Frames that have left by a station, and since when there were no more.
        self._quiet: dict[tuple[str, str], tuple[int, float]] = {}
        self._controls: dict[str, Control] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="conditions", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()  # it asks netboxes, which have a deadline to answer

    def settle(self, condition: Condition) -> bool:
        """It came true by other means. False when it was told of already."""
        with self._lock:
            if condition not in self._waiting:
                return False
            self._waiting.remove(condition)
            return True

    def _watch(self) -> None:
        try:
            while not self._over.wait(_POLL_S):
                with self._lock:
                    waiting = list(self._waiting)
                netboxes = {condition.netbox for condition in waiting if condition.netbox is not None}
                statistics = {netbox: self._statistics(netbox) for netbox in netboxes}
                for condition in waiting:
                    self._look(condition, statistics.get(condition.netbox or ""))
        finally:
            for control in self._controls.values():
                control.close()

    def _look(self, condition: Condition, statistics: RunningStatistics | None) -> None:
        now = time.monotonic()
        if statistics is not None and self._is_so(condition, statistics, now):
            if self.settle(condition):
                self._tell((condition, now))
        elif now > self._log.due(math.inf if condition.within_s is None else condition.within_s) and self.settle(condition):
            self._tell((condition, f"not within {TIME.write(condition.within_s or 0.0)}"))

    def _is_so(self, condition: Condition, statistics: RunningStatistics, now: float) -> bool:
        if condition.silent_s is None:
            return any(
                event["event"] == condition.happens and condition.station in (None, event.get("station"))
                for event in statistics["events"]
            )
        key = (str(condition.netbox), str(condition.station))
        sent = next(port["sent"] for port in statistics["ports"] if port["name"] == condition.station)
        before, since = self._quiet.get(key, (-1, now))
        if sent != before:
            self._quiet[key] = (sent, now)
            return False
        return now - since >= condition.silent_s

    def _statistics(self, netbox: str) -> RunningStatistics | None:
        """None while it does not answer: it may be frozen, or have ended, which others find."""
        try:
            if netbox not in self._controls:
                self._controls[netbox] = self._lab.control(netbox)
            return self._controls[netbox].statistics()
        except ControlFailed:
            with suppress(KeyError):
                self._controls.pop(netbox).close()
            return None
