# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines that a lab may be on, as planning has to know them, and on which of them each node is.

A node is where the file says, and where it fits best where the file says auto.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from contracts.errors import WrongInput, listed
from contracts.installation import CHECKOUT
from contracts.plan import HostPlan, Plan
from system import interface_facts
from testbed.description.event_checks import waiting
from testbed.description.input_errors import nearest
from testbed.description.machines import AUTO, KnownMachines
from testbed.description.topology import Topology
from testbed.description.wiring import Draft
from testbed.plans.facts import Facts
from testbed.plans.partition import Joint, Unit, partition

#: What this machine is called where no inventory has a name for it.
HERE = "here"

#: What a wire can carry where nothing at its ends says less: 10 Gbit/s.
_FAST: Final = 10**10


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


def assumed(topology: Topology, facts: Facts, machines: KnownMachines | None) -> Sequence[Site]:
    """Machines of which at most the names are known, each taken for one like this: enough to check a topology."""
    here = machines.here if machines else HERE
    names = dict.fromkeys((*(machines.names if machines else ()), *named_machines(topology)))
    return [Site(here, facts, here=True), *(Site(name, facts) for name in names if name != here)]


class UnknownMachine(WrongInput):
    """A node is on a machine of which nothing is known."""


@dataclass(frozen=True)
class Placed:
    """`sites` are the machines that the lab has a part on, this one first, whether it has nodes or not."""

    sites: tuple[Site, ...]
    machine: Mapping[str, str]
    notes: tuple[str, ...] = ()


def place(topology: Topology, sites: Sequence[Site], running: Plan | None = None) -> Placed:
    """`sites` are all machines that the lab may be on. Nodes of a `running` lab stay where they are. Raises UnknownMachine."""
    here = next(site for site in sites if site.here)
    order = [here, *(site for site in sites if site is not here)]
    names = [site.name for site in order]
    places = topology.places(KnownMachines(here.name, tuple(names)))
    machine = {node: places.of(node) or here.name for section in topology.sections().values() for node in section}
    for node, name in machine.items():
        if name not in (*names, AUTO):
            raise UnknownMachine(
                f'{node} is on machine "{name}", of which nothing is known; {nearest(name, names)}; '
                "--inventory says which machines there are"
            )
    notes: tuple[str, ...] = ()
    if AUTO in machine.values():
        if running is not None:
            ran = {node.name: node.host or here.name for node in running.nodes}
            machine |= {node: ran[node] for node, name in machine.items() if name == AUTO and ran.get(node) in names}
        machine, notes = _Chosen(topology, order, machine).placed()
    return Placed(tuple(site for site in order if site.here or site.name in machine.values()), machine, notes)


