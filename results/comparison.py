# SPDX-License-Identifier: GPL-2.0-or-later
"""What repeated runs say of their points, and of the differences between these: tables in, tables out.

A point is a combination of the parameters' values, a name is a measure with what it is of, as `call.return.delay_ms_p99`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
import polars as pl

from results.intervals import CONFIDENCE, FEWEST_RESAMPLED, bootstrap_bounds, scaled_quantiles, student_half_widths, student_p
from results.measure import Measure
from results.parameter_axis import Axis
from results.statistics import Values

#: Of an outlier the modified z-score, within its point, is beyond this (Iglewicz and Hoaglin, How to Detect and Handle Outliers,
#: 1993).
_FAR: Final = 3.5
#: They make the score that of a standard deviation for normal values: by the median absolute deviation, and by the mean one.
_OF_MEDIAN, _OF_MEAN = 0.6745, 1 / 1.253314
#: Of fewer runs none is told to be one: there is no knowing.
FEWEST_WITH_OUTLIERS: Final = 5
#: Of a number, what is left of it by the rounding of arithmetic.
_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Comparison:
    """Tables of Polars. Where a value is not known it is null."""

    #: The parameters that have several values.
    axes: tuple[Axis, ...]
    #: By name.
    measures: Mapping[str, Measure]
    #: A row for each point: `point` (from 0), the axes' columns, `runs`.
    points: pl.DataFrame
    #: A row for each run: `run`, `point`.
    runs: pl.DataFrame
    #: A row for each point and name: `point`, `name`, `count`, `mean`, `deviation`, `low`, `high` (null of a single value),
    #: `method` (`student`, `bootstrap` or null).
    estimates: pl.DataFrame
    #: A row for each name and two points that differ in one parameter only: `name`, `axis` (its column), `base`, `point`, `count`
    #: (of pairs with the same seed, 0 where there are none), `difference` (of `point` less `base`), `low`, `high`, `p`,
    #: `p_corrected`, `verdict` (`higher`, `lower`, `no difference`; null without an interval), `is_sure` (after the correction).
    differences: pl.DataFrame
    #: A row for each value that is far from the others of its point: `run`, `point`, `name`, `value`, `median`, `score`; the
    #: farthest first.
    outliers: pl.DataFrame


def compare(runs: pl.DataFrame, values: pl.DataFrame, axes: Sequence[Axis], measures: Mapping[str, Measure]) -> Comparison:
    """`runs` has `run`, `seed` (null where it is not known) and the axes' columns; `values` has `run`, `name` and finite `value`.

    `measures` says by name what the values are. The columns of axes have names that no table below has. The
    point on an axis that others are compared with is that of its first value.
    """
    columns = [axis.column for axis in axes]
    of_points = _points(runs, axes)
    runs = runs.select("run", "seed", *columns)
    of_runs = runs.join(of_points, on=columns, nulls_equal=True) if columns else runs.join(of_points, how="cross")
    kept = values.join(of_runs.select("run", "point", "seed"), on="run")
    estimates = _estimates(kept, measures)
    counted = of_runs.group_by("point").agg(runs=pl.len().cast(pl.Int64))
    return Comparison(
        tuple(axes),
        measures,
        of_points.join(counted, on="point", maintain_order="left"),
        of_runs.select("run", "point"),
        estimates,
        _differences(kept, estimates, of_points, axes),
        _outliers(kept),
    )


def are_crossed(points: pl.DataFrame, axes: Sequence[Axis]) -> bool:
    """Whether at least half of all combinations of the axes' values are there, as in a grid that is not complete."""
    return not axes or 2 * points.select(axis.column for axis in axes).n_unique() >= prod(len(axis.values) for axis in axes)


