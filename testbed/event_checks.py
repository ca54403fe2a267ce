# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong with the events of a topology: names that are not there, parameters and wires that cannot change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from testbed.events import Event
from testbed.input_errors import listed, nearest
from testbed.live import read_value
from testbed.topology import Netbox, WireKind
from testbed.wiring import Draft, End, find_end
from testbed.wiring_checks import Problem
from testbed.yaml_source import Location


def event_problems(draft: Draft, context: Mapping[str, Path]) -> Iterator[Problem]:
    """Everything that is wrong; what follows from another error of the file is left out."""
    wires = _joined(draft)
    for index, event in draft.events.items():
        if event.netbox is not None:
            yield from _of_a_netbox(draft, index, event, event.netbox, context)
        if event.wire is not None:
            yield from _of_a_wire(draft, index, event.wire, wires)


def _of_a_netbox(draft: Draft, index: int, event: Event, name: str, context: Mapping[str, Path]) -> Iterator[Problem]:
    place: Location = ("events", index)
    if name not in draft.netboxes:
        yield Problem((*place, "netbox"), f'there is no netbox "{name}"', nearest(name, draft.netboxes))
    elif (netbox := draft.netboxes[name]) is None:
        return
    elif event.station is not None and event.station not in netbox.stations:
        cause = f'netbox {name} has no station "{event.station}"'
        yield Problem((*place, "station"), cause, nearest(event.station, netbox.stations))
    else:
        yield from (
            found
            for key, said in (event.values or {}).items()
            if (found := _of_a_value(netbox, name, event.parameter(key), said, (*place, "set", key), context))
        )


def _of_a_value(
    netbox: Netbox, name: str, parameter: str, said: Any, place: Location, context: Mapping[str, Path]
) -> Problem | None:
    try:
        read_value(type(netbox.parameters), parameter, said, context)
    except ValueError as error:
        cause, _, remedy = str(error).partition("; ")
        return Problem(place, f"netbox {name}: {cause}", remedy)
    return None


def _of_a_wire(draft: Draft, index: int, ends: tuple[str, str], wires: Mapping[frozenset[End], WireKind]) -> Iterator[Problem]:
    place: Location = ("events", index, "wire")
    found = []
    for side, text in enumerate(ends):
        try:
            found.append(find_end(text, draft.ports()))
        except ValueError as error:
            cause, _, remedy = str(error).partition("; ")
            yield Problem((*place, side), cause, remedy)
    if len(found) < 2:
        return
    kind = wires.get(frozenset(found))
    if kind is None and not draft.lost_wires:
        there = [str(other) for joined in wires if found[0] in joined for other in joined - {found[0]}]
        remedy = f"{found[0]} is joined to {listed(there, 'and')}" if there else "name the two ends of a wire of the list"
        yield Problem(place, f"no wire joins {found[0]} and {found[1]}", remedy)
    elif kind == "memory":
        cause = "a memory wire is never down: it is shared memory, not an interface"
        yield Problem(place, cause, "write wire: veth at that wire, or leave its kind to auto")


def _joined(draft: Draft) -> dict[frozenset[End], WireKind]:
    """The wires that are right in themselves, by their two ends, and the kind that each says."""
    ports, found = draft.ports(), {}
    for wire in draft.wires.values():
        with suppress(ValueError):
            found[frozenset(find_end(text, ports) for text in wire.ends)] = wire.wire or draft.wire
    return found
