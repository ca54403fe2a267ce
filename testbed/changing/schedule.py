# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a run, carried out at their times by a thread of their own; how late each was is measured and recorded.

Another thread waits until conditions of events come true, by what netboxes say of themselves.
"""

from __future__ import annotations

import heapq
import math
import os
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self

from contracts.changes import Condition, EventPlan
from contracts.control import RunningStatistics
from contracts.errors import NetBoxITError
from contracts.quantities import TIME
from contracts.run_records import recorded
from testbed.changing.executor import Executor
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.nodes.control import Control, ControlFailed

#: The last part of a wait, which is not slept through but watched: waking up takes an ordinary thread about 0.1 ms, and more on a
#: core that was idle.
_WATCHED_S = 0.0005

#: The scheduler's best for a thread that is not real-time (setpriority(2), on Linux each thread has its own).
_NICENESS = -20

#: How long another thread of this program may go on when this one wakes up: Python's own 5 ms are most of an event's lateness.
_SWITCH_S = 0.0005

#: How often netboxes are asked. An answer costs a netbox some 0.1 ms between two of its events.
_POLL_S = 0.05

#: How long connections and interfaces may take to be found.
_PREPARATION_S = 10.0

#: A change, and what makes it.
_Step = tuple[EventPlan, Callable[[], object]]


class EventFailed(NetBoxITError):
    """An event of the topology could not be carried out."""


class Schedule:
    """Between entering and leaving the with block, the events happen at their times after `log.begin()` and `start()`."""

    def __init__(self, lab: Lab, log: EventLog, sample_s: float | None = None) -> None:
        """`sample_s`: how often each netbox's journal has its statistics."""
        self._sample_s = sample_s
        self._lab, self._log, self._events = lab, log, lab.plan.events
        self._go, self._prepared = threading.Event(), threading.Event()
        #: Conditions that came true and when, or why they did not; None ends the schedule.
        self._news: queue.SimpleQueue[tuple[Condition, float | str] | None] = queue.SimpleQueue()
        self._executor: Executor | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)

    def __enter__(self) -> Self:
        if self._events:
            self._switch_s = sys.getswitchinterval()
            sys.setswitchinterval(_SWITCH_S)
            self._thread.start()
            self._prepared.wait(_PREPARATION_S)
            self.check()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._news.put(None)
        self._go.set()
        if self._events:
            self._thread.join()  # None in its queue ends it; a change that it is making has a deadline at the node
            sys.setswitchinterval(self._switch_s)

    def start(self) -> None:
        """The log has begun; events count from there."""
        self._go.set()

    def check(self) -> None:
        """Raises what an event has met."""
        if self._failure is not None:
            raise self._failure

    @property
    def away(self) -> frozenset[str]:
        """Nodes that an event has taken the power from."""
        return frozenset(self._executor.away) if self._executor else frozenset()

    def _run(self) -> None:
        try:
            with suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
            with ExitStack() as open_ones:
                # Connections and interfaces are found before, so that nothing but the change itself is done at its time.
                executor = self._executor = Executor(self._lab, open_ones, self._sample_s)
                steps = [(event, executor.step(event.change)) for event in self._events]
                conditions = {event.when for event in self._events if event.when is not None}
                self._prepared.set()
                self._go.wait()  # __exit__ sets it at the latest
                watcher = _Watcher(self._lab, self._log, conditions, self._news.put)
                with watcher if conditions else ExitStack():
                    self._carry_out(steps, watcher)
        except BaseException as failure:
            self._failure = failure
        finally:
            self._prepared.set()

    def _carry_out(self, steps: Sequence[_Step], watcher: _Watcher) -> None:
        due: list[tuple[float, int, _Step]] = []
        waiting: dict[Condition, list[tuple[int, _Step]]] = {}
        left = Counter(event.event for event, _ in steps)
        for number, step in enumerate(steps):
            if (when := step[0].when) is not None:
                waiting.setdefault(when, []).append((number, step))
            else:
                heapq.heappush(due, (self._log.due(step[0].at_s), number, step))
        while due or waiting:
            try:
                news = self._news.get(timeout=max(0.0, due[0][0] - time.monotonic() - _WATCHED_S) if due else None)
            except queue.Empty:
                at, _, step = heapq.heappop(due)
                self._make(step, at)
                name = step[0].event
                left[name] -= 1
                for condition in [after for after in waiting if name and after.event == name and not left[name]]:
                    if watcher.settle(condition):
                        self._news.put((condition, time.monotonic()))
                continue
            if news is None:
                return
            condition, came = news
            if isinstance(came, str):
                raise EventFailed(f"event {condition.words()}: {came}; what it waits for did not come")
            for number, step in waiting.pop(condition):
                heapq.heappush(due, (came + step[0].at_s, number, step))

    def _make(self, step: _Step, due: float) -> None:
        event, make = step
        while (now := time.monotonic()) < due:
            pass
        at_s = event.at_s if event.when is None else self._log.at_s(due)
        words = event.change.words()
        failure: NetBoxITError | None = None
        try:
            make()
        except NetBoxITError as error:
            place = f"at {TIME.write(event.at_s)}" if event.when is None else event.when.words()
            failure = EventFailed(f"event {place}, {words}: {error}")
        why = f" ({event.when.words()})" if event.when else ""
        self._log.write(at_s, now, recorded(event.change, words + why), str(failure) if failure else None)
        if failure:
            raise failure


class _Watcher:
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
            waited = condition in self._waiting
            self._waiting.discard(condition)
            return waited

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
