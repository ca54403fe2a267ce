# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a segment in real time, for tests."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.run_folder import RECORDS_FILE, STATISTICS_FILE
from netboxes.live_limits import live_limits_of_program
from netboxes.technology import program

DEADLINE_S = 10.0


@dataclass
class RunningNetbox:
    process: subprocess.Popen[str]
    folder: Path

    def call(self, method: str, **params: Any) -> Any:
        return self.ask(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))["result"]

    def ask(self, line: str) -> Any:
        with self.connect() as client:
            client.sendall(line.encode() + b"\n")
            return json.loads(client.makefile().readline())

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(DEADLINE_S)
        client.connect(str(self.folder / "control.sock"))
        return client

    def end(self) -> dict[str, Any]:
        """End it politely; its statistics."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(DEADLINE_S) == 0
        statistics: dict[str, Any] = json.loads((self.folder / STATISTICS_FILE).read_text())
        return statistics

    def stop(self) -> None:
        """Keep it from running until `resume`."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def ended(self) -> tuple[int, str]:
        """Its exit status and what it said, once it has ended by itself."""
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        return self.process.wait(DEADLINE_S), errors


def cpu_s(process: subprocess.Popen[Any]) -> float:
    """CPU time that a process has taken so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@contextmanager
def running_netbox(folder: Path, segment: str, *, inside: tuple[str, ...] = (), **settings: Any) -> Iterator[RunningNetbox]:
    """netbox-<segment> with these settings of its configuration; `inside` is a command that runs it somewhere else.

    All its files are in `folder`. It is killed at the end, if it has not ended before.
    """
    configuration = {
        "name": "x",
        "technology": segment,
        "clock": "real",
        "live": live_limits_of_program(segment),
        "control": str(folder / "control.sock"),
        "records": str(folder / RECORDS_FILE),
        "statistics": str(folder / STATISTICS_FILE),
        **settings,
    }
    (folder / "netbox.json").write_text(json.dumps(configuration))
    command = [*inside, str(program(segment)), str(folder / "netbox.json")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield RunningNetbox(process, folder)
    finally:
        process.kill()
        process.communicate()
