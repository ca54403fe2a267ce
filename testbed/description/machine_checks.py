# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong with where the nodes of a topology are to be: what has to be on one machine and is not, and names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from contracts.errors import listed
from testbed.description.equipment_section import OUTSIDE, Replacement
from testbed.description.event_checks import waiting
from testbed.description.input_errors import nearest
from testbed.description.machines import AUTO, Places
from testbed.description.topology import Wire
from testbed.description.wiring import Draft, Problem
from testbed.description.yaml_source import Location


def machine_problems(
    draft: Draft, places: Places, replacements: Mapping[str, Replacement], context: Mapping[str, Path]
) -> Iterator[Problem]:
    """Everything that is wrong; what follows from another error of the file is left out."""
    yield from _names(draft, places)
    for index, wire in draft.wires.items():
        ends = [text.partition(".")[0] for text in wire.ends]
        if all(draft.node(end) for end in ends):
            yield from _of_a_wire(("wires", index), wire, ends, places)
    yield from _shared_cores(draft, places)
    yield from _equipment(draft, places, replacements)
    yield from _conditions(draft, places, context)
    yield from _files(draft, places)


def _names(draft: Draft, places: Places) -> Iterator[Problem]:
    if (known := places.known) is None:
        return
    named: list[tuple[Location, str | None, bool]] = [(("host",), draft.host, False)]
    named += [((section, name, "host"), node.host, False) for section, name, node in draft.nodes() if node]
    named += [(("wires", at, "over", name), name, True) for at, wire in draft.wires.items() for name in wire.over or {}]
    for place, name, key in named:
        if name is not None and name != AUTO and name not in known.names:
            cause, remedy = known.why_not(name)
            yield Problem(place, cause, remedy, key=key)


def _of_a_wire(place: Location, wire: Wire, ends: list[str], places: Places) -> Iterator[Problem]:
    if wire.over is None:
        if places.are_apart(*ends) and wire.wire in ("veth", "memory"):
            cause = f"a {wire.wire} wire is inside of one machine, and its ends are on {places.words(ends[0])} and "
            yield Problem((*place, "wire"), f"{cause}{places.words(ends[1])}", "leave wire out, and it will be a tunnel")
        return
    if free := [end for end in ends if places.is_free(end)]:
        cause = f"a wire over ports joins two machines, and {free[0]} may be on any (host: {AUTO})"
        yield Problem((*place, "over"), cause, f"say at {free[0]} on which machine it is", key=True)
        return
    machines = [places.of(end) for end in ends]
    if machines[0] == machines[1]:
        cause = f"both ends of the wire are on {places.words(ends[0])}, so that it leads over no port"
        yield Problem((*place, "over"), cause, "leave over out", key=True)
        return
    if wire.wire is not None:
        yield Problem((*place, "wire"), "a wire over ports is a cable, and no other kind of wire", "leave wire out", key=True)
    strange = [name for name in wire.over if name not in machines]
    # This machine has a name of its own, which is not known without an inventory.
    for name in strange[machines.count(None) :]:
        cause = f"no end of the wire is on {name}"
        yield Problem(
            (*place, "over", name), cause, nearest(name, [machine for machine in machines if machine is not None]), key=True
        )
    for missing in [name for name in machines if name is not None and name not in wire.over and not strange]:
        yield Problem((*place, "over"), f"nothing is said of {missing}", f"add {missing}: eth2", key=True)


def _shared_cores(draft: Draft, places: Places) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for name, netbox in draft.netboxes.items():
        if netbox is None or netbox.share is None:
            continue
        other = first.setdefault(netbox.share, name)
        if places.are_apart(name, other):
            cause = f"{name} shares a core with {other}, and they are on {places.words(name)} and {places.words(other)}"
            yield Problem(("netboxes", name, "share"), cause, "put them on one machine, or give each a word of its own")


def _equipment(draft: Draft, places: Places, replacements: Mapping[str, Replacement]) -> Iterator[Problem]:
    """Its ports are a machine's; what each is joined to has them in its own network."""
    outside: dict[str, Location] = {name: ("equipment", name) for name in draft.sections["equipment"]}
    outside |= {name: ("replace", name) for name in replacements}
    for name, place in outside.items():
        if places.is_free(name):
            cause = f"the ports of {name} are those of one machine, and it may be on any (host: {AUTO})"
            yield Problem(place, cause, "say at it which one: host: …", key=True)
            continue
        for neighbour, port in _beside(draft, name):
            unplugged = name in replacements and replacements[name].get(port) == OUTSIDE
            if not unplugged and places.are_apart(name, neighbour):
                cause = f"{name} is at a port of {places.words(name)}, and {neighbour}, which is joined to it, on "
                remedy = f"put both on one machine, or a switch on {places.words(name)} between"
                yield Problem(place, f"{cause}{places.words(neighbour)}", remedy, key=True)


def _beside(draft: Draft, name: str) -> Iterator[tuple[str, str]]:
    """What it is joined to, and by which of its ports."""
    for wire in draft.wires.values():
        ends = [text.partition(".") for text in wire.ends]
        for (node, _, port), (other, _, _) in (ends, ends[::-1]):
            if node == name and draft.node(other):
                yield other, port


def _conditions(draft: Draft, places: Places, context: Mapping[str, Path]) -> Iterator[Problem]:
    """Each machine has the events of its own nodes, and sees only what happens at these."""
    for index, seen, touched in waiting(draft, context):
        apart = [pair for pair in product(sorted(seen), sorted(touched)) if places.are_apart(*pair)]
        for source, node in apart[:1]:
            cause = f"it waits for what is at {source}, on {places.words(source)}, and changes {node}, on {places.words(node)}"
            yield Problem(("events", index, "when"), cause, f"put {listed([source, node], 'and')} on one machine, or write at: …")


def _files(draft: Draft, places: Places) -> Iterator[Problem]:
    """They are on this machine, and go to hosts on it."""
    for name, host in draft.hosts.items():
        if not host or not host.files:
            continue
        if places.is_free(name):
            cause = f"the files of {name} are on this machine, and it may be on any (host: {AUTO})"
            yield Problem(("hosts", name, "files"), cause, "say at it which machine it is on: host: …", key=True)
        elif places.known and places.of(name) != places.known.here:
            cause = f"the files of {name} are on this machine, {places.known.here}, and it is on {places.words(name)}"
            remedy = f"put it on {places.known.here}, or leave files out and use netboxit copy there"
            yield Problem(("hosts", name, "files"), cause, remedy, key=True)
