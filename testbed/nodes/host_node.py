# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program of the user's inside a host, as the host's own command, and says what becomes of it.

host_node.py

The host's own folder says in `start.json` what: {"line": a shell's, "restart": "never" | "on-failure" | "always"}. It begins
there when there is the file `network-ready`; what it prints goes to `program.log`, and `program.json` says how it does. When it
ends the host goes on. On SIGTERM it is ended, and the host with it.
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
TOLD, GO, STATE, LOG = "start.json", "network-ready", "program.json", "program.log"
POLL_S = 0.05
#: Before it is started again: twice as long each time, until it has run for as long as the longest pause.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
#: Its status then, as shells say it.
NOT_STARTED = 126
#: What it may take to end; a lab that is ended waits for 5 s.
GOODBYE_S = 4.0


class Asked(Exception):
    """The host is to end."""


class Supervised:
    """The program, in one life after another."""

    def __init__(self, folder: Path) -> None:
        start = json.loads((folder / TOLD).read_text())
        self._line, self._restart, self._folder = start["line"], start["restart"], folder
        self._program: subprocess.Popen[bytes] | None = None
        self._status: int | None = None
        self._starts = 0

    def live(self) -> None:
        """Until it ends for good."""
        self._tell("waits")
        while not (self._folder / GO).exists():
            time.sleep(POLL_S)
        pause_s = FIRST_PAUSE_S
        while True:
            began = time.monotonic()
            self._run()
            if self._restart == "never" or (self._restart == "on-failure" and self._status == 0):
                self._tell("ended")
                return
            self._signal(signal.SIGKILL)  # what it has left behind would have its ports
            if time.monotonic() - began >= LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            self._tell("pauses")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def end(self) -> None:
        """Has it end, and waits for it."""
        if self._program is not None and self._program.poll() is None:
            self._signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._program.wait(GOODBYE_S)
        self._tell("stopped")

    def _run(self) -> None:
        self._starts, self._program = self._starts + 1, None
        try:
            with (self._folder / LOG).open("ab") as log:
                self._program = subprocess.Popen(
                    ["/bin/sh", "-c", self._line],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:  # the host has reached a limit, of processes say
            print(f"{self._line!r} cannot be started: {error}", file=sys.stderr, flush=True)
            self._status = NOT_STARTED
            return
        self._tell("runs")
        status = self._program.wait()
        self._status = status if status >= 0 else 128 - status  # as shells say

    def _signal(self, number: signal.Signals) -> None:
        """To all that is in its process group; a program that became another user may be out of reach."""
        if self._program is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._program.pid, number)

    def _tell(self, state: str) -> None:
        new = self._folder / f".{STATE}.new"
        try:
            new.write_text(json.dumps({"state": state, "status": self._status, "starts": self._starts}) + "\n")
            new.replace(self._folder / STATE)
        except OSError as error:  # the host's disk is full, say, which the lab's status tells
            print(f"{new}: {error.strerror}", file=sys.stderr, flush=True)


def main(folder: Path = FOLDER) -> None:
    def ask(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Asked

    program = Supervised(folder)
    signal.signal(signal.SIGTERM, ask)
    try:
        program.live()
        while True:
            signal.pause()
    except Asked:
        program.end()


if __name__ == "__main__":
    main()
