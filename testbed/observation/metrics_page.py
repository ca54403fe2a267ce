# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of labs as Prometheus reads them: text exposition format 0.0.4. docs/watching.md has the table made of METRICS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from contracts.control import NetboxCounters
from contracts.plan import NodePlan, Plan
from testbed.observation.interval import LOST_AT_PORTS, limit_us
from testbed.observation.reading import NodeReading, Reading, Traffic

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]
#: The metric's name, what its line adds to that ("_sum"), the labels, the value.
Sample = tuple[str, str, Labels, float]


@dataclass(frozen=True)
class Metric:
    """Its name has its unit in it, a counter's ends in `_total`."""

    name: str
    kind: Literal["counter", "gauge", "summary", "histogram"]
    labels: tuple[str, ...]
    help: str


_NODE, _PORT = ("lab", "node"), ("lab", "node", "port")
METRICS: Final = (
    Metric("netboxit_lab_info", "gauge", ("lab", "topology"), "1 for each lab that is up."),
    Metric("netboxit_node_up", "gauge", (*_NODE, "kind"), "1 while the node's program runs; of a netbox, while it answers."),
    Metric("netboxit_port_received_frames_total", "counter", _PORT, "Frames that came in at a port of a node."),
    Metric("netboxit_port_sent_frames_total", "counter", _PORT, "Frames that left at a port of a node."),
    Metric("netboxit_port_received_bytes_total", "counter", _PORT, "Bytes of the frames that came in, without FCS."),
    Metric("netboxit_port_sent_bytes_total", "counter", _PORT, "Bytes of the frames that left, without FCS."),
    Metric(
        "netboxit_port_dropped_frames_total",
        "counter",
        (*_PORT, "reason"),
        "Frames that a port dropped, by reason; `send`: the other end would not take them.",
    ),
    Metric("netboxit_netbox_delay_seconds", "summary", _PORT, "Time that frames which left at a port were in the netbox."),
    Metric("netboxit_netbox_lost_frames_total", "counter", (*_NODE, "reason"), "Frames that the segment lost, by reason."),
    Metric(
        "netboxit_netbox_marked_frames_total", "counter", _NODE, "Frames that queues marked as having experienced congestion."
    ),
    Metric(
        "netboxit_stage_value",
        "gauge",
        (*_PORT, "place", "stage", "what"),
        "What a stage of a station or of a Click router's interface counts and shares, by the word of its statistics; bandwidths "
        "in bit/s.",
    ),
    Metric(
        "netboxit_service_value",
        "gauge",
        (*_PORT, "service", "scheme", "what"),
        "What a service of a link layer counts at a station, by the key of its statistics, and measures: `goodput` of what the "
        "station sends, `loss` and `delay` (seconds) of what comes to it.",
    ),
    Metric("netboxit_netbox_inside_frames", "gauge", _NODE, "Frames that are in the netbox now."),
    Metric(
        "netboxit_netbox_lateness_seconds",
        "histogram",
        (*_NODE, "what"),
        "How late frames and events were, since the network's time began.",
    ),
    Metric("netboxit_netbox_late_total", "counter", (*_NODE, "what"), "Frames and events that were later than the limit."),
    Metric("netboxit_netbox_lateness_limit_seconds", "gauge", _NODE, "The lateness that is still good."),
    Metric("netboxit_netbox_cpu_seconds_total", "counter", _NODE, "CPU time of the netbox."),
    Metric(
        "netboxit_node_lost_packets_total",
        "counter",
        (*_NODE, "reason"),
        "Packets that a router, switch or host lost, by reason; of a Click router by the handler that counts them.",
    ),
    Metric(
        "netboxit_managed_link_value",
        "gauge",
        (*_NODE, "link", "part", "what"),
        "Of an allocator the `capacity` of the link, the `share` and number of its `members`; of a member its `budget`, and 1 "
        "while it is `reachable`. Rates in bit/s; no budget: none applies.",
    ),
)

_PORT_COUNTERS: Final[Mapping[Literal["received", "sent", "received_bytes", "sent_bytes"], str]] = {
    "received": "netboxit_port_received_frames_total",
    "sent": "netboxit_port_sent_frames_total",
    "received_bytes": "netboxit_port_received_bytes_total",
    "sent_bytes": "netboxit_port_sent_bytes_total",
}


_OF_PARTS: Final[tuple[Literal["capacity", "share", "members", "budget", "reachable"], ...]] = (
    *("capacity", "share", "members", "budget", "reachable"),
)


