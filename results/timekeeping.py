# SPDX-License-Identifier: GPL-2.0-or-later
"""How each netbox kept its time during the traffic: what it had promised, what it missed and when, and what kept it from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from results.metrics_document import KeptTime, Miss, Promise, Stall, Switch, Timekeeping


def timekeeping(
    plan: Mapping[str, Any],
    statistics: Mapping[str, Mapping[str, Any]],
    lab: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Timekeeping]:
    """The entries of `netboxes` in metrics.json, for each netbox that left statistics.

    `plan` and `lab` as in their files, `events` as in metrics.json.
    """
    nodes = {node["name"]: node for node in plan["nodes"]}
    return {
        name: {**_of(name, nodes[name], plan, counted, lab), "stalls": _stalls(name, events)}
        for name, counted in statistics.items()
    }


def _stalls(netbox: str, events: Sequence[Mapping[str, Any]]) -> list[Stall]:
    """When the run itself kept the netbox from computing, and for how long."""
    found = [event for event in events if event["kind"] == "stall" and event["netbox"] == netbox]
    return [{"at_s": event["time_s"], "for_s": event["details"]["for_s"]} for event in found]


def ports_of_switches(plan: Mapping[str, Any], counted: Mapping[str, Mapping[str, Any]]) -> dict[str, Switch]:
    """The entries of `switches`: what was dropped at a port whose wire an event takes down is the event's doing."""
    found: dict[str, Switch] = {}
    for name, one in counted.items():
        switched, ports = _switched(name, plan), dict[str, Any]()
        for port, told in one["ports"].items():
            unplugged = told["receive_drops"] + told["send_drops"] if port in switched else 0
            others = {"receive_drops": 0, "send_drops": 0} if port in switched else {}
            ports[port] = {**told, **others, "unplugged_drops": unplugged}
        found[name] = {"datapath": one["datapath"], "ports": ports, "unserved": one["unserved"]}
    return found


def _of(
    name: str, node: Mapping[str, Any], plan: Mapping[str, Any], counted: Mapping[str, Any], lab: Mapping[str, Any]
) -> KeptTime:
    scheduler, switched = counted.get("scheduler", {}), _switched(name, plan)
    always_up = [port for port in counted["ports"] if port["name"] not in switched]
    return {
        **_promise(node, plan),
        "received": sum(port["received"] for port in counted["ports"]),
        "overload_drops": sum(port["overload_drops"] for port in always_up),
        "send_drops": sum(port["send_drops"] for port in always_up),
        "unplugged_drops": sum(port["send_drops"] for port in counted["ports"] if port["name"] in switched),
        "missed": counted["missed"],
        "misses": _misses(counted, lab.get("began_s", {}).get(name)),
        "steal_ratio": _steal(node, lab),
        "cpu_s": scheduler.get("cpu_s"),
        "stepped_back": scheduler.get("stepped_back"),
    }


def _switched(node: str, plan: Mapping[str, Any]) -> set[str]:
    """The ports whose wires an event of the run takes down, or a node at them: what is dropped there is the event's doing."""
    return set(switched_wires(plan, node).values())


def switched_wires(plan: Mapping[str, Any], node: str) -> dict[str, str]:
    """Of the same, the name of the wire and the node's port at it."""
    changes = [event["change"] for event in plan.get("events", ())]
    wires = {change["wire"] for change in changes if change["kind"] == "wire"}
    dark = {change["node"] for change in changes if change["kind"] == "power"}
    return {
        wire["name"]: wire[side]["interface"]
        for wire in plan.get("wires", ())
        if wire["name"] in wires or not dark.isdisjoint(wire[side]["node"] for side in ("left", "right"))
        for side in ("left", "right")
        if wire[side]["node"] == node
    }


def _promise(node: Mapping[str, Any], plan: Mapping[str, Any]) -> Promise:
    """The limit and policy that the netbox was given; those of the lab where it has none of its own."""
    own = json.loads(node["files"].get("netbox.json", "{}")).get("realtime", {})
    return {
        "limit_us": own.get("limit_us", plan["lateness_limit_s"] * 1e6),
        "policy": own.get("policy", plan["lateness_policy"]),
    }


def _misses(counted: Mapping[str, Any], began_s: float | None) -> list[Miss]:
    """The first ones, with their time since the traffic began; None where nobody took down when it did."""
    return [
        {
            # What was due a little before the traffic began may have been done after it.
            "after_s": None if began_s is None else max(0.0, miss["at_s"] - began_s),
            "what": miss["what"],
            "lateness_us": miss["lateness_us"],
        }
        for miss in counted.get("misses", ())
    ]


def _steal(node: Mapping[str, Any], lab: Mapping[str, Any]) -> float | None:
    """The largest share of time that other guests of its machine took on one of the netbox's cores."""
    told = lab.get("hosts", {}).get(node.get("host"), lab).get("steal_by_core", {})
    return max((told[str(core)] for core in node["cores"] if told.get(str(core)) is not None), default=None)
