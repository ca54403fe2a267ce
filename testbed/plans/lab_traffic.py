# SPDX-License-Identifier: GPL-2.0-or-later
"""The traffic of a file for a lab that is up: between the hosts and addresses that the lab has, not those of the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from ipaddress import ip_address, ip_interface
from itertools import product

from contracts.addresses import Address, Interface
from contracts.errors import BadInput, BadTopology, listed
from contracts.plan import NodePlan, Plan
from testbed.description.input_errors import nearest
from testbed.description.traffic_file import Wanted
from testbed.description.wiring import End, Wiring
from testbed.description.wiring_checks import traffic_problems
from testbed.plans.traffic_plan import planned


def plan_lab_traffic(wanted: Wanted, lab: Plan, duration_s: float | None) -> Plan:
    """The lab's plan with this traffic and without events. Raises BadTopology, with all that the lab lacks, and BadDuration."""
    centre = wanted.centre or lab.centre
    errors = [*_centre_errors(wanted, lab, centre), *_end_errors(wanted, lab)]
    if errors or centre is None:
        raise BadTopology(errors)
    wires = [(End(wire.left.node, wire.left.interface), End(wire.right.node, wire.right.interface)) for wire in lab.wires]
    wiring = Wiring(wires, frozenset(), frozenset(_hosts(lab)))
    addresses = {
        name: _addresses_between(lab.node(traffic.source), lab.node(traffic.destination))
        for name, traffic in wanted.traffic.items()
    }
    if errors := [*_path_errors(wanted, lab, wiring, {name for name, pair in addresses.items() if pair is None})]:
        raise BadTopology(errors)
    distance = wiring.distances(centre)
    traffic = (planned(name, wanted.traffic[name], pair, distance, duration_s) for name, pair in addresses.items() if pair)
    return replace(lab, traffic=tuple(traffic), events=(), centre=centre)


def _centre_errors(wanted: Wanted, lab: Plan, centre: str | None) -> Iterator[BadInput]:
    if centre is None:
        cause = f"there is traffic, but neither the file nor lab {lab.lab} has a centre to tell its directions by"
        remedy = f"add centre: {listed(_hosts(lab))}" if _hosts(lab) else ""
        yield wanted.source.bad(("traffic",), cause, remedy, key=True)
    elif wanted.centre is not None and wanted.centre not in _hosts(lab):
        yield wanted.source.bad(("centre",), *_no_host(lab, wanted.centre))


def _end_errors(wanted: Wanted, lab: Plan) -> Iterator[BadInput]:
    for name, traffic in wanted.traffic.items():
        for key, host in (("from", traffic.source), ("to", traffic.destination)):
            if host not in _hosts(lab):
                yield wanted.source.bad(("traffic", name, key), *_no_host(lab, host))
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
    for node in lab.nodes:
        if node.name == name:
            return f'"{name}" is a {node.kind} of lab {lab.lab}, not a host', nearest(name, _hosts(lab))
    return f'lab {lab.lab} has no host "{name}"', nearest(name, _hosts(lab))


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
    addresses = [ip_interface(address) for interface in host.interfaces for address in interface.addresses]
    return sorted(addresses, key=lambda address: address.version)


def _leaves(host: NodePlan, interface: Interface) -> bool:
    return any(ip_address(route.gateway) in interface.network for route in host.routes)
