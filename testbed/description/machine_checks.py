# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong with the machines of a topology: on which its nodes are to be, and what of them its equipment is.

Found is what is on two machines and has to be on one, and what two ports of equipment both want. Whether a machine has it is
not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from contracts.errors import listed
from testbed.description.equipment_section import OUTSIDE, Equipment, EquipmentPort, Replacement
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
    yield from _joined_to_each_other(draft)
    yield from _replacements(draft, replacements)
    yield from _devices_used_twice(draft, places, replacements)
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
    if (machines := places.known) is None:
        return
    named: list[tuple[Location, str | None, bool]] = [(("host",), draft.host, False)]
    named += [((section, name, "host"), node.host, False) for section, name, node in draft.nodes() if node]
    named += [(("wires", at, "over", name), name, True) for at, wire in draft.wires.items() for name in wire.over or {}]
    for place, name, key in named:
        if name is not None and name != AUTO and name not in machines.names:
            cause, remedy = machines.why_not(name)
            yield Problem(place, cause, remedy, key=key)


def _of_a_wire(place: Location, wire: Wire, ends: list[str], places: Places) -> Iterator[Problem]:
    machines = [places.of(end) for end in ends]
    free = [end for end in ends if places.is_free(end)]
    if wire.over is None:
        if places.are_apart(*ends) and wire.wire in ("veth", "memory"):
            yield Problem(
                (*place, "wire"),
                f"a {wire.wire} wire is inside of one machine, and its ends are on {' and '.join(map(places.words, ends))}",
                "leave wire out, and it will be a tunnel",
            )
    elif free:
        yield Problem(
            (*place, "over"),
            f"a wire over ports joins two machines, and {free[0]} may be on any (host: {AUTO})",
            f"say at {free[0]} on which machine it is",
            key=True,
        )
    elif machines[0] == machines[1]:
        yield Problem(
            (*place, "over"),
            f"both ends of the wire are on {places.words(ends[0])}, so that it leads over no port",
            "leave over out",
            key=True,
        )
    else:
        if wire.wire is not None:
            yield Problem((*place, "wire"), "a wire over ports is a cable, and no other kind of wire", "leave wire out", key=True)
        own_machines = [machine for machine in machines if machine is not None]
        strange = [name for name in wire.over if name not in machines]
        # This machine has a name of its own, which is not known without an inventory.
        for name in strange[machines.count(None) :]:
            cause, remedy = f"no end of the wire is on {name}", nearest(name, own_machines)
            yield Problem((*place, "over", name), cause, remedy, key=True)
        for missing in [name for name in own_machines if name not in wire.over and not strange]:
            yield Problem((*place, "over"), f"nothing is said of {missing}", f"add {missing}: eth2", key=True)


def _shared_cores(draft: Draft, places: Places) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for name, netbox in draft.netboxes.items():
        if netbox and netbox.share:
            other = first.setdefault(netbox.share, name)
            if places.are_apart(name, other):
                yield Problem(
                    ("netboxes", name, "share"),
                    f"{name} shares a core with {other}, and they are on {places.words(name)} and {places.words(other)}",
                    "put them on one machine, or give each a word of its own",
                )


def _equipment(draft: Draft, places: Places, replacements: Mapping[str, Replacement]) -> Iterator[Problem]:
    """Its ports are a machine's; what each is joined to has them in its own network."""
    outside: dict[str, Location] = {name: ("equipment", name) for name in draft.sections["equipment"]}
    outside |= {name: ("replace", name) for name in replacements}
    for name, place in outside.items():
        if places.is_free(name):
            yield Problem(
                place,
                f"the ports of {name} are those of one machine, and it may be on any (host: {AUTO})",
                "say at it which one: host: …",
                key=True,
            )
            continue
        for neighbour, port in _beside(draft, name):
            if places.are_apart(name, neighbour) and replacements.get(name, {}).get(port) != OUTSIDE:
                yield Problem(
                    place,
                    f"{name} is at a port of {places.words(name)}, and {neighbour}, which is joined to it, "
                    f"on {places.words(neighbour)}",
                    f"put both on one machine, or a switch on {places.words(name)} between",
                    key=True,
                )


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
            yield Problem(
                ("events", index, "when"),
                f"it waits for what is at {source}, on {places.words(source)}, and changes {node}, on {places.words(node)}",
                f"put {listed([source, node], 'and')} on one machine, or write at: …",
            )


