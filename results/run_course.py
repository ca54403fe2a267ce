# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a report that tells the course of a run: events, flows over time, the netboxes' statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from typing_extensions import TypedDict

from contracts.flow import Direction
from results import charts, metrics
from results.charts import FlowOverTime, Mark
from results.counters import Series
from results.metrics_document import Conversation, Event, Flow, Metrics, Outage, Seconds
from results.run_folder import Measured

#: Events that are listed, and drawn into charts of flows; metrics.json has all. A cell that flaps must not hide what was planned.
_MOST_LISTED, _MOST_MARKED = 80, 30


class ListedEvent(Event):
    #: As the charts call it.
    number: int


class OutageOfFlow(Outage):
    flow: str
    direction: Direction


@dataclass(frozen=True)
class NetboxCourse:
    """The statistics of a netbox."""

    netbox: str
    #: Of those that changed; None where none did.
    chart: str | None
    #: Those that did not, in words.
    constant: str
    #: The names of those that found no room in the chart.
    left_out: Sequence[str]


class Course(TypedDict):
    """What the template is given. Charts are SVG."""

    listed_events: Sequence[ListedEvent]
    #: How many more there were.
    events_left_out: int
    time_line: str | None
    #: A chart for each flow, by its name.
    over_time: Mapping[str, str]
    outages: Sequence[OutageOfFlow]
    netbox_series: Sequence[NetboxCourse]
    #: Of managed links, by name.
    budgets_over_time: Mapping[str, str]


def course(measured: Sequence[Measured], series: Sequence[Series], document: Metrics) -> Course:
    listed = _listed(document["events"])
    marks = [Mark(number, event["time_s"], _lane(event), event["by_run"]) for number, event in enumerate(listed, 1)]
    end_s = _end_s(series, document)
    warm_up_s = document["warm_up_s"]
    telling = [mark for mark in marks if not (mark.lane == "traffic" and mark.time_s < 1.0)]
    drawn = telling if len(telling) <= _MOST_MARKED else [mark for mark in telling if mark.by_run][:_MOST_MARKED]
    return {
        "listed_events": [{"number": number, **event} for number, event in enumerate(listed, 1)],
        "events_left_out": len(document["events"]) - len(listed),
        "time_line": charts.time_line(marks, end_s, warm_up_s) if marks else None,
        "over_time": dict(_flows(measured, document, drawn, end_s)),
        "outages": list(_outages(document["flows"])),
        "netbox_series": list(_netboxes(series, drawn, end_s, warm_up_s)),
        "budgets_over_time": {
            link["link"]: charts.budgets(link["members"], end_s, warm_up_s)
            for link in document["managed_links"]
            if any(member["time_s"] for member in link["members"])
        },
    }


def _listed(events: Sequence[Event]) -> list[Event]:
    """All, or when they are too many what the run did and the first of the others."""
    run_events = [event for event in events if event["by_run"]][:_MOST_LISTED]
    others = [event for event in events if not event["by_run"]][: _MOST_LISTED - len(run_events)]
    return sorted([*run_events, *others], key=lambda event: float(event["time_s"]))


def _lane(event: Event) -> str:
    return str(event["netbox"] or ("wires" if event["kind"] == "wire" else "traffic"))


def _end_s(series: Sequence[Series], document: Metrics) -> float:
    flows: list[Flow | Conversation] = [*document["flows"], *document["conversations"]]
    ends = [seconds["second"][-1] + 1.0 for flow in flows if (seconds := flow["seconds"])]
    ends += [float(statistic.times_s[-1]) for statistic in series[:1]] + [event["time_s"] for event in document["events"][-1:]]
    return max(ends, default=1.0)


def _flows(measured: Sequence[Measured], document: Metrics, marks: Sequence[Mark], end_s: float) -> Iterator[tuple[str, str]]:
    every: list[Flow | Conversation] = [*document["flows"], *document["conversations"]]
    figures_of = {(figures["name"], figures["direction"]): figures for figures in every}
    for name in dict.fromkeys(measured_flow.flow.name for measured_flow in measured):
        directions = [
            _over_time(measured_flow, figures, seconds, document["began_ns"])
            for measured_flow in measured
            if measured_flow.flow.name == name
            and measured_flow.every["received_ns"].count() > 1
            and (seconds := (figures := figures_of[name, measured_flow.flow.direction])["seconds"]) is not None
        ]
        if directions:
            yield name, charts.flow_over_time(directions, marks, end_s, document["warm_up_s"])


def _over_time(measured: Measured, figures: Flow | Conversation, seconds: Seconds, began_ns: int) -> FlowOverTime:
    arrived = measured.every.filter(pl.col("received_ns").is_not_null())
    return FlowOverTime(
        measured.flow.direction,
        times_s=(arrived["sent_ns"] - began_ns).to_numpy().astype(float) / 1e9,
        delays_ms=metrics.delays_ms(measured.every),
        seconds=seconds,
        outages=figures["outages"]["list"] if figures["outages"] else (),
    )


def _outages(flows: Sequence[Flow]) -> Iterator[OutageOfFlow]:
    for flow in flows:
        for outage in flow["outages"]["list"] if flow["outages"] else ():
            yield {"flow": flow["name"], "direction": flow["direction"], **outage}


def _netboxes(series: Sequence[Series], marks: Sequence[Mark], end_s: float, warm_up_s: float) -> Iterator[NetboxCourse]:
    for netbox in dict.fromkeys(statistic.netbox for statistic in series):
        own = [statistic for statistic in series if statistic.netbox == netbox]
        moving = [statistic for statistic in own if statistic.kind != "constant" and statistic.times_s.size > 2]
        names = list(dict.fromkeys(statistic.name for statistic in moving))
        shown = [mark for mark in marks if mark.lane in (netbox, "wires")]
        yield NetboxCourse(
            netbox,
            chart=charts.small_multiples(moving, shown, end_s, warm_up_s) if moving else None,
            constant=_constants(own),
            left_out=names[charts.MOST_PANELS :],
        )


def _constants(series: Sequence[Series]) -> str:
    """ "queued 0 (ground, hub); rate 54e6 (responder)" """
    stations_of: dict[tuple[str, float], list[str]] = {}
    for statistic in series:
        if statistic.kind == "constant":
            stations_of.setdefault((statistic.name, float(statistic.values[0])), []).append(statistic.station or "segment")
    return "; ".join(f"{name} {value:g} ({', '.join(stations)})" for (name, value), stations in stations_of.items())