class _Chosen:
    """Machines for the nodes that may be on any."""

    def __init__(self, topology: Topology, sites: Sequence[Site], machine: Mapping[str, str]) -> None:
        self._topology, self._sites, self._machine = topology, sites, dict(machine)
        #: The nodes that each wire joins.
        self._ends = [(wire.ends[0].partition(".")[0], wire.ends[1].partition(".")[0]) for wire in topology.wires]
        self._share = {name: netbox.share for name, netbox in topology.netboxes.items() if netbox.share}
        #: What each node that computes takes when it shares no core.
        self._cores = {
            **{name: netbox.cores for name, netbox in topology.netboxes.items()},
            **{name: 1 for name, router in topology.routers.items() if router.engine == "click"},
            **{name: 1 for name, switch in topology.switches.items() if switch.datapath == "xdp"},
        }
        #: Of each node the one that stands for all that go with it.
        self._head = {node: node for node in machine}
        for leader, follower in self._ties():
            self._tie(leader, follower)

    def placed(self) -> tuple[dict[str, str], tuple[str, ...]]:
        while (tie := self._next_end()) is not None:
            self._tie(*tie)
        leaders = list(dict.fromkeys(self._head[node] for node in self._machine))
        number = {leader: at for at, leader in enumerate(leaders)}
        units = [self._unit(leader) for leader in leaders]
        joints: dict[tuple[int, int], Joint] = {}
        for left, right in self._ends:
            low, high = sorted((number[self._head[left]], number[self._head[right]]))
            if low != high:
                joint = joints.get((low, high), Joint(0, 0))
                joints[low, high] = Joint(joint.wires + 1, joint.rate + self._rate(left, right))
        chosen = partition(units, joints, [site.spare_cores() for site in self._sites])
        machine = {node: self._sites[chosen.machine[number[self._head[node]]]].name for node in self._machine}
        needs = Counter[int]()
        for unit, at in zip(units, chosen.machine, strict=True):
            needs[at] += unit.cores
        return machine, tuple(self._notes(machine, needs, chosen.proven))

    def _notes(self, machine: Mapping[str, str], needs: Mapping[int, int], proven: bool) -> Iterator[str]:
        for site in self._sites:
            if own := [node for node, name in self._machine.items() if name == AUTO and machine[node] == site.name]:
                yield f"auto: {listed(own, 'and')} {'is' if len(own) == 1 else 'are'} on {site.name}"
        words = [
            f"{site.name} has {site.spare_cores()} and needs {needs[at]}"
            for at, site in enumerate(self._sites)
            if needs[at] or site.here
        ]
        crossing = sum(machine[left] != machine[right] for left, right in self._ends)
        yield (
            f"auto: of cores for netboxes and Click routers {listed(words, 'and')}; {crossing} "
            f"{'wire is' if crossing == 1 else 'wires are'} between machines; "
            f"{'no other choice is better' if proven else 'the best choice that was found'}"
        )

    def _unit(self, leader: str) -> Unit:
        nodes = [node for node in self._machine if self._head[node] == leader]
        fixed = {self._machine[node] for node in nodes} - {AUTO}
        names = [site.name for site in self._sites]
        # What shares a core takes one.
        shares = {self._share[node] for node in nodes if node in self._share}
        alone = sum(self._cores.get(node, 0) for node in nodes if node not in self._share)
        return Unit(len(shares) + alone, len(nodes), names.index(min(fixed)) if fixed else None)

    def _rate(self, *ends: str) -> int:
        """What a wire between two nodes can carry, bit/s."""
        rates = [self._topology.netboxes[end].parameters.gross_rate() for end in ends if end in self._topology.netboxes]
        return int(min((rate for rate in rates if rate is not None), default=_FAST))

    def _ties(self) -> Iterator[tuple[str, str]]:
        """Who has to be with whom."""
        topology = self._topology
        first: dict[str, str] = {}
        yield from ((first.setdefault(share, node), node) for node, share in self._share.items())
        for wire, (left, right) in zip(topology.wires, self._ends, strict=True):
            if wire.wire in ("veth", "memory") or {left, right} & topology.equipment.keys():
                yield left, right
        for _, seen, touched in waiting(Draft.of(topology), {"folder": topology.path.resolve().parent}):
            together = sorted(seen | touched)
            yield from ((together[0], other) for other in together[1:])

    def _next_end(self) -> tuple[str, str] | None:
        """The first unit that needs no core and has one neighbour, where it is best, behind that neighbour; None without any."""
        beside: dict[str, set[str]] = {self._head[node]: set() for node in self._machine}
        for left, right in self._ends:
            for near, far in permutations((self._head[left], self._head[right])):
                beside[near] |= {far} - {near}
        for leader, neighbours in beside.items():
            unit = self._unit(leader)
            if len(neighbours) == 1 and unit.cores == 0 and unit.fixed is None:
                return min(neighbours), leader
        return None

    def _tie(self, leader: str, follower: str) -> None:
        head, tied = self._head[leader], self._head[follower]
        self._head = {node: head if own == tied else own for node, own in self._head.items()}
