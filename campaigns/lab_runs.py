# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in real time: one lab after another, each by a `netboxit run` of its own, since a run gives its rights up for good."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Self

from typing_extensions import TypedDict

from campaigns import digest
from campaigns.engine import Done
from campaigns.order import Order
from contracts import durable
from contracts.errors import NetBoxITError, printable_lines
from contracts.files import files_found
from contracts.installation import CHECKOUT
from contracts.run_files import read
from contracts.run_folder import METRICS_FILE, RUN_FILE
from contracts.run_records import RunRecord
from ownership import state
from results.metrics_document import VerdictTold
from results.retention import reduce
from system import kernel
from system.realtime_support import realtime_support
from testbed import where
from testbed.plans.traffic_plan import with_warm_up

#: In the campaign's folder while its lab may be up: the lab's name.
_LAB_FILE: Final = ".lab"
#: Exit statuses of a run that has a verdict.
_OVER: Final = (0, 3, 4)


def lab_of(folder: Path) -> str:
    """The name of a campaign's labs: of its folder's name what a lab's may have, and of its place a digest, since campaigns of
    the same name in other results have labs of their own."""
    letters = re.sub("[^a-z0-9-]", "", folder.name)[:8].strip("-")
    return f"c-{letters}-{hashlib.blake2b(bytes(folder.resolve()), digest_size=2).hexdigest()}".replace("--", "-")


class Judged(TypedDict):
    """Of metrics.json what is told of a run."""

    verdict: VerdictTold


class RunFailed(NetBoxITError):
    """A run left no verdict."""


class LabRuns:
    """An engine of labs on this machine, which all have one name. Two at a time would take each other's cores."""

    clock: Literal["real"] = "real"
    slots: Final = 1

    def __init__(self, folder: Path) -> None:
        self._lab, self._mark = lab_of(folder), folder / _LAB_FILE
        self._thread = ThreadPoolExecutor(1)
        self._running: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """A lab that is up is taken down by its own command, which is waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._running is not None and self._running.poll() is None:
            with suppress(PermissionError):  # of an operator's it is root's; Ctrl-C reached it by the terminal
                self._running.send_signal(signal.SIGINT)
        self._thread.shutdown()

    def digest(self, order: Order) -> str:
        with files_found() as found:
            plan, _ = where.checked(order.topology, None, realtime_support(), order.settings)
        plan = with_warm_up(plan, order.warm_up_s, order.duration_s)
        return digest.of_plan(plan, order.duration_s or 0.0, found.files)

    def submit(self, order: Order, folder: Path) -> Future[Done]:
        return self._thread.submit(self._perform, order, folder)

    def remarks(self) -> Sequence[str]:
        return ()

    def _perform(self, order: Order, folder: Path) -> Done:
        began = time.monotonic()
        self._take_down_earlier()
        durable.put(self._mark, f"{self._lab}\n")
        own = folder.with_name(f"{folder.name}.results")
        shutil.rmtree(own, ignore_errors=True)
        settings = [word for setting in order.settings for word in ("--set", setting.text)]
        duration = [] if order.duration_s is None else ["--duration", f"{order.duration_s} s"]
        warm_up = ["--warm-up", f"{order.warm_up_s:.9f} s"] if order.warm_up_s else []
        status, said = self._netboxit(
            *("run", str(order.topology), "--name", self._lab, "--results", str(own)), *duration, *warm_up, *settings
        )
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

    def _take_down_earlier(self) -> None:
        """The lab of an earlier command at this campaign that was killed."""
        if self._mark.exists() and self._lab in (state.seen_lab_names() or ()):
            status, said = self._netboxit("down", self._lab)
            if status != 0:
                raise RunFailed(f"lab {self._lab}, left by an earlier command, cannot be taken down: {said}")

    def _netboxit(self, *words: str) -> tuple[int, str]:
        """Runs a command; returns its exit status, and the last line that it said on standard error."""
        parent = os.getpid()
        self._running = subprocess.Popen(
            [sys.executable, str(CHECKOUT / "netboxit.py"), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=lambda: kernel.end_with_parent(parent, signal.SIGINT),
        )
        _, said = self._running.communicate()
        return self._running.returncode, printable_lines(said.strip().rpartition("\n")[2])
