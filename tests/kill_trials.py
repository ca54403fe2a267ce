# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit` killed before each of its system calls that change something; `netboxit down` must leave the host as it was before.

Trials take a host of their own, and the program is forked from one that has everything imported: some six trials a second on two
quiet cores. All of them: `make kill-test`; a sample is in the suite (tests/test_kill.py).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests import trial
from tests.host_state import ALL, HostState
from tests.killed_commands import COMMANDS, Killed
from tests.own_commands import FILE, Running, lasting_changes, prepare
from tests.own_host import run_in_own_host
from tests.system_calls import Call
from tests.trial import Trial, in_new_hosts

#: netboxit, also before a call of what it started; the caller alone, so that netboxit goes on; netboxit with all that it started;
#: netboxit, and what it has just started, still as a copy of itself, goes on only when `down` is through.
Victim = Literal["netboxit", "caller", "all", "starter"]
#: What `down` may say while such a copy is there.
_BUSY = "another netboxit command"


@dataclass(frozen=True, order=True)
class Moment(trial.Moment):
    """Before a call that changes something; those of a child are counted with those of all that it started."""

    victim: Victim

    def __str__(self) -> str:
        return f"{self.command}: {self.victim} killed before call {self.number} of {self.caller}"


#: Its call is the one that was not made.
Outcome = trial.Outcome[Moment]


@dataclass(frozen=True)
class Calls:
    """How many a child makes, and how many of them while it is a copy of netboxit still."""

    all: int
    as_copy: int


#: By command and child.
Counted = dict[str, dict[int, Calls]]


def count() -> Counted:
    return run_in_own_host(_count)


def moments(counted: Counted) -> list[Moment]:
    """All of them, in order."""
    found = []
    for command, children in counted.items():
        for child, calls in children.items():
            victims: tuple[Victim, ...] = ("netboxit", "caller", "all") if child else ("netboxit",)
            found += [Moment(command, child, n, victim) for victim in victims for n in range(1, calls.all + 1)]
            found += [Moment(command, child, n, "starter") for n in range(1, calls.as_copy + 1)]
    return sorted(found)


def try_each(chosen: Sequence[Moment]) -> Iterator[Outcome]:
    return in_new_hosts(_try_some, chosen)


def _count() -> Counted:
    prepare()
    counted: Counted = {}
    for name, command in COMMANDS.items():
        with _Trial(command) as tried:
            tried.run_until(None)
            assert tried.status == bool(command.interrupted_at), f"{name} ended with {tried.status}"
            counted[name] = tried.of_interest()
            tried.take_down()
    return counted


def _try_some(chosen: Sequence[Moment]) -> list[Outcome]:
    """Up to the first that left something, or took something away."""
    prepare()
    FILE.unlink()
    before = HostState.now(ALL)
    outcomes = []
    for moment in chosen:
        with _Trial(COMMANDS[moment.command]) as tried:
            call = tried.run_until(moment)
            FILE.unlink()
            problem = tried.take_down()
        problem += lasting_changes(before)
        outcomes.append(Outcome(moment, call, problem))
        if problem:
            break
    return outcomes


class _Trial(Trial):
    """A command that is killed, and then `down`."""

    def __init__(self, command: Killed) -> None:
        super().__init__(command)
        self._held: Call | None = None

    def run_until(self, moment: Moment | None) -> str | None:
        """Until the victims of the moment are dead; tells the call, or None when the command came to its end before."""
        told = None
        for call, step in self.calls():
            if moment and step and told is None and (step.child, step.number) == (moment.child, moment.number):
                told = f"{step.program}: {call.name}"
                if moment.victim == "starter":
                    self._held = call
                if step.process in self._kill(moment.victim, step.process) or self._held:
                    continue  # never to be made, or not yet
            self._watched.let_go(call)
        return told

    def of_interest(self) -> dict[int, Calls]:
        """How many steps were counted, of those before which the command is to be killed."""
        counted = self._steps.counted
        return {child: Calls(counted[child], self._steps.as_copy[child]) for child in self.children()}

    def take_down(self) -> str:
        """`down --all`, while what still runs goes on; returns what it complained of."""
        complaint = self._down()
        if self._held is not None:
            self._watched.let_go(self._held)
            if _BUSY in complaint:
                complaint = self._down()
            self._wait_for_all()
        return complaint

    def _down(self) -> str:
        taking_down = Running("down", "--all")
        for call in self._watched.calls(taking_down.pidfd):
            self._watched.let_go(call)
        return taking_down.complaint()

    def _wait_for_all(self) -> None:
        """What was held is the last of them, or somebody waits for it."""
        for process in self._steps.processes():
            with suppress(ProcessLookupError):
                end = os.pidfd_open(process)
                for call in self._watched.calls(end):
                    self._watched.let_go(call)
                os.close(end)

    def _kill(self, victim: Victim, caller: int) -> list[int]:
        own = [self._watched.pid]
        pids = {"netboxit": own, "caller": [caller], "all": _started_here(), "starter": own}[victim]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return pids


def _started_here() -> list[int]:
    """All processes of this host but its first one and the one that tries."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if int(entry.name) not in (1, os.getpid())]
