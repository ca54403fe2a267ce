# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on the workers of a Dask cluster: many machines.

Dask decides which worker makes a run, and has another one make it when that worker is lost. Each worker that joins is asked for
its version, and for runs in real time whether it can make labs. One that has the controller's version gets a resource of that
name, one that can make labs a second one, and runs go only to workers that have what they need.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, Self, cast

import distributed
from distributed.scheduler import KilledWorker

from campaigns import parcel
from campaigns.cluster import Cluster
from campaigns.engine import Done, WorkerLost
from campaigns.lab_parcel import InLabs, LabParcel
from campaigns.lab_slot import RunFailed
from campaigns.order import Order
from campaigns.parcel import InVirtualTime, Parcel, Returned
from campaigns.worker_version import differences, identity, name_of
from contracts import durable
from contracts.errors import NetBoxITError, listed, printable
from testbed.documents.campaign import CampaignCluster, CampaignWorker

#: Until a scheduler has answered.
_CONNECT_S: Final = 15.0
#: How often the scheduler is asked which workers there are.
_LOOK_S: Final = 1.0
#: Until a campaign without workers ends: a worker that was killed is started again in this time.
_WITHOUT_WORKERS_S: Final = 60.0
_CLOSING_S: Final = 5.0
#: A worker's answer besides its version.
_NO_LABS: Final = "no labs"
_REMEDY: Final = "start some of this version: ansible/workers.yml, or by hand (docs/campaigns.md)"


class NoCluster(NetBoxITError):
    """A scheduler cannot be reached, or is lost."""


class NoWorkers(NetBoxITError):
    """A cluster has no worker of the controller's version."""


class FailedThere(NetBoxITError):
    """A worker could not make a run, by an error of its own."""


class _Awaited:
    """A run that the cluster is to make."""

    def __init__(self, parcel: Parcel | LabParcel, folder: Path) -> None:
        self.parcel, self.folder = parcel, folder
        self.over: Future[Done] = Future()
        self.over.set_running_or_notify_cancel()
        #: Dask's; another one when the run was sent again.
        self.there: Any = None


