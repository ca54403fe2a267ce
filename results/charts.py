# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's charts, as SVG text to be put into a page. Those over the time of a run are all on one clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from contracts.errors import printable
from results.chart_style import COLOURS, PALETTE, STYLE, as_svg, panels, shade_warm_up
from results.counters import Series
from results.metrics_document import LatenessOfNetbox, ManagedMember, Outage, Seconds, Summary
from results.statistics import Values

#: More points than this only make the file larger.
_MOST_POINTS = 6000
#: More names than this make a legend that nobody reads.
_MOST_IN_LEGEND = 14
#: Panels beside each other, and at most in one figure.
_COLUMNS, MOST_PANELS = 3, 30
_WIDTH = 10.4
#: Inches of small panels: numbers beside an axis, the other edge, a title above, numbers and a unit below, a row of a legend, and
#: what they leave. matplotlib's own layout, which measures all words, took longer than all else that an analysis does.
_BESIDE, _EDGE, _ABOVE, _BELOW, _LEGEND_ROW, _PANEL = 0.62, 0.1, 0.34, 0.42, 0.22, 1.2
#: At most between numbers beside a small panel's axis.
_TICKS = 4
_LEGEND_COLUMNS = 10
#: From here on ticks are written with k, M and G.
_MANY = 20_000.0
_MARK, _OUTAGE = "#8a5a00", "#c0392b"
_LEVELS: Final[tuple[Literal["p50", "p90", "p99", "p99_9", "max"], ...]] = ("p50", "p90", "p99", "p99_9", "max")


@dataclass(frozen=True)
class Mark:
    """An event in a chart, by its number in the report's list."""

    number: int
    time_s: float
    #: Where it happened: a netbox, "wires" or "traffic".
    lane: str
    by_run: bool


@dataclass(frozen=True)
class FlowOverTime:
    """One direction of a flow: each frame's delay by its time of sending, and `seconds` and `outages` as in metrics.json."""

    direction: str
    times_s: Values
    delays_ms: Values
    seconds: Seconds
    outages: Sequence[Outage]


@rc_context(STYLE)
def delay_distribution(delays: Mapping[str, Values]) -> str:
    """For each direction: the histogram of one-way delays and, over it, the share of frames that took no longer."""
    figure, axes = panels(len(delays), 3.1)
    for axis, (direction, values) in zip(axes, delays.items(), strict=True):
        low, high = np.percentile(values, [0, 99.9])
        edges = list(np.linspace(low, max(high, low + 0.1), 60))
        axis.hist(
            np.clip(values, low, edges[-1]),
            edges,
            color=COLOURS[direction],
            alpha=0.55,
            weights=np.full(values.size, 100 / values.size),
        )
        axis.set(xlabel="one-way delay (ms)", ylabel="share of frames (%)", title=f"{direction}: {values.size:,} frames")
        twin = axis.twinx()
        twin.spines["right"].set_visible(True)
        ordered = _thinned(np.sort(values))
        twin.plot(ordered, np.linspace(0, 100, ordered.size), color=COLOURS[direction], linewidth=1.8)
        twin.set(ylabel="cumulative (%)", ylim=(0, 102), xlim=(low - 0.02 * (edges[-1] - low), edges[-1] * 1.0005))
        twin.grid(False)
    return as_svg(figure)


@rc_context(STYLE)
def ranges(rows: Sequence[tuple[str, str, Summary]], label: str) -> str:
    """`rows`: name, direction, statistics. A line from the smallest value to p99 with the median on it, on a logarithmic axis."""
    figure, (axis,) = panels(1, 0.6 + 0.36 * len(rows))
    for at, (_, direction, values) in enumerate(rows):
        axis.plot(
            [max(values["min"], 1e-3), values["p99"]],
            [at, at],
            color=COLOURS[direction],
            linewidth=5,
            alpha=0.35,
            solid_capstyle="round",
        )
        axis.plot([values["p50"]], [at], "o", color=COLOURS[direction], markersize=7)
        axis.annotate(
            f"{values['p50']:,.4g}", (values["p50"], at), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8.5
        )
    names = [f"{name}, {direction}" for name, direction, _ in rows]
    axis.set(xscale="log", xlabel=label, xmargin=0.08, yticks=range(len(rows)), yticklabels=names, ylim=(len(rows) - 0.4, -0.7))
    axis.xaxis.set_major_formatter("{x:g}")
    return as_svg(figure)


@rc_context(STYLE)
def histogram(values: Values, label: str) -> str:
    """One quantity; what is beyond p99 stands in the last bar."""
    figure, (axis,) = panels(1, 2.4)
    low, high = np.percentile(values, [0, 99])
    edges = list(np.linspace(low, max(high, low + 1.0), 80))
    weights = np.full(values.size, 100 / values.size)
    axis.hist(np.clip(values, low, edges[-1]), edges, color=PALETTE[2], alpha=0.7, weights=weights)
    axis.set(xlabel=label, ylabel="share of frames (%)")
    return as_svg(figure)


