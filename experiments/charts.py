# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of docs/experiments.md: lines for virtual time, points for real time, dashes for the thesis."""

from __future__ import annotations

from typing import Any

from matplotlib import rc_context

from experiments.outcome import Plot
from results.chart_style import PALETTE, STYLE, as_svg, make_logarithmic, panels

_LOOKS: dict[str, dict[str, Any]] = {
    "virtual": {"linewidth": 1.4, "marker": ".", "markersize": 5},
    "real": {"linestyle": "", "marker": "o", "markersize": 7, "fillstyle": "none", "markeredgewidth": 1.5},
    "thesis": {"linestyle": "--", "linewidth": 1.2, "color": "#56626e"},
}


@rc_context({**STYLE, "figure.facecolor": "white"})
def draw(plot: Plot) -> str:
    """As SVG; a curve in real and in virtual time has one colour."""
    figure, (axis,) = panels(1, 3.4)
    colours = {"virtual": iter(PALETTE), "real": iter(PALETTE)}
    for curve in plot.curves:
        look = dict(_LOOKS[curve.source])
        if curve.source in colours:
            look["color"] = next(colours[curve.source])
        axis.plot(curve.x, curve.y, label=curve.label, **look)
    axis.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
    if plot.logarithmic_y:
        make_logarithmic(axis, "y")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return as_svg(figure)
