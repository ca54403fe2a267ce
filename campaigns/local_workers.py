# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in virtual time on all cores of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Literal, Self

from campaigns import digest
from campaigns.engine import Done, WorkerLost
from campaigns.order import Order
from campaigns.work import Work, perform
from system import kernel


class LocalWorkers:
    """An engine of processes, one for each core. They end with the block, and with this process, whatever they are doing."""

    clock: Literal["virtual"] = "virtual"

    def __init__(self, processes: int | None = None) -> None:
        self.slots = processes or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in multiprocessing.active_children():
            process.kill()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def digest(self, order: Order) -> str:
        computation = order.planned()
        return digest.of_plan(computation.plan, computation.least_s, computation.named)

    def submit(self, order: Order, folder: Path) -> Future[Done]:
        return self.make(Work.of(order.planned(), order.keep), folder)

    def make(self, work: Work, folder: Path) -> Future[Done]:
        """Has a run made that is planned. Raises NotWritten, and WorkerLost, as the future does.

        The work goes by a file: what is long fills the pipe to the processes, and when they were killed the executor of Python
        3.11.2 would wait for it to be read (gh-94777).
        """
        work.write(file := folder.with_name(f"{folder.name}.json"))
        for _ in range(2):
            if self._pool is None:
                self._pool = self._started()
            try:
                return _translated(self._pool.submit(_perform, file, folder))
            except BrokenProcessPool:
                self._pool.shutdown()
                self._pool = None
        raise WorkerLost("processes of this machine end as soon as they start; `dmesg` may say what ends them")

    def remarks(self) -> Sequence[str]:
        return ()

    def _started(self) -> ProcessPoolExecutor:
        # The tables of each run are small: two cores gain nothing by four threads. Read when Polars is imported.
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        return ProcessPoolExecutor(self.slots, multiprocessing.get_context("spawn"), _begin, (os.getpid(),))


def _begin(parent: int) -> None:
    """In a worker. Ctrl-C goes to all processes of a terminal: it is the campaign's to end them.

    The executor ends the others by SIGTERM when one was killed.
    """
    kernel.end_with_parent(parent)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _perform(file: Path, folder: Path) -> Done:
    done = perform(Work.read(file), folder)
    file.unlink()
    return done


def _translated(future: Future[Done]) -> Future[Done]:
    """The same, which raises WorkerLost for a process that was killed."""
    translated: Future[Done] = Future()
    translated.set_running_or_notify_cancel()

    def take_over(done: Future[Done]) -> None:
        if done.cancelled():
            translated.cancel()
        elif isinstance(error := done.exception(), BrokenProcessPool):
            translated.set_exception(WorkerLost("a process that made a run was killed; `dmesg` may say why"))
        elif error is not None:
            translated.set_exception(error)
        else:
            translated.set_result(done.result())

    future.add_done_callback(take_over)
    return translated
