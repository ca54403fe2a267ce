# SPDX-License-Identifier: GPL-2.0-or-later
"""From a run folder to its tables, metrics.json and report.html. Needs neither root nor the lab, so it can be done again.

A run that failed half-way is analysed too: what is missing is null with a reason, and the verdict says invalid.
"""

from __future__ import annotations

import io
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import cast

import polars as pl

from contracts import durable
from contracts.errors import NetBoxITError
from contracts.flow import Direction
from contracts.permissions import check_readable, not_permitted, user_name
from contracts.run_folder import (
    EVENTS_FILE,
    FLOWS_TABLE,
    FRAMES_TABLE,
    MEASURES_TABLE,
    METRICS_FILE,
    REPORT_FILE,
    SERIES_TABLE,
)
from contracts.statistics import Details
from results import frames, journal, managed_links, metrics, tables, verdict
from results.address_resolution import unreached
from results.advice import advice
from results.application_analysis import ApplicationAnalysis, Evidence, MeasuredFlow
from results.conversations import ConversationFlow, conversations, host_addresses
from results.counters import Series, all_series
from results.events import read_events
from results.flow_path import Gap, Network
from results.machines_verdict import judge_machines
from results.metrics_document import (
    METRICS,
    Conversation,
    Flow,
    GapFigures,
    Metrics,
    Segment,
)
from results.metrics_document import Measured as MeasuredTold
from results.outage import outages
from results.queues import queues
from results.report import write_report
from results.retention import check_whole
from results.run_folder import Measured, RunFolder
from results.statistics import Values, joined, summary
from results.tcp import Stream, streams
from results.tcp_figures import MeasuredStream, fairness_of, measured_streams, tcp_stream
from results.timekeeping import ports_of_switches, timekeeping
from results.tunnels import clock_error, over_machines

#: Of a run folder, by an analysis.
_WRITTEN = (FRAMES_TABLE, SERIES_TABLE, FLOWS_TABLE, MEASURES_TABLE, METRICS_FILE, REPORT_FILE)


@dataclass(frozen=True)
class Seen:
    """What captures and records showed of a run; `left_out` are packets of hosts that belong to neither.

    `streams` are those of TCP in both, `streams_left_out` says how many more there were. `unreached` says of each flow why it
    has no frame, where the network is why.
    """

    flows: list[Measured]
    unreached: list[str | None]
    conversations: list[ConversationFlow]
    left_out: int
    streams: list[MeasuredStream]
    streams_left_out: int
    #: Time 0 of the run, CLOCK_REALTIME.
    began_ns: int

    @property
    def every(self) -> list[Measured]:
        return [*self.flows, *(flow.measured for flow in self.conversations)]

    def streams_of(self, measured: Measured) -> list[Stream]:
        """Those whose data a flow or conversation has, of the most bytes first."""
        return self._streams.get(id(measured), [])

    @cached_property
    def _streams(self) -> dict[int, list[Stream]]:
        streams_of: dict[int, list[Stream]] = {}
        for one in self.streams:
            streams_of.setdefault(id(one.measured), []).append(one.stream)
        return streams_of

    @property
    def alone(self) -> list[Measured]:
        """What is told by itself: flows, and conversations but for small ones."""
        return [*self.flows, *(flow.measured for flow in self.conversations if flow.dscp is not None)]


class NotOurs(NetBoxITError):
    """Nothing can be written into the run folder by who would analyse it."""


def analyse(folder: Path, analyses: Mapping[str, ApplicationAnalysis], *, page: bool = True, frames_kept: bool = True) -> Metrics:
    """Writes the tables, metrics.json and report.html into the run folder; returns what metrics.json says.

    `analyses` are those of applications, by their names; what only they could say of others' flows is left out. Without `page`
    there is no report.html, which takes most of the time; unless `frames_kept` there are no tables of frames and series. Raises
    NoRun, NotPermitted, NotOurs, Reduced, and DamagedRun where a file, without which there is nothing to tell, is damaged.
    """
    _check_rights(folder)
    check_whole(folder)
    run = RunFolder(folder)
    seen = measure(run)
    if frames_kept and (every := seen.every):
        _write_table(pl.concat([measured.table() for measured in every], how="diagonal"), folder / FRAMES_TABLE)
    began_ns = seen.began_ns
    table = journal.series(run.journals, began_ns)
    if frames_kept and not table.is_empty():
        _write_table(table, folder / SERIES_TABLE)
    series = list(all_series(table))
    counted = list(all_series(table.filter(pl.col("time_s") >= run.plan.warm_up_s))) if run.plan.warm_up_s else series
    flows: list[Flow] = [
        {
            **_flow_metrics(run, measured, began_ns),
            "outages": outages(measured.rows, measured.flow.protocol, measured.paths, began_ns),
            "unreached": why,
        }
        for measured, why in zip(seen.flows, seen.unreached, strict=True)
    ]
    findings = [(analysis, analysis.judge(_evidence(run, name, seen, flows))) for name, analysis in analyses.items()]
    document = cast(
        "Metrics",
        _metrics(run, seen, flows, counted) | {analysis.key: list(judged.entries) for analysis, judged in findings},
    )
    tables.write(folder, document, [(measured, seen.streams_of(measured)) for measured in seen.every], findings)
    durable.write(folder / METRICS_FILE, json.dumps(METRICS.of(document), indent=1, allow_nan=False) + "\n")
    if page:
        write_report(run, seen.alone, series, document, findings)
    return document


