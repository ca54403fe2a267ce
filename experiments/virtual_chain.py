# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology's segments in virtual time, one after another: what leaves a segment's port enters the next.

The plan is the one of a lab: the same parameters, classes, seeds, addresses and events. Synthetic flows (application udp-flow)
are made at the times of their timetables and go the path that routes lead, routers and wires take no time, and each bridge has
heard an ARP announcement from all around it before. That does for traffic in one direction, which needs no answer; its results
are those of a run's captures and frame records.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

import polars as pl

from applications.udp_flow.application import UdpFlowOptions, flows, version
from contracts.changes import ParameterChange
from contracts.errors import WrongInput
from contracts.flow import ApplicationRecord, Flow
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import InterfacePlan, Plan, RealtimeSupport, TrafficPlan
from experiments.frame_maker import FrameMaker, announcement, key_of, routed
from netboxes.engine.virtual import Change, Emulation, TimedFrame, run
from results.flow_path import Network
from results.frames import PATIENCE_NS, SEEN, follow, passages, together
from results.identity import identity
from results.run_folder import Measured
from testbed.description.topology import Topology
from testbed.description.wiring import End, Wiring
from testbed.plans.resolve import resolve
from testbed.plans.routing import RoutesUnknown, Routing

#: When addresses are announced, after the emulation began, and the network's time begins: a Wi-Fi station has associated by then.
ANNOUNCED_S = 1.5
#: When an application that starts at once sends: about as long after that as a program in a lab.
STARTED_S = ANNOUNCED_S + 0.2
#: Stations announce themselves one after the other.
_TURN_S = 0.02

_NO_LAB = RealtimeSupport(fifo=False, budget_us=None, reason="virtual time")
_LAB = "virtual"


class NotVirtual(WrongInput):
    """Traffic that cannot be emulated segment by segment: it is no synthetic flow over IPv4, or it goes both ways."""


@dataclass(frozen=True)
class Leg:
    """One netbox on the way of a flow: where frames come in and go out, and the interfaces of the IP hop that they are on."""

    netbox: str
    entry: str
    exit: str
    source: InterfacePlan
    destination: InterfacePlan


@dataclass(frozen=True)
class Virtual:
    """What came of it: the flows with their frames, as a run's analysis has them, and what each netbox counted."""

    measured: list[Measured]
    statistics: dict[str, dict[str, Any]]


def emulate_chain(topology: Topology, *, duration_s: float | None = None) -> Virtual:
    """All traffic of the topology through all its segments. Raises NotVirtual, and EmulationFailed when a netbox fails."""
    plan = resolve(topology, lab=_LAB, duration_s=duration_s, realtime=_NO_LAB)
    routing = Routing(plan, Wiring.of(topology))
    streams = [stream for traffic in plan.traffic for stream in _streams(plan, routing, traffic)]
    emulations = dict(_emulations(plan, streams))
    records = together({netbox: passages(emulation.records) for netbox, emulation in emulations.items()})
    network = Network(plan)
    measured = []
    for stream in streams:
        sent, received = _seen(stream.sent, stream.payload), _seen(stream.frames, stream.payload)
        # Every frame is accounted for, so none was still on its way at the end.
        end_ns = max([0, *sent["time_ns"], *received["time_ns"]]) + 100 * PATIENCE_NS
        rows, paths = follow(stream.flow, network, sent, received, records, {}, end_ns)
        measured.append(Measured(stream.record, stream.flow, paths, rows))
    return Virtual(measured, {netbox: emulation.statistics for netbox, emulation in emulations.items()})


