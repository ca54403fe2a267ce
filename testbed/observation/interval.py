# SPDX-License-Identifier: GPL-2.0-or-later
"""What happened between two readings of a lab, as data (docs/watching.md, "As lines of JSON"): rates, delay, loss, lateness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan
from contracts.statistics import LatenessCounters
from testbed.documents.watch import IntervalLine, Kept, LatenessOfKind, Light, NodeFigures, Port
from testbed.observation import services, stages
from testbed.observation.reading import NodeReading, Reading, Traffic

#: Frames that did not get into the netbox, or should not have: counted at its ports.
LOST_AT_PORTS: Final[Mapping[Literal["overload_drops", "oversize_drops", "malformed"], str]] = {
    "overload_drops": "overload",
    "oversize_drops": "oversize",
    "malformed": "malformed",
}
_DROPS_AT_INTERFACES: Final[tuple[Literal["receive_drops", "send_drops"], ...]] = ("receive_drops", "send_drops")


def interval(plan: Plan, before: Reading, now: Reading) -> IntervalLine:
    """A line of kind "interval"."""
    return {
        "kind": "interval",
        "lab": plan.lab,
        "at_ns": now.at_ns,
        "interval_s": round((now.at_ns - before.at_ns) / 1e9, 6),
        "nodes": [
            _node(node, before.nodes.get(node.name), now.nodes[node.name]) for node in plan.nodes if node.name in now.nodes
        ],
    }


def counted(before: int | float, now: int | float) -> int | float:
    """By how much a counter grew; one that is smaller than before has started anew."""
    return now - before if now >= before else now


def limit_us(node: NodePlan) -> float:
    """The lateness that a netbox was promised to keep."""
    return netbox_configuration(node)["realtime"]["limit_us"]


def _node(node: NodePlan, before: NodeReading | None, now: NodeReading) -> NodeFigures:
    before = before or NodeReading(now.at_s, False)
    figures = _netbox(node, before, now) if node.kind == "netbox" else _other(node, before, now)
    of_stages = stages.figures(before.stages, now.stages)
    return {**figures, "stages": of_stages} if of_stages else figures


def _other(node: NodePlan, before: NodeReading, now: NodeReading) -> NodeFigures:
    """One that is no netbox."""
    ports = [_port(name, before.interfaces.get(name), port, now.at_s - before.at_s) for name, port in now.interfaces.items()]
    lost = _grown(before.lost, now.lost) if before.alive else {}
    for side in _DROPS_AT_INTERFACES:
        port_pairs = ((before.interfaces[name], port) for name, port in now.interfaces.items() if name in before.interfaces)
        if dropped := sum(counted(earlier[side], port[side]) for earlier, port in port_pairs):
            lost[side] = int(dropped)
    figures = _figures(node, now.alive, ports, lost)
    return {**figures, "management": [*now.parts]} if now.parts else figures


def _figures(node: NodePlan, alive: bool, ports: list[Port], lost: dict[str, int]) -> NodeFigures:
    return {"name": node.name, "kind": node.kind, "cores": list(node.cores), "alive": alive, "ports": ports, "lost": lost}


def _netbox(node: NodePlan, before: NodeReading, now: NodeReading) -> NodeFigures:
    """One that does not answer is red: nobody knows what its frames wait for."""
    if now.netbox is None:
        return {**_figures(node, now.alive, [], {}), "answers": False, "light": "red", "lateness": None, "cpu": None}
    if before.netbox is None:
        return {**_figures(node, now.alive, [], {}), "answers": True, "light": "green", "lateness": None, "cpu": None}
    span_s = now.at_s - before.at_s
    earlier = {port["name"]: port for port in before.netbox["ports"]}
    lost = _grown(before.netbox["frames"]["lost"], now.netbox["frames"]["lost"])
    for key, reason in LOST_AT_PORTS.items():
        if dropped := sum(int(counted(earlier[port["name"]][key], port[key])) for port in now.netbox["ports"]):
            lost[reason] = dropped
    earlier_us, now_us = before.netbox["lateness_us"], now.netbox["lateness_us"]
    lateness: Kept = {
        "frame": _lateness(earlier_us["frame"], now_us["frame"]),
        "event": _lateness(earlier_us["event"], now_us["event"]),
    }
    ports = [
        _port(port["name"], earlier[port["name"]], port, span_s, counted(earlier[port["name"]]["delay_s"], port["delay_s"]))
        for port in now.netbox["ports"]
    ]
    figures: NodeFigures = {
        **_figures(node, now.alive, ports, lost),
        "marked": int(counted(before.netbox["frames"].get("marked", 0), now.netbox["frames"].get("marked", 0))),
        "answers": True,
        "light": light(lateness, lost),
        "lateness": {"limit_us": limit_us(node), **lateness},
        "cpu": round(counted(before.netbox["scheduler"]["cpu_s"], now.netbox["scheduler"]["cpu_s"]) / max(span_s, 1e-9), 4),
    }
    if now.services:
        figures["services"] = services.figures(before.services, now.services, span_s)
    return figures


def _port(name: str, before: Traffic | None, now: Traffic, span_s: float, delay_s: float | None = None) -> Port:
    """Bits are those of whole Ethernet frames without FCS.

    `delay_s` is the sum of the times that the frames which left here in the interval were in the netbox; None at an interface.
    """
    if before is None or span_s <= 0:
        return {"name": name, "in_bit_s": None, "in_frames_s": None, "out_bit_s": None, "out_frames_s": None, "delay_ms": None}
    sent = counted(before["sent"], now["sent"])
    return {
        "name": name,
        "in_bit_s": round(counted(before["received_bytes"], now["received_bytes"]) * 8 / span_s, 1),
        "in_frames_s": round(counted(before["received"], now["received"]) / span_s, 2),
        "out_bit_s": round(counted(before["sent_bytes"], now["sent_bytes"]) * 8 / span_s, 1),
        "out_frames_s": round(sent / span_s, 2),
        "delay_ms": round(delay_s * 1e3 / sent, 4) if delay_s is not None and sent else None,
    }


def _lateness(earlier: LatenessCounters, later: LatenessCounters) -> LatenessOfKind:
    """Of the interval only. `p99_us` is the bound of the histogram that 99 % kept, null when there is none."""
    if later["count"] < earlier["count"]:  # the counters began anew
        earlier = {**later, "count": 0, "missed": 0, "up_to": [(bound, 0) for bound, _ in later["up_to"]]}
    count = later["count"] - earlier["count"]
    within = ((bound, now - past) for (bound, now), (_, past) in zip(later["up_to"], earlier["up_to"], strict=True))
    p99_us = next((bound for bound, frames in within if frames >= 0.99 * count), None) if count else None
    return {"count": count, "missed": later["missed"] - earlier["missed"], "p99_us": p99_us}


def light(lateness: Kept, lost: Mapping[str, int]) -> Light:
    """As of a run (docs/measuring.md): red when p99 was over the limit, amber when anything was, or frames went for overload."""
    kinds = (lateness["frame"], lateness["event"])
    if any(kind["missed"] > 0.01 * kind["count"] for kind in kinds):
        return "red"
    return "amber" if any(kind["missed"] for kind in kinds) or lost.get("overload") else "green"


def _grown(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """What was lost, by reason, without what was not, and without what was not counted before."""
    return {reason: grown for reason, count in now.items() if (grown := int(counted(before.get(reason, count), count)))}
