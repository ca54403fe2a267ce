# SPDX-License-Identifier: GPL-2.0-or-later
"""How much each netbox will have to do: the declared traffic along its paths, at what a frame costs on this machine.

Applications go the paths that the routes of hosts and routers lead (`testbed.plans.routing`), and other ones when a part of those
fails. A generator's frames go to each sink of its layer-2 segment, or to all its hosts and routers where it has none; what
routers make of them is not looked into. All rates are means. A netbox that has two cores is reckoned as if it had one: either of
them will have less to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address

from applications.stream import Stream
from contracts.errors import listed
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan, TrafficPlan
from testbed.description.topology import Topology
from testbed.description.wiring import End, Wiring, both_ways
from testbed.plans.calibration import SMALL, Calibration, Costs, NoCalibration
from testbed.plans.routing import RoutesUnknown, Routing, Wires


@dataclass(frozen=True)
class NetboxLoad:
    """Of one netbox. What is None is not known."""

    netbox: str
    #: That come in, and their mean size without FCS.
    frames_per_s: float
    mean_bytes: float
    #: Of one core, with what it takes when idle, when it has the core alone.
    share: float | None = None
    #: The same when it is so busy that it finds many frames at a time: what counts when a core is full.
    least_share: float | None = None
    #: The smallest frames that a core does when it has nothing else to do.
    most_per_s: float | None = None
    #: The smallest frames that fill the medium.
    medium_per_s: float | None = None
    #: Why nothing is said of the core.
    reason: str = ""


@dataclass(frozen=True)
class TrafficPath:
    """The netboxes on the paths of an application in one direction; several paths are equally good, none means no route."""

    traffic: str
    source: str
    destination: str
    paths: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Failure:
    """What a failure changes for the traffic that has another path then."""

    #: Wires and netboxes of which each one's failure has these consequences.
    parts: tuple[str, ...]
    moved: tuple[TrafficPath, ...]
    #: Traffic in one direction that has no path then.
    cut: tuple[TrafficPath, ...]
    #: Those with another load than before.
    netboxes: tuple[NetboxLoad, ...]


@dataclass(frozen=True)
class LoadEstimate:
    netboxes: tuple[NetboxLoad, ...]
    notes: tuple[str, ...]
    #: When the figures were measured; None without any.
    measured: str | None
    paths: tuple[TrafficPath, ...] = ()
    failures: tuple[Failure, ...] = ()


def estimate(topology: Topology, plan: Plan, calibration: Calibration | NoCalibration) -> LoadEstimate:
    """The load of each netbox; without a calibration only the frames, and how to get one."""
    wiring = Wiring.of(topology)
    traffic = _TrafficPaths(topology, plan, wiring, {})
    loads = _loads(topology, plan, traffic, calibration)
    failures = _failures(topology, plan, wiring, traffic, loads, calibration)
    unknown = [name for name, traffic in topology.traffic.items() if not traffic.options.streams()]
    unknown += [name for name, netbox in topology.netboxes.items() if netbox.parameters.EMITS and not netbox.parameters.streams()]
    notes = [f"the load of {listed(unknown, 'and')} is not in the estimate: it is not known before"] if unknown else []
    notes += traffic.notes()
    frames = LoadEstimate(loads, (), None, tuple(map(traffic.of, traffic.wires)), failures)
    if isinstance(calibration, NoCalibration):
        return replace(frames, notes=(*notes, f"loads are not estimated: {calibration}"))
    if two := [name for name in topology.netboxes if len(plan.node(name).cores) > 1]:
        notes.append(f"the work of {listed(two, 'and')} is reckoned as if on one core; either of two will have less to do")
    own = {host.name for host in plan.hosts if host.here}
    if elsewhere := [name for name in topology.netboxes if plan.hosts and plan.node(name).host not in own]:
        notes.append(f"the work of {listed(elsewhere, 'and')}, on other machines, is reckoned as if on this one")
    notes += [f"the calibration is stale, `netboxit calibrate` measures anew: {what}" for what in calibration.stale()]
    notes += _overloads(plan, loads)
    for failure in failures:
        changed = {load.netbox for load in failure.netboxes}
        overloads = _overloads(plan, [*(load for load in loads if load.netbox not in changed), *failure.netboxes])
        notes += [f"when {failure.parts[0]} fails: {note}" for note in overloads if note not in notes]
    return replace(frames, notes=(*notes, *_faster_media(topology, loads)), measured=calibration.measured)


def _loads(
    topology: Topology, plan: Plan, traffic: _TrafficPaths, calibration: Calibration | NoCalibration
) -> tuple[NetboxLoad, ...]:
    crossings = traffic.crossings()
    return tuple(_load(topology, plan.node(name), crossings[name], calibration) for name in topology.netboxes)


def _load(topology: Topology, node: NodePlan, crossings: list[_Crossing], calibration: Calibration | NoCalibration) -> NetboxLoad:
    netbox = topology.netboxes[node.name]
    entering = [crossing for crossing in crossings if crossing.entering is not None]
    rate = sum(crossing.stream.frames_per_s for crossing in entering)
    octets = sum(crossing.stream.frames_per_s * crossing.stream.frame_bytes for crossing in entering)
    load = NetboxLoad(node.name, rate, octets / rate if rate else 0.0)
    if isinstance(calibration, NoCalibration):
        return load
    if netbox.parameters.TYPICAL is None:
        return replace(load, reason=f"{netbox.technology} is an end of the network, which is not calibrated")
    for needed in (netbox.technology, "ethernet"):
        if needed not in calibration.technologies:
            why = f": {calibration.failed[needed]}" if needed in calibration.failed else ""
            return replace(load, reason=f"the calibration has no {needed}{why}; `netboxit calibrate` measures it")
    cost = calibration.technologies[netbox.technology]
    ports = {station["name"]: calibration.port(station["port"]["kind"]) for station in netbox_configuration(node)["stations"]}
    # What the technology takes more than Ethernet, both in virtual time; what Ethernet takes in real time is in the ports' costs.
    segment = cost.frame.over(calibration.technologies["ethernet"].frame)
    if unknown := [station for station, port in ports.items() if port is None]:
        return replace(load, reason=f"the calibration has no port like that of {listed(unknown, 'and')}")
    port_costs = {station: port for station, port in ports.items() if port is not None}
    alone = _busy(crossings, segment, {station: port.alone for station, port in port_costs.items()})
    least = _busy(crossings, segment, {station: port.among_many for station, port in port_costs.items()})
    smallest_us = segment.of(SMALL) + sum(port.among_many.of(SMALL) for port in port_costs.values()) / len(port_costs)
    rate_of_medium = netbox.parameters.gross_rate()
    return replace(
        load,
        share=cost.idle_share + _share(alone, least),
        least_share=cost.idle_share + least,
        most_per_s=max(1.0 - cost.idle_share, 0.0) * 1e6 / smallest_us,
        medium_per_s=None if rate_of_medium is None else rate_of_medium / (8 * netbox.parameters.SMALLEST_ON_MEDIUM),
    )


def _share(alone: float, least: float) -> float:
    """Of a core, between frames that all come alone and a core so busy that all come among others.

    A frame's cost is taken to fall in proportion to how busy the core is: share = alone + (least - alone) * share.
    """
    return alone / (1 + alone - least) if least < min(alone, 1.0) else least


def _busy(crossings: list[_Crossing], segment: Costs, ports: dict[str, Costs]) -> float:
    """CPU seconds a second. A port's cost is for coming in and going out, so each direction has half."""

    def frame_us(crossing: _Crossing) -> float:
        size = crossing.stream.frame_bytes
        return segment.of(size) + sum(ports[station].of(size) for station in crossing.stations()) / 2

    return sum(crossing.stream.frames_per_s * frame_us(crossing) for crossing in crossings) / 1e6