@dataclass
class _Stream:
    """One flow on its way: `frames` are those that have come as far as it was emulated."""

    record: ApplicationRecord
    flow: Flow
    key: bytes
    payload: int
    legs: Sequence[Leg]
    sent: list[TimedFrame]
    frames: list[TimedFrame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frames = self.sent


def _streams(plan: Plan, routing: Routing, traffic: TrafficPlan) -> Iterator[_Stream]:
    if traffic.application != "udp-flow" or version(traffic) != 4:
        raise NotVirtual(f"traffic {traffic.name} is {traffic.application}; in virtual time there is only udp-flow over IPv4")
    options = UdpFlowOptions.model_construct(**traffic.options)
    legs = _legs(plan, routing, traffic)
    all_flows = flows(traffic)
    record = ApplicationRecord(name=traffic.name, application=traffic.application, flows=tuple(all_flows))
    for flow, timetable in zip(all_flows, options.timetables(traffic.name), strict=True):
        first = legs[0]
        maker = FrameMaker(flow, round(options.payload), options.dscp, _mac(first.source), _mac(first.destination))
        times = STARTED_S + options.start + timetable.departures()
        sent = [(float(time), maker.frame(number)) for number, time in enumerate(times)]
        yield _Stream(record, flow, maker.key, round(options.payload), legs, sent)


def _emulations(plan: Plan, streams: Sequence[_Stream]) -> Iterator[tuple[str, Emulation]]:
    """Each netbox after all those that send to it."""
    before: dict[str, set[str]] = {}
    for stream in streams:
        for at, leg in enumerate(stream.legs):
            before.setdefault(leg.netbox, set()).update(earlier.netbox for earlier in stream.legs[:at])
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError as error:
        raise NotVirtual(f"traffic goes both ways through {', '.join(error.args[1])}: that needs a lab") from None
    for netbox in order:
        yield netbox, _emulate(plan, netbox, [stream for stream in streams if netbox in (leg.netbox for leg in stream.legs)])


def _emulate(plan: Plan, netbox: str, streams: Sequence[_Stream]) -> Emulation:
    """Lets the streams through one netbox; afterwards they have the frames that came out."""
    legs = {stream.key: next(leg for leg in stream.legs if leg.netbox == netbox) for stream in streams}
    configuration = netbox_configuration(plan.node(netbox))
    stations = [station["name"] for station in configuration["stations"]]
    ports = {(leg.entry, leg.source) for leg in legs.values()} | {(leg.exit, leg.destination) for leg in legs.values()}
    frames: dict[str, list[TimedFrame]] = {}
    for turn, (station, interface) in enumerate(sorted(ports, key=lambda port: (port[0], port[1].mac))):
        address = interface.addresses[0].partition("/")[0]
        frames.setdefault(station, []).append((ANNOUNCED_S + turn * _TURN_S, announcement(_mac(interface), address)))
    for stream in streams:
        leg = legs[stream.key]
        hop = (_mac(leg.source), _mac(leg.destination))
        entering = [(time, data if data[:12] == hop[1] + hop[0] else routed(data, *hop)) for time, data in stream.frames]
        frames.setdefault(leg.entry, []).extend(entering)
        stream.frames = []
    emulation = run(
        configuration["technology"],
        stations,
        configuration["parameters"],
        frames,
        seed=configuration["seed"],
        classes=configuration["classes"],
        events=list(_changes(plan, netbox)),
    )
    by_key = {stream.key: stream for stream in streams}
    for station, left in emulation.received.items():
        for time, data in left:
            key = key_of(data)
            if key in legs and legs[key].exit == station:
                by_key[key].frames.append((time, data))
    return emulation


def _changes(plan: Plan, netbox: str) -> Iterator[Change]:
    """The topology's events of this netbox. The network's time begins with the first frame, as in a run with the captures."""
    for event in plan.events:
        if not isinstance(event.change, ParameterChange) or event.when is not None:
            raise NotVirtual(f"{event.change.words()}: in virtual time only parameters of netboxes change")
        if event.change.netbox == netbox:
            yield ANNOUNCED_S + event.at_s, event.change.parameter, event.change.value


def _legs(plan: Plan, routing: Routing, traffic: TrafficPlan) -> tuple[Leg, ...]:
    """The netboxes on the path of a packet, with the stations by which a frame enters and leaves each."""
    try:
        paths = routing.paths(traffic.source, ipaddress.ip_address(traffic.destination_address))
    except RoutesUnknown as unknown:
        raise NotVirtual(f"the configuration of router {unknown} does not say where packets of {traffic.name} go") from None
    if len(paths) != 1:
        raise NotVirtual(f"{traffic.name} has {len(paths)} paths that are equally good; in virtual time it needs one")
    (wires,) = paths
    kinds = {node.name: node.kind for node in plan.nodes}
    legs = []
    for at, (_, into) in enumerate(wires[:-1]):
        if kinds[into.node] != "netbox":
            continue
        sender = next(end for end, _ in wires[at::-1] if kinds[end.node] != "netbox")
        receiver = next(end for _, end in wires[at + 1 :] if kinds[end.node] != "netbox")
        legs.append(Leg(into.node, into.port, wires[at + 1][0].port, _interface(plan, sender), _interface(plan, receiver)))
    if not legs:
        raise NotVirtual(f"no netbox lies between {traffic.source} and {traffic.destination}")
    return tuple(legs)


def _interface(plan: Plan, end: End) -> InterfacePlan:
    return next(interface for interface in plan.node(end.node).interfaces if interface.name == end.port)


def _mac(interface: InterfacePlan) -> bytes:
    return bytes.fromhex(interface.mac.replace(":", ""))


def _seen(frames: Sequence[TimedFrame], payload: int) -> pl.DataFrame:
    """Frames as a capture would have seen them (results.frames.SEEN)."""
    rows = [(identity(data), round(time * 1e9), len(data), payload, None, None) for time, data in frames]
    return pl.DataFrame(rows, schema=SEEN, orient="row")
