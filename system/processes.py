# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that run for a lab: signals reach the program itself, also when it was started into a container by another one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError, printable

#: More than the command of any node.
_COMMAND_LINE_BYTES: Final = 1 << 16
#: What the kernel may take to end a process.
_KILLED_WITHIN_S: Final = 5.0

#: Goes before a program's words: a shell that becomes the program when it reads a line, and ends when its input ends.
HELD: Final = ("/bin/sh", "-c", 'read -r line || exit 125; exec "$@" </dev/null', "held")

#: Two numbers of the kernel's, of 64 bits at most.
_IDENTITY = re.compile("([0-9]{1,20})-([0-9]{1,20})")


class ProgramFailed(NetBoxITError):
    """A program of a lab could not be started, or did not end in time."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process and when it started (in clock ticks since boot), so that a number used again is not mistaken for it."""

    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        start = _start(pid)
        return None if start is None else cls(pid, start)

    @classmethod
    def own(cls) -> ProcessIdentity:
        identity = cls.of(os.getpid())
        assert identity is not None
        return identity

    @classmethod
    def read(cls, text: str) -> ProcessIdentity | None:
        """What `str` made of one; None for any other text."""
        written = _IDENTITY.fullmatch(text)
        return cls(int(written[1]), int(written[2])) if written else None

    def __str__(self) -> str:
        return f"{self.pid}-{self.start}"

    def alive(self) -> bool:
        return _start(self.pid) == self.start

    def kill(self) -> None:
        if self.alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Process:
    """A running program. `pid` is its own number on the host, not that of its carrier, which started it in its container."""

    def __init__(self, carrier: subprocess.Popen[bytes], pid: int, argv: Sequence[str]) -> None:
        self._carrier = carrier
        self._descriptor: int | None = None
        with suppress(ProcessLookupError):
            self._descriptor = os.pidfd_open(pid)
        self.pid = pid
        self.argv = tuple(argv)

    def poll(self) -> int | None:
        """The exit status, 128 plus the signal's number after a signal, or None while it runs."""
        status = self._carrier.poll()
        return None if status is None else _as_shells_say(status)

    def wait(self, timeout_s: float | None = None) -> int:
        """The exit status. Raises ProgramFailed when the program still runs after the time given.

        Without one it waits for as long as the program runs: for callers who have nothing else to do until then.
        """
        try:
            return _as_shells_say(self._carrier.wait(timeout_s))
        except subprocess.TimeoutExpired:
            raise ProgramFailed(f"{' '.join(self.argv)}: still running after {timeout_s:g} s") from None

    def release(self) -> None:
        """Has a process that was started as HELD, with a pipe as its input, become its program. It may have ended already."""
        assert self._carrier.stdin is not None, "it was started held"
        with suppress(BrokenPipeError), self._carrier.stdin as held:
            held.write(b"\n")

    def interrupt(self) -> None:
        self._signal(signal.SIGINT)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._descriptor is not None and self._carrier.poll() is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def program_inside(carrier: subprocess.Popen[bytes], argv: Sequence[str], deadline_s: float = 10.0) -> Process:
    """The program that `carrier` (lxc-attach) starts in a container: waits until it is there and has become `argv`.

    A carrier that has ended already had nothing to start, or the program was short: its exit status tells.
    """
    deadline = time.monotonic() + deadline_s
    while carrier.poll() is None:
        for pid in children(carrier.pid):
            # lxc-attach goes on as a copy of itself; seen after its child, it is what that child is until it becomes the program.
            if len(_numbers(pid)) > 1 and executable(pid) not in (None, executable(carrier.pid)):
                return Process(carrier, pid, argv)
        if time.monotonic() > deadline:
            carrier.kill()
            with suppress(subprocess.TimeoutExpired):  # the kernel holds it, and ends it when it can
                carrier.wait(_KILLED_WITHIN_S)
            raise ProgramFailed(f"{' '.join(argv)}: not started in its container within {deadline_s:g} s")
        time.sleep(0.001)
    return Process(carrier, carrier.pid, argv)


def keep_descriptors() -> None:
    """Has the kernel close all open files of this process, but its standard ones, in each program that it starts from now on.

    Those that it opened itself are so from the beginning (PEP 446), those that it was started with need not be.
    """
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208, names are numbers
        if int(name) > 2:
            with suppress(OSError):  # that of the folder is closed by now
                os.set_inheritable(int(name), False)


def children(pid: int) -> list[int]:
    return list(map(int, _file(pid, f"task/{pid}/children").split()))


def all_of_them() -> Iterator[int]:
    """The numbers of the processes of all users."""
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def is_own_users(pid: int) -> bool:
    """Whether it is this process's user, in all ways that user_namespaces(7) and credentials(7) know, and in its PID namespace.

    The program of another user has at least another real user, also when it is set-user-ID. What runs in a node may be the same
    user, but is in a PID namespace of its own.
    """
    status = _status(pid)
    return status.get("Uid", "").split() == [str(os.geteuid())] * 4 and len(status.get("NSpid", "").split()) == 1


def command_line(pid: int) -> bytes:
    """Its beginning, each word ended by a zero byte; empty for a process that has ended.

    A process can have the kernel show any of its memory here (PR_SET_MM_MAP, prctl(2)), so the rest is left out.
    """
    return _file(pid, "cmdline", _COMMAND_LINE_BYTES)


def has_no_new_privileges(pid: int) -> bool:
    """Whether it has set no_new_privs (prctl(2)); one that has ended has not."""
    return _status(pid).get("NoNewPrivs") == "1"


def is_init(pid: int) -> bool:
    """Whether it is the first process of a PID namespace."""
    return _numbers(pid)[-1:] == [1]


def _start(pid: int) -> int | None:
    # The name, field 2, may hold spaces and parentheses; field 22 is the start time (proc(5)). State Z has ended.
    fields = _file(pid, "stat").rpartition(b")")[2].split()
    return int(fields[19]) if fields and fields[0] not in b"ZX" else None


def _numbers(pid: int) -> list[int]:
    """The process's number in each PID namespace it is in, the host's first; one that has ended has none."""
    return list(map(int, _status(pid).get("NSpid", "").split()))


def _status(pid: int) -> dict[str, str]:
    """proc(5), /proc/pid/status; has nothing of a process that has ended."""
    lines = _file(pid, "status").decode(errors="surrogateescape").split("\n")  # a name may hold what else `splitlines` splits at
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _file(pid: int, name: str, most_bytes: int = -1) -> bytes:
    """What the kernel tells of a process in that file; nothing when it has ended."""
    try:
        with Path(f"/proc/{pid}/{name}").open("rb") as file:
            return file.read(most_bytes)
    except OSError:
        return b""


def states_of(pids: Iterable[int]) -> str:
    """What keeps processes that should have ended, in words: the name and state of each, and where in the kernel it waits.

    proc(5), /proc/pid/stat and /proc/pid/wchan. Only root may know the latter.
    """
    told = []
    for pid in sorted(pids):
        if status := _status(pid):
            name, place = printable(status.get("Name", "")), _file(pid, "wchan").decode()
            told.append(f"{name} ({pid}, state {status.get('State')}{f', in {place}' if place not in ('', '0') else ''})")
    return ", ".join(told)


def executable(pid: int) -> str | None:
    """The file that it runs; None when it has ended."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return None


def _as_shells_say(status: int) -> int:
    return 128 - status if status < 0 else status
