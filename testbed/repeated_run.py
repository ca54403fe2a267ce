# SPDX-License-Identifier: GPL-2.0-or-later
"""A run that is made again from its folder, which may be another one's.

Topology, seed, length, warm-up and kind of time are the same. In virtual time the new run is compared with the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from typing_extensions import TypedDict

from contracts.environment import Environment
from contracts.errors import WrongInput, printable
from contracts.installation import CHECKOUT
from contracts.plan import Plan
from contracts.run_files import DamagedRun, read
from contracts.run_folder import METRICS_FILE, REQUEST_FILE, TOPOLOGY_FILE
from contracts.run_records import RequestRecord
from results.commit import commit
from results.environment import distributions
from results.metrics_document import VerdictTold
from results.run_folder import LONGEST_S, NoRun, RunFolder
from results.sameness import check_comparable, compare
from results.stored_runs import StoredRun
from system.user_privileges import as_user
from testbed import run as in_real_time
from testbed import virtual_run as in_virtual_time
from testbed.documents.archive import RunAgain
from testbed.labs.deployment import Progress
from testbed.virtual_run import Computation


class NotRepeatable(WrongInput):
    """A run whose folder does not say all that it followed from, with what to do instead."""


class _Judged(TypedDict):
    """Of metrics.json."""

    verdict: VerdictTold


@dataclass(frozen=True)
class Repeatable:
    """A run that can be made again."""

    folder: Path
    plan: Plan
    environment: Environment
    duration_s: float | None
    judged: _Judged | None

    @property
    def topology(self) -> Path:
        """As it ran, with all that the command line said in place of the file."""
        return self.folder / TOPOLOGY_FILE

    @property
    def stored(self) -> StoredRun:
        return StoredRun(self.folder.name, self.folder, (), None)

    @classmethod
    @as_user()
    def read(cls, folder: Path) -> Repeatable:
        """Raises NotRepeatable, NotComparable, NoRun, OtherVersion, DamagedRun."""
        if not folder.is_dir():
            raise NoRun(f"{printable(str(folder))} is no folder; name the folder of a run, say results/latest")
        run = RunFolder(folder.resolve())
        plan, place = run.plan, printable(str(folder))
        if not (run.path / TOPOLOGY_FILE).is_file():
            raise NotRepeatable(
                f"{place} has no {TOPOLOGY_FILE}: it is of `netboxit traffic`, through a lab that was up; "
                "bring such a lab up, and `netboxit traffic` repeats the file traffic.yaml there"
            )
        if (request := read(run.path / REQUEST_FILE, RequestRecord)) is None:
            virtual = " --virtual" if plan.clock == "virtual" else ""
            raise NotRepeatable(
                f"{place} has no {REQUEST_FILE}, which says how long the run was to be: an earlier NetBoxIT made it; "
                f"`netboxit run {printable(str(folder / TOPOLOGY_FILE))}{virtual} --name {plan.lab}` with its --duration, if any"
            )
        duration_s = request["duration_s"]
        if duration_s is not None and not 0.0 < duration_s <= LONGEST_S:
            raise DamagedRun(run.path / REQUEST_FILE, f"duration_s: {duration_s} is no length of a run")
        found = cls(run.path, plan, run.environment, duration_s, read(run.path / METRICS_FILE, _Judged))
        if plan.clock == "virtual":
            check_comparable(found.stored)
        return found

    def planned(self) -> Computation:
        """What is computed of a run in virtual time. Raises what `virtual_run.planned` raises."""
        return in_virtual_time.planned(self.topology, self.plan.lab, self.duration_s, warm_up_s=self.plan.warm_up_s)

    def notes(self) -> Iterator[str]:
        """What of the NetBoxIT that made the run is not as it is here."""
        made, here = self.environment.get("netboxit", {}).get("commit"), _commit()
        if made != here or made is None:
            yield f"NetBoxIT {made or 'of an unknown commit'} made the run, and this is {here or 'of an unknown commit'}"
        versions = self.environment.get("python", {})
        for name, version in distributions().items():
            if (before := versions.get(name)) != version:
                yield f"{name} was {before or 'not there'}, and is {version or 'not there'}"


@cache
def _commit() -> str | None:
    return commit(CHECKOUT)


def again(
    before: Repeatable, results: Path, progress: Progress, *, inventory: Path | None = None, take: Sequence[str] = ()
) -> RunAgain:
    """Makes a run again, in the same kind of time, and compares it in virtual time.

    Raises what `virtual_run.run` or `run.run` raise, and NotComparable.
    """
    notes = list(before.notes())
    if before.plan.clock == "virtual":
        outcome = in_virtual_time.run(
            before.topology,
            lab=before.plan.lab,
            duration_s=before.duration_s,
            warm_up_s=before.plan.warm_up_s,
            progress=progress,
            results=results,
        )
    else:
        outcome = in_real_time.run(
            before.topology,
            lab=before.plan.lab,
            duration_s=before.duration_s,
            warm_up_s=before.plan.warm_up_s,
            progress=progress,
            results=results,
            inventory=inventory,
            take=take,
        )
        notes.append("in real time no two runs are the same, so nothing was compared")
    made: RunAgain = {
        "again": str(before.folder),
        "folder": str(outcome.folder),
        "clock": before.plan.clock,
        "before": before.judged["verdict"]["status"] if before.judged else None,
        "status": outcome.metrics["verdict"]["status"],
        "same": None,
        "identical": [],
        "equal": [],
        "differences": [],
        "notes": notes,
    }
    if before.plan.clock == "virtual":
        progress("comparing")
        found = compare(before.stored, StoredRun(outcome.folder.name, outcome.folder, (), None))
        made = {**made, **found, "same": not found["differences"]}
    return made
