# SPDX-License-Identifier: GPL-2.0-or-later
"""The traffic of a plan: between which addresses, in which direction, for how long.

That of a file for a lab that is up goes between the hosts and addresses that the lab has, not those of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_address, ip_interface
from itertools import product
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from applications.application import SEED, ApplicationOptions
from applications.registry import applications
from contracts.addresses import Address, Interface
from contracts.errors import BadInput, BadTopology, WrongInput, listed
from contracts.names import traffic_seed
from contracts.plan import NodePlan, Plan, TrafficPlan
from contracts.quantities import TIME
from testbed.description.input_errors import nearest
from testbed.description.topology import Topology, Traffic
from testbed.description.traffic_file import Wanted
from testbed.description.wiring import End, Wiring, addresses_between
from testbed.description.wiring_checks import traffic_problems
from testbed.description.yaml_source import Location


class BadDuration(WrongInput):
    """A duration was given on the command line that an application cannot have, or none where one is needed."""


class BadWarmUp(WrongInput):
    """A warm-up was given that leaves nothing of the run."""


def length_s(traffic: Iterable[TrafficPlan], duration_s: float | None) -> float:
    """Of a run, in the network's time: until the last of its traffic is over. `duration_s` replaces that of all traffic."""
    ends = (entry.options["start"] + (duration_s or entry.options["duration"]) for entry in traffic)
    return float(max(ends, default=duration_s or 0.0))


def with_warm_up(plan: Plan, warm_up_s: float, duration_s: float | None) -> Plan:
    """The plan of a run whose figures are of what is sent after the warm-up. Raises BadWarmUp."""
    if warm_up_s and warm_up_s >= (over_s := length_s(plan.traffic, duration_s)):
        raise BadWarmUp(
            f"a warm-up of {TIME.write(warm_up_s)} leaves nothing of a run of {TIME.write(over_s)}; say a shorter one, "
            "or a longer duration"
        )
    return replace(plan, warm_up_s=warm_up_s)


def plan_traffic(topology: Topology, wiring: Wiring, duration_s: float | None) -> tuple[TrafficPlan, ...]:
    """All traffic of the topology; `duration_s` replaces its durations. Raises BadDuration.

    Without traffic `duration_s` is that of the run, and has the limits of an application's.
    """
    if duration_s is not None and not topology.traffic:
        _checked("a run", ApplicationOptions, duration_s)
    return tuple(_plan(topology, wiring, name, traffic, duration_s) for name, traffic in topology.traffic.items())


def _plan(topology: Topology, wiring: Wiring, name: str, traffic: Traffic, duration_s: float | None) -> TrafficPlan:
    ends = [(host, topology.hosts[host]) for host in (traffic.source, traffic.destination)]
    addresses = addresses_between(wiring, *ends)
    assert addresses is not None and topology.centre is not None, "topology_file.load refuses traffic without a path or a centre"
    return _planned(name, traffic, topology.seed, addresses, wiring.distances(topology.centre), duration_s)


def plan_lab_traffic(wanted: Wanted, lab: Plan, duration_s: float | None) -> Plan:
    """The lab's plan with this traffic and without events. Raises BadTopology, with all that the lab lacks, and BadDuration."""
    centre = wanted.centre or lab.centre
    errors = [*_host_errors(wanted, lab, centre)]
    if errors or centre is None:
        raise BadTopology(errors)
    wiring = Wiring(
        [(End(wire.left.node, wire.left.interface), End(wire.right.node, wire.right.interface)) for wire in lab.wires],
        transparent=frozenset(),
        final=frozenset(_hosts(lab)),
    )
    addresses = {
        name: _addresses_between(lab.node(traffic.source), lab.node(traffic.destination))
        for name, traffic in wanted.traffic.items()
    }
    if errors := [*_path_errors(wanted, lab, wiring, {name for name, pair in addresses.items() if pair is None})]:
        raise BadTopology(errors)
    distance = wiring.distances(centre)
    planned = tuple(
        _planned(name, wanted.traffic[name], lab.seed, pair, distance, duration_s) for name, pair in addresses.items() if pair
    )
    old = set(without_effect(lab.traffic))
    notes = (*(note for note in lab.notes if note not in old), *without_effect(planned))
    return replace(lab, traffic=planned, events=(), centre=centre, notes=notes)


def without_effect(traffic: Iterable[TrafficPlan]) -> Iterator[str]:
    """Notes on what was said of traffic that has no effect in a lab, where real programs send it."""
    kinds = applications()
    for entry in traffic:
        for key in kinds[entry.application].OPTIONS.model_construct(**entry.options).virtual_only():
            yield f"traffic {entry.name}: `{key}` is used in virtual time only; a lab runs {entry.application} as without it"


