# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a plan: what of a topology's network they change, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contracts.changes import EventPlan
from contracts.plan import TrafficPlan
from contracts.quantities import TIME
from testbed.description.targets import Targets
from testbed.description.topology import Topology
from testbed.description.wiring import End, Wiring
from testbed.plans.traffic_plan import length_s


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
    ends = (pair for event in topology.events for pair in event.wires().values())
    return {frozenset(wiring.wire_between(*pair)) for pair in ends}


def beyond(events: Iterable[EventPlan], traffic: Iterable[TrafficPlan], duration_s: float | None) -> Iterator[str]:
    """Notes on events that a run will not come to, because its traffic is over before."""
    entries = list(traffic)
    if not entries and duration_s is None:
        return
    end_s = length_s(entries, duration_s)
    for event in events:
        if event.when is None and event.at_s >= end_s:
            yield (
                f"the event at {TIME.write(event.at_s)} ({event.change.words()}) will not happen in a run: "
                f"its traffic is over after {TIME.write(end_s)}"
            )
