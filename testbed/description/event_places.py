# SPDX-License-Identifier: GPL-2.0-or-later
"""At which nodes an event waits for something, and at which it changes something: of one machine, in a lab over several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from contracts.changes import WireChange
from testbed.description.event_checks import targets_of
from testbed.description.events import Event
from testbed.description.targets import Targets
from testbed.description.wiring import Draft
from testbed.plan_part import node_of


def waiting(draft: Draft, context: Mapping[str, Path]) -> Iterator[tuple[int, set[str], set[str]]]:
    """Of each event that waits: its place in the file, the nodes at which that is seen, and those at which it is done."""
    if not any(event.when for event in draft.events.values()):
        return
    targets = targets_of(draft)
    named = {event.name: event for event in draft.events.values() if event.name}
    for index, event in draft.events.items():
        if event.when is None:
            continue
        awaited = named.get(event.when.event or "")
        seen = {event.when.netbox} if event.when.netbox else _touched(awaited, targets, context) if awaited else set()
        yield index, seen, _touched(event, targets, context)


def _touched(event: Event, targets: Targets, context: Mapping[str, Path]) -> set[str]:
    """What is wrong with an event is told elsewhere: here it does nothing."""
    try:
        changes = [step.change for step in event.sequence(targets, context).steps]
    except ValueError:
        return set()
    found = {node_of(change) for change in changes}
    for change in changes:
        if isinstance(change, WireChange):
            found |= {
                end.node
                for wire in targets.wires
                if (change.node, change.interface) in [(one.node, one.interface) for one in (wire.left, wire.right)]
                for end in (wire.left, wire.right)
            }
    return found
