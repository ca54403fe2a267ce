# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong with the events of a topology: names that are not there, what cannot change, what never comes true.

Also at which nodes an event waits and changes something: in a lab over several machines, these have to be on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from contracts.changes import WireChange
from contracts.errors import listed
from contracts.plan import WireEnd
from testbed.description.events import Event
from testbed.description.input_errors import nearest
from testbed.description.managed_link import ManagedLink
from testbed.description.targets import ManagedLinkTarget, NetboxTarget, NotThere, RouterTarget, Targets, WireTarget
from testbed.description.topology import Netbox, WireKind
from testbed.description.wiring import Draft, End, Problem, are_written, find_end, reached
from testbed.description.yaml_source import Location
from testbed.plan_part import node_of


def event_problems(draft: Draft, context: Mapping[str, Path]) -> Iterator[Problem]:
    """Everything that is wrong; what follows from another error of the file is left out."""
    for index, event in draft.events.items():
        wrong = list(_of_an_event(draft, index, event, context))
        yield from wrong or _in_the_network(draft, index, event, context)
    yield from _of_conditions(draft)


def _of_an_event(draft: Draft, index: int, event: Event, context: Mapping[str, Path]) -> Iterator[Problem]:
    if event.netbox is not None:
        yield from _of_a_netbox(draft, index, event, event.netbox, context)
    if event.node is not None:
        yield from _of_a_router(draft, index, event, event.node)
    for place, wire in event.wires().items():
        yield from _of_a_wire(draft, ("events", index, *place), wire)
    if event.reboot is not None and event.node is not None:
        ends = [name for name, traffic in draft.traffic.items() if event.node in (traffic.source, traffic.destination)]
        if ends:
            yield Problem(
                ("events", index, "node"),
                f"{event.node} is an end of the traffic {ends[0]}, which would end with it",
                "reboot a router, or unplug the host's wire",
            )


def _in_the_network(draft: Draft, index: int, event: Event, context: Mapping[str, Path]) -> Iterator[Problem]:
    """What only the network as a whole tells; one that has other errors is not asked."""
    if not draft.whole:
        return
    place: Location = ("events", index)
    try:
        event.sequence(targets_of(draft), context)
    except NotThere as missing:
        options = () if event.options is None else event.options.model_fields_set
        key = ("drill",) if event.drill is not None else (missing.key,)
        yield Problem((*place, *(("with", missing.key) if missing.key in options else key)), missing.cause, missing.remedy)
    except ValueError as error:
        yield Problem.of(place, str(error))


def _netbox(netbox: Netbox) -> NetboxTarget:
    classes = tuple(netbox.classes)
    return NetboxTarget(
        netbox.technology, tuple(netbox.stations), netbox.parameters.values(classes), classes, netbox.link_layer is not None
    )


def targets_of(draft: Draft) -> Targets:
    """What of a network can be changed while it runs. Wires of which the file leaves the kind open may be of each."""
    return Targets(
        {name: _netbox(netbox) for name, netbox in draft.netboxes.items() if netbox is not None},
        {name: RouterTarget(router.engine, tuple(router.interfaces)) for name, router in draft.routers.items() if router},
        tuple(draft.hosts),
        tuple(draft.switches),
        tuple(_wire(draft, sorted(ends, key=str), kind) for ends, kind in draft.kinds.items()),
        {name: _managed_link(link) for name, link in draft.management.items()},
    )


def _managed_link(link: ManagedLink) -> ManagedLinkTarget:
    accesses = {member: link.kind == "dybra" and link.access.get(member) != "netbox" for member in link.members}
    return ManagedLinkTarget(link.gateway, accesses, link.rate == "netbox")


def _wire(draft: Draft, ends: Sequence[End], kind: WireKind) -> WireTarget:
    left, right = (WireEnd(end.node, end.port) for end in ends)
    outside = next((end for end in (left, right) if end.node in draft.sections["equipment"]), None)
    return WireTarget("--".join(map(str, ends)), left, right, kind == "memory", outside)


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
    switched = {WireEnd(change.node, change.interface) for change in changes if isinstance(change, WireChange)}
    wires = ((wire.left, wire.right) for wire in targets.wires)
    return {node_of(change) for change in changes} | {end.node for ends in wires if not switched.isdisjoint(ends) for end in ends}


