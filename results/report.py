# SPDX-License-Identifier: GPL-2.0-or-later
"""report.html: one file that tells a run to a person, opened without a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from contracts import durable
from contracts.errors import printable_lines
from contracts.run_folder import REFERENCE_FILE, REPORT_FILE, TOPOLOGY_FILE
from results import charts, metrics, reference
from results.application_analysis import ApplicationAnalysis, Findings, KeyFigure
from results.counters import Series
from results.machines_report import between_machines
from results.metrics_document import Flow, Metrics, Segment
from results.network_picture import network_words, picture, rightmost, topology_data
from results.run_course import course
from results.run_folder import Measured, RunFolder
from results.statistics import Values
from results.surroundings import describe, table_of_files

_TEMPLATE = "report.html.j2"
#: Of each netbox; metrics.json has more.
_MISSES_SHOWN = 10
#: Of each flow; metrics.json has more.
_PATH_CHANGES_SHOWN = 10
#: Those of the most packets.
_CONVERSATIONS_DRAWN = 6


#: Key figures of one application.
_KEY_FIGURES = 2


def write_report(
    run: RunFolder,
    measured: list[Measured],
    series: list[Series],
    document: Metrics,
    findings: Sequence[tuple[ApplicationAnalysis, Findings]],
) -> None:
    """Draws what metrics.json says, and the distributions behind it. `measured` are the flows, then other conversations.

    `findings` are those of applications, each of which draws its own part.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_harmless,
    )
    environment.filters.update(number=number, signed=signed, percent=percent, count=count, statistic=statistic)
    page = environment.get_template(_TEMPLATE).render(
        **_context(run, measured, series, document, findings),
        beside_flows=list(_parts(environment, findings, beside_flows=True)),
        sections=list(_parts(environment, findings, beside_flows=False)),
    )
    durable.write(run.path / REPORT_FILE, page)


def _harmless(value: object) -> object:
    """Text of nodes and files without what turns its direction round or is not seen; pictures are made here."""
    return printable_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _parts(
    environment: Environment, findings: Sequence[tuple[ApplicationAnalysis, Findings]], *, beside_flows: bool
) -> Iterator[Markup]:
    for analysis, judged in findings:
        if analysis.template is not None and analysis.beside_flows == beside_flows:
            own = environment.overlay(loader=FileSystemLoader(analysis.template.parent))
            yield Markup(own.get_template(analysis.template.name).render(**judged.drawn()))


def _context(
    run: RunFolder,
    measured: list[Measured],
    series: list[Series],
    document: Metrics,
    findings: Sequence[tuple[ApplicationAnalysis, Findings]],
) -> dict[str, object]:
    reference_figures = reference.load(run.path / REFERENCE_FILE)
    overhead = metrics.overheads_us(measured)
    flows, others = measured[: len(document["flows"])], measured[len(document["flows"]) :]
    names = list(dict.fromkeys(conversation.flow.name for conversation in others))[:_CONVERSATIONS_DRAWN]
    limits_us = sorted({kept["limit_us"] for kept in document["netboxes"].values()})
    charted = [*flows, *(conversation for conversation in others if conversation.flow.name in names)]
    return {
        **{name: document[name] for name in ("lab", "verdict", "flows", "conversations", "packets_left_out", "segments", "gaps")},
        "plan": run.plan,
        "started": _moment(run.record["started"] if run.record else None),
        "ended": _moment(run.record["ended"] if run.record else None),
        "folder": run.path.resolve().name,
        "key_figures": _key_figures(document, [figure for _, judged in findings for figure in judged.key_figures[:_KEY_FIGURES]]),
        "network": picture(run.plan, network_words(run.plan, topology_data(run.path / TOPOLOGY_FILE)), rightmost(run.plan)),
        "paths": [flow for flow in document["flows"] if len(flow["paths"]) > 1],
        "path_changes_shown": _PATH_CHANGES_SHOWN,
        "losses": [
            {"flow": flow["name"], "direction": flow["direction"], **loss}
            for flow in document["flows"]
            for loss in flow["losses"]
        ],
        "reference": reference_figures,
        "comparison": _comparison(reference_figures, document["flows"]) if reference_figures else None,
        "breakdown": {
            (figures.kind, figures.direction): _breakdown(document, figures.kind, figures.direction)
            for figures in (reference_figures.flows if reference_figures else ())
        },
        "delay_charts": list(_delay_charts(charted)),
        **course(charted, series, document),
        "segment_chart": _segment_chart(document["segments"]),
        "overhead": document["overhead_us"],
        "overhead_without_routers": document["overhead_without_routers_us"],
        "overhead_chart": charts.histogram(overhead, "time outside of the netboxes (µs)") if overhead.size else None,
        "lateness": document["lateness_us"],
        "lateness_chart": charts.lateness(document["lateness_us"], limits_us) if document["lateness_us"] else None,
        "netboxes": document["netboxes"],
        "switches": document["switches"],
        "misses": [
            {"netbox": name, **miss} for name, kept in document["netboxes"].items() for miss in kept["misses"][:_MISSES_SHOWN]
        ],
        "environment": describe(run),
        "between": between_machines(run, document),
        "files": table_of_files(run.path, [file for analysis, _ in findings for file in analysis.files]),
    }


