# SPDX-License-Identifier: GPL-2.0-or-later
"""The share of frames that took no longer, over many runs: counted in bins, so that memory does not grow with the frames."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from results.chart_style import PALETTE
from results.comparison import Comparison, are_crossed
from results.parameter_axis import Axis, words
from results.plot import Line, Panel, Plot
from results.run_folder import WARM_UP
from results.runs import Runs

#: Of the delays of a flow.
_BINS: Final = 300
#: From this ratio of its longest to its shortest delay on, bins are of equal ratios.
_WIDE: Final = 30.0
#: In so many frames is looked: of more, those of the first repetitions.
_MOST_FRAMES: Final = 30_000_000
_MOST_FLOWS: Final = 6
_MOST_LINES: Final = 6
_MOST_PANELS: Final = 4
_FLOW: Final = ["flow", "direction"]


def plots(runs: Runs, comparison: Comparison, traffic: Sequence[str]) -> tuple[list[Plot], list[str]]:
    """A plot for each flow of these entries of the traffic and direction, and what is to be said of all.

    A line for each value of one parameter, a panel for each of another one. Frames of all values of the others are together.
    """
    flows = runs.flows.filter(pl.col("traffic").is_in(list(traffic))).collect().join(comparison.runs, on="run")
    flows = flows.join(comparison.points, on="point", maintain_order="left", suffix="_of_point")
    by, inside = _axes(flows, comparison.axes)
    for axis, most in ((by, _MOST_LINES), (inside, _MOST_PANELS)):
        if axis is not None:
            flows = flows.filter(pl.col(axis.column).is_in(list(axis.some(most)), nulls_equal=True))
    scales = _scales(flows)
    counted, notes = _fewer(runs, flows)
    columns = [axis.column for axis in (inside, by) if axis is not None]
    try:
        bins = _counted(counted, flows, scales, columns)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        return [], [f"frames cannot be read: {str(error).partition(chr(10))[0]}"]
    if bins.is_empty():
        return [], ["the runs have no frames of these flows: distributions of delay need keep: frames or keep: everything"]
    remarks = _remarks(comparison.axes, by, inside)
    return [_plot(bins, scale, by, inside, remarks) for scale in scales.to_dicts()], notes


def _axes(flows: pl.DataFrame, axes: Sequence[Axis]) -> tuple[Axis | None, Axis | None]:
    """By which lines are told apart, and by which panels: the parameters with which the mean delay changes most."""
    mean = pl.mean("delay_ms_mean")

    def spread(axis: Axis) -> float:
        means = flows.group_by(*_FLOW, axis.column).agg(mean)
        spreads = means.group_by(_FLOW).agg(pl.std("delay_ms_mean") / mean)["delay_ms_mean"]
        return float(spreads.fill_nan(None).sum())

    by, *others = [*sorted(axes, key=spread, reverse=True), None]
    inside = next((axis for axis in others if axis is not None and by is not None and are_crossed(flows, [by, axis])), None)
    return by, inside


def _scales(flows: pl.DataFrame) -> pl.DataFrame:
    """Of each flow and direction with delays: `low_ms`, `high_ms`, `log`."""
    low, high = pl.col("low_ms"), pl.col("high_ms")
    return (
        flows.group_by(_FLOW, maintain_order=True)
        .agg(low_ms=pl.min("delay_ms_min"), high_ms=pl.max("delay_ms_p99_9"))
        .filter(low.is_finite() & high.is_finite())
        .head(_MOST_FLOWS)
        .with_columns(log=(low > 0) & (high >= _WIDE * low))
        .with_columns(high_ms=pl.when(high > low).then(high).otherwise(low + pl.max_horizontal(low.abs() * 0.01, 0.001)))
    )


def _fewer(runs: Runs, flows: pl.DataFrame) -> tuple[Runs, list[str]]:
    """Runs that do not have too many frames together."""
    each = flows.group_by("run", maintain_order=True).agg(pl.sum("packets"))
    if each.is_empty() or each["packets"].sum() <= _MOST_FRAMES:
        return runs, []
    number = pl.int_range(pl.len()).over("point")
    ordered = each.join(flows.select("run", "point").unique(), on="run").sort("point", "run").with_columns(number=number)
    names = ordered.sort("number", "point").filter(pl.col("packets").cum_sum() <= _MOST_FRAMES)["run"].to_list()
    return runs.select(run=names), [f"of {each.height} runs the frames of {len(names)} are counted, the first ones of each point"]


def _counted(runs: Runs, flows: pl.DataFrame, scales: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """`frames` in each `bin` of a flow, by the values of these axes."""
    frames = runs.frames
    there = frames.collect_schema()
    if "received_ns" not in there:
        return pl.DataFrame()
    if WARM_UP in there:
        frames = frames.filter(~pl.col(WARM_UP).fill_null(False))
    delay_ms = (pl.col("received_ns") - pl.col("sent_ns")) / 1e6
    even = (delay_ms - pl.col("low_ms")) / (pl.col("high_ms") - pl.col("low_ms"))
    ratio = (delay_ms / pl.col("low_ms")).log() / (pl.col("high_ms") / pl.col("low_ms")).log()
    place = pl.when("log").then(ratio).otherwise(even)
    bins = (
        frames.select("run", *_FLOW, "sent_ns", "received_ns")
        .filter(pl.col("received_ns").is_not_null())
        .join(flows.select("run", *columns).unique().lazy(), on="run")
        .join(scales.lazy(), on=_FLOW)
        .group_by(*_FLOW, *columns, bin=(place * _BINS).floor().clip(0, _BINS - 1).cast(pl.Int64))
        .agg(frames=pl.len())
    )
    # To a file Polars computes part by part: collected, 20 million frames take 3.4 GB, and so 0.1 GB.
    file = io.BytesIO()
    bins.sink_ipc(file)
    file.seek(0)
    return pl.read_ipc(file)


def _plot(bins: pl.DataFrame, scale: Mapping[str, Any], by: Axis | None, inside: Axis | None, remark: str) -> Plot:
    own = bins.filter(flow=scale["flow"], direction=scale["direction"])
    spread = np.geomspace if scale["log"] else np.linspace
    ends_ms = spread(scale["low_ms"], scale["high_ms"], _BINS + 1)[1:]
    name = f"{scale['flow']}, {scale['direction']}"
    panels = []
    for panel in inside.some(_MOST_PANELS) if inside is not None else (None,):
        lines = []
        for place, value in enumerate(by.some(_MOST_LINES) if by is not None else (None,)):
            part = own
            for axis, wanted in ((inside, panel), (by, value)):
                if axis is not None:
                    part = part.filter(pl.col(axis.column).eq_missing(pl.lit(wanted, part.schema[axis.column])))
            frames = np.bincount(part["bin"].to_numpy(), part["frames"].to_numpy(), minlength=_BINS)
            if total := frames.sum():
                shares = np.cumsum(frames) / total
                none = np.full(_BINS, np.nan)
                lines.append(Line(words(value) if by else "", PALETTE[place % len(PALETTE)], ends_ms, shares, none, none))
        if lines:
            panels.append(Panel(f"{inside.name} {words(panel)}" if inside is not None else "", lines))
    return Plot(
        name=f"delay-of-{scale['flow']}-{scale['direction']}",
        title=f"one-way delay of {name}",
        x_label="one-way delay (ms)",
        y_label="share of frames",
        panels=panels,
        legend=by.name if by is not None else "",
        kind="shares",
        x_log=scale["log"],
        remark=remark,
    )


def _remarks(axes: Sequence[Axis], by: Axis | None, inside: Axis | None) -> str:
    parts = [
        f"{most} of {len(axis.values)} values of {axis.name} are shown"
        for axis, most in ((by, _MOST_LINES), (inside, _MOST_PANELS))
        if axis is not None and len(axis.values) > most
    ]
    if others := [axis.name for axis in axes if axis not in (by, inside)]:
        parts.append(f"frames of all values of {' and '.join(others)} are together")
    return "; ".join(parts)
