# SPDX-License-Identifier: GPL-2.0-or-later
"""How each netbox kept its time during the traffic: what it had promised, what it missed and when, and what kept it from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from contracts import statistics
from contracts.changes import PowerChange, WireChange
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan
from contracts.run_records import LabRecord, MachineShare
from contracts.statistics import NetboxStatistics, SwitchStatus
from results.metrics_document import Event, Switch, SwitchPort, Timekeeping


def timekeeping(
    plan: Plan,
    counted: Mapping[str, NetboxStatistics],
    lab: LabRecord,
    events: Sequence[Event] = (),
) -> dict[str, Timekeeping]:
    """The entries of `netboxes` in metrics.json, for each netbox that left statistics."""
    return {name: _of(plan.node(name), plan, own, lab, events) for name, own in counted.items()}


def ports_of_switches(plan: Plan, counted: Mapping[str, SwitchStatus]) -> dict[str, Switch]:
    """The entries of `switches`: what was dropped at a port whose wire an event takes down is the event's doing."""
    return {
        name: {
            "datapath": switch["datapath"],
            "ports": _ports(switch["ports"], switched_wires(plan, name).values()),
            "unserved": switch["unserved"],
        }
        for name, switch in counted.items()
    }


def _ports(counted: Mapping[str, statistics.SwitchPort], switched: Collection[str]) -> dict[str, SwitchPort]:
    return {
        name: {**port, "receive_drops": 0, "send_drops": 0, "unplugged_drops": port["receive_drops"] + port["send_drops"]}
        if name in switched
        else {**port, "unplugged_drops": 0}
        for name, port in counted.items()
    }


def _of(node: NodePlan, plan: Plan, counted: NetboxStatistics, lab: LabRecord, events: Sequence[Event]) -> Timekeeping:
    realtime, scheduler = netbox_configuration(node)["realtime"], counted.get("scheduler")
    # What is dropped at a port is an event's doing where that takes down the port's wire, or a node at it.
    switched = switched_wires(plan, node.name).values()
    began_s = lab.get("began_s", {}).get(node.name)
    always_up = [port for port in counted["ports"] if port["name"] not in switched]
    return {
        "limit_us": realtime["limit_us"],
        "policy": realtime["policy"],
        "received": sum(port["received"] for port in counted["ports"]),
        "overload_drops": sum(port["overload_drops"] for port in always_up),
        "send_drops": sum(port["send_drops"] for port in always_up),
        "unplugged_drops": sum(port["send_drops"] for port in counted["ports"] if port["name"] in switched),
        "missed": counted["missed"],
        "misses": [
            {
                # What was due a little before the traffic began may have been done after it.
                "after_s": None if began_s is None else max(0.0, miss["at_s"] - began_s),
                "what": miss["what"],
                "lateness_us": miss["lateness_us"],
            }
            for miss in counted["misses"]
        ],
        "steal_ratio": _steal(node, lab),
        "cpu_s": scheduler["cpu_s"] if scheduler else None,
        "stepped_back": scheduler["stepped_back"] if scheduler else None,
        "freezes": [
            {"at_s": event["time_s"], "for_s": event["details"]["for_s"]}
            for event in events
            if event["by_run"] and (event["kind"], event["netbox"]) == ("freeze", node.name)
        ],
    }


def switched_wires(plan: Plan, node: str) -> dict[str, str]:
    """The wires of a node that an event of the run takes down, or a node at them, with the node's port at each."""
    changes = [event.change for event in plan.events]
    wires = {change.wire for change in changes if isinstance(change, WireChange)}
    dark = {change.node for change in changes if isinstance(change, PowerChange)}
    return {
        wire.name: end.interface
        for wire in plan.wires
        if wire.name in wires or not dark.isdisjoint((wire.left.node, wire.right.node))
        for end in (wire.left, wire.right)
        if end.node == node
    }


def _steal(node: NodePlan, lab: LabRecord) -> float | None:
    """The largest share of time that other guests of its machine took on one of the netbox's cores."""
    machine: MachineShare = lab.get("hosts", {}).get(node.host, lab)
    by_core = machine.get("steal_by_core", {})
    return max((ratio for core in node.cores if (ratio := by_core.get(str(core))) is not None), default=None)
