# SPDX-License-Identifier: GPL-2.0-or-later
"""The traffic of a run: its applications are arranged beforehand, start when their time has come, and stop when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack

from applications.application import ARRANGED_S, Application
from testbed.labs.deployment import Progress
from testbed.labs.event_log import EventLog

#: How often the nodes are looked at while traffic runs.
_WATCH_S = 0.25
#: How often one is looked at that is not arranged in time.
_OVERDUE_S = 0.02
#: How many at a time: they mostly wait for their programs.
_ARRANGED_AT_ONCE = 8


class Traffic:
    """`arrange`, then `carry`. What runs is stopped with `ends`."""

    def __init__(self, entries: Sequence[Application], log: EventLog, ends: ExitStack, progress: Progress) -> None:
        self._to_arrange = sorted(entries, key=lambda entry: entry.options.start)
        self._arranged: list[tuple[Application, Future[None]]] = []
        self._running: list[Application] = []
        self._log, self._ends, self._progress = log, ends, progress
        self._threads = ends.enter_context(ThreadPoolExecutor(_ARRANGED_AT_ONCE, "arranging"))

    def arrange(self) -> None:
        """Before the network's time begins: has what starts soon after it ready. Raises what went wrong with one."""
        self._arrange_until(ARRANGED_S)
        for _, arranged in self._arranged:
            arranged.result()

    def carry(self, check: Callable[[], None], until: float) -> None:
        """Until all is over, `until` (monotonic) at least; raises as soon as `check` or an application does."""
        while self._to_arrange or self._arranged or self._running or time.monotonic() < until:
            self._start_what_is_due()
            self._arrange_until(self._log.at_s(time.monotonic()) + ARRANGED_S)
            check()
            for entry in self._running:
                entry.check()
            self._stop_what_is_over()
            self._progress(f"traffic, {self._left(until):.0f} s to go")
            time.sleep(min((_WATCH_S, *(self._until_start(*arrangement) for arrangement in self._arranged))))
        check()

    def _due(self, entry: Application) -> float:
        return self._log.due(entry.options.start)

    def _until_start(self, entry: Application, arranged: Future[None]) -> float:
        return max(self._due(entry) - time.monotonic(), 0.0 if arranged.done() else _OVERDUE_S)

    def _arrange_until(self, start_s: float) -> None:
        """What starts until then, in threads."""
        while self._to_arrange and self._to_arrange[0].options.start <= start_s:
            entry = self._to_arrange.pop(0)
            arranged = self._threads.submit(entry.arrange)
            self._ends.callback(_stop, entry, arranged)
            self._arranged.append((entry, arranged))

    def _start_what_is_due(self) -> None:
        """Starts all that is due first, and writes their events afterwards, so that writing delays none."""
        now = time.monotonic()
        due = [(entry, arranged) for entry, arranged in self._arranged if self._due(entry) <= now and arranged.done()]
        for _, arranged in due:
            arranged.result()
        begun = []
        for entry, _ in due:
            begun.append(time.monotonic())
            entry.start()
        for (entry, arranged), began in zip(due, begun, strict=True):
            self._log.write(
                entry.options.start, began, {"kind": "traffic", "traffic": entry.plan.name, "words": f"{entry.plan.name} starts"}
            )
            self._arranged.remove((entry, arranged))
            self._running.append(entry)

    def _stop_what_is_over(self) -> None:
        for entry in [entry for entry in self._running if entry.ends <= time.monotonic()]:
            entry.stop()
            self._running.remove(entry)

    def _left(self, until: float) -> float:
        now = time.monotonic()
        waiting = (*self._to_arrange, *(entry for entry, _ in self._arranged))
        return max(
            until - now,
            0.0,
            *(min(entry.ends - now, entry.options.duration) for entry in self._running),
            *(self._due(entry) + entry.options.duration - now for entry in waiting),
        )


def _stop(entry: Application, arranged: Future[None]) -> None:
    """When it starts no more programs."""
    if not arranged.cancel():
        wait([arranged])
    entry.stop()
