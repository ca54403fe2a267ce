# SPDX-License-Identifier: GPL-2.0-or-later
"""One run: the lab is brought up, carries its traffic, is measured and taken down.

The run folder keeps everything, also of a run that failed.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results import reference
from results.analyse import analyse
from results.capture import Captures
from results.environment import cpu_times, environment, lab_environment
from testbed import switch_statistics
from testbed.cores import realtime_support
from testbed.deployment import Progress
from testbed.errors import NetBoxITError, printable
from testbed.event_log import EVENTS_FILE, EventLog
from testbed.interruption import HeldBack
from testbed.lab import Lab, NodeFailed
from testbed.plan import Plan
from testbed.planning import plan_file
from testbed.schedule import Schedule
from testbed.traffic_plan import BadDuration
from traffic.application import Application, applications

#: Runs land in `runs/` of this folder, and `latest` there points to the last one.
RESULTS = Path(__file__).resolve().parent.parent / "results"

#: How long netboxes may take to get ready: a Wi-Fi station associates within a few beacons, 102.4 ms each.
_READY_DEADLINE_S = 30.0
#: How often the nodes are looked at while traffic runs.
_WATCH_S = 0.25
#: How often a netbox's journal has its statistics.
_SAMPLE_S = 1.0
#: What is still on its way when the traffic ends: two geostationary hops are 0.5 s.
_DRAIN_S = 1.5


class NoResults(NetBoxITError):
    """There is no folder for what a run leaves, and none can be made."""

    exit_status = 2


@dataclass(frozen=True)
class Outcome:
    """A run that is over: its folder, and what `metrics.json` there says."""

    folder: Path
    metrics: dict[str, Any]


def run(topology: Path, *, lab: str | None, duration_s: float | None, progress: Progress, results: Path = RESULTS) -> Outcome:
    """Runs a topology file.

    Raises BadTopology before anything is created. Whatever fails later is in the outcome: an invalid verdict whose reasons
    tell it. Ctrl-C takes the lab down, keeps what was measured and is raised again.
    """
    plan = plan_file(topology, lab=lab, duration_s=duration_s, realtime=realtime_support())
    if not plan.traffic and duration_s is None:
        raise BadDuration(f"{topology} has no traffic that would say how long a run is; give --duration, say --duration '10 s'")
    folder = _make_folder(plan, results)
    shutil.copyfile(topology, folder / "topology.yaml")
    if (figures := reference.beside(topology)).exists():
        shutil.copyfile(figures, folder / reference.RUN_FILE)
    (folder / "plan.json").write_text(json.dumps(plan.to_json(), indent=1) + "\n")
    (folder / "environment.json").write_text(json.dumps(environment(), indent=1) + "\n")
    with _recorded(folder):
        _carry(plan, folder, duration_s or 0.0, progress)
    progress("analysing")
    return Outcome(folder, analyse(folder))


@contextmanager
def _recorded(folder: Path) -> Iterator[None]:
    """Keeps in `run.json` when the run began and ended and what failed; only an interruption goes on upwards."""
    record: dict[str, Any] = {"started": _now(), "ended": None, "failure": None}

    def write(failure: str | None) -> None:
        record.update(ended=_now(), failure=failure)
        (folder / "run.json").write_text(json.dumps(record, indent=1) + "\n")

    try:
        yield
    except NetBoxITError as error:
        write(str(error))
    except BaseException as error:
        write(f"interrupted: {type(error).__name__} {error}".strip())
        raise
    else:
        write(None)


def _carry(plan: Plan, folder: Path, least_s: float, progress: Progress) -> None:
    """From nothing to nothing: the lab exists only in here. Who interrupts it still finds what was measured."""
    with HeldBack() as held, Lab.up(plan, progress) as lab:
        try:
            with held.allowed():
                progress("waiting for the segments")
                lab.wait_ready(_READY_DEADLINE_S)
                _traffic(lab, folder, least_s, progress)
        finally:
            killed = _collect(lab, folder, progress)
        if killed:
            raise NodeFailed(f"{', '.join(killed)} did not end when asked and had to be killed: their files may not be whole")


def _traffic(lab: Lab, folder: Path, least_s: float, progress: Progress) -> None:
    """Until every application has had its time, and `least_s` at least."""
    kinds = applications()
    entries = [kinds[entry.application](entry, lab, folder / "traffic" / entry.name) for entry in lab.plan.traffic]
    progress("preparing the applications")
    for entry in entries:
        entry.prepare()
    netboxes = [node.name for node in lab.plan.nodes if node.kind == "netbox"]
    switches = {node.name: switch_statistics.of(lab, node.name) for node in lab.plan.nodes if node.kind == "switch"}
    log = EventLog(folder / EVENTS_FILE, lab.folder)
    with Captures(lab, folder / "captures"), Schedule(lab, log) as schedule:
        began_s = {netbox: _begin(lab, netbox) for netbox in netboxes}
        log.begin()
        schedule.start()
        before = cpu_times()
        try:
            with ExitStack() as running:
                _Traffic(entries, log, running, progress).carry(lab, schedule, log.due(least_s))
            time.sleep(_DRAIN_S)
            _keep_statistics(lab, netboxes, switches, folder)
        finally:
            found = lab_environment(lab.plan, lab.status(), before, log.began_ns, began_s)
            (folder / "lab.json").write_text(json.dumps(found, indent=1) + "\n")


def _begin(lab: Lab, netbox: str) -> float:
    """Starts the network's time at a netbox, and its statistics anew; returns its simulated time."""
    with lab.control(netbox) as control:
        return control.begin(_SAMPLE_S)