class ClusterWorkers:
    """An engine of a cluster's workers. Inside the with block it is connected; with the block its runs are cancelled there."""

    def __init__(self, cluster: Cluster, runs: InVirtualTime | InLabs) -> None:
        self._cluster, self._security, self._runs = cluster, cluster.security(), runs
        self._identity = identity()
        #: The resources of each worker that may have runs. A worker process makes one at a time, whatever threads it has.
        self._resources = {name_of(self._identity): 1}
        if runs.in_labs:
            self._resources[f"{name_of(self._identity)}-lab"] = 1
        self._client: Any = None
        self._accepted: set[str] = set()
        #: Why, by the address of a worker.
        self._refused: dict[str, str] = {}
        self._awaited: set[_Awaited] = set()
        self._with_workers_s = time.monotonic()
        self._lock = threading.RLock()
        self._ends = threading.Event()
        self._looking = threading.Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> Self:
        # What the user has to know is raised here. The loggers have levels of their own, which Dask sets when it is imported.
        for name in ("distributed", "distributed.client", "distributed.core"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = cast(Any, distributed.Client)(
                self._cluster.scheduler, security=self._security, timeout=_CONNECT_S, set_as_default=False
            )
        except Exception as error:  # of sockets, of TLS, of another protocol: Dask's are of no common kind
            raise self._unreachable(error) from error
        try:
            self._look()
            if not self._accepted:
                raise self._without_workers()
        except BaseException:
            self._client.close(timeout=_CLOSING_S)
            raise
        self._looking.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        with self._lock:
            there = [run.there for run in self._awaited]
            self._awaited.clear()
        with suppress(Exception):  # the scheduler may be what was lost
            self._client.cancel(there, force=True)
        self._client.close(timeout=_CLOSING_S)
        self._looking.join(_CLOSING_S)

    @property
    def clock(self) -> Literal["real", "virtual"]:
        return self._runs.clock

    @property
    def slots(self) -> int:
        return max(1, len(self._accepted))

    def digest(self, order: Order) -> str:
        return self._runs.digest(order)

    def submit(self, order: Order, folder: Path) -> Future[Done]:
        run = _Awaited(self._runs.parcel(order), folder)
        with self._lock:
            self._awaited.add(run)
            self._send(run)
        return run.over

    def surveyed(self) -> CampaignCluster:
        """All workers that have been judged, and how."""
        judged = [*((worker, None) for worker in self._accepted), *self._refused.items()]
        workers: list[CampaignWorker] = [{"address": worker, "refused": why} for worker, why in sorted(judged)]
        return {"scheduler": self._cluster.scheduler, "workers": workers}

    def remarks(self) -> Sequence[str]:
        return [f"worker {worker} is refused: {why}" for worker, why in sorted(self._refused.items())]

    def _send(self, run: _Awaited) -> None:
        try:
            run.there = self._client.submit(
                _perform, run.parcel, key=f"netboxit-{uuid.uuid4().hex}", pure=False, resources=self._resources
            )
        except Exception as error:
            raise self._lost() from error
        run.there.add_done_callback(lambda there: self._arrive(run, there))

    def _arrive(self, run: _Awaited, there: Any) -> None:
        """In Dask's thread for this: keeps what a worker returned, unless it is of an attempt that nobody waits for any more."""
        with self._lock:
            if run not in self._awaited or run.there is not there:
                return
            self._awaited.discard(run)
            try:
                done = self._kept(run, there)
            except BaseException as error:
                run.over.set_exception(error)
            else:
                run.over.set_result(done)

    def _kept(self, run: _Awaited, there: Any) -> Done:
        try:
            returned = there.result()
        except KilledWorker as error:
            raise WorkerLost(
                f"{error.allowed_failures + 1} workers ended while they made the same run, at last "
                f"{error.last_worker.address}; `dmesg` there may say why"
            ) from error
        except NetBoxITError:
            raise
        except (CancelledError, OSError) as error:
            raise self._lost() from error
        except Exception as error:
            raise FailedThere(f"a worker could not make a run: {type(error).__name__}: {printable(str(error))}") from error
        return parcel.unpack(returned, run.folder)

    def _look_on(self) -> None:
        while not self._ends.wait(_LOOK_S):
            try:
                self._look()
            except Exception:  # the scheduler is away: Dask cancels what was sent to it, and so this ends
                continue
            if self._accepted:
                self._with_workers_s = time.monotonic()
            elif time.monotonic() - self._with_workers_s > _WITHOUT_WORKERS_S:
                self._end_all(self._without_workers())

    def _look(self) -> None:
        """Asks workers that are new for their version, and what they can make."""
        before, present = set(self._accepted), set(self._client.nthreads())
        self._accepted &= present
        if new := present - before - set(self._refused):
            question = _question(self._identity, self._resources, in_labs=self._runs.in_labs)
            answers = self._client.run(question, workers=sorted(new), on_error="return")
            for worker, answer in answers.items():
                self._judge(worker, answer)
            # Dask does not look again at runs that found no worker, when one gets a resource. It found one as long as an earlier
            # one was there.
            if self._accepted and not before & set(self._client.nthreads()):
                self._send_again()

    def _judge(self, worker: str, answer: object) -> None:
        if answer is None:
            self._refused[worker] = "it has no NetBoxIT"
        elif isinstance(answer, Mapping):
            if other := differences(answer, self._identity):
                self._refused[worker] = printable(f"it has {', '.join(other)}")
            elif why := answer.get(_NO_LABS):
                self._refused[worker] = printable(f"it can make no labs: {why}")
            else:
                self._accepted.add(worker)
        # Anything else is an error of the way there: it is asked again.

    def _send_again(self) -> None:
        with self._lock:
            for run in self._awaited:
                former = run.there
                self._send(run)
                former.cancel()

    def _end_all(self, error: NetBoxITError) -> None:
        with self._lock:
            awaited, self._awaited = self._awaited, set()
        for run in awaited:
            run.there.cancel()
            run.over.set_exception(error)

    def _unreachable(self, error: BaseException) -> NoCluster:
        return NoCluster(
            f"scheduler {self._cluster.scheduler} cannot be reached: {printable(str(error))}; is it running, and do its "
            "certificates and these come from the same CA?"
        )

    def _lost(self) -> NoCluster:
        return NoCluster(
            f"scheduler {self._cluster.scheduler} is lost, or gave up the runs; what is over is kept: start it, and the "
            "same command goes on"
        )

    def _without_workers(self) -> NoWorkers:
        refused = f": {listed(self.remarks(), 'and')}" if self._refused else ""
        return NoWorkers(f"{self._cluster.scheduler} has no worker that may make the runs{refused}; {_REMEDY}")


def _question(
    ours: Mapping[str, str], resources: Mapping[str, int], *, in_labs: bool
) -> Callable[..., Awaitable[Mapping[str, str] | None]]:
    """What each worker is asked: its version, and why it can make no labs; or None where there is no NetBoxIT. One of ours, which
    can make the runs, gets the resources.

    It is a function within one, so that Dask sends its code, and not the name of a module that a worker may not have.
    """
    no_labs = _NO_LABS

    def of_worker() -> Mapping[str, str] | None:
        try:
            from campaigns.worker_version import identity as own
        except ImportError:
            return None
        if (theirs := own()) != ours or not in_labs:
            return theirs
        from campaigns.lab_worker import why_none

        return theirs if (why := why_none()) is None else {**theirs, no_labs: why}

    async def answer(dask_worker: Any) -> Mapping[str, str] | None:
        theirs = await asyncio.to_thread(of_worker)
        if theirs == ours and any(name not in dask_worker.state.total_resources for name in resources):
            await dask_worker.set_resources(**resources)
        return theirs

    return answer


def _perform(sent: Parcel | LabParcel) -> Returned:
    """On a worker. A run that was cancelled meanwhile ends there."""
    worker = cast(Any, distributed.get_worker())
    key = worker.get_current_task()

    def heed() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise CancelledError("the campaign ended")

    try:
        return sent.carry_out(heed)
    except (durable.NotWritten, RunFailed) as error:
        raise type(error)(f"worker {worker.name} at {worker.address}: {error}") from error
