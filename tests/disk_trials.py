# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk that is full, or fails, at each call of `netboxit` that it could refuse, and then `down`, while it is full.

The disk is that of the state folder, /run and /dev/shm alike. Nothing may be left, nothing be lost, and the command says what
happened; `down` does its work without room. Trials are those of tests/trial.py. All of them: `make full-disk-test`; the suite
has a sample (tests/test_full_disk.py).
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests import disk_calls, machine_parts, trial
from tests.disk_calls import DiskCall
from tests.host_state import ALL, HostState
from tests.killed_commands import COMMANDS, Killed
from tests.own_commands import FILE, Running, lasting_changes, prepare
from tests.own_host import run_in_own_host
from tests.trial import Trial, in_new_hosts

#: full: half of a write is still made, and from that call on nothing has room, also while `down` is at work.
#: EIO: that call alone fails.
Failure = Literal["full", "EIO"]
FAILURES: Final[tuple[Failure, ...]] = ("full", "EIO")

#: File systems of the host of a trial that hold what a lab leaves.
_DISKS: Final = ("/run", "/dev/shm", "/var/lib/lxc")
_MS_REMOUNT: Final = 32
#: A caller that is refused this copies by read(2) and write(2).
_MADE_OTHERWISE: Final = ("sendfile", "copy_file_range")
_LABS: Final = Path("/run/state/labs")


@dataclass(frozen=True, order=True)
class Moment(trial.Moment):
    """At a call that a disk can refuse."""

    failure: Failure

    def __str__(self) -> str:
        return f"{self.command}: {self.failure} at call {self.number} of {self.caller}"


@dataclass(frozen=True)
class Outcome(trial.Outcome[Moment]):
    """Its call is the one that was refused first."""

    #: How the command ended.
    status: int | None


#: How many calls can be refused, by command and child.
Counted = Mapping[str, Mapping[int, int]]


def count(names: Collection[str] = tuple(COMMANDS)) -> Counted:
    """Of the commands of these names."""
    return run_in_own_host(_count, names)


def moments(counted: Counted) -> list[Moment]:
    """All of them, in order."""
    return sorted(
        Moment(command, child, number, failure)
        for command, children in counted.items()
        for child, calls in children.items()
        for number in range(1, calls + 1)
        for failure in FAILURES
    )


def try_each(chosen: Sequence[Moment]) -> Iterator[Outcome]:
    return in_new_hosts(_try_some, chosen)


def _count(names: Collection[str]) -> dict[str, dict[int, int]]:
    prepare()
    counted = {}
    for name in names:
        command = COMMANDS[name]
        with _Trial(command) as tried:
            tried.run(None)
            assert tried.status == bool(command.interrupted_at), f"{name} ended with {tried.status}: {tried.output}"
            counted[name] = {child: tried.refusable.get(child, 0) for child in tried.children()}
            assert tried.take_down() == ""
    return counted


def _try_some(chosen: Sequence[Moment]) -> list[Outcome]:
    """Up to the first that left something, or took something away."""
    prepare()
    FILE.unlink()
    machine_parts.wait_for_carrier()
    before = HostState.now(ALL)
    outcomes = []
    for moment in chosen:
        with _Trial(COMMANDS[moment.command]) as tried:
            call = tried.run(moment)
            FILE.unlink()
            problem = tried.wrong(moment)
            with _full() if moment.failure == "full" and call else _as_it_is():
                problem += tried.take_down()
        left = lasting_changes(before)
        outcomes.append(Outcome(moment, call, problem + left, tried.status))
        if left or (_LABS.is_dir() and any(_LABS.iterdir())):
            break
    return outcomes


class _Trial(Trial):
    """A command whose disk gets full or fails, and then `down`."""

    def __init__(self, command: Killed) -> None:
        super().__init__(command)
        #: Calls that a disk can refuse, by child.
        self.refusable: dict[int, int] = {}
        self._refused: DiskCall | None = None

    def run(self, moment: Moment | None) -> str | None:
        """To its end; tells the call that was refused first, or None when it did not come to that."""
        told, full = None, False
        for call, step in self.calls():
            refusable = disk_calls.of(call, step.process) if step else None
            if refusable is None or step is None:
                self._watched.let_go(call)
                continue
            self.refusable[step.child] = number = self.refusable.get(step.child, 0) + 1
            if moment and told is None and (step.child, number) == (moment.child, moment.number):
                told, self._refused = f"{step.program}: {call.name} {refusable.place}", refusable
                full = moment.failure == "full"
                if not full:
                    self._watched.fail(call, errno.EIO)
                elif call.name == "write" and call.arguments[2] > 1:
                    self._watched.return_from(call, disk_calls.write_half(call, step.process))
                else:
                    self._watched.fail(call, errno.ENOSPC)
            elif full and refusable.takes_room:
                self._watched.fail(call, errno.ENOSPC)
            else:
                self._watched.let_go(call)
        return told

    def wrong(self, moment: Moment) -> str:
        """What the command should have done, or said, and did not; empty as it should be."""
        if self._refused is None:
            return ""
        wrong = []
        if re.search(r"defect of its own|Traceback", self.output):
            wrong.append("it took that for a defect")
        if self.status not in (0, 1):
            wrong.append(f"it ended with {self.status}")
        if self._command.argv[0] == "up" and self.status != 0 and _LABS.is_dir() and any(_LABS.iterdir()):
            wrong.append("it left its lab")
        if moment.child == 0 and not self._command.interrupted_at:
            why = os.strerror(errno.ENOSPC if moment.failure == "full" else errno.EIO)
            if self._command.argv[0] == "down" and moment.failure == "full":
                if self.status != 0:
                    wrong.append("it needs room")
            elif self.status == 0:
                if self._refused.name not in _MADE_OTHERWISE:
                    wrong.append("it went on as if nothing were")
            elif why not in self.output or str(self._refused.place.parent) not in self.output:
                wrong.append(f"it does not say {why} of {self._refused.place.parent}")
        return "".join(f"{one}\n" for one in wrong) + (f"it said: {self.output}\n" if wrong else "")

    def take_down(self) -> str:
        """`down --all`; returns what it complained of."""
        taking_down = Running("down", "--all")
        for call in self._watched.calls(taking_down.pidfd):
            self._watched.let_go(call)
        return taking_down.complaint()


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@contextmanager
def _full() -> Iterator[None]:
    """The host's disks have no room, as the kernel has it: they are as small as what is in them."""
    before = {disk: os.statvfs(disk) for disk in _DISKS}
    try:
        for disk, size in before.items():
            used = (size.f_blocks - size.f_bfree) * size.f_frsize
            _remount(disk, max(used, size.f_frsize), size.f_files - size.f_ffree)
        yield
    finally:
        for disk, size in before.items():
            _remount(disk, size.f_blocks * size.f_frsize, size.f_files)


def _remount(disk: str, size: int, inodes: int) -> None:
    machine_parts.mount("none", disk, "", _MS_REMOUNT, f"size={size},nr_inodes={inodes}")
