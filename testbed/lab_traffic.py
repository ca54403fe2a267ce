# SPDX-License-Identifier: GPL-2.0-or-later
"""The traffic of a file, sent through a lab that is up and measured as in a run; the lab stays as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from applications.registry import analyses
from contracts.errors import NetBoxITError
from contracts.files import Found
from contracts.plan import Plan
from ownership import recorded as on_record
from ownership import state
from system.interruption import HeldBack, noted
from testbed import where
from testbed.back_ends.back_end import BackEnd
from testbed.changing import by_hand, unfinished
from testbed.description import traffic_file
from testbed.description.settings import Setting
from testbed.description.topology_file import source_of
from testbed.description.traffic_file import Wanted
from testbed.labs import measuring
from testbed.labs.deployment import Progress
from testbed.labs.lab import Lab, NodeFailed
from testbed.plans.traffic_plan import plan_lab_traffic
from testbed.run import Outcome, carry_traffic, inputs, keep_inputs, make_folder, recorded, reported
from testbed.runs.handing_over import being_written
from testbed.runs.hosts_of_lab import HostsOfLab
from testbed.runs.standing_lab import StandingLab


class HalfChanged(NetBoxITError):
    """A change of the lab goes on, or did not end."""


def send(
    file: Path,
    *,
    lab: str | None,
    duration_s: float | None,
    progress: Progress,
    results: Path,
    settings: Sequence[Setting] = (),
) -> Outcome:
    """Sends the traffic of a file through the lab of that name, else of the file's name, else the only one that is up.

    Raises BadPlugin, BadTopology, BadDuration, NoSuchLab, OnSeveralMachines, LabMeasured, HalfChanged, NodeFailed and
    NameTaken before anything is done. Whatever fails later is in the outcome, as of a run. Ctrl-C ends the applications, keeps
    what was measured and is raised again. The lab is up afterwards in any case.
    """
    judges, wanted = analyses(), traffic_file.load(file, settings)
    meant = where.opened(wanted.name if lab is None and wanted.name in state.own_lab_names() else lab)
    _check(meant)
    up = meant.here
    plan = _with_notes(plan_lab_traffic(wanted, up.plan, duration_s), wanted, up)
    hosts = HostsOfLab(up, plan.traffic)
    hosts.check()
    folder = make_folder(plan, results)
    with being_written(folder) as written:
        keep_inputs(inputs(source_of(file, settings), settings, Found(), duration_s, "traffic.yaml"), plan, written)
        with recorded(written, folder), noted(lambda: f"lab {up.name} stays up"):
            _carry(up, plan, hosts, written, progress)
    return reported(folder, judges, progress)


def _check(lab: BackEnd) -> None:
    """Raises what speaks against measuring it now."""
    lab.check_alone(
        "netboxit traffic", "`netboxit run` measures a network over several, `netboxit exec` starts a program in a host"
    )
    measuring.check_free(lab.here.folder)
    if on_record.is_changing(lab.here.folder):
        raise HalfChanged(f"lab {lab.name} is being changed, or a change of it did not end; `netboxit apply` its file first")
    lab.here.check_alive()


def _with_notes(plan: Plan, wanted: Wanted, lab: Lab) -> Plan:
    """What a reader of the report could not know of a lab that was up before."""
    notes = [f"the traffic of {wanted.source.path} went through lab {lab.name}, which was up before and stays up"]
    if wanted.events:
        notes.append(f"the file's events did not happen ({wanted.events}): they do in runs only")
    for node in plan.nodes:
        if changed := by_hand.lost(lab.node_folder(node.name), node):
            notes.append(f"{node.kind} {node.name} was not as planned when the traffic began: {', '.join(changed)}, set by hand")
    if left := unfinished.of(lab.folder):
        notes.append(f"when the traffic began, {left.note(lab.name)}")
    return replace(plan, notes=(*notes, *plan.notes))


def _carry(lab: Lab, plan: Plan, hosts: HostsOfLab, folder: Path, progress: Progress) -> None:
    with HeldBack() as held:
        measured = StandingLab(lab, folder)
        try:
            with held.allowed():
                carry_traffic(measured, plan.traffic, hosts, folder, 0.0, progress)
        finally:
            progress("collecting")
            problems = [*hosts.clean(), *measured.collect()]
        if problems:
            raise NodeFailed("; ".join(problems))
