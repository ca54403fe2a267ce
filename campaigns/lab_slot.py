# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in real time, one after another, in labs of one name: each by a `netboxit run` of its own, since a run gives its rights
up for good."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from typing_extensions import TypedDict

from campaigns.engine import Done
from campaigns.order import Order
from contracts import durable
from contracts.errors import NetBoxITError, printable_lines
from contracts.installation import CHECKOUT
from contracts.run_files import read
from contracts.run_folder import METRICS_FILE, RUN_FILE
from contracts.run_records import RunRecord
from ownership import state
from results.metrics_document import VerdictTold
from results.retention import reduce
from system import kernel

#: Exit statuses of a run that has a verdict.
_OVER: Final = (0, 3, 4)
#: Of `down`, when there is no such lab any more.
_NOT_THERE: Final = 2
#: How long a lab may be worked on by the command that was interrupted when its parent was killed.
_BUSY_S: Final = 60.0
_AGAIN_S: Final = 1.0
#: How often it is asked whether a run is to go on.
_HEED_S: Final = 0.5


class Judged(TypedDict):
    """Of metrics.json what is told of a run."""

    verdict: VerdictTold


class RunFailed(NetBoxITError):
    """A run left no verdict."""


class LabSlot:
    """Makes one run at a time, in labs of that name, on these cores. None: on all that this process may use.

    While its lab may be up, there is the file `mark`.
    """

    def __init__(self, lab: str, mark: Path, cores: Sequence[int] | None = None) -> None:
        self.lab, self._mark, self._cores = lab, mark, cores

    def take_down_earlier(self) -> None:
        """The lab of an earlier command that was killed. Raises RunFailed."""
        if not self._mark.exists():
            return
        names, deadline = state.seen_lab_names(), time.monotonic() + _BUSY_S
        while names is None or self.lab in names:
            status, said = self._netboxit(lambda: None, "down", self.lab)
            if status in (0, _NOT_THERE):
                break
            if time.monotonic() > deadline:
                raise RunFailed(f"lab {self.lab}, left by an earlier command, cannot be taken down: {said}")
            time.sleep(_AGAIN_S)
        self._mark.unlink()

    def perform(self, order: Order, folder: Path, heed: Callable[[], None]) -> Done:
        """Makes the run in its folder, which is there and empty. `heed` raises when it is to end early; then its lab goes down.

        Raises RunFailed and NotWritten.
        """
        began = time.monotonic()
        self.take_down_earlier()
        with durable.told(folder):
            # Its own: a command that was killed may still be writing.
            own = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        durable.put(self._mark, f"{self.lab}\n")
        settings = [word for setting in order.settings for word in ("--set", setting.text)]
        duration = [] if order.duration_s is None else ["--duration", f"{order.duration_s} s"]
        warm_up = ["--warm-up", f"{order.warm_up_s:.9f} s"] if order.warm_up_s else []
        words = ("--name", self.lab, "--results", str(own), *duration, *warm_up, *settings)
        status, said = self._netboxit(heed, "run", str(order.topology), *words)
        found = next((own / "runs").iterdir(), None) if (own / "runs").is_dir() else None
        if status not in _OVER or found is None:
            raise RunFailed(f"run {order.name} of {order.topology} left no verdict: {said or f'exit status {status}'}")
        self._mark.unlink()
        with durable.told(folder):
            folder.rmdir()
            found.rename(folder)
            shutil.rmtree(own)
        metrics, record = read(folder / METRICS_FILE, Judged), read(folder / RUN_FILE, RunRecord)
        if metrics is None:
            raise RunFailed(f"run {order.name} of {order.topology} left no {METRICS_FILE}")
        reduce(folder, order.keep)
        return Done(metrics["verdict"]["status"], time.monotonic() - began, None if record is None else record["failure"])

    def _netboxit(self, heed: Callable[[], None], *words: str) -> tuple[int, str]:
        """Runs a command; returns its exit status, and the last line that it said on standard error."""
        parent = os.getpid()
        if self._cores is not None:
            os.sched_setaffinity(0, self._cores)  # of this thread, and of what it starts
        with subprocess.Popen(
            [sys.executable, str(CHECKOUT / "netboxit.py"), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # Not SIGINT, which a command that a shell started in the background ignores until it is ready to undo things.
            preexec_fn=lambda: kernel.end_with_parent(parent, signal.SIGTERM),
        ) as command:
            while True:
                try:
                    _, said = command.communicate(timeout=_HEED_S)
                    return command.returncode, printable_lines(said.strip().rpartition("\n")[2])
                except subprocess.TimeoutExpired:
                    pass
                try:
                    heed()
                except BaseException:
                    # It takes its lab down, which is waited for.
                    with suppress(PermissionError):  # of an operator's it is root's; Ctrl-C reached it by the terminal
                        command.send_signal(signal.SIGTERM)
                    command.communicate()
                    raise
