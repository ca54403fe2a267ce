# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit` killed before each of its system calls that change something; `netboxit down` must leave the host as it was before.

Trials take a host of their own, and the program is forked from one that has everything imported: some three trials a second. All
of them: `make kill-test`; a sample is in the suite (tests/test_kill.py).
"""

from __future__ import annotations

import os
import signal
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from testbed.files import CHECKOUT
from tests.host_state import ALL, HostState
from tests.own_commands import CHANGED, FILE, TOPOLOGY, Running, expect_success, lasting_changes, prepare, watched_command
from tests.own_host import run_in_own_host

#: `apply` has a changed file. An interrupted `up` undoes what it did; it is interrupted when its last container is being started.
Command = Literal["up", "interrupted up", "apply", "down"]
#: netboxit, also before a call of what it started; the caller alone, so that netboxit goes on; netboxit with all that it started.
Victim = Literal["netboxit", "caller", "all"]

_LAST_CONTAINER = b"\0nbx-x-meoc\0"
#: What containers run: their calls are no steps of bringing a lab up.
_PAYLOADS = ("netbox-ethernet", "click-router", "sleep")


@dataclass(frozen=True, order=True)
class Moment:
    """Before the so-many-th changing call of netboxit (child 0), or of one of its children with all that this one started.

    Programs are numbered from 1 as they are started, forks of netboxit itself from -1 downwards.
    """

    command: Command
    child: int
    number: int
    victim: Victim

    def __str__(self) -> str:
        who = f"its child {self.child}" if self.child else "netboxit"
        return f"{self.command}: {self.victim} killed before call {self.number} of {who}"


@dataclass(frozen=True)
class Outcome:
    moment: Moment
    #: The call that was not made, and whose it was; None when the command came to its end before.
    call: str | None
    #: What `down` complained of, and what was left; empty as it should be.
    problem: str


def count() -> dict[Command, Counter[int]]:
    """How many calls there are, by command and child."""
    return run_in_own_host(_count)


def moments(counted: Mapping[Command, Mapping[int, int]]) -> list[Moment]:
    """All of them, in order."""
    found = []
    for command, calls in counted.items():
        for child, number in calls.items():
            victims: tuple[Victim, ...] = ("netboxit", "caller", "all") if child else ("netboxit",)
            found += [Moment(command, child, n, victim) for victim in victims for n in range(1, number + 1)]
    return sorted(found)


def sample(everything: Sequence[Moment], size: int) -> list[Moment]:
    """So many of them, evenly spread; which ones they are differs with each change of the program, and only then."""
    seed = 0
    for file in sorted((CHECKOUT / "testbed").rglob("*.py")):
        seed = zlib.crc32(file.read_bytes(), seed)
    step = len(everything) / size
    return [everything[int((number + seed / 2**32) * step)] for number in range(size)]


def try_each(chosen: Sequence[Moment]) -> Iterator[Outcome]:
    """Whatever follows one that left something gets a new host."""
    left = list(chosen)
    while left:
        outcomes = run_in_own_host(_try_some, left)
        yield from outcomes
        left = left[len(outcomes) :]


def _count() -> dict[Command, Counter[int]]:
    prepare()
    counted: dict[Command, Counter[int]] = {}
    orders: tuple[Command, ...] = ("up", "interrupted up", "apply", "down")
    for command in orders:
        with _Trial(command) as trial:
            trial.run_until(None)
            counted[command] = trial.calls if command == "up" else Counter({0: trial.calls[0]})
            trial.take_down()
    return counted


def _try_some(chosen: Sequence[Moment]) -> list[Outcome]:
    """Up to the first that left something, or took something away."""
    prepare()
    before = HostState.now(ALL)
    outcomes = []
    for moment in chosen:
        with _Trial(moment.command) as trial:
            call = trial.run_until(moment)
            FILE.unlink()
            problem = trial.take_down()
        FILE.write_text(TOPOLOGY)
        problem += lasting_changes(before)
        outcomes.append(Outcome(moment, call, problem))
        if problem:
            break
    return outcomes


class _Trial:
    """One command that is asked before each of its calls, and then `down`."""

    def __init__(self, command: Command) -> None:
        self._to_interrupt = command == "interrupted up"
        argv = {"down": ("down",), "apply": ("apply", str(FILE))}.get(command, ("up", str(FILE)))
        if command in ("down", "apply"):
            expect_success("up", str(FILE))
        FILE.write_text(CHANGED if command == "apply" else TOPOLOGY)
        self._watched = watched_command(*argv)
        self._children = {self._watched.pid: 0}
        #: How many it has made, by child; of a command that is interrupted, those from then on.
        self.calls: Counter[int] = Counter()

    def __enter__(self) -> _Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self._watched.close()

    def run_until(self, moment: Moment | None) -> str | None:
        """Until the victims of the moment are dead; tells the call, or None when the command came to its end before."""
        told = None
        while call := self._watched.next(self._watched.pidfd):
            process = call.process
            child = self._child(process, call.name)
            program = _program(process)
            if child is not None and program not in _PAYLOADS:
                self.calls[child] += 1
                self._interrupt_in_time(process)
                at = (child, self.calls[child]) == (moment.child, moment.number) if moment else False
                if moment and at and not self._to_interrupt and told is None:
                    told = f"{program}: {call.name}"
                    if process in self._kill(moment.victim, process):
                        continue  # never to be made
            self._watched.let_go(call)
        self._watched.status()
        return told

    def take_down(self) -> str:
        """`down --all`, while what still runs goes on; returns what it complained of."""
        taking_down = Running("down", "--all")
        while call := self._watched.next(taking_down.pidfd):
            self._watched.let_go(call)
        return taking_down.complaint()

    def _kill(self, victim: Victim, caller: int) -> list[int]:
        pids = {"netboxit": [self._watched.pid], "caller": [caller], "all": _started_here()}[victim]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return pids

    def _interrupt_in_time(self, process: int) -> None:
        if self._to_interrupt and _LAST_CONTAINER in _command_line(process):
            self._to_interrupt = False
            self.calls.clear()
            os.kill(self._watched.pid, signal.SIGINT)

    def _child(self, process: int, call: str) -> int | None:
        """Which child of netboxit a process is or belongs to; None when that cannot be told any more."""
        if process not in self._children:
            parent = _parent(process)
            if parent == self._watched.pid:
                known = self._children.values()
                self._children[process] = max(known) + 1 if call == "execve" else min(known) - 1
            elif parent in self._children:
                self._children[process] = self._children[parent]
        return self._children.get(process)


def _started_here() -> list[int]:
    """All processes of this host but its first one and the one that tries."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if int(entry.name) not in (1, os.getpid())]


def _parent(process: int) -> int:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[1])


def _program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/exe").readlink().name
    except OSError:
        return ""


def _command_line(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
