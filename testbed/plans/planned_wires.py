# SPDX-License-Identifier: GPL-2.0-or-later
"""The wires of a plan, and by what each node reaches its own: names, kinds, MTU, MAC addresses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from contracts.names import BRIDGE, TUNNEL_NUMBERS, mac_address, tunnel_number
from contracts.plan import EquipmentPlan, InterfacePlan, WireEnd, WirePlan
from testbed.description.switch import TUNNEL_HEADERS
from testbed.description.topology import Topology, Wire, WireKind
from testbed.description.wiring import End, Wiring
from testbed.plans.event_plan import switched_wires

#: Ethernet's, where no technology of the segment has a smaller one.
MTU = 1500
#: Header of a frame, and with a tag of 802.1Q.
_ETHERNET = 14 + 4


class PlannedWires:
    """All wires of a topology's lab."""

    def __init__(self, topology: Topology, wiring: Wiring, lab: str, machine: Mapping[str, str]) -> None:
        """`machine` is that of each node."""
        self._topology, self._lab, self._machine = topology, lab, machine
        self._vnis: set[int] = set()
        self._switched = switched_wires(topology, wiring)
        #: At the ends of wires of which the topology says one.
        self._asked = {
            end: entry.mtu
            for pair, entry in zip(wiring.wires, topology.wires, strict=True)
            for end in pair
            if entry.mtu is not None
        }
        self.mtu = self._mtus(wiring)
        self.wires = tuple(
            self._wire(*ends, entry)
            for ends, entry in zip(wiring.wires, topology.wires, strict=True)
            if not any(map(self._is_outside, ends))
        )
        self.equipment = tuple(self._equipment(*ends) for ends in wiring.wires if any(map(self._is_outside, ends)))
        self._wire_of: dict[End, WirePlan | EquipmentPlan] = {
            **{End(end.node, end.interface): wire for wire in self.wires for end in (wire.left, wire.right)},
            **{End(port.end.node, port.end.interface): port for port in self.equipment},
        }

    def interfaces(
        self,
        node: str,
        ports: Mapping[str, tuple[Any, ...]],
        by: Literal["kernel", "packet", "xdp"] = "kernel",
        reason: str = "",
    ) -> tuple[InterfacePlan, ...]:
        """A node's, from its ports with their addresses; `by` is what it reaches veth wires by, and `reason` why."""
        return tuple(self._interface(End(node, port), tuple(map(str, own)), by, reason) for port, own in ports.items())

    def _interface(
        self, end: End, addresses: tuple[str, ...], by: Literal["kernel", "packet", "xdp"], reason: str
    ) -> InterfacePlan:
        wire, memory = self._wire_of[end], self._wire_of[end].kind == "memory"
        name = wire.wire if isinstance(wire, EquipmentPlan) else wire.name
        keeps_its_mac = wire.kind in ("nic", "vlan", "port") and by == "kernel"
        mac = "" if keeps_its_mac else mac_address(self._lab, end.node, end.port)
        return InterfacePlan(end.port, name, mac, addresses, "memory" if memory else by, "" if memory else reason)

    def memory_ends(self, node: str) -> dict[str, Literal["left", "right"]]:
        """The node's interfaces that are ends of memory wires, and which end each is."""
        wires = [wire for wire in self.wires if wire.kind == "memory"]
        lefts: dict[str, Literal["left", "right"]] = {wire.left.interface: "left" for wire in wires if wire.left.node == node}
        return lefts | {wire.right.interface: "right" for wire in wires if wire.right.node == node}

    def notes(self) -> list[str]:
        return [
            f"the MTU at {end} is {mtu} bytes: its segment carries no more"
            for end, mtu in self.mtu.items()
            if mtu < MTU and (end.node in self._topology.hosts or end.node in self._topology.routers)
        ]

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
        name, machines = f"{left}--{right}", (self._machine[left.node], self._machine[right.node])
        if machines[0] != machines[1]:
            between = f"its ends are on {machines[0]} and {machines[1]}"
            if entry.over is not None:
                reason = f"{between}, and the topology says over which ports"
                return WirePlan(name, *ends, mtu, "port", reason, over=(entry.over[machines[0]], entry.over[machines[1]]))
            return WirePlan(name, *ends, mtu, "vxlan", between, vni=self._vni(name))
        return WirePlan(name, *ends, mtu, *self._kind(left, right, entry.wire or self._topology.wire))

    def _kind(self, left: End, right: End, kind: WireKind) -> tuple[Literal["veth", "memory"], str]:
        """The fastest kind that both ends can have, unless the topology says one, and why."""
        if kind != "auto":
            return kind, "the topology says so"
        for name in (left.node, right.node):
            node = self._topology.node(name)
            if why := node.needs_interface():
                return "veth", f"auto: {name} is a {node.KIND}, {why}"
        if frozenset((left, right)) in self._switched:
            return "veth", "auto: an event takes it down, which shared memory cannot be"
        return "memory", "auto: both ends are emulators"

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
        carried = [self._mtu(ends) for ends in segments]
        tunnels = [(name, *of) for name, switch in wiring.switches.items() for of in switch.tunnels.items()]
        for _ in tunnels:  # each may be inside of another one
            for name, port, tunnel in tunnels:
                outer = next(at for at, places in enumerate(wiring.places) if (End(name, BRIDGE), None) in places)
                left = carried[outer] - TUNNEL_HEADERS[tunnel.kind] - _ETHERNET
                carried = [
                    min(mtu, left) if End(name, port) in ends else mtu for mtu, ends in zip(carried, segments, strict=True)
                ]
        mtus: dict[End, int] = {}
        for mtu, ends in zip(carried, segments, strict=True):
            mtus.update((end, max(mtu, mtus.get(end, 0))) for end in ends)
        return mtus

    def _mtu(self, segment: Collection[End]) -> int:
        """What all of a layer-2 segment carries: a netbox cannot fragment, nor tell a host to send less."""
        netboxes = self._topology.netboxes
        mtus = [self._asked[end] for end in segment if end in self._asked]
        return min([MTU, *mtus, *(netboxes[end.node].parameters.MTU for end in segment if end.node in netboxes)])
