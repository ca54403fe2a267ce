# SPDX-License-Identifier: GPL-2.0-or-later
"""Each measure against each parameter: a line with its band for each value of another parameter, a panel for each combination of
the others. Of points that are no grid, as those of a Latin hypercube, each is a dot with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from results.chart_style import PALETTE
from results.comparison import Comparison, are_crossed
from results.parameter_axis import Axis, words
from results.plot import Line, Panel, Plot

#: Lines of a panel, names on an axis, panels of a plot: of more, some are shown.
_MOST_LINES: Final = 6
_MOST_NAMES: Final = 24
_MOST_PANELS: Final = (6, 4, 2, 1)

_Interval = tuple[float, float, float]
#: By the values of the axes: mean and interval.
_Values = dict[tuple[Any, ...], _Interval]


def plots(comparison: Comparison, most_panels: int) -> tuple[list[tuple[str, list[Plot]]], list[str]]:
    """For each name its plots, and the names for which there was no room. All together have so many panels at most."""
    values = _by_name(comparison)
    for most in _MOST_PANELS:
        made = {
            name: [_plot(comparison, name, own, at, most) for at in range(len(comparison.axes))] for name, own in values.items()
        }
        if sum(len(plot.panels) for own in made.values() for plot in own) <= most_panels:
            break
    shown, room = list[tuple[str, list[Plot]]](), most_panels
    for name, own in made.items():
        room -= sum(len(plot.panels) for plot in own)
        if room < 0:
            break
        shown.append((name, own))
    return shown, list(made)[len(shown) :]


def _by_name(comparison: Comparison) -> dict[str, _Values]:
    columns = [axis.column for axis in comparison.axes]
    table = comparison.estimates.join(comparison.points, on="point", maintain_order="left")
    found: dict[str, _Values] = {name: {} for name in comparison.measures}
    for name, mean, low, high, *rest in table.select("name", "mean", "low", "high", *columns).iter_rows():
        found[name][tuple(rest)] = (mean, np.nan if low is None else low, np.nan if high is None else high)
    return {name: values for name, values in found.items() if values}


def _plot(comparison: Comparison, name: str, values: _Values, at: int, most_panels: int) -> Plot:
    """Of a measure against one axis."""
    axes = comparison.axes
    axis, others = axes[at], [other for other in range(len(axes)) if other != at]
    by = max(others, key=lambda other: len(axes[other].values), default=None)
    rest = [other for other in others if other != by]
    is_grid = are_crossed(comparison.points, axes)
    if not is_grid:
        # All in one panel, by the parameter with the fewest values, if these can be told apart.
        by = min(
            (other for other in others if len(axes[other].values) <= len(PALETTE)),
            key=lambda o: len(axes[o].values),
            default=None,
        )
        rest = []
    shown = axes[by].some(_MOST_LINES if is_grid else len(PALETTE)) if by is not None else ()
    combinations = _combinations(values, axes, rest)
    some = [combinations[round(place)] for place in np.linspace(0, len(combinations) - 1, min(most_panels, len(combinations)))]
    names = [words(value) for value in axis.some(_MOST_NAMES)] if not axis.is_numeric else []
    panels = []
    for combination in some:
        inside = {p: v for p, v in values.items() if all(p[other] == v2 for other, v2 in zip(rest, combination, strict=True))}
        lines = [
            _line(axis, at, {p: v for p, v in inside.items() if by is None or p[by] == value}, label, colour)
            for value, label, colour in _told_apart(axes, by, shown)
        ]
        title = ", ".join(f"{axes[other].name} {words(value)}" for other, value in zip(rest, combination, strict=True))
        panels.append(Panel(title, [line for line in lines if line.x.size]))
    return Plot(
        name=f"{name}-by-{axis.name}",
        title=f"{name} by {axis.name}",
        x_label=axis.title,
        y_label=comparison.measures[name].name,
        panels=panels,
        legend=axes[by].name if by is not None else "",
        kind="lines" if is_grid and axis.is_numeric else "points",
        x_log=axis.log,
        x_names=names,
        remark=_remark(axes, by, shown, len(some), len(combinations), axis, is_grid),
    )


def _told_apart(axes: Sequence[Axis], by: int | None, shown: Sequence[Any]) -> list[tuple[Any, str, str]]:
    if by is None:
        return [(None, "", PALETTE[0])]
    return [(value, words(value), PALETTE[place % len(PALETTE)]) for place, value in enumerate(shown)]


def _combinations(values: _Values, axes: Sequence[Axis], rest: Sequence[int]) -> list[tuple[Any, ...]]:
    there = {tuple(point[other] for other in rest) for point in values}
    return sorted(there, key=lambda row: [axes[other].values.index(value) for other, value in zip(rest, row, strict=True)])


def _line(axis: Axis, at: int, values: _Values, label: str, colour: str) -> Line:
    places = {value: place for place, value in enumerate(axis.some(_MOST_NAMES))} if not axis.is_numeric else {}
    rows = sorted(
        (float(places[point[at]]) if places else axis.position(point[at]), *interval)
        for point, interval in values.items()
        if not places or point[at] in places
    )
    x, y, low, high = np.array(rows, dtype=float).reshape(-1, 4).T
    return Line(label, colour, x, y, low, high)


def _remark(
    axes: Sequence[Axis], by: int | None, shown: Sequence[Any], panels: int, combinations: int, axis: Axis, is_grid: bool
) -> str:
    parts = []
    if by is not None and len(shown) < len(axes[by].values):
        parts.append(f"{len(shown)} of {len(axes[by].values)} values of {axes[by].name} are shown")
    if panels < combinations:
        parts.append(f"{panels} of {combinations} combinations of the other parameters are shown")
    if not axis.is_numeric and len(axis.values) > _MOST_NAMES:
        parts.append(f"{_MOST_NAMES} of {len(axis.values)} values are shown")
    if not is_grid and len(axes) > 1:
        parts.append("each dot is a point, whose other parameters have other values")
    return "; ".join(parts)
