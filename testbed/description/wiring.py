# SPDX-License-Identifier: GPL-2.0-or-later
"""What is joined to what: ends of wires, layer-2 segments, paths between hosts; and what checks of it find.

Frames get along wires and tunnels, through netboxes, and through switches by their VLANs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, pairwise, permutations
from math import inf
from typing import Literal, Self, TypeVar, cast

from contracts.addresses import Address, Interface
from contracts.errors import listed
from testbed.description.events import Event
from testbed.description.input_errors import nearest
from testbed.description.machines import KnownMachines, Places
from testbed.description.managed_link import ManagedLink
from testbed.description.router import Router
from testbed.description.section import NodeSection
from testbed.description.switch import Switch
from testbed.description.topology import Host, Netbox, Topology, Traffic, Wire, WireKind
from testbed.description.yaml_source import Location

T = TypeVar("T")


@dataclass(frozen=True)
class End:
    """One end of a wire: an interface of a host or router, a station of a netbox, a port of a switch."""

    node: str
    port: str

    def __str__(self) -> str:
        return f"{self.node}.{self.port}"

    def is_written(self, text: str) -> bool:
        """Whether the file means this end by it: a node alone is one with a single port, or `find_end` would have refused it."""
        return text in (str(self), self.node)


#: Where a frame is, and the VLAN that its tag says.
Place = tuple[End, int | None]


@dataclass(frozen=True)
class Draft:
    """What is known of a network, perhaps not all: a node that is wrong in itself is None, a wrong wire is left out."""

    #: The nodes by section and name.
    sections: Mapping[str, Mapping[str, NodeSection | None]]
    wires: Mapping[int, Wire]
    traffic: Mapping[str, Traffic]
    centre: str | None
    events: Mapping[int, Event] = field(default_factory=dict)
    management: Mapping[str, ManagedLink] = field(default_factory=dict)
    #: The kind of wires that say none, and the machine of nodes that do.
    wire: WireKind = "auto"
    host: str | None = None
    #: False when something was left out.
    whole: bool = True
    #: True when a wire was left out.
    lost_wires: bool = False

    @staticmethod
    def of(topology: Topology) -> Draft:
        return Draft(
            topology.sections(),
            dict(enumerate(topology.wires)),
            topology.traffic,
            topology.centre,
            dict(enumerate(topology.events)),
            topology.management,
            topology.wire,
            topology.host,
        )

    @property
    def hosts(self) -> Mapping[str, Host | None]:
        return cast(Mapping[str, Host | None], self.sections["hosts"])

    @property
    def netboxes(self) -> Mapping[str, Netbox | None]:
        return cast(Mapping[str, Netbox | None], self.sections["netboxes"])

    @property
    def routers(self) -> Mapping[str, Router | None]:
        return cast(Mapping[str, Router | None], self.sections["routers"])

    @property
    def switches(self) -> dict[str, Switch]:
        """Those that are right in themselves."""
        return {name: switch for name, switch in cast(Mapping[str, Switch | None], self.sections["switches"]).items() if switch}

    @cached_property
    def joined(self) -> Mapping[int, tuple[End, End]]:
        """The ends of each wire of which both are found, by its place in the file."""
        ports, joined = self.ports(), {}
        for index, wire in self.wires.items():
            with suppress(ValueError):  # `wiring_checks` tells it
                joined[index] = (find_end(wire.ends[0], ports), find_end(wire.ends[1], ports))
        return joined

    @cached_property
    def kinds(self) -> Mapping[frozenset[End], WireKind]:
        """What each of these wires is to be, by its ends."""
        return {frozenset(ends): self.wire_kind(index) for index, ends in self.joined.items()}

    def wire_kind(self, index: int) -> WireKind:
        """What the wire says of its kind, else what the file says of all."""
        return self.wires[index].wire or self.wire

    def wiring(self, wires: Sequence[tuple[End, End]]) -> Wiring:
        """With the wires whose ends were found."""
        # Of a switch that is wrong in itself nobody knows what it passes.
        transparent = self.passing("frames").difference(self.sections["switches"])
        return Wiring(wires, transparent, self.passing("nothing"), self.switches)

    def nodes(self) -> Iterator[tuple[str, str, NodeSection | None]]:
        """Section, name and node."""
        for section, nodes in self.sections.items():
            for name, node in nodes.items():
                yield section, name, node

    def node(self, name: str) -> NodeSection | None:
        """None also when there is none of that name."""
        return next((node for _, other, node in self.nodes() if other == name), None)

    def places(self, known: KnownMachines | None) -> Places:
        """Where its nodes are to be."""
        return Places({name: node.host if node else None for _, name, node in self.nodes()}, self.host, known)

    def ports(self) -> dict[str, tuple[str, ...] | None]:
        """The ports of each node; None where they are not known."""
        return {name: tuple(node.ports()) if node else None for _, name, node in self.nodes()}

    def passing(self, what: Literal["frames", "packets", "nothing"]) -> frozenset[str]:
        """The nodes that pass so much on."""
        return frozenset(name for section, name, _ in self.nodes() if what == Topology.SECTIONS[section].PASSES)

    def interfaces(self) -> Iterator[tuple[End, Interface, Location]]:
        """Every address: where it is, what it is, and where the file says so."""
        for section, name, node in self.nodes():
            if node is None:
                continue
            for port, addresses in (node.ports() | node.own_interfaces()).items():
                yield from ((End(name, port), address, (section, name, *node.place(port))) for address in addresses)


@dataclass(frozen=True)
class Problem:
    """Something wrong at a place of the file, or at the key of that place."""

    place: Location
    cause: str
    remedy: str = ""
    key: bool = False

    @classmethod
    def of(cls, place: Location, message: str) -> Self:
        """With cause and remedy in one message, "; " between them."""
        cause, _, remedy = message.partition("; ")
        return cls(place, cause, remedy)


def find_end(text: str, ports: Mapping[str, tuple[str, ...] | None]) -> End:
    """The end that a text like `fr1` or `field.responder` names. Raises ValueError with the nearest that exists."""
    node, _, port = text.partition(".")
    if node not in ports:
        raise ValueError(f'there is no node "{node}"; {nearest(text, all_ends(ports)) if port else nearest(node, ports)}')
    own_ports = ports[node]
    if own_ports and not port:
        if len(own_ports) > 1:
            raise ValueError(f'"{node}" has several ports; write {listed([f"{node}.{name}" for name in own_ports])}')
        (port,) = own_ports
    elif own_ports is not None and port not in own_ports:
        raise ValueError(f'"{node}" has no port "{port}"; {nearest(text, [f"{node}.{name}" for name in own_ports])}')
    return End(node, port)


def are_written(ends: Collection[End], first: str, second: str) -> bool:
    """Whether a wire with these two ends is written so: where only one wire joins two nodes, without ports."""
    return any(left.is_written(first) and right.is_written(second) for left, right in permutations(ends, 2))


def all_ends(ports: Mapping[str, tuple[str, ...] | None]) -> list[str]:
    """Every end as it is written in a wire."""
    return [node if len(names) == 1 else f"{node}.{port}" for node, names in ports.items() if names for port in names]


@dataclass(frozen=True)
class Wiring:
    """The wires of a network, both ends found."""

    wires: Sequence[tuple[End, End]]
    #: Nodes that pass frames from each of their ports to the others: netboxes, say.
    transparent: frozenset[str]
    #: Nodes that pass nothing on: hosts, say.
    final: frozenset[str]
    #: Nodes that pass frames by their VLANs.
    switches: Mapping[str, Switch] = field(default_factory=dict)

    @staticmethod
    def of(topology: Topology) -> Wiring:
        """The wiring of a topology that was checked."""
        draft = Draft.of(topology)
        return draft.wiring([*draft.joined.values()])

    @cached_property
    def places(self) -> list[tuple[Place, ...]]:
        """The places of each layer-2 segment: where frames without a tag get from each end and from each switch itself, and where
        they have a tag on the way."""
        joints: dict[End, list[End]] = defaultdict(list)
        joints |= {End(name, port): [] for name, switch in self.switches.items() for port in switch.own_interfaces()}
        for end, other in both_ways([*self.wires, *tunnels(self.switches)]):
            joints[end].append(other)
        ports: dict[str, list[End]] = defaultdict(list)
        for end in joints:
            ports[end.node].append(end)

        def beside(place: Place) -> Iterator[Place]:
            end, tag = place
            yield from ((other, tag) for other in joints.get(end, ()))
            if (switch := self.switches.get(end.node)) is not None:
                yield from ((End(end.node, port), left) for port, left in switch.passed(end.port, tag))
            elif end.node in self.transparent:
                yield from ((other, tag) for other in ports[end.node] if other != end)

        places: list[tuple[Place, ...]] = []
        seen: set[Place] = set()
        for end in joints:
            if (end, None) not in seen:
                places.append(tuple(reached((end, None), beside)))
                seen.update(places[-1])
        return places

    def segments(self) -> list[tuple[End, ...]]:
        """The ends of each layer-2 segment, in the order of `places`: what frames without a tag reach without a router."""
        return [tuple(end for end, tag in places if tag is None) for places in self.places]

    @cached_property
    def _segment(self) -> dict[End, int]:
        return {end: number for number, ends in enumerate(self.segments()) for end in ends}

    def wire_between(self, end: str, other_end: str) -> tuple[End, End]:
        """The wire whose ends are written so, as the topology has it; KeyError when there is none."""
        for left, right in self.wires:
            if are_written((left, right), end, other_end):
                return left, right
        raise KeyError(f"{end}, {other_end}")

    def same_segment(self, left: End, right: End) -> bool:
        return left in self._segment and self._segment[left] == self._segment.get(right)

    def path(self, start: str, goal: str) -> list[tuple[End, End]]:
        """The wires of a shortest path from node to node, each as the end that frames leave by and the one they enter by."""
        wires = {(leaving.node, entering.node): (leaving, entering) for leaving, entering in reversed([*both_ways(self.wires)])}
        return [wires[step] for step in pairwise(path_to(goal, self._reached(start)))]

    def beside(self, node: str, start: str) -> set[str]:
        """The nodes to which a way from `start` without `node` is shorter than each way through it."""
        others = replace(self, wires=[wire for wire in self.wires if node not in (end.node for end in wire)])
        first, then = self.distances(start).get(node, inf), self.distances(node)
        return {name for name, way in others.distances(start).items() if way < first + then.get(name, inf)}

    def distances(self, start: str) -> dict[str, int]:
        """Wires from `start` to each node that can be reached."""
        before = self._reached(start)
        return {node: len(path_to(node, before)) - 1 for node in before}

    def _reached(self, start: str) -> dict[str, str | None]:
        """The nodes that can be reached from `start`, as `reached` has them; a host on the path passes nothing on."""
        neighbours: dict[str, list[str]] = defaultdict(list)
        for end, other in both_ways(self.wires):
            if end.node == start or end.node not in self.final:
                neighbours[end.node].append(other.node)
        return reached(start, lambda node: neighbours.get(node, ()))


def tunnels(switches: Mapping[str, Switch]) -> Iterator[tuple[End, End]]:
    """The two ends of each tunnel between two switches."""
    ends = [(name, port, switch, tunnel) for name, switch in switches.items() for port, tunnel in switch.tunnels.items()]
    for (name, port, switch, tunnel), (other, far, there, back) in combinations(ends, 2):
        if (tunnel.kind, tunnel.key) == (back.kind, back.key) and switch.is_at(back.remote) and there.is_at(tunnel.remote):
            yield End(name, port), End(other, far)


def both_ways(wires: Iterable[tuple[End, End]]) -> Iterator[tuple[End, End]]:
    """Each wire as the end that a frame leaves by and the one that it enters by, for both directions."""
    for left, right in wires:
        yield left, right
        yield right, left


def reached(start: T, beside: Callable[[T], Iterable[T]]) -> dict[T, T | None]:
    """Everything that can be reached from `start`, the nearest first, each with what comes before it on a shortest path."""
    before: dict[T, T | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        new = [near for near in dict.fromkeys(beside(here)) if near not in before]
        before.update(dict.fromkeys(new, here))
        waiting.extend(new)
    return before


def path_to(goal: T, before: Mapping[T, T | None]) -> list[T]:
    """The path that `reached` found, both of its ends included; [] when there is none."""
    path: list[T] = []
    here: T | None = goal if goal in before else None
    while here is not None:
        path.insert(0, here)
        here = before[here]
    return path


def addresses_between(wiring: Wiring, source: tuple[str, Host], destination: tuple[str, Host]) -> tuple[Address, Address] | None:
    """The addresses by which two hosts talk: on a segment of both if there is one, else by gateways; IPv4 first."""
    pairs = [
        (End(source[0], near), here, End(destination[0], far), there)
        for near, here in sorted(_interfaces(source[1]), key=lambda interface: interface[1].version)
        for far, there in _interfaces(destination[1])
        if here.version == there.version
    ]
    joined = (pair for pair in pairs if wiring.same_segment(pair[0], pair[2]))
    routed = (pair for pair in pairs if _leaves(source[1], pair[1]) and _leaves(destination[1], pair[3]))
    return next(((here.ip, there.ip) for _, here, _, there in chain(joined, routed)), None)


def address_reached(draft: Draft, wiring: Wiring, host: str, far: str) -> Address | None:
    """By which a host reaches another one, or a router: a router's is of the interface at which the host's packets come in, IPv4
    first. None where the two have no version of IP, or no way, in common."""
    own = draft.hosts[host]
    assert own is not None, "a draft that is whole has all of its nodes"
    if (other := draft.hosts.get(far)) is not None:
        between = addresses_between(wiring, (host, own), (far, other))
        return between[1] if between else None
    router = draft.routers[far]
    if router is None or not (path := wiring.path(host, far)):
        return None
    (leaving, _), (_, entering) = path[0], path[-1]
    joined = wiring.same_segment(leaving, entering)
    versions = {address.version for _, address in _interfaces(own) if joined or _leaves(own, address)}
    there = sorted(router.interfaces[entering.port], key=lambda address: address.version)
    return next((address.ip for address in there if address.version in versions), None)


def _interfaces(host: Host) -> list[tuple[str, Interface]]:
    return [(port, address) for port, addresses in host.ports().items() for address in addresses]


def _leaves(host: Host, interface: Interface) -> bool:
    return any(gateway in interface.network for gateway in host.gateway if gateway.version == interface.version)