def _check_rights(folder: Path) -> None:
    """A file that cannot be read would seem to be missing, and the run invalid. Raises NotPermitted, NotOurs."""
    if not folder.is_dir():
        return  # RunFolder says that it is none
    try:
        check_readable(folder)
    except PermissionError as error:
        raise not_permitted(error, Path(error.filename)) from None
    for file in (folder / name for name in _WRITTEN):
        if not os.access(file if file.exists() else folder, os.W_OK):
            raise NotOurs(
                f"{file} cannot be written: Permission denied; {folder} is {user_name(folder.stat().st_uid)}'s: "
                "report it as that user or as root, or report a copy: "
                f"cp -r {shlex.quote(str(folder.resolve()))} COPY, and netboxit report COPY"
            )


def _write_table(table: pl.DataFrame, file: Path) -> None:
    """Whole, or not at all: what polars itself says of a full disk is that the file is damaged. Raises NotWritten."""
    content = io.BytesIO()
    table.write_parquet(content)
    durable.write(file, content.getvalue())


def _began_ns(run: RunFolder, measured: Sequence[Measured]) -> int:
    """Time 0 of the run: when the network's time began, or where nobody says so when the first frame was sent."""
    firsts = [int(measured_flow.every["sent_ns"][0]) for measured_flow in measured if not measured_flow.every.is_empty()]
    return run.began_ns if run.began_ns is not None else min(firsts, default=0)


def measure(run: RunFolder) -> Seen:
    """The frames of all flows of all applications and of all conversations, followed from host to host."""
    flows = [(application, flow) for application in run.applications for flow in application.flows]
    only = [flow for _, flow in flows]
    captures = {host: run.captured(host, only) for host in sorted(run.named("host"))}
    records = frames.together(run.passages)
    network = Network(run.plan, run.unrecorded)
    is_any = bool(flows) or any(not capture.besides.is_empty() for capture in captures.values())
    seen = {end: run.captured_at(*end, only) for end in network.tunnel_ends if is_any}
    measured = []
    for at, (application, flow) in enumerate(flows):
        there, here = captures[flow.source], captures[flow.destination]
        crossed = {end: capture.frames[at] for end, capture in seen.items()}
        rows, paths = frames.follow(flow, network, there.frames[at], here.frames[at], records, crossed, here.end_ns)
        measured.append(Measured(application, flow, paths, rows))
    others, left_out = conversations(run.plan, network, captures, records, seen)
    began_ns = _began_ns(run, [*measured, *(flow.measured for flow in others)])
    if (from_ns := _counted_from_ns(run, began_ns)) is not None:
        measured = [replace(flow, counted_from_ns=from_ns) for flow in measured]
        others = [replace(flow, measured=replace(flow.measured, counted_from_ns=from_ns)) for flow in others]
    every = [*measured, *(flow.measured for flow in others)]
    requests = {host: capture.requests for host, capture in captures.items()}
    why = [unreached(one.flow, run.plan, requests, records) if one.every.is_empty() else None for one in measured]
    segments = {host: capture.segments for host, capture in captures.items()}
    found, further = streams(segments, host_addresses(run.plan), from_ns or 0)
    return Seen(measured, why, others, left_out, measured_streams(found, every), further, began_ns)


def _counted_from_ns(run: RunFolder, began_ns: int) -> int | None:
    """The end of the warm-up, which is no later than what a column of times can hold; None where there is none."""
    return min(began_ns + round(run.plan.warm_up_s * 1e9), 2**63 - 1) if run.plan.warm_up_s else None


def _evidence(run: RunFolder, application: str, seen: Seen, flows: Sequence[Flow]) -> Evidence:
    return Evidence(
        run.path,
        {entry.name: entry for entry in run.plan.traffic},
        [record for record in run.applications if record.application == application],
        [
            MeasuredFlow(measured_flow, figures, seen.streams_of(measured_flow))
            for measured_flow, figures in zip(seen.flows, flows, strict=True)
            if measured_flow.application.application == application
        ],
        seen.began_ns,
        run.plan.warm_up_s,
    )


