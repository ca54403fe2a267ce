# SPDX-License-Identifier: GPL-2.0-or-later
"""How all charts of NetBoxIT look. Colours are those of Okabe and Ito: told apart by all eyes."""

from __future__ import annotations

import io
import math
import re
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

COLOURS = {"return": "#0072B2", "forward": "#D55E00"}
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")

#: Of what is drawn as dots, as it is too much for a page.
_DOTS_PER_INCH = 110

#: For matplotlib.rc_context.
STYLE: Any = {
    # A page writes the letters: with one font for what is measured, not each text names ten.
    **{"svg.fonttype": "none", "svg.hashsalt": "netboxit", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]},
    "font.size": 9.5,
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#98a2ad", "axes.labelcolor": "#3b4754"},
    **{"xtick.color": "#56626e", "ytick.color": "#56626e", "axes.grid": True, "grid.color": "#e6eaee", "axes.axisbelow": True},
    **{"axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlecolor": "#25303b"},
    **{"legend.frameon": False, "figure.facecolor": "none", "axes.facecolor": "none", "axes.linewidth": 0.8},
}


def panels(number: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of the width of a page and this height (inches), with panels beside each other."""
    figure = Figure(figsize=(10.4, height), layout="constrained")
    return figure, [figure.add_subplot(1, number, at + 1) for at in range(number)]


def shade_warm_up(axes: Axes, until_s: float) -> None:
    """From 0 on along the axis of time; nothing where there is no warm-up."""
    if until_s > 0:
        axes.axvspan(0, until_s, color="#66727e", alpha=0.16, linewidth=0)


def make_logarithmic(axes: Axes, axis_name: Literal["x", "y"]) -> None:
    """Equal steps for equal ratios along one axis, which has its data already, with plain numbers, few of them."""
    (axes.set_xscale if axis_name == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if axis_name == "x" else axes.yaxis
    least, most = axis.get_view_interval()
    steps = (1.0, 2.0, 5.0) if math.log10(most / least) < 2.5 else (1.0,)
    axis.set(
        major_locator=LogLocator(subs=steps, numticks=10),
        minor_locator=NullLocator(),
        major_formatter=StrMethodFormatter("{x:g}"),
    )


def as_svg(figure: Figure) -> str:
    """The picture without XML prologue, so that it can stand in HTML; no metadata, so that equal data give equal text."""
    text = io.StringIO()
    figure.dpi = _DOTS_PER_INCH
    # Not by `savefig`, which draws a figure twice.
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    FigureCanvasSVG(figure).print_svg(text, metadata=metadata)  # type: ignore[no-untyped-call]
    whole = text.getvalue()
    # What matplotlib writes of a place is a millionth of a point, and a name for each group.
    indented = re.sub(r"\n\s+", "\n", whole[whole.index("<svg") :])
    return re.sub(r"<[^>]*>", lambda tag: _shorter(tag[0]), indented)


def _shorter(tag: str) -> str:
    """With hundredths of a point."""
    if tag.startswith("<g id="):
        return re.sub(r' id="[^"]*"', "", tag, count=1)
    rounded = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag)
    return re.sub(r"\s*\n([A-Zz]?) ?", r" \1", rounded) if tag.startswith("<path") else rounded
