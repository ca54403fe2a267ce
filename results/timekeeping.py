# SPDX-License-Identifier: GPL-2.0-or-later
"""How each netbox kept its time during the traffic: what it had promised, what it missed and when, and what kept it from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts.changes import PowerChange, WireChange
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan
from contracts.run_records import LabRecord, MachineShare
from contracts.statistics import NetboxStatistics, SwitchStatus
from results.metrics_document import Event, Freeze, KeptTime, Miss, Promise, Switch, SwitchPort, Timekeeping


def timekeeping(
    plan: Plan,
    statistics: Mapping[str, NetboxStatistics],
    lab: LabRecord,
    events: Sequence[Event] = (),
) -> dict[str, Timekeeping]:
    """The entries of `netboxes` in metrics.json, for each netbox that left statistics."""
    return {
        name: {**_of(plan.node(name), plan, counted, lab), "freezes": _freezes(name, events)}
        for name, counted in statistics.items()
    }


def _freezes(netbox: str, events: Sequence[Event]) -> list[Freeze]:
    """When the run itself kept the netbox from computing, and for how long."""
    found = [event for event in events if event["by_run"] and event["kind"] == "freeze" and event["netbox"] == netbox]
    return [{"at_s": event["time_s"], "for_s": event["details"]["for_s"]} for event in found]


def ports_of_switches(plan: Plan, counted: Mapping[str, SwitchStatus]) -> dict[str, Switch]:
    """The entries of `switches`: what was dropped at a port whose wire an event takes down is the event's doing."""
    found: dict[str, Switch] = {}
    for name, one in counted.items():
        ports: dict[str, SwitchPort] = {}
        switched = _switched(name, plan)
        for port, told in one["ports"].items():
            ports[port] = {**told, "unplugged_drops": 0}
            if port in switched:
                unplugged = told["receive_drops"] + told["send_drops"]
                ports[port] = {**told, "receive_drops": 0, "send_drops": 0, "unplugged_drops": unplugged}
        found[name] = {"datapath": one["datapath"], "ports": ports, "unserved": one["unserved"]}
    return found


def _of(node: NodePlan, plan: Plan, counted: NetboxStatistics, lab: LabRecord) -> KeptTime:
    scheduler, switched = counted.get("scheduler", {}), _switched(node.name, plan)
    always_up = [port for port in counted["ports"] if port["name"] not in switched]
    return {
        **_promise(node),
        "received": sum(port["received"] for port in counted["ports"]),
        "overload_drops": sum(port["overload_drops"] for port in always_up),
        "send_drops": sum(port["send_drops"] for port in always_up),
        "unplugged_drops": sum(port["send_drops"] for port in counted["ports"] if port["name"] in switched),
        "missed": counted["missed"],
        "misses": _misses(counted, lab.get("began_s", {}).get(node.name)),
        "steal_ratio": _steal(node, lab),
        "cpu_s": scheduler.get("cpu_s"),
        "stepped_back": scheduler.get("stepped_back"),
    }


def _switched(node: str, plan: Plan) -> set[str]:
    """The ports whose wires an event of the run takes down, or a node at them: what is dropped there is the event's doing."""
    return set(switched_wires(plan, node).values())


def switched_wires(plan: Plan, node: str) -> dict[str, str]:
    """Of the same, the name of the wire and the node's port at it."""
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


def _promise(node: NodePlan) -> Promise:
    """The limit and policy that the netbox was given."""
    realtime = netbox_configuration(node)["realtime"]
    return {"limit_us": realtime["limit_us"], "policy": realtime["policy"]}


def _misses(counted: NetboxStatistics, began_s: float | None) -> list[Miss]:
    """The first ones, with their time since the traffic began; None where nobody took down when it did."""
    return [
        {
            # What was due a little before the traffic began may have been done after it.
            "after_s": None if began_s is None else max(0.0, miss["at_s"] - began_s),
            "what": miss["what"],
            "lateness_us": miss["lateness_us"],
        }
        for miss in counted["misses"]
    ]


def _steal(node: NodePlan, lab: LabRecord) -> float | None:
    """The largest share of time that other guests of its machine took on one of the netbox's cores."""
    machine: MachineShare = lab.get("hosts", {}).get(node.host, lab)
    by_core = machine.get("steal_by_core", {})
    return max((ratio for core in node.cores if (ratio := by_core.get(str(core))) is not None), default=None)