def _points(runs: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """In the order of the axes' values, those of the last axis the fastest."""
    if not axes:
        return pl.DataFrame({"point": [0]}, schema={"point": pl.Int64})
    places = [{value: place for place, value in enumerate(axis.values)} for axis in axes]
    rows = runs.select(axis.column for axis in axes).unique().rows()
    ordered = sorted(rows, key=lambda row: [own[value] for own, value in zip(places, row, strict=True)])
    schema = {axis.column: runs.schema[axis.column] for axis in axes}
    return pl.DataFrame(ordered, schema=schema, orient="row").insert_column(0, pl.Series("point", range(len(ordered)), pl.Int64))


def _estimates(values: pl.DataFrame, measures: Mapping[str, Measure]) -> pl.DataFrame:
    order = {name: place for place, name in enumerate(measures)}
    table = (
        values.group_by("point", "name")
        .agg(pl.len().cast(pl.Int64).alias("count"), pl.mean("value").alias("mean"), pl.std("value").alias("deviation"), "value")
        .sort("point", pl.col("name").replace_strict(order, return_dtype=pl.Int64))
    )
    counts, means = table["count"].to_numpy(), table["mean"].to_numpy()
    widths = student_half_widths(counts, table["deviation"].fill_null(0.0).to_numpy())
    low, high = means - widths, means + widths
    resampled = np.array([measures[name].is_percentile_or_ratio for name in table["name"]], bool) & (counts >= FEWEST_RESAMPLED)
    for count in np.unique(counts[resampled]):
        rows = np.flatnonzero(resampled & (counts == count))
        low[rows], high[rows] = bootstrap_bounds(np.array(table["value"].gather(rows).to_list()))
    methods = np.where(resampled, "bootstrap", "student")
    return table.drop("value").with_columns(
        low=_finite(low),
        high=_finite(high),
        method=pl.when(pl.col("count") > 1).then(pl.Series(methods.tolist(), dtype=pl.String)),
    )


def _finite(numbers: Values) -> pl.Series:
    """Null where a number is infinite."""
    return pl.Series(np.where(np.isfinite(numbers), numbers, np.nan), dtype=pl.Float64).fill_nan(None)


def _differences(values: pl.DataFrame, estimates: pl.DataFrame, points: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    compared = _compared(points, axes)
    of_base = estimates.select(base="point", name="name", count_base="count", mean_base="mean", deviation_base="deviation")
    of_point = estimates.select("point", "name", pl.col("count").alias("count_point"), "mean", "deviation")
    table = (
        compared.join(of_base, on="base", maintain_order="left")
        .join(of_point, on=["point", "name"], maintain_order="left")
        .join(_pairs(values, compared), on=["base", "point", "name"], how="left", maintain_order="left")
        .with_columns(pl.col("count").fill_null(0), pl.coalesce("difference", pl.col("mean") - pl.col("mean_base")))
    )
    count = table["count"].to_numpy().astype(float)
    paired = count > 0
    variance_base = table["deviation_base"].fill_null(np.nan).to_numpy() ** 2 / table["count_base"].to_numpy()
    variance_point = table["deviation"].fill_null(np.nan).to_numpy() ** 2 / table["count_point"].to_numpy()
    # Student's, of pairs; Welch's of points without common seeds (Biometrika 34, 1947), with Satterthwaite's degrees of freedom.
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.where(
            paired,
            table["deviation_of_pairs"].fill_null(np.nan).to_numpy() / np.sqrt(count),
            np.sqrt(variance_base + variance_point),
        )
        welch = (variance_base + variance_point) ** 2 / (
            variance_base**2 / (table["count_base"].to_numpy() - 1) + variance_point**2 / (table["count_point"].to_numpy() - 1)
        )
    difference = table["difference"].to_numpy().copy()
    noise = _ROUNDING * np.maximum(np.abs(table["mean"].to_numpy()), np.abs(table["mean_base"].to_numpy()))
    difference[np.abs(difference) <= noise] = 0.0
    errors = np.where(errors <= noise, 0.0, errors)
    freedom = np.where(paired, count - 1, np.where(errors == 0.0, 1.0, welch))
    known = np.isfinite(errors) & (freedom > 0)
    freedom, errors = np.where(known, freedom, 1.0), np.where(known, errors, np.nan)
    widths = scaled_quantiles(freedom, errors)
    p = student_p(difference, errors, freedom)
    outside = known & (np.abs(difference) > widths)
    words = np.where(outside, np.where(difference > 0, "higher", "lower"), "no difference")
    table = table.select(
        "name",
        "axis",
        "base",
        "point",
        "count",
        difference=pl.Series(difference, dtype=pl.Float64),
        low=_finite(difference - widths),
        high=_finite(difference + widths),
        p=_finite(p),
        verdict=pl.when(pl.Series(known, dtype=pl.Boolean)).then(pl.Series(words.tolist(), dtype=pl.String)),
    )
    return _corrected(table)


def _compared(points: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """`axis`, `base`, `point`: two points that differ in this axis only, the first of which has its first value."""
    found = [
        (axis.column, base, point)
        for at, axis in enumerate(axes)
        for number in (dict(_without(points, at)),)
        for (others, value), point in number.items()
        if value != axis.values[0] and (base := number.get((others, axis.values[0]))) is not None
    ]
    return pl.DataFrame(found, schema={"axis": pl.String, "base": pl.Int64, "point": pl.Int64}, orient="row")


def _without(points: pl.DataFrame, at: int) -> list[tuple[tuple[tuple[Any, ...], Any], int]]:
    """Of each point its values but for one axis, its value there, and its number."""
    return [
        ((values[:at] + values[at + 1 :], values[at]), point) for point, *rest, _ in _rows(points) for values in (tuple(rest),)
    ]


def _rows(points: pl.DataFrame) -> list[tuple[Any, ...]]:
    return [(*row, None) for row in points.rows()]


def _pairs(values: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """By `base`, `point` and `name`: `count`, `difference` and `deviation_of_pairs` of runs with the same seed."""
    by_seed = values.drop_nulls("seed").group_by("point", "name", "seed").agg(pl.mean("value"))
    two = compared.select("base", "point").unique()
    return (
        two.join(by_seed.rename({"point": "base", "value": "value_base"}), on="base")
        .join(by_seed, on=["point", "name", "seed"])
        .with_columns(difference=pl.col("value") - pl.col("value_base"))
        .group_by("base", "point", "name")
        .agg(
            pl.len().cast(pl.Int64).alias("count"),
            pl.mean("difference").alias("difference"),
            pl.std("difference").alias("deviation_of_pairs"),
        )
    )


def _corrected(table: pl.DataFrame) -> pl.DataFrame:
    """With `p_corrected`, for all comparisons of the same name (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    rank = pl.col("p").rank("ordinal").over("name").cast(pl.Float64)
    known = pl.col("p").count().over("name")
    steps = ((known - rank + 1) * pl.col("p")).clip(upper_bound=1.0)
    table = table.with_row_index("row").with_columns(p_corrected=steps)
    table = table.sort("name", "p", nulls_last=True).with_columns(pl.col("p_corrected").cum_max().over("name")).sort("row")
    return table.drop("row").with_columns(
        pl.when(pl.col("p").is_not_null()).then("p_corrected"),
        is_sure=pl.col("verdict").is_in(["higher", "lower"]) & (pl.col("p_corrected") < 1 - CONFIDENCE),
    )


def _outliers(values: pl.DataFrame) -> pl.DataFrame:
    of_point = ["point", "name"]
    distance = (pl.col("value") - pl.col("median")).abs()
    return (
        values.with_columns(median=pl.median("value").over(of_point), count=pl.len().over(of_point))
        .filter(pl.col("count") >= FEWEST_WITH_OUTLIERS)
        .with_columns(distance=pl.when(distance > _ROUNDING * pl.col("median").abs()).then(distance).otherwise(0.0))
        .with_columns(
            typical=pl.median("distance").over(of_point) / _OF_MEDIAN, mean_distance=pl.mean("distance").over(of_point) / _OF_MEAN
        )
        .with_columns(score=pl.col("distance") / pl.when(pl.col("typical") > 0).then("typical").otherwise("mean_distance"))
        .filter(pl.col("distance") > 0, pl.col("score") > _FAR)
        .sort(pl.col("score"), "run", "name", descending=[True, False, False])
        .select("run", "point", "name", "value", "median", "score")
    )
