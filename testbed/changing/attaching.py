# SPDX-License-Identifier: GPL-2.0-or-later
"""Equipment attached to a lab that is up, and detached. No node ends for it, and nothing else is touched.

It becomes a new interface of a host, or takes the place of a wire, whose other end loses its carrier meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import product

from contracts.addresses import overlap, parse_interface
from contracts.errors import WrongInput, listed
from contracts.names import check_name, mac_address
from contracts.plan import EquipmentKind, EquipmentPlan, InterfacePlan, MacvlanMode, NodePlan, Plan, WireEnd, WirePlan
from ownership import recorded, state
from ownership.ledger import Ledger
from system import equipment, namespaces, wires
from system.interruption import HeldBack
from testbed.changing import handlers
from testbed.description.input_errors import nearest
from testbed.labs import equipment_here, measuring, switch_statistics
from testbed.labs.lab import Lab, NodeFailed
from testbed.labs.removal import ledger_file, undoers
from testbed.nodes import switches
from testbed.nodes.routers import is_click

#: Where nothing else says it.
_MTU = 1500


class BadAttachment(WrongInput):
    """What was asked for cannot be attached there, or nothing of that name is attached."""


@dataclass(frozen=True)
class Wanted:
    """What is to be attached: an interface of this machine, or one that is made."""

    kind: EquipmentKind
    device: str
    vlan: int | None = None
    mode: MacvlanMode | None = None
    user: str | None = None
    #: The person names the interface, and so may have it though it is in use (testbed.plans.taking).
    take: bool = False
    #: Of a new interface.
    addresses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.device}.{self.vlan}" if self.vlan else self.device


def attach(lab: Lab, wanted: Wanted, where: str) -> tuple[EquipmentPlan, list[str]]:
    """`where` is a node, or a node and its port. Returns also what is to be known of the interface.

    Raises BadAttachment and EquipmentRefused before anything is touched.
    """
    with _changing(lab) as plan:
        after, port = attached(plan, wanted, where)
        alone = replace(after, equipment=(port,))
        equipment_here.check(alone)
        remarks = equipment_here.remarks(alone)
        with _recorded(lab, plan, after):
            replaced = _wire_at(plan, port.end)
            node = after.node(port.end.node)
            try:
                if replaced:
                    _unplug(lab, node, port.end.interface)
                    wires.set_aside(plan, replaced, node)
                equipment.take(after, (port,), Ledger(ledger_file(lab.folder)))
                if port.kind in ("nic", "tap"):
                    with namespaces.entered(node.namespace):
                        wires.turn_offloads_off(port.end.interface)
                _use(lab, node, port.end.interface)
            except BaseException:
                _give_back(lab, port, [])
                _plug_in_again(lab, plan, replaced, port.end)
                raise
    return port, remarks


def detach(lab: Lab, name: str) -> tuple[EquipmentPlan, list[str]]:
    """Gives back what is attached by that name, or by the name of its interface; returns also what could not be put back."""
    notes: list[str] = []
    with _changing(lab) as plan:
        port = next((port for port in plan.equipment if name in (port.name, port.device)), None)
        if port is None:
            raise BadAttachment(
                f"lab {lab.name} has no equipment {name}; {nearest(name, [port.name for port in plan.equipment])}"
            )
        after = detached(plan, port)
        with _recorded(lab, plan, after):
            _unplug(lab, plan.node(port.end.node), port.end.interface)
            _give_back(lab, port, notes)
            _plug_in_again(lab, after, _wire_at(after, port.end), port.end)
    return port, notes


def attached(plan: Plan, wanted: Wanted, where: str) -> tuple[Plan, EquipmentPlan]:
    """The plan with it, and its part. Raises BadAttachment."""
    name, _, interface = where.partition(".")
    try:
        node = plan.node(name)
    except KeyError:
        raise BadAttachment(f'there is no node "{name}"; {nearest(name, [node.name for node in plan.nodes])}') from None
    if (wanted.user and wanted.kind != "tap") or (wanted.take and wanted.kind == "tap"):
        raise BadAttachment("--user is for a tap only, and --take for an interface that is there; leave it out")
    if wanted.name in [port.name for port in plan.equipment]:
        raise BadAttachment(f"{wanted.name} is attached already; `netboxit detach {wanted.name}` first")
    ports = {port.name: port for port in node.interfaces}
    kernel = node.kind == "host" or node.forwards
    interface = interface or (_name_of(wanted, name) if kernel else _only(name, list(ports)))
    replaced = ports.get(interface)
    if replaced is not None:
        _check_replaceable(plan, node, replaced, wanted)
    elif not kernel:
        raise BadAttachment(f'{node.kind} {name} has no port "{interface}", and its ports are fixed; use {listed(list(ports))}')
    else:
        _check_networks(node, wanted)
    wire = f"{name}.{interface}--{wanted.name}"
    port = EquipmentPlan(
        wanted.name,
        wanted.kind,
        wanted.device,
        WireEnd(name, interface),
        wire,
        mtu=plan.mtus().get(replaced.wire, _MTU) if replaced else _MTU,
        vlan=wanted.vlan,
        mode=wanted.mode,
        user=wanted.user,
        attached=True,
    )
    ports[interface] = replace(
        replaced or InterfacePlan(interface, wire, "", _read(wanted.addresses)),
        wire=wire,
        mac="" if kernel and wanted.kind in ("nic", "vlan") else mac_address(plan.lab, name, interface),
    )
    after = replace(
        plan,
        nodes=_nodes_with(plan, name, ports),
        equipment=(*plan.equipment, port),
        take=(*plan.take, wanted.device) if wanted.take else plan.take,
    )
    return after, port


def detached(plan: Plan, port: EquipmentPlan) -> Plan:
    """The plan without it: its interface is again the end of the wire that was there, or gone when it was new."""
    node, wire = plan.node(port.end.node), _wire_at(plan, port.end)
    interfaces = {interface.name: interface for interface in node.interfaces}
    if wire is not None:
        interfaces[port.end.interface] = replace(
            interfaces[port.end.interface], wire=wire.name, mac=mac_address(plan.lab, node.name, port.end.interface)
        )
    elif port.attached:  # else it is of the topology, and may be attached again
        del interfaces[port.end.interface]
    return replace(
        plan,
        nodes=_nodes_with(plan, node.name, interfaces),
        equipment=tuple(other for other in plan.equipment if other is not port),
        take=tuple(name for name in plan.take if name != port.device),
    )


def _check_networks(node: NodePlan, wanted: Wanted) -> None:
    """A network is reached by one interface: the node would send to the equipment by the other one."""
    there = [(port.name, parse_interface(address)) for port in node.interfaces for address in port.addresses]
    for new, (name, old) in product(map(parse_interface, _read(wanted.addresses)), there):
        if overlap(new, old):
            raise BadAttachment(
                f"{new} is in the network {old.network} of {node.name}.{name}; give the new interface one of another network"
            )


def _check_replaceable(plan: Plan, node: NodePlan, interface: InterfacePlan, wanted: Wanted) -> None:
    place = f"{node.name}.{interface.name}"
    if held := [port.name for port in plan.equipment if port.wire == interface.wire]:
        raise BadAttachment(f"{place} has {held[0]} already; `netboxit detach {held[0]}` first")
    if interface.port == "memory":
        raise BadAttachment(
            f"{place} is shared memory with its neighbour, not an interface; "
            "bring the lab up with `wire: veth` at that wire, or put the equipment into the topology"
        )
    if interface.port == "xdp":
        raise BadAttachment(f"{place} is reached by AF_XDP, which keeps its interface; bring the lab up with `io: packet`")
    if wanted.addresses:
        raise BadAttachment(f"{place} has its addresses by the topology; leave --address out")


def _only(node: str, ports: Sequence[str]) -> str:
    if len(ports) > 1:
        raise BadAttachment(f"{node} has several ports; write {listed([f'{node}.{port}' for port in ports])}")
    return ports[0]


def _name_of(wanted: Wanted, node: str) -> str:
    """Of a new interface."""
    try:
        return check_name(wanted.name)
    except ValueError as error:
        raise BadAttachment(f"{error}, or name the new interface: {node}.modem") from None


def _read(addresses: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(str(parse_interface(address)) for address in addresses)
    except ValueError as error:
        raise BadAttachment(str(error)) from None


def _nodes_with(plan: Plan, name: str, interfaces: Mapping[str, InterfacePlan]) -> tuple[NodePlan, ...]:
    """The nodes of a plan, of which one has these interfaces."""
    own = tuple(interfaces.values())
    return tuple(replace(node, interfaces=own) if node.name == name else node for node in plan.nodes)


def _wire_at(plan: Plan, end: WireEnd) -> WirePlan | None:
    """The wire that the topology has there, whatever has its place."""
    return next((wire for wire in plan.wires if end in (wire.left, wire.right)), None)


def _use(lab: Lab, node: NodePlan, interface: str) -> None:
    """Addresses and routes of the plan, up; the node's program goes on with the interface that has its port's name now."""
    with closing(wires.Switch(node, interface)) as switch:
        switch.set("up")
    # Hosts and Linux routers need no telling: their kernel uses what there is.
    if node.kind == "netbox":
        with lab.control(node.name) as control:
            control.reopen(interface)
    elif is_click(node):
        handlers.write(lab, node.name, "plug", interface)
    elif node.kind == "switch":
        _tell_switch(lab, node, switches.with_interface(node.files[switches.CONFIGURATION], interface))


def _unplug(lab: Lab, node: NodePlan, interface: str) -> None:
    """Before the interface goes. What is sent there meanwhile is lost. A program that has ended has released it already.

    A netbox goes on with its old interface until it is told of the new one.
    """
    if not lab.alive()[node.name]:
        return
    if is_click(node):
        handlers.write(lab, node.name, "unplug", interface)
    elif node.kind == "switch":
        _tell_switch(lab, node, switches.without_interface(interface))


def _tell_switch(lab: Lab, switch: NodePlan, calls: Iterable[Sequence[str]]) -> None:
    with switch_statistics.keeping_unserved(lab, switch.name):
        for call in calls:
            done = lab.run(switch.name, call)
            if done.returncode:
                raise NodeFailed(f"switch {switch.name}: {' '.join(call)}: {done.stderr.strip()}")


def _plug_in_again(lab: Lab, plan: Plan, wire: WirePlan | None, end: WireEnd) -> None:
    if wire is not None:
        wires.take_back(plan, wire, plan.node(end.node), end.interface)
        _use(lab, plan.node(end.node), end.interface)


def _give_back(lab: Lab, port: EquipmentPlan, notes: list[str]) -> None:
    """What is in the ledger of it, if anything."""
    ledger = Ledger(ledger_file(lab.folder))
    records = [record for record in ledger.records() if (record.kind, record.name) == (equipment.KIND, port.wire)]
    ledger.remove(records, undoers(lab.folder, notes))


@contextmanager
def _changing(lab: Lab) -> Iterator[Plan]:
    """Nobody else changes the lab meanwhile, and Ctrl-C waits."""
    with HeldBack(), state.locked(lab.folder):
        measuring.check(lab.folder, "`attach` or `detach`")
        yield Lab.open(lab.name).plan


@contextmanager
def _recorded(lab: Lab, before: Plan, after: Plan) -> Iterator[None]:
    """While it lasts the lab may be either of them."""
    recorded.begin(lab.folder, [before, after])
    try:
        yield
    except BaseException:
        recorded.end(lab.folder)
        raise
    recorded.write(lab.folder, after)
    recorded.end(lab.folder)
