# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the runs of a campaign that its folder does not have yet, and keeps each as soon as it is over.

A run's folder is written at `.new/NAME`, moved to `runs/NAME` when it is whole, and only then entered into the index. So whatever
ends the command, what is in the index is there, and what is not in it is made again.
"""

from __future__ import annotations

import errno
import heapq
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from campaigns import comparing, digest, kept_topologies
from campaigns.campaign import Campaign
from campaigns.checking import Checked
from campaigns.cluster import Cluster
from campaigns.design import Point, numbered
from campaigns.engine import Done, Engine, WorkerLost
from campaigns.index import Index
from campaigns.kept_topologies import KeptFiles
from campaigns.lab_runs import LabRuns, sets_of_cores
from campaigns.local_workers import LocalWorkers
from campaigns.order import Order
from campaigns.stopping import StoppingRule
from contracts import durable
from contracts.campaign import CAMPAIGN_FILE, RUNS_FOLDER, CampaignRun, campaign_folder
from contracts.campaign_lock import alone
from contracts.errors import NetBoxITError, WrongInput, printable
from system.interruption import noted
from testbed.documents.campaign import Amount, CampaignCluster, CampaignOutcome, CampaignStanding, Count

if TYPE_CHECKING:
    from campaigns.cluster_workers import ClusterWorkers

#: Beside `runs/`: folders of runs that are being made. What is left there by a command that was killed is removed by the next.
_NEW: Final = ".new"
#: In flight for each that is made at the same time: who has made one need not wait for the next.
_AHEAD: Final = 2
#: How often a run is made that ends its worker.
_MOST_LOSSES: Final = 3
#: How long an interruption may wait: it takes effect when this thread goes on, and the system may tell another one of it.
_HEED_S: Final = 0.5
#: What is told of a full disk by who could not write.
_FULL: Final = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT))


class DiskFull(NetBoxITError):
    """There is no room for further runs. Those that are over are kept."""


class RunsElsewhere(WrongInput):
    """The folder for runs is not in that of the campaign."""


def run(
    checked: Checked,
    results: Path,
    tell: Callable[[CampaignStanding], None],
    cluster: Cluster | None = None,
    *,
    retry: bool = False,
) -> CampaignOutcome:
    """Makes all runs that the campaign's folder in these results does not have: in processes or labs of this machine, or by a
    cluster. With `retry` it makes those that are not valid again.

    Then it writes the campaign's report into that folder. Raises BadScheduler, NoCluster, NoWorkers, and as `carry`.
    """
    campaign = checked.campaign
    folder = campaign_folder(results, campaign.name)
    outcome = carry(campaign, folder, _engine(checked, folder, cluster), tell, kept_topologies.of(checked), retry=retry)
    try:
        report, *_ = comparing.write([folder], (), folder, files=False).files
    except comparing.NothingToCompare as error:
        return {**outcome, "notes": [*outcome["notes"], f"there is no report: {error}"]}
    return {**outcome, "report": str(report)}


def surveyed(campaign: Campaign, cluster: Cluster) -> CampaignCluster:
    """Which workers of the cluster may make runs of the campaign, and why others may not.

    Raises BadScheduler, NoCluster, NoWorkers.
    """
    with _on_cluster(campaign, cluster) as engine:
        return engine.surveyed()


def _engine(checked: Checked, folder: Path, cluster: Cluster | None) -> Engine:
    if cluster is None:
        return LocalWorkers() if checked.campaign.file.virtual else LabRuns(folder, sets_of_cores(checked.cores_needed()))
    return _on_cluster(checked.campaign, cluster)


def _on_cluster(campaign: Campaign, cluster: Cluster) -> ClusterWorkers:
    # Dask takes a second to load, which other campaigns do without.
    from campaigns.cluster_workers import ClusterWorkers
    from campaigns.lab_parcel import InLabs
    from campaigns.parcel import InVirtualTime

    return ClusterWorkers(cluster, InVirtualTime() if campaign.file.virtual else InLabs())


def carry(
    campaign: Campaign,
    folder: Path,
    engine: Engine,
    tell: Callable[[CampaignStanding], None],
    topologies: KeptFiles = kept_topologies.NONE,
    *,
    retry: bool = False,
) -> CampaignOutcome:
    """Makes all runs that `folder` does not have, and with `retry` those that are not valid. `tell` is told whenever one is over;
    `topologies` are kept beside the file.

    Raises RunsElsewhere, CampaignBusy, DamagedRun, NotWritten, DiskFull, WorkerLost, and what planning raises. An interruption
    goes on upwards. In each case the runs that are over are kept, and the same call goes on with the others.
    """
    with durable.told(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        if (folder / RUNS_FOLDER).is_symlink():
            raise RunsElsewhere(
                f"{printable(str(folder / RUNS_FOLDER))} is a link, and runs are in the campaign's own folder; move that to the "
                "other disk as a whole, and make a link of it, or say --results"
            )
        shutil.rmtree(folder / _NEW, ignore_errors=True)
        try:
            with engine:
                course = _Course(campaign, folder, engine, tell, retry)
                with noted(lambda: f"{len(course.over)} runs are over and kept in {folder}; the same command goes on"):
                    kept_topologies.keep(topologies, folder)
                    return course.carry()
        finally:
            # Nobody writes there any more.
            shutil.rmtree(folder / _NEW, ignore_errors=True)


class _Course:
    """One command's work at a campaign."""

    def __init__(
        self, campaign: Campaign, folder: Path, engine: Engine, tell: Callable[[CampaignStanding], None], retry: bool
    ) -> None:
        self._campaign, self._folder, self._engine, self._tell, self._retry = campaign, folder, engine, tell, retry
        self._index = Index(folder)
        self._points = {point.number: point for point in numbered(campaign.points(), self._known())}
        self._stopping = StoppingRule(campaign.file, self._points)
        self._digests: dict[int, str] = {}
        self._losses: Counter[str] = Counter()
        self._attempts: Counter[str] = Counter()
        self._in_flight: dict[Future[Done], tuple[Point, int]] = {}
        self._waiting: list[tuple[int, int]] = []
        self._took: list[float] = []
        #: By point and repetition.
        self.over: dict[tuple[int, int], CampaignRun] = {}
        self._found = 0

    def carry(self) -> CampaignOutcome:
        notes = self._keep_file()
        for number in self._points:
            self._go_on(number, 0)
        self._told()
        try:
            while self._waiting or self._in_flight:
                while self._waiting and len(self._in_flight) < self._engine.slots * _AHEAD:
                    repetition, number = heapq.heappop(self._waiting)
                    self._submit(self._points[number], repetition)
                for future in wait(self._in_flight, _HEED_S, FIRST_COMPLETED).done:
                    self._settle(*self._in_flight.pop(future), future)
        finally:
            for future in self._in_flight:
                future.cancel()
            self._in_flight.clear()
        counted = Counter(run["status"] for run in self.over.values())
        return {
            "campaign": self._campaign.name,
            "folder": str(self._folder),
            "runs": {"valid": counted["valid"], "degraded": counted["degraded"], "invalid": counted["invalid"]},
            "made": len(self.over) - self._found,
            "report": None,
            "notes": [*notes, *self._surplus(), *self._engine.remarks()],
        }

    def _known(self) -> Iterator[tuple[int, dict[str, object]]]:
        for run in self._index.runs.values():
            yield run["point"], run["parameters"]

    def _go_on(self, number: int, repetition: int) -> None:
        """Takes from the index what it has of the point from this repetition on, and has the next one wait that it lacks."""
        point = self._points[number]
        while self._stopping.needs(number, repetition):
            found = self._valid(point, repetition)
            if found is None:
                heapq.heappush(self._waiting, (repetition, number))
                return
            self._found += 1
            self._enter(point, repetition, found)
            repetition += 1

    def _valid(self, point: Point, repetition: int) -> CampaignRun | None:
        """What the folder has of a run, if it is the one that the files mean now, and is not to be made again."""
        order = Order.of(self._campaign, point, repetition)
        found = self._index.runs.get(order.name)
        if found is None or not (self._folder / RUNS_FOLDER / order.name).is_dir():
            return None
        if self._retry and found["status"] != "valid":
            return None
        meant = self._digest(point, repetition)
        return found if found["digest"] == meant and found["clock"] == self._engine.clock else None

    def _digest(self, point: Point, repetition: int) -> str:
        if point.number not in self._digests:
            self._digests[point.number] = self._engine.digest(Order.of(self._campaign, point, 0))
        return digest.of_run(self._digests[point.number], self._campaign.seed(repetition))

    def _submit(self, point: Point, repetition: int) -> None:
        order = Order.of(self._campaign, point, repetition)
        self._attempts[order.name] += 1
        with durable.told(place := self._folder / _NEW / order.name):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
        self._in_flight[self._engine.submit(order, place)] = point, repetition

    def _settle(self, point: Point, repetition: int, future: Future[Done]) -> None:
        """Keeps a run that is over, or has it made again."""
        order = Order.of(self._campaign, point, repetition)
        try:
            done = future.result()
        except WorkerLost:
            self._attempts[order.name] -= 1
            self._losses[order.name] += 1
            if self._losses[order.name] == _MOST_LOSSES:
                raise
            self._submit(point, repetition)
            return
        except durable.NotWritten as error:
            raise self._full(str(error)) from error
        if done.failure is not None and any(words in done.failure for words in _FULL):
            raise self._full(done.failure)
        if done.status != "valid" and self._engine.clock == "real" and self._attempts[order.name] <= self._campaign.file.retry:
            self._submit(point, repetition)
            return
        self._keep(order, point, repetition, done)
        self._took.append(done.took_s)
        self._go_on(point.number, repetition + 1)
        self._told()

    def _keep(self, order: Order, point: Point, repetition: int, done: Done) -> None:
        place = self._folder / RUNS_FOLDER / order.name
        with durable.told(place):
            place.parent.mkdir(exist_ok=True)
            if place.exists():
                shutil.rmtree(place)
            (self._folder / _NEW / order.name).rename(place)
            durable.sync_folder(place.parent)
        run: CampaignRun = {
            "name": order.name,
            "point": point.number,
            "repetition": repetition,
            "seed": self._campaign.seed(repetition),
            "topology": order.topology.stem,
            "parameters": dict(point.parameters),
            "clock": self._engine.clock,
            "status": done.status,
            "attempt": self._attempts[order.name],
            "digest": self._digest(point, repetition),
            "took_s": round(done.took_s, 3),
            "failure": done.failure,
        }
        self._index.append(run)
        self._enter(point, repetition, run)

    def _enter(self, point: Point, repetition: int, run: CampaignRun) -> None:
        self.over[point.number, repetition] = run
        self._stopping.add(point, self._folder / RUNS_FOLDER / run["name"])

    def _keep_file(self) -> Sequence[str]:
        """Keeps the campaign's file beside its runs; returns what is to be said of an earlier one that was another."""
        kept, text = self._folder / CAMPAIGN_FILE, self._campaign.path.read_bytes()
        before = kept.read_bytes() if kept.exists() else text
        durable.put(kept, text)
        return [] if before == text else ["the campaign's file has changed: runs that it still means were kept"]

    def _surplus(self) -> Sequence[str]:
        names = {run["name"] for run in self.over.values()}
        beyond = [name for name in self._index.runs if name not in names]
        return (
            [f"{len(beyond)} runs of an earlier file belong to no point of this one, and are left as they are"] if beyond else []
        )

    def _full(self, cause: str) -> DiskFull:
        return DiskFull(
            f"{cause}; {len(self.over)} runs are over and kept in {self._folder}: free some space there, and the same command "
            "goes on"
        )

    def _told(self) -> None:
        least, most = self._stopping.runs()
        runs: Count = {"least": least, "most": most}
        over = len(self.over)
        self._tell(
            {"over": over, "found": self._found, "runs": runs, "left_s": self._left(runs), "widest": self._stopping.words()}
        )

    def _left(self, runs: Count) -> Amount:
        if not self._took:
            return {"least": None, "most": None}
        each = fmean(self._took) / self._engine.slots
        return {"least": each * (runs["least"] - len(self.over)), "most": each * (runs["most"] - len(self.over))}
