# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong with the equipment of a topology, and with what replaces netboxes. Whether a machine has it is not asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from contracts.errors import listed
from testbed.description.equipment_section import OUTSIDE, Equipment, EquipmentPort, Replacement
from testbed.description.input_errors import nearest
from testbed.description.machines import Places
from testbed.description.wiring import Draft, Problem
from testbed.description.yaml_source import Location


def equipment_problems(draft: Draft, replacements: Mapping[str, Replacement], places: Places) -> Iterator[Problem]:
    """Everything that is wrong; what follows from another error of the file is left out."""
    yield from _joined_to_each_other(draft)
    yield from _replacements(draft, replacements)
    ports = [*_ports(draft), *_replacing(replacements)]
    cables = [
        (("wires", index, "over", name), name, EquipmentPort(nic=device))
        for index, wire in draft.wires.items()
        for name, device in (wire.over or {}).items()
    ]
    yield from _devices_used_twice([*((place, places.of(str(place[1])), port) for place, port in ports), *cables])


def _joined_to_each_other(draft: Draft) -> Iterator[Problem]:
    outside = draft.sections["equipment"]
    for index, (left, right) in draft.joined.items():
        if left.node in outside and right.node in outside:
            cause = f"both ends of the wire are equipment: {left.node} and {right.node}"
            yield Problem(("wires", index), cause, "join them by a cable, or put a netbox or a switch between")


def _replacements(draft: Draft, replacements: Mapping[str, Replacement]) -> Iterator[Problem]:
    for name, stations in replacements.items():
        place: Location = ("replace", name)
        if name not in draft.netboxes:
            yield Problem(place, f'there is no netbox "{name}" to be replaced', nearest(name, draft.netboxes), key=True)
        elif (netbox := draft.netboxes[name]) is not None:
            for station in stations.keys() - netbox.stations.keys():
                cause = f'netbox {name} has no station "{station}"'
                yield Problem((*place, station), cause, nearest(station, netbox.stations), key=True)
            if missing := [station for station in netbox.stations if station not in stations]:
                cause = f"nothing is said of {listed([f'{name}.{station}' for station in missing], 'and')}"
                remedy = f"add {missing[0]}: {{nic: …}}, or {missing[0]}: {OUTSIDE} when what is beyond it is not on this machine"
                yield Problem(place, cause, remedy, key=True)
            elif all(port == OUTSIDE for port in stations.values()):
                yield Problem(place, "no station of it is on this machine", "give one of them a port, like {nic: eth2}", key=True)


def _ports(draft: Draft) -> Iterator[tuple[Location, EquipmentPort]]:
    for name, node in draft.sections["equipment"].items():
        if isinstance(node, Equipment):
            for port, outside in node.outside().items():
                yield ("equipment", name, *(("ports", port) if node.port_list else ())), outside


def _replacing(replacements: Mapping[str, Replacement]) -> Iterator[tuple[Location, EquipmentPort]]:
    for name, stations in replacements.items():
        for station, port in stations.items():
            if isinstance(port, EquipmentPort):
                yield ("replace", name, station), port


def _devices_used_twice(ports: Iterable[tuple[Location, str | None, EquipmentPort]]) -> Iterator[Problem]:
    """Macvlans and VLANs of one interface of a machine go together, with nothing else."""
    seen: dict[tuple[str | None, str], EquipmentPort] = {}
    vlans: set[tuple[str | None, str, int]] = set()
    for place, machine, port in ports:
        first = seen.setdefault((machine, port.device()), port)
        if port.vlan is not None:
            if (machine, port.vlan.of, port.vlan.id) in vlans:
                yield Problem(place, f"VLAN {port.vlan.id} of {port.vlan.of} is another port's already", "give it another id")
            vlans.add((machine, port.vlan.of, port.vlan.id))
        shared = {first.kind(), port.kind()} <= {"vlan", "macvlan"}
        alone = any(sharer.macvlan is not None and sharer.macvlan.mode == "passthru" for sharer in (first, port))
        if first is not port and (not shared or alone):
            cause = f"{port.device()} is another port's already"
            yield Problem(place, cause, "give each port an interface of its own, or make all of them VLANs or macvlans of it")
