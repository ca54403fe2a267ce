# SPDX-License-Identifier: GPL-2.0-or-later
"""One run: the lab is brought up, carries its traffic, is measured and taken down.

The run folder keeps everything, also of a run that failed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from applications.application import Hosts, programs_of
from applications.registry import analyses, applications
from contracts import durable
from contracts.environment import Environment
from contracts.errors import NetBoxITError, WrongInput, printable
from contracts.files import Found, files_found, kept_at, kept_tree_at
from contracts.plan import Plan, TrafficPlan
from contracts.run_folder import (
    ENVIRONMENT_FILE,
    PLAN_FILE,
    REFERENCE_FILE,
    REQUEST_FILE,
    RUN_FILE,
    TOPOLOGY_FILE,
    VERSION,
)
from contracts.run_records import RequestRecord, RunRecord
from ownership import state
from results import reference
from results.analyse import analyse
from results.application_analysis import ApplicationAnalysis
from results.environment import environment
from results.metrics_document import Metrics
from system import file_trees
from system.interruption import HeldBack, noted
from system.user_privileges import as_user, drop_privileges
from testbed import where
from testbed.back_ends.back_end import PlannedLab
from testbed.description.settings import Setting, as_file
from testbed.description.topology_file import source_of
from testbed.description.yaml_source import Source
from testbed.labs.deployment import Progress
from testbed.labs.lab import NodeFailed
from testbed.plans.traffic_plan import BadDuration, with_warm_up
from testbed.runs.handing_over import being_written
from testbed.runs.measured_lab import MeasuredLab
from testbed.runs.run_traffic import Traffic

#: Of the current working folder. Each run has a folder in its `runs/`; its link `latest` leads to the last one.
RESULTS = Path("results")

#: How long netboxes may take to get ready: a Wi-Fi station associates within a few beacons, 102.4 ms each.
_READY_DEADLINE_S = 90.0
#: How long frames may be on their way when the traffic ends: two geostationary hops take 0.5 s.
DRAIN_S = 1.5


class NoResults(WrongInput):
    """There is no folder for what a run leaves, and none can be made."""


class NoReport(NetBoxITError):
    """A run is over and its results are kept, but what is made of them could not be written."""


@dataclass(frozen=True)
class Outcome:
    """A run that is over: its folder, and what `metrics.json` there says."""

    folder: Path
    metrics: Metrics


def run(
    topology: Path,
    *,
    lab: str | None,
    duration_s: float | None,
    progress: Progress,
    warm_up_s: float = 0.0,
    results: Path = RESULTS,
    inventory: Path | None = None,
    take: Sequence[str] = (),
    settings: Sequence[Setting] = (),
) -> Outcome:
    """Runs a topology file, on the machines of an inventory that it names.

    `settings` are the command line's values in place of the file's; `take` names interfaces that the lab may have though they are
    in use. Raises BadPlugin, BadTopology, BadDuration, BadWarmUp and LabExists before anything is created. Whatever fails later
    is in the outcome: an invalid verdict whose reasons tell it; or, where the disk of the results is full or fails, NotWritten or
    NoReport is raised. Ctrl-C takes the lab down, keeps what was measured and is raised again.
    """
    judges = analyses()
    with (
        files_found() as found,
        where.planned(topology, inventory, lab=lab, duration_s=duration_s, settings=settings, take=take) as planned,
    ):
        planned.check()
        plan = planned.plan
        if not plan.traffic and duration_s is None:
            raise BadDuration(
                f"{topology} has no traffic that would say how long a run is; give --duration, say --duration '10 s'"
            )
        plan = with_warm_up(plan, warm_up_s, duration_s)
        state.check_new(plan.lab)
        folder = make_folder(plan, results)
        with being_written(folder) as written:
            keep_inputs(inputs(source_of(topology, settings), settings, found, duration_s), plan, written)
            with recorded(written, folder):
                _carry(planned, written, duration_s or 0.0, progress)
    return reported(folder, judges, progress)


def reported(folder: Path, judges: Mapping[str, ApplicationAnalysis], progress: Progress) -> Outcome:
    """Analyses a run that is over, with the rights of whoever called: nothing that follows needs more. Raises NoReport."""
    drop_privileges()
    progress("analysing")
    try:
        with noted(lambda: f"what was measured is kept: `netboxit report {printable(str(folder))}` goes on"):
            return Outcome(folder, analyse(folder, judges))
    except durable.NotWritten as error:
        raise NoReport(
            f"{error}; what was measured is kept: instead of the run, `netboxit report {printable(str(folder))}` is enough"
        ) from error


def inputs(
    source: Source,
    settings: Sequence[Setting],
    named: Found,
    duration_s: float | None,
    name: str = TOPOLOGY_FILE,
) -> dict[str, bytes]:
    """What was asked for, as files of a run folder.

    They are the topology as it ran, by that `name`: `source` is its file with the settings; the files that it names, where it
    finds them; figures to compare with; how long it is to be.
    """
    request: RequestRecord = {"duration_s": duration_s}
    files = {REQUEST_FILE: (json.dumps(request) + "\n").encode()}
    figures = reference.beside(Path(source.path))
    with as_user():
        files[name] = (as_file(source, settings) if settings else source.text).encode()
        files |= kept_copies(named)
        if figures.exists():
            files[REFERENCE_FILE] = figures.read_bytes()
    return files


def kept_copies(named: Found) -> dict[str, bytes]:
    """Of all that a topology names, where the folder with the topology has it. Raises NotToBeCopied."""
    with as_user():
        files = {kept_at(text): path.read_bytes() for text, path in named.files.items()}
    return files | {kept_tree_at(text): file_trees.packed(tree) for text, tree in named.trees.items()}


def keep_inputs(files: Mapping[str, bytes], plan: Plan, folder: Path) -> None:
    """Writes what was asked for, what was made of it, and on which machine."""
    for file, content in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        durable.write(folder / file, content)
    durable.write(folder / PLAN_FILE, json.dumps(plan.to_json(), indent=1) + "\n")
    made_on: Environment = {"run_folder": VERSION, **environment(programs_of(dict(applications()).values()))}
    durable.write(folder / ENVIRONMENT_FILE, json.dumps(made_on, indent=1) + "\n")


@contextmanager
def recorded(written: Path, folder: Path) -> Iterator[None]:
    """Keeps in `run.json` when the run began and ended and what failed; only an interruption goes on upwards.

    `folder` is where what is `written` is in the end.
    """
    started, failure = _now(), None
    try:
        yield
    except NetBoxITError as error:
        failure = str(error)
    except BaseException as error:
        failure = f"interrupted: {type(error).__name__} {error}".strip()
        error.add_note(f"what was measured until then is in {folder}")
        raise
    finally:
        record: RunRecord = {"started": started, "ended": _now(), "failure": failure}
        durable.write(written / RUN_FILE, json.dumps(record, indent=1) + "\n")


def _carry(planned: PlannedLab, folder: Path, least_s: float, progress: Progress) -> None:
    """Brings the lab up, measures it and takes it down. What was measured is kept also when this is interrupted."""
    with HeldBack() as held, planned.up(progress) as lab:
        measured = lab.measured(folder)
        try:
            with held.allowed():
                progress("waiting for the segments")
                lab.wait_ready(_READY_DEADLINE_S)
                lab.start_programs()
                carry_traffic(measured, planned.plan.traffic, lab.hosts, folder, least_s, progress)
        finally:
            progress("collecting")
            problems = measured.collect()
        if problems:
            raise NodeFailed("; ".join(problems))


def carry_traffic(
    measured: MeasuredLab,
    planned: Sequence[TrafficPlan],
    hosts: Hosts,
    folder: Path,
    least_s: float,
    progress: Progress,
) -> None:
    """Runs the applications in those hosts until each has had its time, and for `least_s` at least."""
    kinds, log = applications(), measured.log
    entries = [kinds[entry.application](entry, hosts, folder / "traffic" / entry.name) for entry in planned]
    progress("preparing the applications")
    for entry in entries:
        entry.prepare()
    try:
        measured.prepare()
        with ExitStack() as running:
            traffic = Traffic(entries, log, running, progress)
            progress("arranging the applications")
            traffic.arrange()
            measured.begin()
            traffic.carry(measured.check, log.due(least_s))
        time.sleep(DRAIN_S)
        measured.keep_statistics()
    finally:
        measured.end()


@as_user()
def make_folder(plan: Plan, results: Path) -> Path:
    """A new run folder; `latest` points to it from here on."""
    now = datetime.now(UTC)
    folder = results / "runs" / f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03d}Z-{plan.lab}"
    try:
        folder.mkdir(parents=True)
        beside = results / ".latest"
        beside.unlink(missing_ok=True)
        beside.symlink_to(folder.relative_to(results))
        beside.replace(results / "latest")
    except OSError as error:
        raise NoResults(f"{printable(str(folder))} cannot be made: {error.strerror}; say another place by --results") from error
    return folder


def _now() -> str:
    return datetime.now(UTC).isoformat()