def _files(draft: Draft, places: Places) -> Iterator[Problem]:
    """They are on this machine, and go to hosts on it."""
    for name in [name for name, host in draft.hosts.items() if host and host.files]:
        if places.is_free(name):
            yield Problem(
                ("hosts", name, "files"),
                f"the files of {name} are on this machine, and it may be on any (host: {AUTO})",
                "say at it which machine it is on: host: …",
                key=True,
            )
        elif places.known and places.of(name) != places.known.here:
            yield Problem(
                ("hosts", name, "files"),
                f"the files of {name} are on this machine, {places.known.here}, and it is on {places.words(name)}",
                f"put it on {places.known.here}, or leave files out and use netboxit copy there",
                key=True,
            )


def _joined_to_each_other(draft: Draft) -> Iterator[Problem]:
    outside = draft.sections["equipment"]
    for index, (left, right) in draft.joined.items():
        if left.node in outside and right.node in outside:
            yield Problem(
                ("wires", index),
                f"both ends of the wire are equipment: {left.node} and {right.node}",
                "join them by a cable, or put a netbox or a switch between",
            )


def _replacements(draft: Draft, replacements: Mapping[str, Replacement]) -> Iterator[Problem]:
    for name, stations in replacements.items():
        place: Location = ("replace", name)
        if name not in draft.netboxes:
            yield Problem(place, f'there is no netbox "{name}" to be replaced', nearest(name, draft.netboxes), key=True)
        elif (netbox := draft.netboxes[name]) is not None:
            for station in stations.keys() - netbox.stations.keys():
                yield Problem(
                    (*place, station), f'netbox {name} has no station "{station}"', nearest(station, netbox.stations), key=True
                )
            if missing := [station for station in netbox.stations if station not in stations]:
                yield Problem(
                    place,
                    f"nothing is said of {listed([f'{name}.{station}' for station in missing], 'and')}",
                    f"add {missing[0]}: {{nic: …}}, or {missing[0]}: {OUTSIDE} when what is beyond it is not on this machine",
                    key=True,
                )
            elif all(port == OUTSIDE for port in stations.values()):
                yield Problem(place, "no station of it is on this machine", "give one of them a port, like {nic: eth2}", key=True)


def _devices_used_twice(draft: Draft, places: Places, replacements: Mapping[str, Replacement]) -> Iterator[Problem]:
    """Macvlans and VLANs of one interface of a machine go together, with nothing else."""
    seen: dict[tuple[str | None, str], EquipmentPort] = {}
    vlans: set[tuple[str | None, str, int]] = set()
    for place, machine, port in _ports(draft, places, replacements):
        first = seen.setdefault((machine, port.device()), port)
        if port.vlan is not None:
            if (machine, port.vlan.of, port.vlan.id) in vlans:
                yield Problem(place, f"VLAN {port.vlan.id} of {port.vlan.of} is another port's already", "give it another id")
            vlans.add((machine, port.vlan.of, port.vlan.id))
        shared = {first.kind(), port.kind()} <= {"vlan", "macvlan"}
        alone = any(sharer.macvlan is not None and sharer.macvlan.mode == "passthru" for sharer in (first, port))
        if first is not port and (not shared or alone):
            yield Problem(
                place,
                f"{port.device()} is another port's already",
                "give each port an interface of its own, or make all of them VLANs or macvlans of it",
            )


def _ports(
    draft: Draft, places: Places, replacements: Mapping[str, Replacement]
) -> Iterator[tuple[Location, str | None, EquipmentPort]]:
    """The ports of machines that lead out of the lab: where the file tells of each, and on which machine it is."""
    for name, node in draft.sections["equipment"].items():
        if isinstance(node, Equipment):
            for port, outside in node.outside().items():
                yield ("equipment", name, *(("ports", port) if node.port_list else ())), places.of(name), outside
    for name, stations in replacements.items():
        for station, substitute in stations.items():
            if isinstance(substitute, EquipmentPort):
                yield ("replace", name, station), places.of(name), substitute
    for index, wire in draft.wires.items():
        for machine, device in (wire.over or {}).items():
            yield ("wires", index, "over", machine), machine, EquipmentPort(nic=device)