def _failures(
    topology: Topology,
    plan: Plan,
    wiring: Wiring,
    traffic: _TrafficPaths,
    loads: tuple[NetboxLoad, ...],
    calibration: Calibration | NoCalibration,
) -> tuple[Failure, ...]:
    """Of each wire and netbox on a path of traffic that has another one without it."""
    parts: dict[tuple[tuple[TrafficPath, ...], tuple[TrafficPath, ...], tuple[NetboxLoad, ...]], list[str]] = {}
    for part, failed in _parts(topology, plan, traffic):
        remaining = replace(wiring, wires=[wire for wire in wiring.wires if failed.isdisjoint(wire)])
        affected = [
            direction
            for direction, paths in traffic.wires.items()
            if any(not failed.isdisjoint(wire) for path in paths or () for wire in path)
        ]
        if not any(path.destination in remaining.distances(path.source) for path in map(traffic.of, affected)):
            continue
        unchanged = {direction: wires for direction, wires in traffic.wires.items() if direction not in affected}
        then = _TrafficPaths(topology, plan, remaining, unchanged)
        moved = tuple(then.of(direction) for direction in affected if then.wires[direction])
        cut = tuple(then.of(direction) for direction in affected if then.wires[direction] == [])
        if moved:
            changed = set(_loads(topology, plan, then, calibration)).difference(loads)
            parts.setdefault((moved, cut, tuple(sorted(changed, key=lambda load: load.netbox))), []).append(part)
    return tuple(Failure(tuple(failing), *outcome) for outcome, failing in parts.items())