def _metrics(run: RunFolder, seen: Seen, flows: list[Flow], series: list[Series]) -> Metrics:
    alone, began_ns = seen.alone, seen.began_ns
    nodes = run.lab.get("nodes", [])
    counted = {netbox: statistics for netbox, statistics in run.statistics.items() if statistics is not None}
    # What is missing after a failure is its consequence: telling it too would hide the cause.
    failures = [run.failure] if run.failure else run.absent
    events = read_events(run.path / EVENTS_FILE, run.journals, began_ns, run.ended_ns, run.machines)
    netboxes = timekeeping(run.plan, counted, run.lab, events)
    switches = ports_of_switches(run.plan, run.switches)
    several = over_machines(run.machines, run.plan, alone)
    others: list[Conversation] = [
        {**_flow_metrics(run, flow.measured, began_ns), "outages": None, "dscp": flow.dscp, "conversations": flow.count}
        for flow in seen.conversations
    ]
    judged = verdict.judge(run.plan, failures, counted, netboxes, run.capture_counts, flows, nodes, switches, events, others)
    judge_machines(run.plan, several, judged)
    managed = managed_links.managed_links(run.managed_links, run.journals, began_ns, run.ended_ns)
    managed_links.judge(managed, judged)
    lateness_us = {name: metrics.lateness_us(statistics) for name, statistics in counted.items()}
    duration_s = 0.0 if run.ended_ns is None else (run.ended_ns - began_ns) / 1e9
    judged.advice = advice(run.plan, counted, netboxes, lateness_us, nodes, duration_s)
    return {
        "lab": run.plan.lab,
        "clock": run.plan.clock,
        "verdict": judged.to_json(),
        "flows": flows,
        "conversations": others,
        "packets_left_out": seen.left_out,
        "tcp": [tcp_stream(one, began_ns) for one in seen.streams],
        "tcp_left_out": seen.streams_left_out,
        "fairness": fairness_of(seen.streams, began_ns),
        "segments": list(_segments(alone)),
        "queues": list(queues(counted, _statistics_later(run, began_ns))),
        "managed_links": managed,
        "gaps": list(_gaps(alone)),
        "overhead_us": summary(metrics.overheads_us(alone)),
        "overhead_without_routers_us": summary(metrics.overheads_us(alone, routers=False)),
        "lateness_us": lateness_us,
        "netboxes": netboxes,
        "switches": switches,
        "lateness_limit_us": run.plan.lateness_limit_s * 1e6,
        "began_ns": began_ns,
        "warm_up_s": run.plan.warm_up_s,
        "events": events,
        "series": [time_series.summary() for time_series in series],
        **several,
    }


def _statistics_later(run: RunFolder, began_ns: int) -> dict[str, list[Details]] | None:
    """Of each netbox those that it took down after the warm-up; None where there is none."""
    if not run.plan.warm_up_s:
        return None
    return {
        name: [statistics for at_s, statistics in own.samples if at_s + own.offset_s(began_ns) >= run.plan.warm_up_s]
        for name, own in run.journals.items()
    }


def _flow_metrics(run: RunFolder, measured: Measured, began_ns: int) -> MeasuredTold:
    """What is told of a flow and of a direction of a conversation alike."""
    return {
        **metrics.flow_metrics(measured),
        **metrics.path_metrics(measured.paths, measured.rows, began_ns),
        "seconds": metrics.per_second(measured.every, began_ns),
        **clock_error(run.machines, measured.flow),
    }


def _segments(measured: list[Measured]) -> Iterable[Segment]:
    """Of each netbox that saw a frame, or that is on a path that a frame took."""
    tables: dict[tuple[Direction, str], dict[str, pl.DataFrame]] = {}
    for measured_flow in measured:
        for netbox in _crossed(measured_flow):
            tables.setdefault((measured_flow.flow.direction, netbox), {})[measured_flow.flow.name] = measured_flow.rows
    for (direction, netbox), by_flow in sorted(tables.items(), key=_by_direction):
        yield metrics.segment_metrics(netbox, direction, by_flow)


def _by_direction(item: tuple[tuple[Direction, object], object]) -> int:
    """Orders entries of a direction as reports do."""
    return metrics.DIRECTIONS.index(item[0][0])


def _crossed(measured: Measured) -> Iterable[str]:
    for path, rows in measured.by_path():
        taken = rows["received_ns"].is_not_null().any()
        seen = {
            netbox for netbox, point in zip(path.netboxes, path.points, strict=True) if rows[f"fate.{point}"].is_not_null().any()
        }
        yield from (netbox for netbox in path.netboxes if taken or netbox in seen)


def _gaps(measured: list[Measured]) -> Iterable[GapFigures]:
    """Of each gap that a frame crossed, or that is on a path that a frame took."""
    gaps: dict[tuple[Direction, Gap], list[Values]] = {}
    for measured_flow in measured:
        for path, rows in measured_flow.by_path():
            taken = rows["received_ns"].is_not_null().any()
            for gap, us in metrics.gaps_us(path, rows):
                if taken or us.size:
                    gaps.setdefault((measured_flow.flow.direction, gap), []).append(us)
    for (direction, gap), times in sorted(gaps.items(), key=_by_direction):
        yield metrics.gap_metrics(gap, direction, joined(times))
