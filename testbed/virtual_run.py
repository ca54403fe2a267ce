# SPDX-License-Identifier: GPL-2.0-or-later
"""One run in virtual time: the same topology, plan and run folder as `testbed.run`, without a lab, and without root.

All nodes are computed in one process, as fast as their models can be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from applications.registry import analyses, applications
from applications.virtual_traffic import VirtualTraffic
from contracts.errors import BadTopology
from contracts.files import files_found
from contracts.plan import Plan, RealtimeSupport
from system.user_privileges import drop_privileges
from testbed.description.settings import Setting
from testbed.description.topology import Topology
from testbed.description.topology_file import source_of, topology_of
from testbed.labs.deployment import Progress
from testbed.plans.planning import plan_topology
from testbed.plans.traffic_plan import BadDuration, with_warm_up
from testbed.run import DRAIN_S, Outcome, inputs, keep_inputs, make_folder, recorded, reported
from testbed.virtual_time import records
from testbed.virtual_time.computing import compute
from testbed.virtual_time.network import VirtualNetwork
from testbed.virtual_time.refusals import Traffic, refusals

_NO_LAB: Final = RealtimeSupport(fifo=False, budget_us=None, reason="virtual time")


def run(
    topology: Path,
    *,
    lab: str | None,
    duration_s: float | None,
    progress: Progress,
    results: Path,
    settings: Sequence[Setting] = (),
    warm_up_s: float = 0.0,
) -> Outcome:
    """Computes a topology file's run. Raises BadPlugin, BadTopology, BadDuration and BadWarmUp before anything is written.

    What fails later is in the outcome, as of `testbed.run.run`. Ctrl-C ends it, keeps what was computed and is raised again.
    """
    drop_privileges()
    judges = analyses()
    return reported(computed(topology, lab, duration_s, progress, results, settings, warm_up_s), judges, progress)


def computed(
    topology: Path,
    lab: str | None,
    duration_s: float | None,
    progress: Progress,
    results: Path,
    settings: Sequence[Setting] = (),
    warm_up_s: float = 0.0,
) -> Path:
    """The same without an analysis: the run folder."""
    computation = planned(topology, lab, duration_s, settings, warm_up_s)
    folder = make_folder(computation.plan, results)
    carry(computation, folder, progress)
    return folder


@dataclass(frozen=True)
class Computation:
    """A run in virtual time before it is computed: all that it follows from, as data."""

    plan: Plan
    #: What was asked for, as files of the run folder.
    inputs: Mapping[str, bytes]
    #: How long the network's time is at least, in seconds; traffic may make it longer.
    least_s: float
    #: The files that the topology names, by its words, where they were found. Who computes the run needs the plan's paths alone.
    named: Mapping[str, Path] = field(default_factory=dict)


def planned(
    topology: Path,
    lab: str | None,
    duration_s: float | None,
    settings: Sequence[Setting] = (),
    warm_up_s: float = 0.0,
) -> Computation:
    """Writes nothing. Raises BadPlugin, BadTopology, also for what runs in real time only, BadDuration and BadWarmUp."""
    with files_found() as found:
        source = source_of(topology, settings)
        described = topology_of(source)
    plan = plan_topology(described, lab=lab, duration_s=duration_s, realtime=_NO_LAB)
    if problems := list(refusals(described, plan, _traffic(plan))):
        raise BadTopology(problems)
    if not plan.traffic and duration_s is None:
        raise BadDuration(f"{topology} has no traffic that would say how long a run is; give --duration, say --duration '10 s'")
    # What the planner decided about cores and real-time scheduling is of no meaning.
    plan = replace(with_warm_up(plan, warm_up_s, duration_s), clock="virtual", notes=tuple(_notes(described)))
    return Computation(plan, inputs(source, settings, found, duration_s), duration_s or 0.0, found.files)


def carry(computation: Computation, folder: Path, progress: Progress) -> None:
    """Computes the run into its folder, which is there and empty. What fails is told in the folder."""
    plan = computation.plan
    keep_inputs(computation.inputs, plan, folder)
    with recorded(folder, folder):
        known = {name: entry for name, entry in _traffic(plan).items() if entry is not None}
        _compute(plan, known, folder, computation.least_s, progress)


def _traffic(plan: Plan) -> Traffic:
    kinds = applications()
    return {entry.name: kinds[entry.application].virtual(entry) for entry in plan.traffic}


def _notes(topology: Topology) -> Iterator[str]:
    if speaking := [name for name, router in topology.routers.items() if router.ospf is not None]:
        yield (
            f"OSPF of {', '.join(speaking)}: in virtual time it is NetBoxIT's own, with FRRouting's timers, not FRRouting "
            "(netboxes/endpoints/README.md)"
        )


def _compute(plan: Plan, traffic: Mapping[str, VirtualTraffic], folder: Path, least_s: float, progress: Progress) -> None:
    kinds = applications()
    ends = [end for entry in traffic.values() for end in entry.ends]
    options = [kinds[entry.application].OPTIONS.model_construct(**entry.options) for entry in plan.traffic]
    over_s = max([least_s, *(own.start + own.duration for own in options)])
    with tempfile.TemporaryDirectory(prefix=".computing-", dir=folder) as place:
        network = VirtualNetwork(plan, ends, Path(place))
        try:
            compute(
                network.configuration(over_s + DRAIN_S),
                network.folder,
                lambda at_s: progress(f"virtual time, {max(0.0, over_s - at_s):.0f} s to go"),
            )
        finally:
            progress("collecting")
            records.collect(network, folder)
            records.write(network, traffic, folder)
