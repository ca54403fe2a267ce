# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology file planned over the machines of an inventory, and compared with the lab of that name that is up.

An inventory is read when the file names machines, or when one is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from contracts.names import lab_name
from contracts.plan import Plan, RealtimeSupport
from ownership import state
from ownership.operators import NoPrivilege
from system.realtime_support import realtime_support
from testbed.back_ends.back_end import LocalPlan, PlannedLab
from testbed.changing.comparison import Compared, compare
from testbed.description.settings import Setting
from testbed.description.topology import Topology
from testbed.description.topology_file import load
from testbed.labs.deployment import Progress
from testbed.plans import fitness
from testbed.plans.difference import difference
from testbed.plans.load import LoadEstimate
from testbed.plans.planning import estimated, plan_topology, plan_unasked
from testbed.plans.sites import Site, names_machines
from testbed.several_hosts import inventory
from testbed.several_hosts.connection import Connection
from testbed.several_hosts.distributed_lab import DistributedLab
from testbed.several_hosts.inventory import Inventory
from testbed.several_hosts.lab_parts import LabParts
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import PartsRecord
from testbed.several_hosts.sites import Connections, sites


@dataclass(frozen=True)
class PlannedOverMachines(PlannedLab):
    """In `sites` is what is known of the machines that it was made for; `connections` are those by which parts are made."""

    inventory: Inventory
    sites: Sequence[Site]
    connections: Connections

    def machines(self) -> list[Machine]:
        """Those that have a part of it."""
        return [self.inventory.machines[host.name].machine for host in self.plan.hosts]

    def check(self) -> None:
        """Raises MachinesUnfit."""
        fitness.check(self.topology, self.plan, self.sites)

    def up(self, progress: Progress) -> DistributedLab:
        return DistributedLab(LabParts.up(self.plan, self._connected(), progress))

    def up_and_ready(self, progress: Progress) -> DistributedLab:
        return DistributedLab(LabParts.up_and_ready(self.plan, self._connected(), progress))

    def _connected(self) -> dict[str, Connection]:
        """To its machines but this one, by name; planning has asked them all."""
        return {machine.name: self.connections.to(machine) for machine in self.machines() if not machine.here}


def plan_over(
    file: Path,
    listed: Path | None,
    connections: Connections,
    *,
    lab: str | None = None,
    duration_s: float | None = None,
    settings: Sequence[Setting] = (),
) -> PlannedLab:
    """Reads a topology, and plans it over the machines of an inventory that it names. Raises what planning and asking raise.

    A LocalPlan when an inventory was given, and no other machine has anything to do. `said` is what the command line says in
    place of the file, here and below.
    """
    topology, machines, machine_sites, name = _read(file, listed, connections, lab, settings)
    realtime = machine_sites[0].facts.realtime if machine_sites else realtime_support()
    plan = plan_topology(topology, lab=name, duration_s=duration_s, realtime=realtime, sites=machine_sites)
    return PlannedOverMachines(topology, plan, machines, machine_sites, connections) if plan.hosts else LocalPlan(topology, plan)


def compare_over(
    file: Path, listed: Path | None, name: str | None, connections: Connections, settings: Sequence[Setting] = ()
) -> tuple[Compared, list[str]]:
    """The plan, beside the lab that is up, and what machines lack for it."""
    topology, _, machine_sites, lab = _read(file, listed, connections, name, settings)
    running = _running(lab)
    if running is None:
        compared = compare(topology, lab, machine_sites)
    else:
        realtime = machine_sites[0].facts.realtime if machine_sites else realtime_support()
        plan = plan_topology(topology, lab=lab, realtime=realtime, running=running, sites=machine_sites)
        compared = Compared(plan, estimated(topology, plan), difference([running], plan))
    return compared, fitness.problems(topology, compared.plan, machine_sites)


def checked(
    file: Path, listed: Path | None, realtime: RealtimeSupport, settings: Sequence[Setting] = ()
) -> tuple[Plan, LoadEstimate]:
    """The plan of a file as far as it can be had without asking any machine, and the load that it means.

    Names of machines are held against the inventory, if there is one.
    """
    topology, known_machines = load(file, said=settings), None
    if inventory_file := inventory.find(listed):
        topology = load(file, known_machines := inventory.read(inventory_file).known(), settings)
    return plan_unasked(topology, realtime=realtime, machines=known_machines)


def _read(
    file: Path, listed: Path | None, connections: Connections, name: str | None, settings: Sequence[Setting]
) -> tuple[Topology, Inventory, Sequence[Site], str]:
    """This machine is the first of the sites, if there are any."""
    topology = load(file, said=settings)
    lab = lab_name(topology.name if name is None else name)
    if listed is None and not names_machines(topology):
        return topology, inventory.read(None), (), lab
    machines = inventory.read(inventory.find(listed))
    topology = load(file, machines.known(), settings)
    return topology, machines, sites(topology, machines, lab, connections), lab


def _running(lab: str) -> Plan | None:
    """The whole plan of a lab that is up on several machines."""
    with suppress(state.NoSuchLab, state.SomebodyElses, NoPrivilege):
        folder = state.lab_folder(lab)
        state.check_own(folder)
        record = PartsRecord.of(folder)
        return record.whole() if record else None
    return None
