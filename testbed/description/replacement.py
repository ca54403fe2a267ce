# SPDX-License-Identifier: GPL-2.0-or-later
"""`replace:`, a real network in the place of a netbox: the topology with equipment that has a port for each of its stations.

The file is checked with the netbox in it before, so that it is sound, too, when `replace` is taken out again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contracts.errors import listed
from testbed.description.equipment_section import OUTSIDE, Equipment, EquipmentPort
from testbed.description.events import Event
from testbed.description.topology import Topology
from testbed.description.wiring import End, Problem, Wiring, both_ways, reached


class Replacing:
    """What becomes of a topology that is sound in itself."""

    def __init__(self, topology: Topology) -> None:
        self._topology, self._wiring = topology, Wiring.of(topology)
        self._unplugged = {
            (name, station) for name, ports in topology.replace.items() for station, port in ports.items() if port == OUTSIDE
        }
        #: Nodes that are beyond a station of which only the outside is left.
        self._gone = self._beyond()

    def problems(self) -> Iterator[Problem]:
        """What speaks against it."""
        for name, station in sorted(self._unplugged):
            plugged = [end.node for end, other in both_ways(self._wiring.wires) if other.node == name and self._is_plugged(other)]
            if back := sorted(self._gone.intersection(plugged)):
                cause = f"what is beyond {name}.{station} leads to {listed(back, 'and')}, on this side, by another way as well"
                yield Problem(("replace", name, station), cause, "give the station a port of this machine")
                return
        centre = self._topology.centre
        if centre in self._gone and self._traffic():
            cause = f"{centre} is beyond a station that is {OUTSIDE}, and there is traffic on this side, which has a direction"
            yield Problem(("centre",), cause, "give a host on this side as the centre")

    def topology(self) -> Topology:
        """With equipment for the netboxes, without what is not on this machine."""
        old, wires = self._topology, self._wiring.wires
        kept = [ends for ends in wires if all(self._is_plugged(end) and end.node not in self._gone for end in ends)]
        sections: dict[str, dict[str, Any]] = {section: dict(nodes) for section, nodes in old.sections().items()}
        for name, stations in old.replace.items():
            sections["netboxes"].pop(name)
            sections["equipment"][name] = Equipment(
                ports={station: port for station, port in stations.items() if isinstance(port, EquipmentPort)},
                host=old.netboxes[name].host,
            )
        update: dict[str, Any] = {
            section: {name: node for name, node in nodes.items() if name not in self._gone} for section, nodes in sections.items()
        }
        events = self._events(kept)
        update |= {
            "wires": [wire for wire, ends in zip(old.wires, wires, strict=True) if ends in kept],
            "events": events,
            "traffic": self._traffic(),
        }
        return old.model_copy(update=update).read_from(old.path, tuple(self._notes(len(old.events) - len(events))))

    def _notes(self, events: int) -> Iterator[str]:
        for name in self._topology.replace:
            yield f"a real network is in the place of netbox {name}"
        if self._gone:
            lost = [*self._topology.traffic.keys() - self._traffic().keys()]
            traffic = f", nor the traffic {listed(sorted(lost), 'and')}" if lost else ""
            yield f"not on this machine, but beyond the real network: {listed(sorted(self._gone), 'and')}{traffic}"
        if events:
            yield f"{events} of the file's events are left out: what they change, or wait for, is not emulated here"

    def _events(self, wires: list[tuple[End, End]]) -> list[Event]:
        """Those of which all that they change and wait for is here, where these wires are left."""
        away = self._topology.replace.keys() | self._gone
        events = [
            event
            for event in self._topology.events
            if event.nodes().isdisjoint(away)
            and all(self._wiring.wire_between(*ends) in wires for ends in event.wires().values())
            and (event.when is None or event.when.netbox not in away)
        ]
        while missing := {event.when.event for event in events if event.when} - {None, *(event.name for event in events)}:
            events = [event for event in events if event.when is None or event.when.event not in missing]
        return events

    def _traffic(self) -> dict[str, Any]:
        return {
            name: entry
            for name, entry in self._topology.traffic.items()
            if self._gone.isdisjoint((entry.source, entry.destination))
        }

    def _is_plugged(self, end: End) -> bool:
        return (end.node, end.port) not in self._unplugged

    def _beyond(self) -> frozenset[str]:
        """Everything that is reached from there without crossing a real network."""
        replaced, directions = self._topology.replace, [*both_ways(self._wiring.wires)]

        def beside(node: str) -> list[str]:
            return [] if node in replaced else [other.node for end, other in directions if end.node == node]

        starts = {end.node for end, other in directions if not self._is_plugged(other)}
        return frozenset(node for start in starts for node in reached(start, beside) if node not in replaced)