class _Traffic:
    """Starts each application when its time has come and stops it when its time is over; what runs is stopped with `ends`."""

    def __init__(self, entries: Sequence[Application], log: EventLog, ends: ExitStack, progress: Progress) -> None:
        self._waiting = sorted(entries, key=lambda entry: entry.options.start)
        self._running: list[Application] = []
        self._log, self._ends, self._progress = log, ends, progress

    def carry(self, lab: Lab, schedule: Schedule, until: float) -> None:
        """Until all is over, `until` (monotonic) at least; raises as soon as a node, an application or an event has failed."""
        while self._waiting or self._running or time.monotonic() < until:
            schedule.check()
            lab.check_alive(besides=schedule.away)
            for entry in self._running:
                entry.check()
            self._stop_what_is_over()
            if self._waiting and self._due(self._waiting[0]) <= time.monotonic():
                self._start(self._waiting.pop(0))
                continue
            self._progress(f"traffic, {self._left(until):.0f} s to go")
            next_start = min((self._due(entry) - time.monotonic() for entry in self._waiting), default=_WATCH_S)
            time.sleep(min(max(next_start, 0.0), _WATCH_S))
        schedule.check()

    def _due(self, entry: Application) -> float:
        return self._log.due(entry.options.start)

    def _start(self, entry: Application) -> None:
        self._progress(f"starting {entry.plan.name}")
        self._ends.callback(entry.stop)
        began = time.monotonic()
        entry.start()
        words = f"{entry.plan.name} starts"
        self._log.write(entry.options.start, began, {"kind": "traffic", "traffic": entry.plan.name, "words": words})
        self._running.append(entry)

    def _stop_what_is_over(self) -> None:
        for entry in [entry for entry in self._running if entry.ends <= time.monotonic()]:
            entry.stop()
            self._running.remove(entry)

    def _left(self, until: float) -> float:
        now = time.monotonic()
        waiting = (self._due(entry) + entry.options.duration - now for entry in self._waiting)
        return max([until - now, 0.0, *(entry.ends - now for entry in self._running), *waiting])


def _keep_statistics(lab: Lab, netboxes: Sequence[str], switches: Mapping[str, dict[str, Any] | None], folder: Path) -> None:
    """What netboxes and switches counted of the traffic alone, before the end of the lab adds to it.

    `switches` are their counts before it; a netbox began anew.
    """
    found: dict[str, Any] = {}
    for netbox in netboxes:
        with lab.control(netbox) as control:
            found[netbox] = control.statistics()
    for switch, before in switches.items():
        if before is not None and (now := switch_statistics.of(lab, switch)) is not None:
            found[switch] = switch_statistics.since(before, now)
    for node, statistics in found.items():
        kept = folder / "nodes" / node
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "statistics.json").write_text(json.dumps(statistics, indent=1) + "\n")


def _collect(lab: Lab, folder: Path, progress: Progress) -> list[str]:
    """Ends the nodes, so that they write what they still hold, and copies their folders; statistics already kept stay.

    Returns the nodes that had to be killed.
    """
    progress("collecting")
    killed = lab.finish()
    for node in lab.plan.nodes:
        kept = folder / "nodes" / node.name
        kept.mkdir(parents=True, exist_ok=True)
        for file in lab.node_folder(node.name).iterdir():
            # A link would be followed with this program's rights, not with the node's.
            if file.is_file() and not file.is_symlink() and not (kept / file.name).exists():
                shutil.copyfile(file, kept / file.name, follow_symlinks=False)
    return killed


def _make_folder(plan: Plan, results: Path) -> Path:
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
