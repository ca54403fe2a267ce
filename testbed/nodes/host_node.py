# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs programs inside a host, as the host's own command, and says what becomes of them.

host_node.py

The host's own folder says in `start.json` which, by name: {"program": {"line": a shell's, "restart": "never" | "on-failure" |
"always"}}. They begin there when there is the file `network-ready`; what one prints goes to `NAME.log`, and `NAME.json` says how
it does. When one ends the host goes on. On SIGTERM all are ended, and the host with them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/run/netboxit")
TOLD, GO = "start.json", "network-ready"
POLL_S = 0.05
#: Before one is started again: twice as long each time, until it has run for as long as the longest pause.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
#: Its status then, as shells say it.
NOT_STARTED = 126
#: What they may take to end; a lab that is ended waits for 5 s.
GOODBYE_S = 4.0
#: What this process waits for.
AWAITED = {signal.SIGTERM, signal.SIGCHLD}


class Supervised:
    """A program, in one life after another."""

    def __init__(self, folder: Path, name: str, line: str, restart: str) -> None:
        self._line, self._restart, self._folder = line, restart, folder
        self._state, self._log = folder / f"{name}.json", folder / f"{name}.log"
        self._program: subprocess.Popen[bytes] | None = None
        self._status: int | None = None
        self._starts = 0
        self._began = 0.0
        self._pause_s = FIRST_PAUSE_S
        #: When it is started; None while it runs, and after its last life.
        self.due: float | None = None
        self._tell("waits")

    def start(self) -> None:
        """Begins a life."""
        self._starts, self._program, self.due = self._starts + 1, None, None
        self._began = time.monotonic()
        try:
            with self._log.open("ab") as log:
                self._program = subprocess.Popen(
                    ["/bin/sh", "-c", self._line],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED),
                )
        except (OSError, subprocess.SubprocessError) as error:  # the host has reached a limit, of processes say
            print(f"{self._line!r} cannot be started: {error}", file=sys.stderr, flush=True)
            self._over(NOT_STARTED)
        else:
            self._tell("runs")

    def look(self) -> None:
        """Whether it has ended."""
        if self._program is not None and (status := self._program.poll()) is not None:
            self._over(status if status >= 0 else 128 - status)  # as shells say

    def _over(self, status: int) -> None:
        self._status = status
        if self._restart == "never" or (self._restart == "on-failure" and status == 0):
            self._program = None
            self._tell("ended")
            return
        self._signal(signal.SIGKILL)  # what it has left behind would have its ports
        self._program, now = None, time.monotonic()
        if now - self._began >= LONGEST_PAUSE_S:
            self._pause_s = FIRST_PAUSE_S
        self._tell("pauses")
        self.due = now + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    def ask_to_end(self) -> None:
        self._signal(signal.SIGTERM)

    def end(self, by: float) -> None:
        """Waits for its end till then."""
        if self._program is not None:
            with suppress(subprocess.TimeoutExpired):
                self._program.wait(max(0.0, by - time.monotonic()))
        self._tell("stopped")

    def _signal(self, number: signal.Signals) -> None:
        """To all that is in its process group; a program that became another user may be out of reach."""
        if self._program is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._program.pid, number)

    def _tell(self, state: str) -> None:
        new = self._folder / f".{self._state.name}.new"
        try:
            new.write_text(json.dumps({"state": state, "status": self._status, "starts": self._starts}) + "\n")
            new.replace(self._state)
        except OSError as error:  # the host's disk is full, say, which the lab's status tells
            print(f"{new}: {error.strerror}", file=sys.stderr, flush=True)


def main(folder: Path = FOLDER) -> None:
    # A signal that would be ignored is not, once it has a handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    told = json.loads((folder / TOLD).read_text())
    programs = [Supervised(folder, name, program["line"], program["restart"]) for name, program in told.items()]
    while not (folder / GO).exists():
        if asked_to_end(POLL_S):
            break
    else:
        for program in programs:
            program.start()
        live(programs)
    for program in programs:
        program.ask_to_end()
    by = time.monotonic() + GOODBYE_S
    for program in programs:
        program.end(by)


def live(programs: list[Supervised]) -> None:
    """Until this process is asked to end."""
    while True:
        due = min((program.due for program in programs if program.due is not None), default=None)
        if asked_to_end(None if due is None else max(0.0, due - time.monotonic())):
            return
        for program in programs:
            program.look()
            if program.due is not None and program.due <= time.monotonic():
                program.start()


def asked_to_end(within_s: float | None) -> bool:
    """Waits until a child ends, or this process is asked to end, for so long at most; None: for ever."""
    if within_s is None:
        return signal.sigwait(AWAITED) == signal.SIGTERM
    taken = signal.sigtimedwait(AWAITED, within_s)
    return taken is not None and taken.si_signo == signal.SIGTERM


if __name__ == "__main__":
    main()
