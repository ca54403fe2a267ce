# SPDX-License-Identifier: GPL-2.0-or-later
"""How much each netbox will have to do: the declared traffic along its paths, at what a frame costs on this machine.

Applications go the paths that the routes of hosts and routers lead (`testbed.plans.routing`), and other ones when a part of those
fails. A generator's frames go to each sink of its layer-2 segment, or to all its hosts and routers where it has none; what
routers make of them is not looked into. All rates are means. A netbox that has two cores is reckoned as if it had one: either of
them will have less to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from contracts.errors import listed
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan
from testbed.description.topology import Topology
from testbed.description.wiring import End, Wiring
from testbed.plans.calibration import SMALL, Calibration, Costs, NoCalibration
from testbed.plans.traffic_paths import Crossing, TrafficPath, TrafficPaths


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
    traffic = TrafficPaths(topology, plan, wiring, {})
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
    topology: Topology, plan: Plan, traffic: TrafficPaths, calibration: Calibration | NoCalibration
) -> tuple[NetboxLoad, ...]:
    crossings = traffic.crossings()
    return tuple(_load(topology, plan.node(name), crossings[name], calibration) for name in topology.netboxes)


def _load(topology: Topology, node: NodePlan, crossings: list[Crossing], calibration: Calibration | NoCalibration) -> NetboxLoad:
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
    stations = netbox_configuration(node)["stations"]
    ports = {station["name"]: calibration.port(station["port"]["kind"]) for station in stations}
    # What the technology takes more than Ethernet, both in virtual time; what Ethernet takes in real time is in the ports' costs.
    segment = cost.frame.over(calibration.technologies["ethernet"].frame)
    if unknown := [station for station, port in ports.items() if port is None]:
        return replace(load, reason=f"the calibration has no port like that of {listed(unknown, 'and')}")
    known = {station: port for station, port in ports.items() if port is not None}
    alone = _busy(crossings, segment, {station: port.alone for station, port in known.items()})
    least = _busy(crossings, segment, {station: port.among_many for station, port in known.items()})
    smallest_us = segment.of(SMALL) + sum(port.among_many.of(SMALL) for port in known.values()) / len(known)
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


def _busy(crossings: list[Crossing], segment: Costs, ports: dict[str, Costs]) -> float:
    """CPU seconds a second. A port's cost is for coming in and going out, so each direction has half."""
    busy_us = 0.0
    for crossing in crossings:
        size = crossing.stream.frame_bytes
        used = [*crossing.leaving, *([crossing.entering] if crossing.entering is not None else [])]
        frame_us = segment.of(size) + sum(ports[station].of(size) for station in used) / 2
        busy_us += crossing.stream.frames_per_s * frame_us
    return busy_us / 1e6


def _failures(
    topology: Topology,
    plan: Plan,
    wiring: Wiring,
    traffic: TrafficPaths,
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
        others = {direction: wires for direction, wires in traffic.wires.items() if direction not in affected}
        then = TrafficPaths(topology, plan, remaining, others)
        moved = tuple(then.of(direction) for direction in affected if then.wires[direction])
        cut = tuple(then.of(direction) for direction in affected if then.wires[direction] == [])
        if moved:
            changed = set(_loads(topology, plan, then, calibration)).difference(loads)
            parts.setdefault((moved, cut, tuple(sorted(changed, key=lambda load: load.netbox))), []).append(part)
    return tuple(Failure(tuple(failing), *outcome) for outcome, failing in parts.items())


def _parts(topology: Topology, plan: Plan, traffic: TrafficPaths) -> Iterator[tuple[str, frozenset[End]]]:
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
            each = ", ".join(f"{name} {share:.0%}" for name, share in together.items())
            yield (
                f"{where} would need {total:.0%} of itself for {each}: frames will be dropped, and the run will be "
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
