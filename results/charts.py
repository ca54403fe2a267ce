# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's charts, as SVG text to be put into a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from matplotlib import rc_context

from results.chart_style import COLOURS, PALETTE, STYLE, as_svg, panels
from results.metrics_document import LatenessOfNetbox, Summary
from results.statistics import Values

#: More points than this only make the file larger.
_MOST_POINTS = 6000
_LEVELS: Final[tuple[Literal["p50", "p90", "p99", "p99_9", "max"], ...]] = ("p50", "p90", "p99", "p99_9", "max")


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
        axis.set_axisbelow(True)
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
        low = max(values["min"], 1e-3)
        axis.plot([low, values["p99"]], [at, at], color=COLOURS[direction], linewidth=5, alpha=0.35, solid_capstyle="round")
        axis.plot([values["p50"]], [at], "o", color=COLOURS[direction], markersize=7)
        axis.annotate(
            f"{values['p50']:,.4g}", (values["p50"], at), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8.5
        )
    axis.set(
        xscale="log", xlabel=label, yticks=range(len(rows)), yticklabels=[f"{name}, {direction}" for name, direction, _ in rows]
    )
    axis.xaxis.set_major_formatter("{x:g}")
    axis.margins(x=0.08)
    axis.set_ylim(len(rows) - 0.4, -0.7)
    return as_svg(figure)


@rc_context(STYLE)
def histogram(values: Values, label: str, colour: str = "#009E73") -> str:
    """One quantity; what is beyond p99 stands in the last bar."""
    figure, (axis,) = panels(1, 2.4)
    low, high = np.percentile(values, [0, 99])
    edges = list(np.linspace(low, max(high, low + 1.0), 80))
    axis.hist(np.clip(values, low, edges[-1]), edges, color=colour, alpha=0.7, weights=np.full(values.size, 100 / values.size))
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
    if ordered.size <= _MOST_POINTS:
        return ordered
    chosen: Values = ordered[np.linspace(0, ordered.size - 1, _MOST_POINTS).round().astype(int)]
    return chosen