def _of_conditions(draft: Draft) -> Iterator[Problem]:
    numbers: dict[str, int] = {}
    for index, event in draft.events.items():
        if event.name is not None and numbers.setdefault(event.name, index) != index:
            yield Problem(("events", index, "name"), f'"{event.name}" is the name of an event already', "give it another")
    awaited = {
        event.name: [event.when.event] for event in draft.events.values() if event.name and event.when and event.when.event
    }
    for index, event in draft.events.items():
        if event.when is None:
            continue
        place: Location = ("events", index, "when")
        if event.when.netbox is not None:
            yield from _of_a_station(draft, place, event.when.netbox, event.when.station)
            netbox = draft.netboxes.get(event.when.netbox)
            event_names = sorted({"set", *type(netbox.parameters).ANNOUNCES}) if netbox else []
            if netbox and event.when.happens not in (None, *event_names):
                yield Problem(
                    (*place, "happens"),
                    f'netbox {event.when.netbox} ({netbox.technology}) never says "{event.when.happens}"',
                    nearest(str(event.when.happens), event_names),
                )
        if event.when.event is not None and event.when.event not in numbers:
            names = [name for name in numbers if name != event.name]
            cause, remedy = f'no event has the name "{event.when.event}"', nearest(event.when.event, names)
            yield Problem((*place, "event"), cause, remedy)
        elif event.when.event is not None and event.name in reached(event.when.event, lambda name: awaited.get(name, [])):
            yield Problem((*place, "event"), "the event waits for itself", "let one of them have a time")


def _of_a_netbox(draft: Draft, index: int, event: Event, name: str, context: Mapping[str, Path]) -> Iterator[Problem]:
    place: Location = ("events", index)
    if wrong := list(_of_a_station(draft, place, name, event.station)):
        yield from wrong
    elif netbox := draft.netboxes[name]:
        for key, value in (event.values or {}).items():
            try:
                _netbox(netbox).live(name, event.parameter(key), value, context)
            except ValueError as error:
                yield Problem.of((*place, "set", key), f"netbox {name}: {error}")


def _of_a_router(draft: Draft, index: int, event: Event, name: str) -> Iterator[Problem]:
    """Whether it is a Click router the network as a whole tells."""
    router = draft.routers.get(name)
    if router is None or router.engine != "click":
        return
    for key, value in (event.values or {}).items():
        try:
            RouterTarget("click", tuple(router.interfaces)).live(name, key, value)
        except ValueError as error:
            yield Problem.of(("events", index, "set", key), str(error))


def _of_a_station(draft: Draft, place: Location, name: str, station: str | None) -> Iterator[Problem]:
    if name not in draft.netboxes:
        yield Problem((*place, "netbox"), f'there is no netbox "{name}"', nearest(name, draft.netboxes))
    elif (netbox := draft.netboxes[name]) and station is not None and station not in netbox.stations:
        yield Problem((*place, "station"), f'netbox {name} has no station "{station}"', nearest(station, netbox.stations))


def _of_a_wire(draft: Draft, place: Location, ends: tuple[str, str]) -> Iterator[Problem]:
    written = [pair for pair in draft.kinds if are_written(pair, *ends)]
    joined = [*written[0]] if len(written) == 1 else []
    for side, text in enumerate(() if joined else ends):
        try:
            joined.append(find_end(text, draft.ports()))
        except ValueError as error:
            yield Problem.of((*place, side), str(error))
    if len(joined) < 2:
        return
    kind = draft.kinds.get(frozenset(joined))
    if kind is None and not draft.lost_wires:
        there = [str(other) for pair in draft.kinds if joined[0] in pair for other in pair - {joined[0]}]
        yield Problem(
            place,
            f"no wire joins {joined[0]} and {joined[1]}",
            f"{joined[0]} is joined to {listed(there, 'and')}" if there else "name the two ends of a wire of the list",
        )
    elif kind == "memory":
        yield Problem(
            place, "between two emulators the wire is shared memory, which is never down", "write {ends: […], wire: veth} for it"
        )