@rc_context(STYLE)
def lateness(netboxes: Mapping[str, LatenessOfNetbox], limits_us: Iterable[float]) -> str:
    """Percentiles of lateness of departing frames (solid) and of events (dashed), per netbox, with the limits."""
    figure, (axis,) = panels(1, 2.9)
    for colour, (name, values) in zip(PALETTE, netboxes.items(), strict=False):
        for kind, line, part in (("frames", "-", values), ("events", "--", values["event"])):
            shown = [(at, max(value, 0.1)) for at, level in enumerate(_LEVELS) if (value := part[level]) is not None]
            if shown:
                axis.plot(*zip(*shown, strict=True), line, marker="o", markersize=4, color=colour, label=f"{name}, {kind}")
    for limit in limits_us:
        axis.axhline(limit, color="#c0392b", linewidth=1, linestyle=":")
        axis.annotate("limit", (len(_LEVELS) - 1, limit), xytext=(0, 3), textcoords="offset points", color="#c0392b", ha="right")
    axis.set(yscale="log", ylabel="lateness (µs)", xticks=range(len(_LEVELS)), xticklabels=["p50", "p90", "p99", "p99.9", "max"])
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return as_svg(figure)


def _thinned(ordered: Values) -> Values:
    return np.take(ordered, np.linspace(0, ordered.size - 1, min(ordered.size, _MOST_POINTS)).round().astype(int))


@rc_context(STYLE)
def time_line(marks: Sequence[Mark], end_s: float, warm_up_s: float = 0.0) -> str:
    """A lane for each place where something happened. Here and below the warm-up is shaded."""
    lanes = list(dict.fromkeys(mark.lane for mark in sorted(marks, key=lambda mark: mark.lane not in ("traffic", "wires"))))
    figure, (axis,) = panels(1, 0.75 + 0.42 * len(lanes))
    shade_warm_up(axis, min(warm_up_s, end_s))
    for at, lane in enumerate(lanes):
        last = -end_s
        for mark in (mark for mark in marks if mark.lane == lane):
            axis.plot(
                [mark.time_s], [at], "D" if mark.by_run else "o", markersize=6, color=_MARK if mark.by_run else COLOURS["return"]
            )
            if mark.time_s - last >= end_s * 0.016:
                axis.annotate(
                    str(mark.number), (mark.time_s, at), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8.5
                )
                last = mark.time_s
    axis.set(xlabel="time of the run (s)", xlim=(-0.01 * end_s, end_s))
    axis.set(yticks=range(len(lanes)), yticklabels=lanes, ylim=(len(lanes) - 0.5, -0.7))
    return as_svg(figure)


