# SPDX-License-Identifier: GPL-2.0-or-later
"""From a file to a lab that is up, wherever its nodes are to be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.names import lab_name
from ownership import origin, state
from system.interruption import noted
from testbed.description.settings import Setting
from testbed.description.topology_file import load
from testbed.labs.deployment import Progress
from testbed.labs.lab import Lab
from testbed.observation.status_now import status_with_events
from testbed.plans import taking
from testbed.several_hosts.connections import Connections
from testbed.several_hosts.elsewhere import OnSeveralMachines
from testbed.several_hosts.joined_lab import JoinedLab
from testbed.several_hosts.joined_status import joined
from testbed.several_hosts.parts_file import Parts
from testbed.several_hosts.planned import names_machines, plan_over

if TYPE_CHECKING:
    from testbed.documents.status import LabStatus


def up(
    file: Path,
    inventory: Path | None,
    name: str | None,
    progress: Progress,
    take: Sequence[str] = (),
    said: Sequence[Setting] = (),
) -> tuple[LabStatus, int]:
    """Brings it up and leaves it running: its status, and how many events the file has.

    `take` names interfaces that it may have though they are in use, `said` is what the command line says in place of the file.
    """
    with Connections() as connections:
        planned = plan_over(file, inventory, connections.facts, lab=name, said=said)
        plan = taking.named(planned.plan, take)
        if not plan.hosts:
            made = Lab.up_and_ready(plan, progress, {origin.FILE: origin.of(file)})
            with noted(lambda: stays(plan.lab)):
                return status_with_events(made), len(plan.events)
        planned.check()
        lab = JoinedLab.up_and_ready(plan, connections.to_all(planned.machines()), progress)
        with noted(lambda: stays(plan.lab)):
            others = {machine: part.status() for machine, part in lab.far.items()}
            return joined(lab.parts, status_with_events(lab.here), others), len(plan.events)


def stays(lab: str) -> str:
    """For whoever interrupts a command when its lab is ready."""
    return f"lab {lab} is up; `netboxit down {lab}` takes it down"


def refuse_to_apply(file: Path, name: str | None, said: Sequence[Setting] = ()) -> None:
    """What is on several machines is not changed to what its file says. Raises OnSeveralMachines with the remedy."""
    topology = load(file, said=said)
    lab = lab_name(topology.name if name is None else name)
    up = lab in state.lab_names() and Parts.of(state.lab_folder(lab)) is not None
    if up or names_machines(topology):
        raise OnSeveralMachines(
            f"`netboxit apply` is for labs on one machine; change {lab} by `netboxit set`, or `netboxit down {lab}` and `up`"
        )
