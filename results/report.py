# SPDX-License-Identifier: GPL-2.0-or-later
"""report.html: one file that tells a run to a person, opened without a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from contracts import durable
from contracts.flow import Direction
from contracts.plan import Plan
from contracts.run_folder import REFERENCE_FILE, REPORT_FILE, TOPOLOGY_FILE
from results import charts, metrics, pages, reference
from results.application_analysis import ApplicationAnalysis, Findings, KeyFigure
from results.counters import Series
from results.machines_report import BetweenMachines, between_machines
from results.metrics_document import Flow, Loss, Metrics, Miss, Segment, TcpStream
from results.network_picture import network_words, picture, rightmost, topology_data
from results.pages import percent, statistic
from results.run_course import Course, course
from results.run_folder import Measured, RunFolder
from results.statistics import Values
from results.surroundings import FileOfRun, describe, table_of_files

_TEMPLATE = "report.html.j2"
#: Of each netbox; metrics.json has more.
_MISSES_SHOWN = 10
#: Of each flow; metrics.json has more.
_PATH_CHANGES_SHOWN = 10
#: Those of the most packets.
_CONVERSATIONS_DRAWN = 6
#: Those of the most bytes; metrics.json has more.
_STREAMS_SHOWN = 40


#: Key figures of one application.
_KEY_FIGURES = 2


class LossOfFlow(Loss):
    flow: str
    direction: Direction


class MissOfNetbox(Miss):
    netbox: str


@dataclass(frozen=True)
class ComparedFigure:
    """A row of a comparison: the figure for each flow, None where the reference or the run has none."""

    title: str
    cells: Sequence[reference.Comparison | None]


@dataclass(frozen=True)
class ComparisonTable:
    """A run beside its reference: one row a figure, one group of columns a flow."""

    flows: Sequence[tuple[Direction, str]]
    rows: Sequence[ComparedFigure]


class Page(Metrics, Course):
    """What the template is given: all that metrics.json says, and what is made of it for people. Charts are SVG."""

    plan: Plan
    #: Empty where it is not known.
    started: str
    ended: str
    #: The name of the run folder.
    folder: str
    key_figures: Sequence[KeyFigure]
    network: str
    #: Flows whose frames took several paths.
    paths: Sequence[Flow]
    path_changes_shown: int
    losses: Sequence[LossOfFlow]
    tcp_shown: Sequence[TcpStream]
    reference: reference.Reference | None
    comparison: ComparisonTable | None
    #: Where delay was spent, by kind and direction of a flow of the reference.
    breakdown: Mapping[tuple[str, Direction], str]
    #: By the names of flows.
    delay_charts: Mapping[str, str]
    segment_chart: str | None
    overhead_chart: str | None
    lateness_chart: str | None
    misses: Sequence[MissOfNetbox]
    #: Names and values.
    environment: Sequence[tuple[str, str]]
    #: Null of a run on one machine.
    between: BetweenMachines | None
    files: Sequence[FileOfRun]
    #: Of applications.
    beside_flows: Sequence[Markup]
    sections: Sequence[Markup]


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
    environment = pages.environment()
    page = _page(environment, run, measured, series, document, findings)
    durable.write(run.path / REPORT_FILE, environment.get_template(_TEMPLATE).render(page))


def _parts(
    environment: Environment, findings: Sequence[tuple[ApplicationAnalysis, Findings]], *, beside_flows: bool
) -> Iterator[Markup]:
    for analysis, judged in findings:
        if analysis.template is not None and analysis.beside_flows == beside_flows:
            own = environment.overlay(loader=FileSystemLoader(analysis.template.parent))
            yield Markup(own.get_template(analysis.template.name).render(**judged.drawn()))


def _page(
    environment: Environment,
    run: RunFolder,
    measured: list[Measured],
    series: list[Series],
    document: Metrics,
    findings: Sequence[tuple[ApplicationAnalysis, Findings]],
) -> Page:
    reference_figures = reference.load(run.path / REFERENCE_FILE)
    overhead = metrics.overheads_us(measured)
    flows, others = measured[: len(document["flows"])], measured[len(document["flows"]) :]
    names = list(dict.fromkeys(conversation.flow.name for conversation in others))[:_CONVERSATIONS_DRAWN]
    limits_us = sorted({kept["limit_us"] for kept in document["netboxes"].values()})
    charted = [*flows, *(conversation for conversation in others if conversation.flow.name in names)]
    return {
        **document,
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
        "tcp_shown": document["tcp"][:_STREAMS_SHOWN],
        "reference": reference_figures,
        "comparison": _comparison(reference_figures, document["flows"]) if reference_figures else None,
        "breakdown": {
            (figures.kind, figures.direction): _breakdown(document, figures.kind, figures.direction)
            for figures in (reference_figures.flows if reference_figures else ())
        },
        "delay_charts": dict(_delay_charts(charted)),
        **course(charted, series, document),
        "segment_chart": _segment_chart(document["segments"]),
        "overhead_chart": charts.histogram(overhead, "time outside of the netboxes (µs)") if overhead.size else None,
        "lateness_chart": charts.lateness(document["lateness_us"], limits_us) if document["lateness_us"] else None,
        "misses": [
            {"netbox": name, **miss} for name, kept in document["netboxes"].items() for miss in kept["misses"][:_MISSES_SHOWN]
        ],
        "environment": describe(run),
        "between": between_machines(run, document),
        "files": table_of_files(run.path, [file for analysis, _ in findings for file in analysis.files]),
        "beside_flows": list(_parts(environment, findings, beside_flows=True)),
        "sections": list(_parts(environment, findings, beside_flows=False)),
    }


def _key_figures(document: Metrics, judged: Sequence[KeyFigure]) -> list[KeyFigure]:
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


def _outside(document: Metrics) -> Iterator[KeyFigure]:
    """What was spent outside of the netboxes; queues of routers and switches are the network's own, and not the testbed's."""
    elements: tuple[Literal["routers", "switches"], ...] = ("routers", "switches")
    crossed = [kind for kind in elements if any(gap[kind] for gap in document["gaps"])]
    yield KeyFigure(
        None,
        None,
        label="outside the netboxes" if crossed else "testbed overhead",
        value=statistic(document["overhead_us"], "p50"),
        note=f"µs, median, {' and '.join(crossed)} included" if crossed else "µs, median",
    )
    if tunnels := document.get("overhead_tunnels_us"):
        yield KeyFigure(None, None, "of it between machines", statistic(tunnels, "p50"), "µs, median")


def _delay_charts(measured: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    """For each flow by name: its directions side by side."""
    delays: dict[str, dict[str, Values]] = {}
    for flow in measured:
        if (delays_ms := metrics.delays_ms(flow.rows)).size > 1:
            delays.setdefault(flow.flow.name, {})[flow.flow.direction] = delays_ms
    for name, directions in delays.items():
        yield name, charts.delay_distribution(directions)


def _segment_chart(segments: Sequence[Segment]) -> str | None:
    rows = [(part["netbox"], part["direction"], part["one_way_delay_ms"]) for part in segments if part["one_way_delay_ms"]]
    return charts.ranges(rows, "delay inside the netbox (ms)") if rows else None


def _comparison(reference_figures: reference.Reference, flows: Sequence[Flow]) -> ComparisonTable:
    titles = {"one_way_delay_ms": "Latency", "jitter_ms": "Jitter"}
    cells = reference.compare(reference_figures, flows)
    shown = list(dict.fromkeys(flow for flow, _ in cells))
    rows = [
        ComparedFigure(f"{titles[measure]} {name}, ms", [cells.get((flow, (measure, name))) for flow in shown])
        for measure, name in dict.fromkeys(figure for _, figure in cells)
    ]
    return ComparisonTable(shown, rows)


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