@rc_context(STYLE)
def flow_over_time(directions: Sequence[FlowOverTime], marks: Sequence[Mark], end_s: float, warm_up_s: float = 0.0) -> str:
    """Delay of each frame, goodput and loss of each second, one column a direction; outages shaded, events numbered."""
    lossy = any(any(flow.seconds["loss_ratio"]) for flow in directions)
    heights = [2.3, 1.4, *([1.1] if lossy else [])]
    figure = Figure(figsize=(_WIDTH, sum(heights) + 0.7), layout="constrained")
    grid = figure.subplots(len(heights), len(directions), squeeze=False, sharex=True, height_ratios=heights)
    for column, flow in enumerate(directions):
        delay, goodput, *rest = grid[:, column]
        colour = COLOURS[flow.direction]
        step = max(1, flow.delays_ms.size // _MOST_POINTS)
        delay.plot(flow.times_s[::step], flow.delays_ms[::step], ".", markersize=2.2, color=colour, rasterized=True)
        delay.set(ylabel="one-way delay (ms)", title=flow.direction)
        seconds = np.array(flow.seconds["second"], dtype=float)
        # The last value once more, so that the last second is drawn to its end.
        rates = [*flow.seconds["goodput_kbps"], flow.seconds["goodput_kbps"][-1]]
        goodput.step([*seconds, seconds[-1] + 1], rates, where="post", color=colour, linewidth=1.4)
        goodput.set(ylabel="goodput (kbit/s)", ylim=(0, None))
        for axis in rest:
            shares = np.array([100 * (value or 0.0) for value in flow.seconds["loss_ratio"]])
            axis.bar(seconds + 0.5, shares, width=1.0, color=_OUTAGE, alpha=0.7)
            axis.set(ylabel="lost (%)", ylim=(0, max(float(shares.max()) * 1.15, 1.0)))
        for axis in grid[:, column]:
            shade_warm_up(axis, min(warm_up_s, end_s))
            for outage in flow.outages:
                begin = outage["begin_s"]
                axis.axvspan(begin, begin + outage["duration_ms"] / 1e3, color=_OUTAGE, alpha=0.12, linewidth=0)
            _draw_marks(axis, marks, numbers=axis is delay, end_s=end_s)
        grid[-1, column].set(xlabel="time of the run (s)", xlim=(0, end_s))
    return as_svg(figure)


@rc_context(STYLE)
def budgets(members: Sequence[ManagedMember], end_s: float, warm_up_s: float = 0.0) -> str:
    """What each member of a managed link might send, over time; nothing is drawn while none applied."""
    figure, (axis,) = panels(1, 2.6)
    for at, member in enumerate(member for member in members if member["time_s"]):
        # Once more at the end, so that the last one is drawn until then.
        times = [*member["time_s"], max(end_s, *member["time_s"])]
        rates = [np.nan if rate is None else rate / 1e3 for rate in [*member["budget_bps"], member["budget_bps"][-1]]]
        axis.step(times, rates, where="post", color=PALETTE[at % len(PALETTE)], linewidth=1.4, label=_words(member["host"]))
    axis.set(xlabel="time of the run (s)", ylabel="budget (kbit/s)", xlim=(0, end_s), ylim=(0, None))
    shade_warm_up(axis, min(warm_up_s, end_s))
    if len(members) <= _MOST_IN_LEGEND:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return as_svg(figure)


@rc_context(STYLE | {"font.size": 8.5, "axes.titlesize": 9.0})
def small_multiples(series: Sequence[Series], marks: Sequence[Mark], end_s: float, warm_up_s: float = 0.0) -> str:
    """A small panel for each statistic of a netbox, a line for each station in it; counters are shown as growth per second."""
    names = list(dict.fromkeys(line.name for line in series))[:MOST_PANELS]
    stations = list(dict.fromkeys(line.station for line in series))
    colours = {station: PALETTE[at % len(PALETTE)] for at, station in enumerate(stations)}
    rows, columns = ceil(len(names) / _COLUMNS), min(_COLUMNS, len(names))
    legend = 1 < len(stations) <= _MOST_IN_LEGEND
    figure, grid = _small_panels(rows, columns, ceil(len(stations) / _LEGEND_COLUMNS) if legend else 0)
    for axis in grid.flat[len(names) :]:
        axis.set_visible(False)
    for axis, name in zip(grid.flat, names, strict=False):
        shown = [line for line in series if line.name == name]
        for line in shown:
            times, values = line.shown()
            axis.plot(times, values, color=colours[line.station], linewidth=1.2, label=_words(line.station or "segment"))
        title = _words(name)
        axis.set(title=f"{title}, per s" if shown[0].kind == "counter" else title, xlim=(0, end_s))
        axis.yaxis.set_major_locator(MaxNLocator(_TICKS))
        if max(abs(limit) for limit in axis.get_ylim()) >= _MANY:
            axis.yaxis.set_major_formatter(EngFormatter(sep=""))
        shade_warm_up(axis, min(warm_up_s, end_s))
        _draw_marks(axis, marks, numbers=False, end_s=end_s)
    for axis in [grid[ceil((len(names) - column) / _COLUMNS) - 1, column] for column in range(columns)]:
        axis.set_xlabel("s")
        axis.tick_params(labelbottom=True)
    if legend:
        handles = {label: handle for axis in grid.flat for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
        figure.legend(
            handles.values(), handles.keys(), loc="upper left", ncols=min(len(handles), _LEGEND_COLUMNS), borderaxespad=0
        )
    return as_svg(figure)


def _small_panels(rows: int, columns: int, legend_rows: int) -> tuple[Figure, Any]:
    """A figure with room for so many panels, at places that depend on nothing else, and their axes."""
    width = _WIDTH * columns / _COLUMNS
    height = rows * (_ABOVE + _PANEL) + _BELOW + legend_rows * _LEGEND_ROW
    figure = Figure(figsize=(width, height))
    places = {
        "left": _BESIDE / width,
        "right": 1 - _EDGE / width,
        "bottom": _BELOW / height,
        "top": 1 - (_ABOVE + legend_rows * _LEGEND_ROW) / height,
        "wspace": (_BESIDE + _EDGE) / (width / columns - _BESIDE - _EDGE),
        "hspace": _ABOVE / _PANEL,
    }
    return figure, figure.subplots(rows, columns, squeeze=False, sharex=True, gridspec_kw=places)


def _words(text: str) -> str:
    """As text: between two dollar signs matplotlib would look for a formula. Nodes name what they count."""
    return printable(text).replace("$", r"\$")


def _draw_marks(axis: Axes, marks: Sequence[Mark], *, numbers: bool, end_s: float) -> None:
    last = -end_s
    for mark in marks:
        axis.axvline(mark.time_s, color=_MARK, linewidth=0.8, linestyle=(0, (3, 2)), alpha=0.8)
        if numbers and mark.time_s - last >= end_s * 0.025:
            axis.annotate(
                str(mark.number),
                (mark.time_s, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(2, -9),
                textcoords="offset points",
                fontsize=8,
                color=_MARK,
            )
            last = mark.time_s
