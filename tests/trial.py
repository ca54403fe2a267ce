# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials: a command that is asked before each of its system calls, and what is then done to one of them.

What is done is in tests/kill_trials.py and tests/disk_trials.py. A trial takes a host of its own, and the program is forked from
one that has everything imported.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from contracts.installation import CHECKOUT
from tests.kill_steps import Step, Steps
from tests.killed_commands import Killed
from tests.own_commands import FILE, expect_success, watched_command
from tests.own_host import run_in_own_host
from tests.system_calls import Call

#: Tried in one host, so that a defect of the trials themselves is told soon.
_IN_ONE_HOST = 150
#: Trials at a time for each core: in some the lab waits for an end that does not come.
_FOR_A_CORE = 1.5

_Moment = TypeVar("_Moment")
_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, order=True)
class Moment:
    """The so-many-th call, of those that are counted, of netboxit (child 0) or of one of its children."""

    command: str
    child: int
    number: int

    @property
    def caller(self) -> str:
        return f"its child {self.child}" if self.child else "netboxit"


@dataclass(frozen=True)
class Outcome(Generic[_Moment]):
    """What came of a trial."""

    moment: _Moment
    #: The call that was the moment's, and whose it was; None when the command came to its end before.
    call: str | None
    #: What was wrong, what `down` complained of, and what was left; empty as it should be.
    problem: str

    def __str__(self) -> str:
        return f"{self.moment} ({self.call})\n{self.problem}"


class Trial:
    """A command of those that are tried, from its beginning to its end."""

    def __init__(self, command: Killed) -> None:
        self._command = command
        FILE.write_text(command.lab)
        for argv in command.before:
            expect_success(*argv)
        if command.changed is not None:
            FILE.write_text(command.changed)
        self._output = os.memfd_create("output")
        self._watched = watched_command(*command.argv, output=self._output)
        self._steps = Steps(self._watched.pid)
        #: How the command ended, and what it said, once it has.
        self.status: int | None = None
        self.output = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watched.close()
        os.close(self._output)

    def calls(self) -> Iterator[tuple[Call, Step | None]]:
        """Each is to be answered. The step is None for what is none, and before the interruption, where there is one."""
        to_interrupt = self._command.interrupted_at
        for call in self._watched.calls(self._watched.pidfd):
            step = self._steps.of(call)
            if to_interrupt is not None:
                if self._steps.child_with(to_interrupt) is not None:
                    to_interrupt = None
                    self._steps.counted.clear()
                    os.kill(self._watched.pid, signal.SIGINT)
                step = None
            yield call, step
        self.status = self._watched.status()
        self.output = os.pread(self._output, 1 << 16, 0).decode(errors="replace")

    def children(self) -> list[int]:
        """Those whose calls are tried; netboxit itself is 0."""
        children = self._command.children
        chosen = {0} if self._command.own_calls else set()
        chosen |= {child for child in self._steps.counted if child and children is True}
        if isinstance(children, str) and (child := self._steps.child_with(children)) is not None:
            chosen.add(child)
        return sorted(chosen)


def sample(everything: Sequence[_Moment], size: int) -> list[_Moment]:
    """So many of them, evenly spread; which ones they are differs with each change of the program, and only then."""
    seed = 0
    for file in sorted((CHECKOUT / "testbed").rglob("*.py")):
        seed = zlib.crc32(file.read_bytes(), seed)
    step = len(everything) / size
    return [everything[int((number + seed / 2**32) * step)] for number in range(size)]


def in_new_hosts(try_some: Callable[[Sequence[_Moment]], list[_Outcome]], chosen: Sequence[_Moment]) -> Iterator[_Outcome]:
    """`try_some` returns after the first one that left something: whatever follows it gets a new host."""
    left = list(chosen)
    while left:
        outcomes = run_in_own_host(try_some, left)
        yield from outcomes
        left = left[len(outcomes) :]


def all_cores(try_all: Callable[[Sequence[_Moment]], list[_Outcome]], chosen: Sequence[_Moment]) -> Iterator[list[_Outcome]]:
    """Portions of the moments, tried at a time; `try_all` is a function of a module."""
    portions = [chosen[start::step] for step in [-(-len(chosen) // _IN_ONE_HOST)] for start in range(step)]
    with multiprocessing.get_context("fork").Pool(round(_FOR_A_CORE * len(os.sched_getaffinity(0)))) as pool:
        yield from pool.imap_unordered(try_all, portions)
