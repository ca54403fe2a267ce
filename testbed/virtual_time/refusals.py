# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a topology there is in real time only, each with its place in the file and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from applications.registry import applications
from applications.virtual_traffic import FlowEnd, VirtualTraffic
from contracts.changes import Change, FreezeChange, PowerChange
from contracts.errors import BadInput
from contracts.plan import Plan
from system.user_privileges import as_user
from testbed.description.targets import Targets
from testbed.description.topology import Topology
from testbed.description.yaml_source import Location, read
from testbed.virtual_time.hosts import is_known

_IN_REAL_TIME = "or run it in real time, without --virtual"


#: By name each entry of the traffic, None where it runs in real time only.
Traffic = Mapping[str, VirtualTraffic | None]


def refusals(topology: Topology, plan: Plan, traffic: Traffic) -> Iterator[BadInput]:
    """None, where all of it runs in virtual time."""
    problems = [
        *_of_nodes(topology, plan),
        *_of_traffic(plan, traffic),
        *_of_tcp_ports(traffic),
        *_of_events(topology, plan),
    ]
    if problems:
        with as_user():
            source = read(topology.path)
        for location, cause, remedy in problems:
            yield source.bad(location, cause, f"{remedy}, {_IN_REAL_TIME}", key=True)


def _of_nodes(topology: Topology, plan: Plan) -> Iterator[tuple[Location, str, str]]:
    for name in topology.switches:
        yield (
            ("switches", name),
            f"switch {name} is Open vSwitch, which works in real time only",
            "take a netbox of `technology: ethernet` with `medium: switched`",
        )
    for name in topology.equipment:
        yield ("equipment", name), f"equipment {name} is real, and so is its time", "leave it out"
    for name in topology.replace:
        yield ("replace", name), f"a real network is in the place of netbox {name}, and has its own time", "leave it out"
    for name, host in topology.hosts.items():
        if host.start is not None:
            yield ("hosts", name, "start"), f"host {name} starts a program, which takes real time", "leave `start` out"
    for name, router in topology.routers.items():
        if router.engine == "linux" and not is_known(plan.node(name)):
            yield (
                ("routers", name),
                f"router {name} finds its routes in a way of FRRouting that there is in real time only",
                "give it OSPF, or static routes by the addresses of gateways",
            )


def _of_traffic(plan: Plan, traffic: Traffic) -> Iterator[tuple[Location, str, str]]:
    kinds = applications()
    for entry in plan.traffic:
        if traffic[entry.name] is None:
            others = [name for name in sorted(kinds) if "virtual" in vars(kinds[name])]
            yield (
                ("traffic", entry.name),
                f"traffic {entry.name} is {entry.application}, whose programs run in real time only",
                f"take {' or '.join(others)}",
            )


def _of_tcp_ports(traffic: Traffic) -> Iterator[tuple[Location, str, str]]:
    """A connection holds its port until the run is over; only a port that listens may be several entries'."""
    owners: dict[tuple[str, int], tuple[str, FlowEnd]] = {}
    for entry, told in traffic.items():
        of_tcp = [end for end in (told.ends if told else ()) if end["application"] != "datagrams"]
        own = [(end, port) for end in of_tcp for port in _own_ports(end)]
        for end, port in own:
            name, other = owners.get((end["host"], port), (entry, end))
            if name != entry and {"sender", "server"} & {end["role"], other["role"]}:
                yield (
                    ("traffic", entry),
                    f"{end['host']} has port {port} of the traffic {name} already, which is not free again in virtual time",
                    "give it another port",
                )
                break
        owners |= {(end["host"], port): (entry, end) for end, port in own}


def _own_ports(end: FlowEnd) -> range:
    if end["role"] == "client":
        return range(0)  # any that is free
    first = end["port"] if end["role"] in ("receiver", "server") else end.get("source_port", 0)
    return range(first, first + end.get("parallel", 1))


def _of_events(topology: Topology, plan: Plan) -> Iterator[tuple[Location, str, str]]:
    """Each at its event."""
    targets = Targets.of(plan.nodes, plan.wires, plan.equipment)
    context = {"folder": topology.path.resolve().parent}
    for number, event in enumerate(topology.events):
        reasons = (_why_not(step.change, targets) for step in event.sequence(targets, context).steps)
        if reason := next(filter(None, reasons), None):
            yield ("events", number), *reason


def _why_not(change: Change, targets: Targets) -> tuple[str, str] | None:
    """Cause and remedy where a change takes time of the machine, or what ns-3 cannot do."""
    if isinstance(change, FreezeChange):
        return (
            f"netbox {change.netbox} is to have no time to compute, of which virtual time needs none",
            "unplug its wires instead",
        )
    netbox = targets.netboxes.get(change.node) if isinstance(change, PowerChange) else None
    if netbox is not None and not netbox.technology.STARTS_ANEW:
        return (
            f"a netbox of {netbox.of} is to lose its power, which ns-3 cannot start anew while virtual time goes on",
            "unplug its wires or have its links fade instead",
        )
    return None