def _key_figures(document: Metrics, judged: Sequence[KeyFigure]) -> list[KeyFigure | dict[str, str]]:
    """The handful of figures to see first: of flows that their application has judged, else of the first flows."""
    names = {(figure.flow, figure.direction) for figure in judged}
    flows = [flow for flow in document["flows"] if (flow["name"], flow["direction"]) in names]
    return [
        *(
            KeyFigure(
                flow["name"],
                flow["direction"],
                label=f"{flow['name']} {flow['direction']}, mean delay",
                value=statistic(flow["one_way_delay_ms"], "mean"),
                note=f"ms, jitter {statistic(flow['jitter_ms'], 'mean')} ms, lost {percent(flow['loss_ratio'])}",
            )
            for flow in flows or (document["flows"] or document["conversations"])[:2]
        ),
        *judged,
        *_outside(document),
    ]


def _outside(document: Metrics) -> Iterator[dict[str, str]]:
    """What was spent outside of the netboxes; queues of routers and switches are the network's own, and not the testbed's."""
    elements: tuple[Literal["routers", "switches"], ...] = ("routers", "switches")
    crossed = [kind for kind in elements if any(gap[kind] for gap in document["gaps"])]
    yield {
        "label": "outside the netboxes" if crossed else "testbed overhead",
        "value": statistic(document["overhead_us"], "p50"),
        "note": f"µs, median, {' and '.join(crossed)} included" if crossed else "µs, median",
        "direction": "",
    }
    if tunnels := document.get("overhead_tunnels_us"):
        yield {"label": "of it between machines", "value": statistic(tunnels, "p50"), "note": "µs, median", "direction": ""}


def _delay_charts(measured: Sequence[Measured]) -> Iterator[dict[str, str]]:
    """For each flow by name: its directions side by side."""
    delays: dict[str, dict[str, Values]] = {}
    for flow in measured:
        if (delays_ms := metrics.delays_ms(flow.rows)).size > 1:
            delays.setdefault(flow.flow.name, {})[flow.flow.direction] = delays_ms
    for name, directions in delays.items():
        yield {"name": name, "distribution": charts.delay_distribution(directions)}


def _segment_chart(segments: Sequence[Segment]) -> str | None:
    rows = [(part["netbox"], part["direction"], part["one_way_delay_ms"]) for part in segments if part["one_way_delay_ms"]]
    return charts.ranges(rows, "delay inside the netbox (ms)") if rows else None


def _comparison(reference_figures: reference.Reference, flows: Sequence[Flow]) -> dict[str, object]:
    """One row a figure, one group of columns a flow."""
    titles = {"one_way_delay_ms": "Latency", "jitter_ms": "Jitter"}
    cells = reference.compare(reference_figures, flows)
    shown = list(dict.fromkeys(flow for flow, _ in cells))
    rows = [
        {"title": f"{titles[measure]} {name}, ms", "cells": [cells.get((flow, (measure, name))) for flow in shown]}
        for measure, name in dict.fromkeys(figure for _, figure in cells)
    ]
    return {"flows": [{"direction": direction, "name": name} for direction, name in shown], "rows": rows}


def _breakdown(document: Metrics, kind: str, direction: str) -> str:
    """Where the mean delay of the first flow of that kind and direction was spent."""
    names = [flow["name"] for flow in document["flows"] if (flow["kind"], flow["direction"]) == (kind, direction)]
    return ", ".join(
        f"{part['netbox']} {statistic(part['flows'][name], 'mean')} ms"
        for name in names[:1]
        for part in document["segments"]
        if part["direction"] == direction and part["flows"].get(name)
    )


def _moment(text: str | None) -> str:
    return text[:19].replace("T", " ") if text else ""


def number(value: float | None) -> str:
    """Three or four figures that matter; a dash for what could not be measured."""
    if value is None:
        return "–"
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def signed(value: float) -> str:
    return ("+" if value >= 0 else "−") + number(abs(value))


def percent(ratio: float | None) -> str:
    return "–" if ratio is None else "0 %" if ratio == 0 else f"{100 * ratio:.3g} %"


def count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def statistic(values: Mapping[str, object] | None, name: str) -> str:
    value = (values or {}).get(name)
    return number(value if isinstance(value, int | float) else None)
