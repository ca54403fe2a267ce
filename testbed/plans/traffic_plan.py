# SPDX-License-Identifier: GPL-2.0-or-later
"""The traffic of a plan: between which addresses, in which direction, for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import TypeAdapter, ValidationError

from applications.application import ApplicationOptions
from contracts.addresses import Address
from contracts.errors import NetBoxITError
from contracts.plan import TrafficPlan
from testbed.description.topology import Topology, Traffic
from testbed.description.wiring import Wiring, addresses_between


class BadDuration(NetBoxITError):
    """A duration was given on the command line that an application cannot have, or none where one is needed."""

    exit_status = 2


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
    return planned(name, traffic, addresses, wiring.distances(topology.centre), duration_s)


def planned(
    name: str, traffic: Traffic, addresses: tuple[Address, Address], distance: Mapping[str, int], duration_s: float | None
) -> TrafficPlan:
    """`distance` is that of each node from the centre. Raises BadDuration."""
    options = traffic.options
    if duration_s is not None:
        options = options.model_copy(update={"duration": _checked(f"traffic {name}", type(options), duration_s)})
    return TrafficPlan(
        name=name,
        application=traffic.application,
        source=traffic.source,
        destination=traffic.destination,
        source_address=str(addresses[0]),
        destination_address=str(addresses[1]),
        direction=_direction(distance, traffic),
        options=options.model_dump(mode="json"),
    )


def _direction(distance: Mapping[str, int], traffic: Traffic) -> Literal["return", "forward"]:
    away = len(distance)
    return "return" if distance.get(traffic.destination, away) <= distance.get(traffic.source, away) else "forward"


def _checked(what: str, options: type[ApplicationOptions], duration_s: float) -> float:
    """A duration that such an application may have. Raises BadDuration."""
    of = options.model_fields["duration"]
    kind: Any = Annotated[(of.annotation, *of.metadata)]
    try:
        return float(TypeAdapter(kind).validate_python(f"{duration_s:.15g} s"))
    except ValidationError as error:
        cause = error.errors()[0].get("ctx", {}).get("error", error)
        raise BadDuration(f"duration of {what}: {cause}") from None
