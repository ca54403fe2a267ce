# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks before anything is touched whether this machine has a plan's equipment, and whether a lab may take it."""

from __future__ import annotations

import pwd
from collections.abc import Iterator
from dataclasses import replace

from pyroute2 import IPRoute  # type: ignore[import-untyped]

from contracts.errors import NetBoxITError
from contracts.names import SEALED_INTERFACE
from contracts.plan import EquipmentPlan, Plan
from ownership import operators, state
from ownership.ledger import DamagedLedger, Ledger
from system import equipment, interface_facts, interface_use, tunnel
from system.equipment import KIND, Taken, find
from testbed.labs.removal import ledger_file


class EquipmentRefused(NetBoxITError):
    """A lab cannot have the interfaces of this machine that its plan names; nothing was touched."""


def of_this_machine(plan: Plan) -> Plan:
    """The plan with the equipment that this machine is to have; of a lab over several each machine has its own."""
    places = {node.name: node.host for node in plan.nodes}
    here = {host.name for host in plan.hosts if host.here} or {""}
    return replace(plan, equipment=tuple(port for port in plan.equipment if places[port.end.node] in here))


def problems(plan: Plan) -> list[str]:
    """What is missing on this machine, or refused, for each port of equipment; nothing is touched.

    What the lab of that name has already is none.
    """
    taken = _taken(plan.lab)
    wanted = [port for port in plan.equipment if port.wire not in taken]
    with IPRoute() as netlink:
        return [f"{port.name}: {why}" for port in wanted for why in _problems(netlink, port, plan)]


def remarks(plan: Plan) -> list[str]:
    """Warns of programs that manage these interfaces, such as NetworkManager; they work on the machine's own network only."""
    if not equipment.in_machines_network():
        return []
    with IPRoute() as netlink:
        return [
            f"{port.name}: NIC {port.device}: {manager}"
            for port in plan.equipment
            if port.kind == "nic" and (link := find(netlink, port.device))
            if (manager := interface_use.managed_by(link["index"]))
        ]


def check(plan: Plan) -> None:
    """Raises EquipmentRefused with everything that speaks against it."""
    if wrong := problems(plan):
        raise EquipmentRefused("\n".join(wrong))


def _problems(netlink: IPRoute, port: EquipmentPlan, plan: Plan) -> Iterator[str]:
    if (why := operators.why_not_taken(port)) is not None:
        yield why
        return
    if port.kind == "vxlan":
        # In WireGuard, whose interface was looked at with the plan, it has no address of the underlay.
        if port.device != SEALED_INTERFACE:
            yield from tunnel.problems(interface_facts.read(), str(port.local), port.mtu)
        elif find(netlink, SEALED_INTERFACE) is None:
            yield f"there is no WireGuard interface {SEALED_INTERFACE} on this machine (any more); prepare it (ansible/hosts.yml)"
        return
    link = find(netlink, port.device)
    if port.kind == "tap":
        if link is not None:
            yield f"there is an interface {port.device} already; give the tap another name"
        if port.user is not None and not _is_user(port.user):
            yield f"there is no user {port.user} on this machine"
        return
    if link is None:
        yield f"there is no interface {port.device} on this machine{_elsewhere(port.device)}; see `ip link`"
        return
    named = port.device in plan.take
    if named and operators.operator() is not None:
        yield f"--take {port.device} is for root: whether this machine can do without it is not an operator's to say"
        return
    if port.kind == "nic":
        most = link.get("max_mtu")
        if most and port.mtu > most:
            yield f"{port.device} carries packets of {most} bytes at most, and the segment has an MTU of {port.mtu}"
        reasons = interface_use.why_not_moved(netlink, link, named=named)
    else:
        if port.kind == "vlan" and not equipment.has_vlans():
            yield "this kernel has no VLANs (IEEE 802.1Q): load its module 8021q, or give a VLAN that is there as a nic"
            return
        interfaces = plan.node(port.end.node).interfaces
        emulator = any(end.name == port.end.interface and end.port != "kernel" for end in interfaces)
        alone = port.kind == "macvlan" and port.mode == "passthru"
        reasons = interface_use.why_not_below(netlink, link, whole_frames=emulator, alone=alone, named=named)
    yield from (f"{port.device} {why}" for why in reasons)


def _elsewhere(device: str) -> str:
    for lab in state.seen_lab_names() or ():
        for taken in _taken(lab).values():
            if taken.device == device and taken.what == "nic":
                return f": lab {lab} has it, as {taken.node}.{taken.interface}"
    return ""


def _taken(lab: str) -> dict[str, Taken]:
    """The equipment on record of a lab by its wires; none where this user may not read the record."""
    try:
        records = Ledger(ledger_file(state.labs_folder() / lab)).records()
        return {record.name: record.details_as(Taken) for record in records if record.kind == KIND}
    except (PermissionError, DamagedLedger):
        return {}


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
