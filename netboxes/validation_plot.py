# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of docs/validation.md."""

from __future__ import annotations

from matplotlib import rc_context

from netboxes.validation import Plot
from results.chart_style import PALETTE, STYLE, as_svg, make_logarithmic, panels


@rc_context({**STYLE, "figure.facecolor": "white"})
def draw(plot: Plot) -> str:
    """As SVG: lines are expected, points measured; one colour for each label."""
    figure, (axis,) = panels(1, 3.6)
    labels = list(dict.fromkeys(curve.label for curve in plot.curves))
    for curve in plot.curves:
        at = labels.index(curve.label)
        # More labels than colours: the next round has other marks.
        look = {"marker": "osD^v"[at // len(PALETTE) % 5], "linestyle": ""} if curve.measured else {"linewidth": 1.6}
        kind = "measured" if curve.measured else "expected"
        name = f"{curve.label}, {kind}" if curve.label else kind
        axis.plot(curve.x, curve.y, color=PALETTE[at % len(PALETTE)], markersize=4.5, label=name, **look)
    axis.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
    if plot.logarithmic_x:
        make_logarithmic(axis, "x")
    if plot.logarithmic_y:
        make_logarithmic(axis, "y")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return as_svg(figure)
