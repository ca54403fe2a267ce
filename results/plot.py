# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of several small panels: each panel alone for a page, where a browser puts as many beside each other as have room, and
all of them as one figure for a paper."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter

from contracts.errors import printable
from results.chart_style import STYLE, as_svg, make_logarithmic
from results.statistics import Values

#: Inches.
_PANEL: Final = (3.5, 2.35)
_COLUMNS: Final = 3
#: More dots than this are a picture within the figure.
_MOST_DOTS: Final = 200
#: Characters of a label.
_LONGEST: Final = 16
#: From here on ticks are written with k, M and G.
_MANY: Final = 20_000.0
_SMALL: Final = {"font.size": 8.5, "axes.titlesize": 8.5, "pdf.fonttype": 42}


@dataclass(frozen=True)
class Line:
    """A value for each place on the x axis, in their order. `low` and `high` are NaN where there is no interval."""

    label: str
    colour: str
    x: Values
    y: Values
    low: Values
    high: Values


@dataclass(frozen=True)
class Panel:
    title: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Plot:
    """Panels with the same axes."""

    #: Of a file, without its ending.
    name: str
    title: str
    x_label: str
    y_label: str
    panels: Sequence[Panel]
    #: What lines are told apart by: a parameter. "" of single lines.
    legend: str
    #: Lines with a band, points with bars, or shares of what is below.
    kind: Literal["lines", "points", "shares"]
    x_log: bool
    #: What stands at 0, 1, … of the x axis; nothing where numbers do.
    x_names: Sequence[str] = ()
    #: What is not shown of it.
    remark: str = ""

    @property
    def colours(self) -> Mapping[str, str]:
        """Of the lines, by their labels."""
        return {line.label: line.colour for panel in self.panels for line in panel.lines}


@rc_context(STYLE | _SMALL)
def panel_svgs(plot: Plot) -> list[str]:
    """Each panel as a picture of its own, without a legend."""
    return [_svg_of_panel(plot, panel) for panel in plot.panels]


def _svg_of_panel(plot: Plot, panel: Panel) -> str:
    figure = Figure(figsize=_PANEL, layout="constrained")
    _draw(figure.add_subplot(), plot, panel, _limits(plot))
    with _whatever_letters():
        return as_svg(figure)


@rc_context(STYLE | _SMALL)
def files(plot: Plot) -> dict[str, bytes]:
    """All panels in one figure with its legend, by the ending of a file's name."""
    columns, rows = min(_COLUMNS, len(plot.panels)), ceil(len(plot.panels) / _COLUMNS)
    width, height = _PANEL
    figure = Figure(figsize=(max(width * columns, 1.4 * width), height * rows + 0.5), layout="constrained")
    for at, panel in enumerate(plot.panels):
        _draw(figure.add_subplot(rows, columns, at + 1), plot, panel, _limits(plot))
    figure.suptitle(label(plot.title, 120), fontsize=9.5, x=0.01, ha="left")
    if plot.legend:
        handles = [Line2D([], [], color=colour, label=label(name)) for name, colour in plot.colours.items()]
        figure.legend(handles=handles, title=label(plot.legend), loc="outside right upper")
    pdf = io.BytesIO()
    with _whatever_letters():
        figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
        return {"svg": as_svg(figure).encode(), "pdf": pdf.getvalue()}


@contextmanager
def _whatever_letters() -> Iterator[None]:
    """A name may have letters that no font of matplotlib's has; a browser finds one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def label(text: str, longest: int = 2 * _LONGEST) -> str:
    """As text: between two dollar signs matplotlib would look for a formula."""
    shown = printable(text)
    return (shown if len(shown) <= longest else shown[: longest - 1] + "…").replace("$", r"\$")


def _limits(plot: Plot) -> tuple[float, float] | None:
    """Of the y axis, the same in all panels; None where there is no value."""
    if plot.kind == "shares":
        return 0.0, 1.02
    values = [part[np.isfinite(part)] for panel in plot.panels for line in panel.lines for part in (line.y, line.low, line.high)]
    every = np.concatenate([np.zeros(0), *values])
    if not every.size:
        return None
    low, high = float(every.min()), float(every.max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    return low - margin, high + margin


def _draw(axes: Axes, plot: Plot, panel: Panel, limits: tuple[float, float] | None) -> None:
    for place, line in enumerate(panel.lines):
        if plot.kind == "shares":
            axes.plot(line.x, line.y, color=line.colour, linewidth=1.3)
        elif plot.kind == "lines":
            axes.plot(line.x, line.y, color=line.colour, linewidth=1.3, marker="o", markersize=2.8)
            axes.fill_between(line.x, line.low, line.high, color=line.colour, alpha=0.18, linewidth=0)
        else:
            beside = 0.14 * (place - (len(panel.lines) - 1) / 2) if plot.x_names else 0.0
            many = line.x.size > _MOST_DOTS
            axes.plot(
                line.x + beside, line.y, "o", color=line.colour, markersize=3.2, alpha=0.4 if many else 0.9, rasterized=many
            )
            if not many:
                axes.vlines(line.x + beside, line.low, line.high, color=line.colour, linewidth=1.0, alpha=0.7)
    axes.set(xlabel=label(plot.x_label), ylabel=label(plot.y_label), ylim=limits)
    if panel.title:
        axes.set_title(label(panel.title, 48))
    if plot.x_names:
        names = [label(name, _LONGEST) for name in plot.x_names]
        turned = sum(map(len, names)) > 34
        axes.set_xticks(range(len(names)), names, rotation=35 if turned else 0, ha="right" if turned else "center")
        axes.set_xlim(-0.6, len(names) - 0.4)
    elif plot.x_log and any(line.x.size for line in panel.lines):
        make_logarithmic(axes, "x")
    for axis in (axes.yaxis, *(() if plot.x_log or plot.x_names else (axes.xaxis,))):
        if max(map(abs, axis.get_view_interval())) >= _MANY:
            axis.set_major_formatter(EngFormatter(sep=""))
