# SPDX-License-Identifier: GPL-2.0-or-later
"""The wires of a plan, and by what each node reaches its own: names, kinds, MTU, MAC addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from contracts.names import BRIDGE, TUNNEL_NUMBERS, mac_address, tunnel_number
from contracts.plan import EquipmentPlan, InterfacePlan, WireEnd, WirePlan
from testbed.description.events import switched_wires
from testbed.description.switch import TUNNEL_HEADERS
from testbed.description.topology import Topology, Wire
from testbed.description.wiring import End, Wiring
from testbed.plans.wire_kind import wire_kind

#: Ethernet's, where no technology of the segment has a smaller one.
MTU = 1500
#: Header of a frame, and with a tag of 802.1Q.
_ETHERNET = 14 + 4


class PlannedWires:
    """All wires of a topology's lab."""

    def __init__(self, topology: Topology, wiring: Wiring, lab: str, machine_of: Callable[[str], str]) -> None:
        """`machine_of` tells the machine that has a node."""
        self._topology, self._lab, self._machine_of = topology, lab, machine_of
        self._vnis: set[int] = set()
        self._switched = switched_wires(topology, wiring)
        ends = [(end, entry.mtu) for pair, entry in zip(wiring.wires, topology.wires, strict=True) for end in pair]
        self._said = {end: mtu for end, mtu in ends if mtu is not None}
        self.mtu = self._mtus(wiring)
        inside = [
            one for one in zip(wiring.wires, topology.wires, strict=True) if not any(self._is_outside(end) for end in one[0])
        ]
        self.wires = tuple(self._wire(*ends, entry) for ends, entry in inside)
        self.equipment = tuple(self._equipment(*ends) for ends in wiring.wires if any(map(self._is_outside, ends)))
        self._wire_of: dict[End, WirePlan | EquipmentPlan] = {
            End(end.node, end.interface): wire for wire in self.wires for end in (wire.left, wire.right)
        }
        self._wire_of |= {End(one.end.node, one.end.interface): one for one in self.equipment}

    def interfaces(
        self,
        node: str,
        ports: Mapping[str, tuple[Any, ...]],
        by: Literal["kernel", "packet", "xdp"] = "kernel",
        reason: str = "",
    ) -> tuple[InterfacePlan, ...]:
        """A node's, from its ports with their addresses; `by` is what it reaches veth wires by, and `reason` why."""
        found = []
        for port, addresses in ports.items():
            wire, mac = self._wire_of[End(node, port)], mac_address(self._lab, node, port)
            words = tuple(map(str, addresses))
            if isinstance(wire, EquipmentPlan) or wire.kind == "port":
                own = wire.kind in ("nic", "vlan", "port") and by == "kernel"
                name = wire.wire if isinstance(wire, EquipmentPlan) else wire.name
                found.append(InterfacePlan(port, name, "" if own else mac, words, by, reason))
                continue
            memory = wire.kind == "memory"
            found.append(InterfacePlan(port, wire.name, mac, words, "memory" if memory else by, "" if memory else reason))
        return tuple(found)

    def memory_ends(self, node: str) -> dict[str, Literal["left", "right"]]:
        """The node's interfaces that are ends of memory wires, and which end each is."""
        wires = [wire for wire in self.wires if wire.kind == "memory"]
        lefts: dict[str, Literal["left", "right"]] = {wire.left.interface: "left" for wire in wires if wire.left.node == node}
        return lefts | {wire.right.interface: "right" for wire in wires if wire.right.node == node}

    def notes(self) -> list[str]:
        small = {
            str(end): mtu
            for end, mtu in self.mtu.items()
            if mtu < MTU and end.node in {**self._topology.hosts, **self._topology.routers}
        }
        return [f"the MTU at {end} is {mtu} bytes: its segment carries no more" for end, mtu in small.items()]

    def _is_outside(self, end: End) -> bool:
        return end.node in self._topology.equipment

    def _equipment(self, left: End, right: End) -> EquipmentPlan:
        outside, end = (left, right) if self._is_outside(left) else (right, left)
        node = self._topology.equipment[outside.node]
        port = node.outside()[outside.port]
        return EquipmentPlan(
            name=str(outside) if len(node.outside()) > 1 else outside.node,
            kind=port.kind(),
            device=port.device(),
            end=WireEnd(end.node, end.port),
            wire=f"{left}--{right}",
            mtu=self.mtu[end],
            vlan=port.vlan.id if port.vlan else None,
            mode=port.macvlan.mode if port.macvlan else None,
            user=port.user,
        )

    def _wire(self, left: End, right: End, entry: Wire) -> WirePlan:
        ends, mtu = (WireEnd(left.node, left.port), WireEnd(right.node, right.port)), self.mtu[left]
        name, machines = f"{left}--{right}", (self._machine_of(left.node), self._machine_of(right.node))
        if machines[0] != machines[1]:
            between = f"its ends are on {machines[0]} and {machines[1]}"
            if entry.over is not None:
                over = (entry.over[machines[0]], entry.over[machines[1]])
                return WirePlan(name, *ends, mtu, "port", f"{between}, and the topology says over which ports", over=over)
            return WirePlan(name, *ends, mtu, "vxlan", between, vni=self._vni(name))
        kind, reason = wire_kind(left, right, entry.wire or self._topology.wire, self._topology, self._switched)
        return WirePlan(name, *ends, mtu, kind, reason)

    def _vni(self, wire: str) -> int:
        """Of two wires that would have one, the later has the next that is free."""
        vni = tunnel_number(self._lab, wire)
        while vni in self._vnis:
            vni = vni % TUNNEL_NUMBERS + 1
        self._vnis.add(vni)
        return vni

    def _mtus(self, wiring: Wiring) -> dict[End, int]:
        """At each end that of its segment, and where frames of several VLANs pass the largest."""
        segments = [dict.fromkeys(end for end, _ in places) for places in wiring.places]
        found = [self._mtu(ends) for ends in segments]
        tunnels = [(name, port, tunnel) for name, one in wiring.switches.items() for port, tunnel in one.tunnels.items()]
        for _ in tunnels:  # each may be inside of another one
            for name, port, tunnel in tunnels:
                outer = next(at for at, places in enumerate(wiring.places) if (End(name, BRIDGE), None) in places)
                room = found[outer] - TUNNEL_HEADERS[tunnel.kind] - _ETHERNET
                found = [min(mtu, room) if End(name, port) in ends else mtu for mtu, ends in zip(found, segments, strict=True)]
        mtus: dict[End, int] = {}
        for mtu, ends in zip(found, segments, strict=True):
            mtus.update((end, max(mtu, mtus.get(end, 0))) for end in ends)
        return mtus

    def _mtu(self, segment: Iterable[End]) -> int:
        """What all of a layer-2 segment carries: a netbox cannot fragment, nor tell a host to send less."""
        netboxes = self._topology.netboxes
        ends = list(segment)
        said = [self._said[end] for end in ends if end in self._said]
        return min([MTU, *said, *(netboxes[end.node].parameters.MTU for end in ends if end.node in netboxes)])
