# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a run, carried out at their times by a thread of their own; how late each was is measured and recorded."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from testbed.changes import Change, EventPlan, ParameterChange
from testbed.errors import NetBoxITError
from testbed.quantities import TIME

if TYPE_CHECKING:
    from testbed.control import Control
    from testbed.lab import Lab
    from testbed.wires import Switch

#: What is recorded of each event, one JSON object a line (docs/architecture.md, "Run folder").
EVENTS_FILE = "events.jsonl"

#: The last part of a wait, which is not slept through but watched: waking up takes an ordinary thread about 0.1 ms, and more on a
#: core that was idle.
_WATCHED_S = 0.0005

#: The scheduler's best for a thread that is not real-time (setpriority(2), on Linux each thread has its own).
_NICENESS = -20

#: How long another thread of this program may go on when this one wakes up: Python's own 5 ms are most of an event's lateness.
_SWITCH_S = 0.0005

#: How long connections and interfaces may take to be found.
_PREPARATION_S = 10.0


class EventFailed(NetBoxITError):
    """An event of the topology could not be carried out."""


class EventLog:
    """`events.jsonl`: each line is written when its event is over, whatever became of it."""

    def __init__(self, file: Path) -> None:
        self._file, self._lock = file, threading.Lock()
        self.began_ns, self._began = 0, 0.0

    def begin(self) -> None:
        """The network's time begins now."""
        self.began_ns, self._began = time.time_ns(), time.monotonic()

    def due(self, at_s: float) -> float:
        """On the monotonic clock."""
        return self._began + at_s

    def write(self, at_s: float, started: float, what: dict[str, Any], error: str | None = None) -> None:
        """`started` is when it was begun, on the monotonic clock; now it is over."""
        line = {
            "at_s": at_s,
            "late_ms": round((started - self.due(at_s)) * 1e3, 3),
            "took_ms": round((time.monotonic() - started) * 1e3, 3),
            **what,
            "error": error,
        }
        with self._lock, self._file.open("a") as file:
            file.write(json.dumps(line) + "\n")


class Schedule:
    """Between entering and leaving the with block, the events happen at their times after `log.begin()` and `start()`."""

    def __init__(self, lab: Lab, log: EventLog) -> None:
        self._lab, self._log, self._events = lab, log, lab.plan.events
        self._over, self._go, self._prepared = threading.Event(), threading.Event(), threading.Event()
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
        self._over.set()
        self._go.set()
        if self._events:
            self._thread.join()
            sys.setswitchinterval(self._switch_s)

    def start(self) -> None:
        """The log has begun; events count from there."""
        self._go.set()

    def check(self) -> None:
        """Raises what an event has met."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
            with ExitStack() as open_ones:
                # Connections and interfaces are found before, so that nothing but the change itself is done at its time.
                means = _Means(self._lab, open_ones)
                steps = [(event, means.step(event.change)) for event in self._events]
                self._prepared.set()
                self._go.wait()
                self._carry_out(steps)
        except BaseException as failure:
            self._failure = failure
        finally:
            self._prepared.set()

    def _carry_out(self, steps: Sequence[tuple[EventPlan, Callable[[], object]]]) -> None:
        for event, step in steps:
            due = self._log.due(event.at_s)
            if self._over.wait(max(0.0, due - time.monotonic() - _WATCHED_S)):
                return
            while (now := time.monotonic()) < due:
                pass
            failure: NetBoxITError | None = None
            try:
                step()
            except NetBoxITError as error:
                failure = EventFailed(f"event at {TIME.write(event.at_s)}, {event.change.words()}: {error}")
            self._log.write(
                event.at_s, now, {**asdict(event.change), "words": event.change.words()}, str(failure) if failure else None
            )
            if failure:
                raise failure


def apply(lab: Lab, change: Change) -> None:
    """Makes a change now."""
    with ExitStack() as open_ones:
        _Means(lab, open_ones).step(change)()


class _Means:
    """What changes are made with: a connection to each netbox, a netlink socket for each interface; open until the stack ends."""

    def __init__(self, lab: Lab, open_ones: ExitStack) -> None:
        self._lab, self._open = lab, open_ones
        self._controls: dict[str, Control] = {}
        self._switches: dict[tuple[str, str], Switch] = {}

    def step(self, change: Change) -> Callable[[], object]:
        """The change, to be called when it is due."""
        if isinstance(change, ParameterChange):
            control = self._control(change.netbox)
            return lambda: control.set(change.parameter, change.value)
        switch = self._switch(change.node, change.interface)
        return lambda: switch.set(change.state)

    def _control(self, netbox: str) -> Control:
        if netbox not in self._controls:
            self._controls[netbox] = self._open.enter_context(self._lab.control(netbox))
        return self._controls[netbox]

    def _switch(self, node: str, interface: str) -> Switch:
        from testbed.wires import Switch  # netlink is only needed where a wire is switched

        if (node, interface) not in self._switches:
            switch = Switch(self._lab.node(node), interface)
            self._open.callback(switch.close)
            self._switches[node, interface] = switch
        return self._switches[node, interface]
