# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign in virtual time whose runs are all made again, each from its own folder, and compared with what they were."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Final

from campaigns.engine import Done
from campaigns.local_workers import LocalWorkers
from campaigns.work import Work
from contracts import durable
from contracts.errors import WrongInput, printable
from results.sameness import compare
from results.stored_runs import StoredRun, stored_runs
from system import kernel
from testbed.documents.archive import CampaignAgain, RunDiffers
from testbed.repeated_run import NotRepeatable, Repeatable

#: In flight for each core: who has made a run need not wait for the next.
_AHEAD: Final = 2


class ThereAlready(WrongInput):
    """An earlier repetition of the campaign is still there."""


def repeat(folder: Path, results: Path, tell: Callable[[str], None]) -> CampaignAgain:
    """Makes all runs of a campaign's folder again, on all cores. Of the new ones, those that differ stay in `results`/again/NAME.

    Raises NoRuns, NotRepeatable, ThereAlready, and what reading, planning, making and comparing a run raise.
    """
    found, problems = stored_runs([folder])
    if not found or any(run.indexed is None for run in found):
        raise NotRepeatable(
            f"{printable(str(folder))} is not the folder of a campaign with runs; `netboxit run --again` takes a run"
        )
    if real := [run.name for run in found if run.indexed and run.indexed["clock"] == "real"]:
        raise NotRepeatable(
            f"{len(real)} runs of {printable(str(folder))} are in real time, in which no two runs are the same: "
            f"`netboxit run --again {printable(str(folder))}/runs/{printable(real[0])}` makes one again"
        )
    place = results / "again" / folder.resolve().name
    if place.exists():
        raise ThereAlready(f"{printable(str(place))} has runs of an earlier repetition; remove it, or say another --results")
    course = _Course(place, found)
    try:
        with durable.told(place), LocalWorkers() as engine:
            place.mkdir(parents=True)
            course.carry(engine, tell)
    finally:
        course.clear()
    return {
        "again": str(folder),
        "runs": len(found),
        "identical": course.identical,
        "equal": course.equal,
        "different": course.different,
        "notes": [*course.notes, *map(str, problems)],
    }


class _Course:
    """One command's work at a campaign."""

    def __init__(self, place: Path, runs: Sequence[StoredRun]) -> None:
        self._place, self._waiting, self._all = place, [*reversed(runs)], len(runs)
        self._in_flight: dict[Future[Done], tuple[StoredRun, Path]] = {}
        self.identical = self.equal = 0
        self.different: list[RunDiffers] = []
        self.notes: dict[str, None] = {}

    def carry(self, engine: LocalWorkers, tell: Callable[[str], None]) -> None:
        while self._waiting or self._in_flight:
            while self._waiting and len(self._in_flight) < engine.slots * _AHEAD:
                self._submit(engine, self._waiting.pop())
            for future in wait(self._in_flight, return_when=FIRST_COMPLETED).done:
                future.result()
                self._settle(*self._in_flight.pop(future))
                over = self._all - len(self._waiting) - len(self._in_flight)
                tell(f"making runs again, {len(self.different)} differ, {over} of {self._all}")

    def clear(self) -> None:
        """Removes what is left of runs that nobody makes any more, and the folder when nothing is kept in it."""
        for _, own in self._in_flight.values():
            shutil.rmtree(own, ignore_errors=True)
        kernel.remove_empty(self._place, self._place.parent)

    def _submit(self, engine: LocalWorkers, before: StoredRun) -> None:
        run, own = Repeatable.read(before.folder), self._place / before.name
        self.notes |= dict.fromkeys(run.notes())
        own.mkdir()
        self._in_flight[engine.make(Work.of(run.planned(), "frames"), own)] = before, own

    def _settle(self, before: StoredRun, now: Path) -> None:
        same = compare(before, StoredRun(now.name, now, (), None))
        if same["differences"]:
            self.different.append({"run": before.name, "folder": str(now), "differences": same["differences"]})
            return
        if same["equal"]:
            self.equal += 1
        else:
            self.identical += 1
        shutil.rmtree(now)
