# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides where the nodes of a lab are, or are to be: on this machine alone, or on several. No other module decides it.

What is for several machines is imported where a topology names machines, or a lab that is up has parts elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.names import lab_name
from contracts.plan import Plan, RealtimeSupport
from ownership import state
from ownership.operators import NoPrivilege
from testbed.back_ends.back_end import BackEnd, LocalLab, LocalPlan, OnSeveralMachines, PlannedLab
from testbed.labs import removal
from testbed.labs.lab import Lab
from testbed.plan_part import PARTS_FILE

if TYPE_CHECKING:
    from testbed.changing.comparison import Compared
    from testbed.description.settings import Setting
    from testbed.description.topology import Topology
    from testbed.plans.load import LoadEstimate


def opened(name: str | None) -> BackEnd:
    """The lab of that name, or without a name the only one, which this user may change. Raises NoSuchLab, SomebodyElses."""
    return seen(state.chosen(name))


def seen(name: str) -> BackEnd:
    """The lab of that name, also somebody else's. Raises NoSuchLab, DamagedRecord."""
    here = Lab.open(name)
    if not _has_parts(here.folder):
        return LocalLab(here)
    from testbed.several_hosts.distributed_lab import DistributedLab
    from testbed.several_hosts.lab_parts import LabParts

    return DistributedLab(LabParts.open(here))


def undo(folder: Path) -> list[str]:
    """Removes a lab by its folder, wherever its nodes are (`testbed.labs.removal`)."""
    if not _has_parts(folder):
        return removal.undo(folder)
    from testbed.several_hosts import parts_file

    return parts_file.undo(folder)


@contextmanager
def planned(
    file: Path,
    inventory: Path | None,
    *,
    lab: str | None = None,
    duration_s: float | None = None,
    settings: Sequence[Setting] = (),
    take: Sequence[str] = (),
) -> Iterator[PlannedLab]:
    """A topology file as a lab that can be brought up in the block, on the machines of an inventory that it names.

    `settings` are the command line's values in place of the file's, here and below; `take` names interfaces that the lab may have
    though they are in use. Raises what planning and asking machines raise, and NotTaken.
    """
    from testbed.plans.planning import plan_topology

    topology = _read(file, settings)
    if _is_for_here(topology, inventory):
        from system.realtime_support import realtime_support

        plan = plan_topology(
            topology, lab=lab_name(topology.name if lab is None else lab), duration_s=duration_s, realtime=realtime_support()
        )
        yield LocalPlan(topology, plan).with_taken(take)
    else:
        from testbed.several_hosts.planned import plan_over
        from testbed.several_hosts.sites import Connections

        with Connections() as connections:
            yield plan_over(file, inventory, connections, lab=lab, duration_s=duration_s, settings=settings).with_taken(take)


def compared(
    file: Path, inventory: Path | None, name: str | None, settings: Sequence[Setting] = ()
) -> tuple[Compared, Sequence[str]]:
    """The plan of a file beside the lab of that name that is up, and what machines lack for it."""
    topology = _read(file, settings)
    if _is_for_here(topology, inventory) and not _is_over_several(lab_name(topology.name if name is None else name)):
        from testbed.changing.comparison import compare

        return compare(topology, name), ()
    from testbed.several_hosts.planned import compare_over
    from testbed.several_hosts.sites import Connections

    with Connections() as connections:
        return compare_over(file, inventory, name, connections, settings)


def checked(
    file: Path, inventory: Path | None, realtime: RealtimeSupport, settings: Sequence[Setting] = ()
) -> tuple[Plan, LoadEstimate]:
    """The plan of a file as far as it can be had without asking any machine, and the load that it means."""
    from testbed.plans.planning import plan_unasked

    topology = _read(file, settings)
    if _is_for_here(topology, inventory):
        return plan_unasked(topology, realtime=realtime)
    from testbed.several_hosts import planned as over_machines

    return over_machines.checked(file, inventory, realtime, settings)


def refuse_several(file: Path, name: str | None, settings: Sequence[Setting] = ()) -> None:
    """What is on several machines is not changed to what its file says. Raises OnSeveralMachines with the remedy."""
    topology = _read(file, settings)
    lab = lab_name(topology.name if name is None else name)
    if _is_over_several(lab) or not _is_for_here(topology, None):
        raise OnSeveralMachines(
            f"`netboxit apply` is for labs on one machine; change {lab} by `netboxit set`, or `netboxit down {lab}` and `up`"
        )


def _read(file: Path, settings: Sequence[Setting]) -> Topology:
    from testbed.description.topology_file import load

    return load(file, said=settings)


def _is_for_here(topology: Topology, inventory: Path | None) -> bool:
    """Nothing of a topology is for other machines, and nobody has given an inventory."""
    from testbed.plans.sites import names_machines

    return inventory is None and not names_machines(topology)


def _is_over_several(lab: str) -> bool:
    """Whether the lab of that name, if it is up and may be seen, is on several machines."""
    with suppress(state.NoSuchLab, state.SomebodyElses, NoPrivilege, PermissionError):
        folder = state.lab_folder(lab)
        state.check_own(folder)
        return _has_parts(folder)
    return False


def _has_parts(folder: Path) -> bool:
    return (folder / PARTS_FILE).exists()
