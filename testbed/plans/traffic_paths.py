# SPDX-License-Identifier: GPL-2.0-or-later
"""Which netboxes the declared traffic crosses, and by which stations."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from applications.stream import Stream
from contracts.errors import listed
from contracts.plan import Plan, TrafficPlan
from testbed.description.topology import Topology
from testbed.description.wiring import End, Wiring
from testbed.plans.routing import RoutesUnknown, Routing, Wires


@dataclass(frozen=True)
class TrafficPath:
    """The netboxes on the paths of an application in one direction; several paths are equally good, none means no route."""

    traffic: str
    source: str
    destination: str
    paths: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Crossing:
    """A stream through a netbox: in at one station, out at one or several."""

    stream: Stream
    entering: str | None
    leaving: frozenset[str]


#: Traffic by name, and whether it is that back from its destination to its source.
Direction = tuple[str, bool]


class TrafficPaths:
    """Of the traffic of a topology, through a network with this wiring, which may lack wires that have failed.

    `unchanged` is traffic whose paths do not have those: what fails elsewhere makes no other path better.
    """

    def __init__(self, topology: Topology, plan: Plan, wiring: Wiring, unchanged: Mapping[Direction, list[Wires] | None]) -> None:
        self._topology, self._wiring = topology, wiring
        self._plans = {traffic.name: traffic for traffic in plan.traffic}
        #: None where it is not known how routers choose.
        self.wires: dict[Direction, list[Wires] | None] = {}
        self._unknown: dict[str, list[str]] = {}
        routing = Routing(plan, wiring)
        for traffic in plan.traffic:
            streams = topology.traffic[traffic.name].options.streams()
            for back in sorted({False, *(stream.back for stream in streams)} if streams else {False, True}):
                source, _, address = _ends(traffic, back)
                self.wires[traffic.name, back] = unchanged.get((traffic.name, back))
                if (traffic.name, back) not in unchanged:
                    try:
                        self.wires[traffic.name, back] = routing.paths(source, ipaddress.ip_address(address))
                    except RoutesUnknown as unknown:
                        self._unknown.setdefault(unknown.router, []).append(traffic.name)

    def of(self, direction: Direction) -> TrafficPath:
        source, destination, _ = _ends(self._plans[direction[0]], direction[1])
        netboxes = self._topology.netboxes
        paths = tuple(tuple(into.node for _, into in wires if into.node in netboxes) for wires in self._taken(direction))
        return TrafficPath(direction[0], source, destination, paths)

    def notes(self) -> Iterator[str]:
        """What is not as one would expect of routes."""
        for router, names in self._unknown.items():
            yield (
                f"the configuration of router {router} does not say where packets of {listed(sorted(set(names)), 'and')} go: "
                "the shortest chain of wires is taken"
            )
        for direction, wires in self.wires.items():
            path = self.of(direction)
            named = f"{path.traffic} from {path.source} to {path.destination}"
            if wires == []:
                yield f"{named}: no route leads there, so nothing will arrive; routers learn paths by `ospf` or have a `gateway`"
            elif wires and len(wires) > 1:
                yield f"{named} has {len(wires)} paths that are equally good; its whole load is counted on each"

    def crossings(self) -> dict[str, list[Crossing]]:
        """By netbox."""
        crossings: dict[str, list[Crossing]] = {name: [] for name in self._topology.netboxes}
        for stream, paths in self._streams():
            leaving: dict[tuple[str, str | None], set[str]] = {}
            for wires in paths:
                entered: str | None = None
                for out, into in wires:
                    leaving.setdefault((out.node, entered), set()).add(out.port)
                    leaving.setdefault((into.node, into.port), set())
                    entered = into.port
            for (node, port), ports in leaving.items():
                if node in crossings:
                    crossings[node].append(Crossing(stream, port, frozenset(ports)))
        return crossings

    def _taken(self, direction: Direction) -> list[Wires]:
        if (known := self.wires[direction]) is not None:
            return known
        source, destination, _ = _ends(self._plans[direction[0]], direction[1])
        return [tuple(self._wiring.path(source, destination))]

    def _streams(self) -> Iterator[tuple[Stream, list[Wires]]]:
        """Each stream with its paths."""
        for name, traffic in self._topology.traffic.items():
            for stream in traffic.options.streams():
                yield stream, self._taken((name, stream.back))
        for name, netbox in self._topology.netboxes.items():
            for station, stream in netbox.parameters.streams().items():
                start = End(name, station)
                first = next(wire for pair in self._wiring.wires for wire in (pair, pair[::-1]) if wire[0] == start)
                yield stream, [(first, *self._wiring.path(first[1].node, goal)) for goal in self._goals(start)]

    def _goals(self, start: End) -> list[str]:
        """The nodes where frames that begin at a station of a netbox end, on its layer-2 segment."""
        segment = next(ends for ends in self._wiring.segments() if start in ends)
        others = [end.node for end in segment if end.node != start.node]
        netboxes = self._topology.netboxes
        sinks = [node for node in others if node in netboxes and netboxes[node].parameters.ABSORBS]
        return sinks or [node for node in others if node not in netboxes]


def _ends(traffic: TrafficPlan, back: bool) -> tuple[str, str, str]:
    """Source, destination and the address that is sent to."""
    if back:
        return traffic.destination, traffic.source, traffic.source_address
    return traffic.source, traffic.destination, traffic.destination_address
