# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of labs as Prometheus reads them: text exposition format 0.0.4. docs/watching.md has the table made of METRICS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from contracts.control import NetboxCounters
from contracts.plan import NodePlan, Plan
from testbed.observation.interval import LOST_AT_PORTS, limit_us
from testbed.observation.reading import NodeReading, Reading

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]
#: The name's ending ("_sum"), the labels, the value.
Sample = tuple[str, Labels, float]


@dataclass(frozen=True)
class Metric:
    """Its name has its unit in it, a counter's ends in `_total`."""

    name: str
    kind: Literal["counter", "gauge", "summary", "histogram"]
    labels: tuple[str, ...]
    help: str


_NODE, _PORT = ("lab", "node"), ("lab", "node", "port")
LAB = Metric("netboxit_lab_info", "gauge", ("lab", "topology"), "1 for each lab that is up.")
UP = Metric("netboxit_node_up", "gauge", (*_NODE, "kind"), "1 while the node's program runs; of a netbox, while it answers.")
RECEIVED = Metric("netboxit_port_received_frames_total", "counter", _PORT, "Frames that came in at a port of a node.")
SENT = Metric("netboxit_port_sent_frames_total", "counter", _PORT, "Frames that left at a port of a node.")
RECEIVED_BYTES = Metric("netboxit_port_received_bytes_total", "counter", _PORT, "Bytes of the frames that came in, without FCS.")
SENT_BYTES = Metric("netboxit_port_sent_bytes_total", "counter", _PORT, "Bytes of the frames that left, without FCS.")
DROPPED = Metric(
    "netboxit_port_dropped_frames_total",
    "counter",
    (*_PORT, "reason"),
    "Frames that a port dropped, by reason; `send`: the far side would not take them.",
)
DELAY = Metric("netboxit_netbox_delay_seconds", "summary", _PORT, "Time that frames which left at a port were in the netbox.")
LOST = Metric("netboxit_netbox_lost_frames_total", "counter", (*_NODE, "reason"), "Frames that the segment lost, by reason.")
INSIDE = Metric("netboxit_netbox_inside_frames", "gauge", _NODE, "Frames that are in the netbox now.")
LATENESS = Metric(
    "netboxit_netbox_lateness_seconds",
    "histogram",
    (*_NODE, "what"),
    "How late frames and events were, since the network's time began.",
)
LATE = Metric("netboxit_netbox_late_total", "counter", (*_NODE, "what"), "Frames and events that were later than the limit.")
LIMIT = Metric("netboxit_netbox_lateness_limit_seconds", "gauge", _NODE, "The lateness that is still good.")
CPU = Metric("netboxit_netbox_cpu_seconds_total", "counter", _NODE, "CPU time of the netbox.")
LOST_ELSEWHERE = Metric(
    "netboxit_node_lost_packets_total",
    "counter",
    (*_NODE, "reason"),
    "Packets that a router, switch or host lost, by reason; of a Click router by the handler that counts them.",
)
METRICS: Final = (
    *(LAB, UP, RECEIVED, SENT, RECEIVED_BYTES, SENT_BYTES, DROPPED, DELAY, LOST, INSIDE, LATENESS, LATE, LIMIT, CPU),
    LOST_ELSEWHERE,
)

_PORT_COUNTERS: Final = {"received": RECEIVED, "sent": SENT, "received_bytes": RECEIVED_BYTES, "sent_bytes": SENT_BYTES}
_REASONS: Final = dict[str, str](LOST_AT_PORTS.items()) | {"receive_drops": "receive", "send_drops": "send"}


def page(labs: Iterable[tuple[Plan, Reading]]) -> str:
    """All metrics, each with its HELP and TYPE once."""
    samples: dict[str, list[Sample]] = {metric.name: [] for metric in METRICS}
    for plan, reading in labs:
        samples[LAB.name].append(("", {"lab": plan.lab, "topology": plan.topology}, 1))
        for node in plan.nodes:
            if node.name in reading.nodes:
                for metric, sample in _of_node(plan.lab, node, reading.nodes[node.name]):
                    samples[metric.name].append(sample)
    return "".join(_metric(metric, samples[metric.name]) for metric in METRICS)


def _of_node(lab: str, node: NodePlan, now: NodeReading) -> Iterator[tuple[Metric, Sample]]:
    labels = {"lab": lab, "node": node.name}
    up = now.alive and (node.kind != "netbox" or now.netbox is not None)
    yield UP, ("", {**labels, "kind": node.kind}, int(up))
    for name, port in now.interfaces.items():
        yield from _of_port({**labels, "port": name}, port)
    for reason, count in now.lost.items():
        yield LOST_ELSEWHERE, ("", {**labels, "reason": reason}, count)
    if now.netbox is not None:
        yield LIMIT, ("", labels, limit_us(node) / 1e6)
        yield from _of_netbox(labels, now.netbox)


def _of_netbox(labels: Labels, counters: NetboxCounters) -> Iterator[tuple[Metric, Sample]]:
    for port in counters["ports"]:
        at = {**labels, "port": port["name"]}
        yield from _of_port(at, port)
        yield DELAY, ("_sum", at, port["delay_s"])
        yield DELAY, ("_count", at, port["sent"])
    for reason, count in counters["frames"]["lost"].items():
        yield LOST, ("", {**labels, "reason": reason}, count)
    yield INSIDE, ("", labels, counters["frames"]["inside"])
    yield CPU, ("", labels, counters["scheduler"]["cpu_s"])
    by_kind = counters["lateness_us"]
    for what, late in (("frame", by_kind["frame"]), ("event", by_kind["event"])):
        of = {**labels, "what": what}
        for bound_us, count in late["up_to"]:
            yield LATENESS, ("_bucket", {**of, "le": repr(bound_us / 1e6)}, count)
        yield LATENESS, ("_bucket", {**of, "le": "+Inf"}, late["count"])
        yield LATENESS, ("_sum", of, late["sum"] / 1e6)
        yield LATENESS, ("_count", of, late["count"])
        yield LATE, ("", of, late["missed"])


def _of_port(labels: Labels, port: Mapping[str, Any]) -> Iterator[tuple[Metric, Sample]]:
    for key, metric in _PORT_COUNTERS.items():
        yield metric, ("", labels, port[key])
    for key, reason in _REASONS.items():
        if key in port:
            yield DROPPED, ("", {**labels, "reason": reason}, port[key])


def _metric(metric: Metric, samples: Iterable[Sample]) -> str:
    help_text = metric.help.replace("\\", r"\\").replace("\n", r"\n")
    head = f"# HELP {metric.name} {help_text}\n# TYPE {metric.name} {metric.kind}\n"
    return head + "".join(f"{metric.name}{ending}{_labels(labels)} {value!r}\n" for ending, labels, value in samples)


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
