# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a topology file: when, and what changes then.

When and what are apart: `at:` is the only "when" there is, and what stands beside it is the same change that `netboxit set` makes
now (`testbed.changes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from testbed.changes import EventPlan, ParameterChange, WireChange, WireState
from testbed.live import read_value, written
from testbed.names import Name
from testbed.quantities import TIME, Quantity
from testbed.wire_ends import TwoEnds

if TYPE_CHECKING:
    from testbed.plan import TrafficPlan
    from testbed.topology import Topology
    from testbed.wiring import End, Wiring


class Event(BaseModel):
    """A change at a time of a run: of parameters of a netbox or of one of its stations, or of a wire."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Annotated[float, Quantity(TIME, 0.0, 86_400.0 * 365)] = Field(description="Since the network's time began.")
    netbox: Name | None = Field(None, description="The netbox that changes.")
    station: Name | None = Field(None, description="The station of it whose parameters change; without it those of the netbox.")
    values: dict[str, Any] | None = Field(
        None, alias="set", min_length=1, description="Live parameters and their new values, written as in the netbox itself."
    )
    wire: TwoEnds | None = Field(None, description="The wire that changes, by its two ends.")
    state: WireState | None = Field(None, description="The wire is unplugged, or plugged in again.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.netbox is None) == (self.wire is None):
            raise ValueError(
                "an event is of one netbox or of one wire; write netbox: … and set: …, or wire: [a, b] and state: down"
            )
        if self.netbox is not None and (self.values is None or self.state is not None):
            raise ValueError("an event of a netbox says what it sets; write set: {parameter: value}")
        if self.wire is not None and (self.state is None or self.values is not None or self.station is not None):
            raise ValueError("an event of a wire says its state; write state: down or state: up")
        return self

    def parameter(self, key: str) -> str:
        """The name by which a netbox knows it: "distance", or "responder.position"."""
        return key if self.station is None else f"{self.station}.{key}"


def plan_events(topology: Topology, wiring: Wiring) -> tuple[EventPlan, ...]:
    """The changes of a topology that was checked, in the order of their times; those of one time as the file has them."""
    context = {"folder": topology.path.resolve().parent}
    planned = [EventPlan(event.at, change) for event in topology.events for change in _changes(event, topology, wiring, context)]
    return tuple(sorted(planned, key=lambda event: event.at_s))


def switched_wires(topology: Topology, wiring: Wiring) -> set[frozenset[End]]:
    """The wires, each by its two ends, that some event unplugs."""
    return {frozenset(wiring.wire_between(*event.wire)) for event in topology.events if event.wire is not None}


def beyond(events: Iterable[EventPlan], traffic: Iterable[TrafficPlan], duration_s: float | None) -> Iterator[str]:
    """Notes on events that a run will not come to, because its traffic is over before."""
    ends = [entry.options["start"] + entry.options["duration"] for entry in traffic]
    if not ends and duration_s is None:
        return
    end_s = max([duration_s or 0.0, *ends])
    for event in events:
        if event.at_s >= end_s:
            yield (
                f"the event at {TIME.write(event.at_s)} ({event.change.words()}) will not happen in a run: "
                f"its traffic is over after {TIME.write(end_s)}"
            )


def _changes(
    event: Event, topology: Topology, wiring: Wiring, context: Mapping[str, Path]
) -> Iterator[ParameterChange | WireChange]:
    if event.wire is not None and event.state is not None:
        yield _wire_change(event.wire, event.state, topology, wiring)
    if event.netbox is not None:
        technology = type(topology.netboxes[event.netbox].parameters)
        for key, said in (event.values or {}).items():
            parameter = event.parameter(key)
            value = read_value(technology, parameter, said, context)
            yield ParameterChange(event.netbox, parameter, value, written(technology, parameter, value))


def _wire_change(ends: tuple[str, str], state: WireState, topology: Topology, wiring: Wiring) -> WireChange:
    """An interface that is down loses its routes; its peer only its carrier. So it is an emulator's, where there is one.

    Equipment has no interface but that of the node at its other end.
    """
    left, right = wiring.wire_between(*ends)
    inside = [end for end in (left, right) if end.node not in topology.equipment]
    end = min(inside, key=lambda one: ("frames", "packets", "nothing").index(topology.node(one.node).PASSES))
    return WireChange(f"{left}--{right}", state, end.node, end.port)