def _parts(topology: Topology, plan: Plan, traffic: _TrafficPaths) -> Iterator[tuple[str, frozenset[End]]]:
    """The netboxes and wires on known paths, each with the ends that it takes out of the network."""
    wires = {frozenset(wire) for paths in traffic.wires.values() for path in paths or () for wire in path}
    ends = frozenset[End]().union(*wires)
    for name in topology.netboxes:
        if own := frozenset(end for end in ends if end.node == name):
            yield f"netbox {name}", frozenset(End(name, station) for station in topology.netboxes[name].stations) | own
    for wire in plan.wires:
        pair = frozenset(End(end.node, end.interface) for end in (wire.left, wire.right))
        if pair in wires:
            yield f"wire {wire.name}", pair


def _overloads(plan: Plan, loads: Sequence[NetboxLoad]) -> Iterator[str]:
    shares = {load.netbox: load.least_share for load in loads if load.least_share is not None}
    places = {name: (plan.node(name).host, plan.node(name).cores[0]) for name in shares}
    for machine, core in sorted(set(places.values())):
        where = f"core {core} of {machine}" if machine else f"core {core}"
        together = {name: share for name, share in shares.items() if places[name] == (machine, core)}
        if (total := sum(together.values())) > 1.0:
            users = ", ".join(f"{name} {share:.0%}" for name, share in together.items())
            yield (
                f"{where} would need {total:.0%} of itself for {users}: frames will be dropped, and the run will be "
                "degraded or invalid; send less, or give the netboxes more cores"
            )


def _faster_media(topology: Topology, loads: tuple[NetboxLoad, ...]) -> Iterator[str]:
    for load in loads:
        if load.medium_per_s is not None and load.most_per_s is not None and load.medium_per_s > load.most_per_s:
            rate = (topology.netboxes[load.netbox].parameters.gross_rate() or 0.0) / 1e6
            yield (
                f"{load.netbox}: the smallest frames at {rate:.4g} Mbit/s would be {rounded(load.medium_per_s)} frames/s, "
                f"its core can do {rounded(load.most_per_s)}: the emulator, not the medium, would be the limit"
            )


def rounded(rate: float) -> str:
    """Two digits of a rate: no estimate has more."""
    return f"{float(f'{rate:.2g}'):,.0f}".replace(",", " ")


@dataclass(frozen=True)
class _Crossing:
    """A stream through a netbox: in at one station, out at one or several."""

    stream: Stream
    entering: str | None
    leaving: frozenset[str]

    def stations(self) -> list[str]:
        return [*self.leaving] if self.entering is None else [*self.leaving, self.entering]


#: Traffic by name, and whether it is that back from its destination to its source.
_Direction = tuple[str, bool]


class _TrafficPaths:
    """Of the traffic of a topology, through a network with this wiring, which may lack wires that have failed.

    `unchanged` is traffic whose paths do not have those: what fails elsewhere makes no other path better.
    """

    def __init__(
        self, topology: Topology, plan: Plan, wiring: Wiring, unchanged: Mapping[_Direction, list[Wires] | None]
    ) -> None:
        self._topology, self._wiring = topology, wiring
        self._plans = {traffic.name: traffic for traffic in plan.traffic}
        #: None where it is not known how routers choose.
        self.wires: dict[_Direction, list[Wires] | None] = {}
        self._unknown: dict[str, list[str]] = {}
        routing = Routing(plan, wiring)
        for traffic in plan.traffic:
            streams = topology.traffic[traffic.name].options.streams()
            for back in sorted({False, *(stream.back for stream in streams)} if streams else {False, True}):
                source, _, address = _ends(traffic, back)
                self.wires[traffic.name, back] = unchanged.get((traffic.name, back))
                if (traffic.name, back) not in unchanged:
                    try:
                        self.wires[traffic.name, back] = routing.paths(source, ip_address(address))
                    except RoutesUnknown as unknown:
                        self._unknown.setdefault(unknown.router, []).append(traffic.name)

    def of(self, direction: _Direction) -> TrafficPath:
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

    def crossings(self) -> dict[str, list[_Crossing]]:
        """By netbox."""
        crossings: dict[str, list[_Crossing]] = {name: [] for name in self._topology.netboxes}
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
                    crossings[node].append(_Crossing(stream, port, frozenset(ports)))
        return crossings

    def _taken(self, direction: _Direction) -> list[Wires]:
        if (wires := self.wires[direction]) is not None:
            return wires
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
                first = next(wire for wire in both_ways(self._wiring.wires) if wire[0] == start)
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
