# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology file beside the lab of that name that is up: what would be made of the lab. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from contracts.errors import NetBoxITError
from contracts.names import lab_name
from contracts.plan import Plan, RealtimeSupport
from ownership import recorded, state
from ownership.operators import NoPrivilege
from system import awake, containers
from system.cores import available_cores, isolated_cores
from system.realtime_support import realtime_budget_us, realtime_support
from testbed.changing import by_hand
from testbed.description.topology import Topology
from testbed.labs.removal import container_of
from testbed.nodes.routers import is_click
from testbed.plans import taking
from testbed.plans.difference import Difference, NodeDifference, difference
from testbed.plans.load import LoadEstimate
from testbed.plans.machine_plan import WITHOUT_REALTIME
from testbed.plans.planning import estimated, plan_topology
from testbed.plans.sites import Site


class HalfUp(NetBoxITError):
    """A lab that never came up whole."""


@dataclass(frozen=True)
class Compared:
    """The plan of a file, and what it would do to the lab of that name; without `difference` that lab is not up."""

    plan: Plan
    load: LoadEstimate
    difference: Difference | None
    #: Why nothing can be said of the lab, though it may be up.
    unknown: str | None = None


def compare(topology: Topology, name: str | None, sites: Sequence[Site] = ()) -> Compared:
    """`sites` are the machines that are known, if not only this one. Raises what planning raises, and HalfUp."""
    lab = lab_name(topology.name if name is None else name)
    unknown = None
    try:
        if lab in state.lab_names():
            folder = state.lab_folder(lab)
            state.check_own(folder)
            plan, changes, _ = against(topology, lab, folder, sites)
            return Compared(plan, estimated(topology, plan), changes)
    except (PermissionError, NoPrivilege, state.SomebodyElses) as error:
        unknown = f"whether lab {lab} is up cannot be seen: {error}"
    plan = plan_topology(topology, lab=lab, realtime=realtime_support(), sites=sites)
    return Compared(plan, estimated(topology, plan), None, unknown)


def against(topology: Topology, lab: str, folder: Path, sites: Sequence[Site] = ()) -> tuple[Plan, Difference, list[Plan]]:
    """The plan of a topology for a lab that is up, what it does to it, and the plans that parts of the lab may be of now."""
    states = recorded.states(folder)
    if not states:
        raise HalfUp(f"lab {lab} comes up just now, or did not come up whole; `netboxit down {lab}` removes it")
    support = _support(states[0])
    planned_sites = [replace(site, facts=replace(site.facts, realtime=support)) if site.here else site for site in sites]
    plan = plan_topology(topology, lab=lab, realtime=support, running=states[0], sites=planned_sites)
    plan = taking.kept(_with_attached(plan, states[0]), states)
    changes = difference(states, plan, _ended(states, folder))
    return plan, replace(changes, nodes=tuple(_with_lost(node, states[0], folder) for node in changes.nodes)), states


def _with_lost(node: NodeDifference, running: Plan, folder: Path) -> NodeDifference:
    """What somebody has set by hand in a node that starts again is told."""
    was = next((was for was in running.nodes if was.name == node.name), None)
    if node.action != "restarted" or was is None:
        return node
    values = by_hand.lost(container_of(folder, node.name, was.container).folder, was)
    return replace(node, reasons=(*node.reasons, f"what was set by hand is lost: {', '.join(values)}")) if values else node


def _with_attached(plan: Plan, running: Plan) -> Plan:
    """The plan with what somebody attached to the lab that is up. What was at a node that goes is missing."""
    for port in (port for port in running.equipment if port.attached):
        from testbed.changing.attaching import Wanted, attached  # netlink, which few labs need here

        if port.end.node in {node.name for node in plan.nodes}:
            there = {interface.name for interface in plan.node(port.end.node).interfaces}
            own = {interface.name: interface for interface in running.node(port.end.node).interfaces}
            addresses = () if port.end.interface in there else own[port.end.interface].addresses
            wanted = Wanted(port.kind, port.device, port.vlan, port.mode, port.user, addresses=addresses)
            plan, _ = attached(plan, wanted, f"{port.end.node}.{port.end.interface}")
    return plan


def _support(running: Plan) -> RealtimeSupport:
    """What a lab's emulators were granted when they came up is theirs to keep, be it nothing; without any the kernel is asked.

    Else a change elsewhere on the machine would start all of them again.
    """
    if not any(node.kind == "netbox" or is_click(node) for node in running.nodes):
        return realtime_support()
    cores = (all(map(awake.possible, available_cores())), isolated_cores())
    if any(node.realtime_priority for node in running.nodes):
        return RealtimeSupport(True, running.realtime_budget_us or None, "the lab that is up has it", *cores)
    reasons = (note.removeprefix(WITHOUT_REALTIME) for note in running.notes if note.startswith(WITHOUT_REALTIME))
    budget_us = None if realtime_budget_us() is None else 0
    return RealtimeSupport(False, budget_us, next(reasons, "the lab came up without it"), *cores)


def _ended(states: Sequence[Plan], folder: Path) -> set[str]:
    nodes = {node.name: node for plan in states for node in plan.nodes}
    return {name for name, node in nodes.items() if not containers.alive(container_of(folder, name, node.container))}
