# SPDX-License-Identifier: GPL-2.0-or-later
"""The course of a video by adaptive streaming, as a chart of the report."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.figure import Figure

from results.chart_style import COLOURS, STYLE, as_svg, shade_warm_up

_WIDTH, _HEIGHT = 10.4, 3.4
_STALL = "#c0392b"

Points = Sequence[tuple[float, float]]


@rc_context(STYLE)
def course(qualities: Points, levels: Points, stalls: Points, end_s: float, warm_up_s: float) -> str:
    """The rate of each segment by the time of its request (kbit/s), and the buffer's level (s), as SVG.

    Stalls and the warm-up are shaded.
    """
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    quality, level = figure.subplots(2, 1, sharex=True)
    times, rates = zip(*qualities, strict=True)
    quality.step([*times, end_s], [*rates, rates[-1]], where="post", color=COLOURS["return"], linewidth=1.4)
    quality.set(ylabel="rate (kbit/s)", ylim=(0, None))
    level.plot(*zip(*levels, strict=True), color=COLOURS["forward"], linewidth=1.2)
    level.set(ylabel="buffer (s)", ylim=(0, None), xlabel="time of the player (s)", xlim=(0, end_s))
    for axis in (quality, level):
        shade_warm_up(axis, min(warm_up_s, end_s))
        for begin, end in stalls:
            axis.axvspan(begin, end, color=_STALL, alpha=0.15, linewidth=0)
    return as_svg(figure)
