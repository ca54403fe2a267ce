# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines that a lab may be on, as planning has to know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.installation import CHECKOUT
from contracts.plan import HostPlan
from system import interface_facts
from testbed.description.machines import AUTO, KnownMachines
from testbed.description.topology import Topology
from testbed.plans.facts import Facts

#: What this machine is called where no inventory has a name for it.
HERE = "here"


@dataclass(frozen=True)
class Site:
    """One machine: what it has, by which address it carries wires, and where its checkout of NetBoxIT is."""

    name: str
    facts: Facts
    here: bool = False
    #: "" where none is known, which a wire to another machine will need.
    address: str = ""
    vxlan_port: int = 4789
    folder: str = str(CHECKOUT)
    #: Its wires to other machines are in WireGuard.
    sealed: bool = False

    def spare_cores(self) -> int:
        """Those that emulators of another lab may have for themselves; the first is for applications and interrupts."""
        return sum(core not in self.facts.others for core in sorted(self.facts.cores)[1:])

    def host(self, awake_cores: tuple[int, ...], realtime_budget_us: int) -> HostPlan:
        carrier = interface_facts.with_address(self.facts.interfaces, self.address) if self.address else None
        return HostPlan(
            self.name,
            self.here,
            self.address,
            carrier.name if carrier else "",
            self.vxlan_port,
            self.folder,
            awake_cores,
            realtime_budget_us,
            self.sealed,
        )


def named_machines(topology: Topology) -> tuple[str, ...]:
    """Those that nodes of a topology are on by name, in its order."""
    return tuple(dict.fromkeys(name for name in _places(topology) if name not in (None, AUTO)))


def is_free(topology: Topology) -> bool:
    """Whether there is a node whose machine the planner chooses."""
    return AUTO in _places(topology)


def names_machines(topology: Topology) -> bool:
    """Whether a file says of any of its nodes where it is to be."""
    return any(_places(topology))


def _places(topology: Topology) -> list[str | None]:
    """What the topology says of each node: a machine's name, AUTO, or nothing."""
    places = topology.places()
    return [places.of(name) for section in topology.sections().values() for name in section]


def assumed(topology: Topology, facts: Facts, known: KnownMachines | None) -> Sequence[Site]:
    """Machines of which at most the names are known, each taken for one like this: enough to check a topology."""
    here = known.here if known else HERE
    names = dict.fromkeys((*(known.names if known else ()), *named_machines(topology)))
    return [Site(here, facts, here=True), *(Site(name, facts) for name in names if name != here)]