def _host_errors(wanted: Wanted, lab: Plan, centre: str | None) -> Iterator[BadInput]:
    hosts = _hosts(lab)
    if centre is None:
        cause = f"there is traffic, but neither the file nor lab {lab.lab} has a centre to tell its directions by"
        yield wanted.source.bad(("traffic",), cause, f"add centre: {listed(hosts)}" if hosts else "", key=True)
    named: list[tuple[Location, str]] = [(("centre",), wanted.centre)] if wanted.centre is not None else []
    for name, traffic in wanted.traffic.items():
        named += [(("traffic", name, "from"), traffic.source), (("traffic", name, "to"), traffic.destination)]
    yield from (wanted.source.bad(place, *_no_host(lab, host)) for place, host in named if host not in hosts)
    for problem in traffic_problems(wanted.traffic):
        yield wanted.source.bad(problem.place, problem.cause, problem.remedy, key=problem.key)


def _path_errors(wanted: Wanted, lab: Plan, wiring: Wiring, without_addresses: Collection[str]) -> Iterator[BadInput]:
    for name, traffic in wanted.traffic.items():
        there = f"from {traffic.source} to {traffic.destination}"
        if not lab.equipment and traffic.destination not in wiring.distances(traffic.source):
            yield wanted.source.bad(("traffic", name, "to"), f"in lab {lab.lab} no wires lead {there}", "give another host")
        elif name in without_addresses:
            cause = f"in lab {lab.lab} no address leads {there}: their networks are different, and not both have a gateway"
            remedy = "give both an address and a gateway of one IP version in the lab's file, and `netboxit apply` it"
            yield wanted.source.bad(("traffic", name, "to"), cause, remedy)


def _no_host(lab: Plan, name: str) -> tuple[str, str]:
    kind = next((node.kind for node in lab.nodes if node.name == name), None)
    cause = f'"{name}" is a {kind} of lab {lab.lab}, not a host' if kind else f'lab {lab.lab} has no host "{name}"'
    return cause, nearest(name, _hosts(lab))


def _hosts(lab: Plan) -> list[str]:
    return [node.name for node in lab.nodes if node.kind == "host"]


def _addresses_between(source: NodePlan, destination: NodePlan) -> tuple[Address, Address] | None:
    """As `testbed.description.wiring.addresses_between`: in a lab that was checked, networks of two segments do not overlap."""
    pairs = [(near, far) for near, far in product(_interfaces(source), _interfaces(destination)) if near.version == far.version]
    joined = [(near.ip, far.ip) for near, far in pairs if near.network == far.network]
    routed = [(near.ip, far.ip) for near, far in pairs if _leaves(source, near) and _leaves(destination, far)]
    return next(iter((*joined, *routed)), None)


def _interfaces(host: NodePlan) -> list[Interface]:
    """Those with IPv4 first."""
    addresses = (ip_interface(address) for interface in host.interfaces for address in interface.addresses)
    return sorted(addresses, key=lambda address: address.version)


def _leaves(host: NodePlan, interface: Interface) -> bool:
    return any(ip_address(route.gateway) in interface.network for route in host.routes)


def _planned(
    name: str,
    traffic: Traffic,
    seed: int,
    addresses: tuple[Address, Address],
    distance: Mapping[str, int],
    duration_s: float | None,
) -> TrafficPlan:
    """`seed` is the network's, `distance` that of each node from the centre. Raises BadDuration."""
    options, away = traffic.options, len(distance)
    if getattr(options, SEED, 0) is None:
        options = options.model_copy(update={SEED: traffic_seed(seed, name)})
    if duration_s is not None:
        options = options.model_copy(update={"duration": _checked(f"traffic {name}", type(options), duration_s)})
    return TrafficPlan(
        name=name,
        application=traffic.application,
        source=traffic.source,
        destination=traffic.destination,
        source_address=str(addresses[0]),
        destination_address=str(addresses[1]),
        direction="return" if distance.get(traffic.destination, away) <= distance.get(traffic.source, away) else "forward",
        options=options.model_dump(mode="json"),
    )


def _checked(what: str, options: type[ApplicationOptions], duration_s: float) -> float:
    """A duration that such an application may have. Raises BadDuration."""
    of = options.model_fields["duration"]
    kind: Any = Annotated[(of.annotation, *of.metadata)]
    try:
        return float(TypeAdapter(kind).validate_python(f"{duration_s:.15g} s"))
    except ValidationError as error:
        cause = error.errors()[0].get("ctx", {}).get("error", error)
        raise BadDuration(f"duration of {what}: {cause}") from None