def page(labs: Iterable[tuple[Plan, Reading]]) -> str:
    """All metrics, each with its HELP and TYPE once."""
    lines = {metric.name: [f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"] for metric in METRICS}
    for plan, reading in labs:
        for name, ending, labels, value in _of_lab(plan, reading):
            lines[name].append(f"{name}{ending}{_labels(labels)} {value!r}\n")
    return "".join(line for metric in lines.values() for line in metric)


def _of_lab(plan: Plan, reading: Reading) -> Iterator[Sample]:
    yield "netboxit_lab_info", "", {"lab": plan.lab, "topology": plan.topology}, 1
    for node in plan.nodes:
        if node.name in reading.nodes:
            yield from _of_node({"lab": plan.lab, "node": node.name}, node, reading.nodes[node.name])


def _of_node(labels: Labels, node: NodePlan, now: NodeReading) -> Iterator[Sample]:
    up = now.alive and (node.kind != "netbox" or now.netbox is not None)
    yield "netboxit_node_up", "", {**labels, "kind": node.kind}, int(up)
    for name, port in now.interfaces.items():
        drops = {"receive": port["receive_drops"], "send": port["send_drops"]}
        yield from _of_port({**labels, "port": name}, port, drops)
    for reason, count in now.lost.items():
        yield "netboxit_node_lost_packets_total", "", {**labels, "reason": reason}, count
    for part in now.parts:
        of_part = {**labels, "link": part["name"], "part": part["role"]}
        figures = {what: part[what] for what in _OF_PARTS}
        yield from (
            ("netboxit_managed_link_value", "", {**of_part, "what": what}, int(n)) for what, n in figures.items() if n is not None
        )
    for name, stages in now.stages.items():
        for place, stage in enumerate(stages):
            of_stage = {**labels, "port": name, "place": str(place), "stage": stage.kind}
            yield from (("netboxit_stage_value", "", {**of_stage, "what": what}, n) for what, n in stage.numbers.items())
    if now.netbox is not None:
        yield "netboxit_netbox_lateness_limit_seconds", "", labels, limit_us(node) / 1e6
        yield from _of_netbox(labels, now.netbox)
    for (station, name), counts in now.services.items():
        of_service = {**labels, "port": station, "service": name, "scheme": counts["scheme"]}
        for what, number in counts.items():
            if isinstance(number, int | float):
                yield "netboxit_service_value", "", {**of_service, "what": what}, number


def _of_netbox(labels: Labels, counters: NetboxCounters) -> Iterator[Sample]:
    for port in counters["ports"]:
        at = {**labels, "port": port["name"]}
        drops = {reason: port[key] for key, reason in LOST_AT_PORTS.items()}
        yield from _of_port(at, port, {**drops, "send": port["send_drops"]})
        yield "netboxit_netbox_delay_seconds", "_sum", at, port["delay_s"]
        yield "netboxit_netbox_delay_seconds", "_count", at, port["sent"]
    for reason, count in counters["frames"]["lost"].items():
        yield "netboxit_netbox_lost_frames_total", "", {**labels, "reason": reason}, count
    yield "netboxit_netbox_marked_frames_total", "", labels, counters["frames"].get("marked", 0)
    yield "netboxit_netbox_inside_frames", "", labels, counters["frames"]["inside"]
    yield "netboxit_netbox_cpu_seconds_total", "", labels, counters["scheduler"]["cpu_s"]
    by_kind = counters["lateness_us"]
    for what, late in (("frame", by_kind["frame"]), ("event", by_kind["event"])):
        of = {**labels, "what": what}
        for bound_us, count in late["up_to"]:
            yield "netboxit_netbox_lateness_seconds", "_bucket", {**of, "le": repr(bound_us / 1e6)}, count
        yield "netboxit_netbox_lateness_seconds", "_bucket", {**of, "le": "+Inf"}, late["count"]
        yield "netboxit_netbox_lateness_seconds", "_sum", of, late["sum"] / 1e6
        yield "netboxit_netbox_lateness_seconds", "_count", of, late["count"]
        yield "netboxit_netbox_late_total", "", of, late["missed"]


def _of_port(labels: Labels, port: Traffic, drops: Mapping[str, int]) -> Iterator[Sample]:
    for key, name in _PORT_COUNTERS.items():
        yield name, "", labels, port[key]
    for reason, count in drops.items():
        yield "netboxit_port_dropped_frames_total", "", {**labels, "reason": reason}, count


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
