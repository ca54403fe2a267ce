# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a topology file: when, and what changes then.

When and what are apart: what stands beside `at:` or `when:` is the same that `netboxit set` and `netboxit drill` do now
(`testbed.description.actions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from contracts.changes import Condition, EventPlan
from contracts.name import Name
from contracts.quantities import TIME, Quantity
from testbed.description.actions import Action
from testbed.description.drills import LinkFlap
from testbed.description.section import Section
from testbed.description.yaml_source import Location

if TYPE_CHECKING:
    from contracts.plan import TrafficPlan
    from testbed.description.targets import Targets
    from testbed.description.topology import Topology
    from testbed.description.wiring import End, Wiring

_Time = Annotated[float, Quantity(TIME, 0.0, 86_400.0 * 365)]
_Duration = Annotated[float, Quantity(TIME, 0.1, 86_400.0 * 365)]


class When(Section):
    """Something that comes true: by what a netbox says of itself, or when another event is over."""

    netbox: Name | None = Field(None, description="Whose word it is.")
    station: Name | None = Field(None, description="Of which of its stations; of any by default.")
    happens: str | None = Field(
        None,
        pattern="^[a-z][a-z_]*$",
        description="What its journal says: link_down, link_up, handover, profile, and what its technology's page adds.",
    )
    silent: _Duration | None = Field(None, description="No frame has left by the station for so long.")
    event: Name | None = Field(None, description="Name of an event of the file: its last change was made.")
    within: _Duration | None = Field(
        None, description="The run fails when it has not come true so long after the network's time began."
    )

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        given = [key for key in ("happens", "silent", "event") if getattr(self, key) is not None]
        if len(given) != 1:
            yield (), "a condition is one thing; write happens: link_down, silent: 1 s or event: NAME"
        if (self.netbox is None) != (given == ["event"]):
            yield (), "what happens or is silent is a netbox, or a station of it; write netbox: …"
        if self.silent is not None and self.station is None:
            yield (), "frames leave by a station; write station: …"
        if self.event is not None and self.station is not None:
            yield (), "an event has no station; leave it out"

    def condition(self, number: int) -> Condition:
        return Condition(number, self.netbox, self.station, self.happens, self.silent, self.event, self.within)


class Event(Action):
    """When something changes in a run, and what: one of `netbox`, `wire`, `node` and `drill`."""

    name: Name | None = Field(None, description="For `when: {event: …}` of another one.")
    at: _Time | None = Field(None, description="Since the network's time began.")
    when: When | None = Field(None, description="Instead of a time: when something has come true.")
    delay: _Time = Field(0.0, description="How much later than `when`.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        yield from super()._wrong()
        if (self.at is None) == (self.when is None):
            yield (), "an event has either a time or a condition; write at: 20 s, or when: {netbox: …, happens: …}"
        if self.delay and self.when is None:
            yield (), "only what waits for a condition has a delay; write it into at"


def plan_events(topology: Topology, targets: Targets) -> tuple[EventPlan, ...]:
    """The changes of a topology that was checked, in the order of their times; those of one time as the file has them."""
    context = {"folder": topology.path.resolve().parent}
    awaited = {event.when.event for event in topology.events if event.when and event.when.event}
    planned = []
    for number, event in enumerate(topology.events):
        when = event.when.condition(number) if event.when else None
        start = event.delay if event.at is None else event.at
        name = event.name if event.name in awaited else None
        steps = event.sequence(targets, context).steps
        planned += [EventPlan(start + step.after_s, step.change, when, name or "") for step in steps]
    return tuple(sorted(planned, key=lambda event: event.at_s))


def switched_wires(topology: Topology, wiring: Wiring) -> set[frozenset[End]]:
    """The wires, each by its two ends, that some event unplugs."""
    flapping = [event.options.wire for event in topology.events if isinstance(event.options, LinkFlap) and event.options.wire]
    ends = [*(event.wire for event in topology.events if event.wire is not None), *flapping]
    return {frozenset(wiring.wire_between(*pair)) for pair in ends}


def beyond(events: Iterable[EventPlan], traffic: Iterable[TrafficPlan], duration_s: float | None) -> Iterator[str]:
    """Notes on events that a run will not come to, because its traffic is over before."""
    ends = [entry.options["start"] + entry.options["duration"] for entry in traffic]
    if not ends and duration_s is None:
        return
    end_s = max([duration_s or 0.0, *ends])
    for event in events:
        if event.when is None and event.at_s >= end_s:
            yield (
                f"the event at {TIME.write(event.at_s)} ({event.change.words()}) will not happen in a run: "
                f"its traffic is over after {TIME.write(end_s)}"
            )
