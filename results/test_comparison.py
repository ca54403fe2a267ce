# SPDX-License-Identifier: GPL-2.0-or-later
"""Means, differences and outliers against other implementations, published examples and how often they hold what they promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from scipy import stats  # type: ignore[import-untyped]

from results.comparison import Comparison, _corrected, compare
from results.measure import Measure
from results.parameter_axis import Axis

_DELAY: Final = Measure("delay_ms_mean", "ms", "one-way delay", "lower")
_LOSS: Final = Measure("loss_ratio", "", "frames lost", "lower")
_MANY: Final = 500


def compared(
    values: Mapping[tuple[Any, ...], Mapping[str, Sequence[float]]],
    names: Sequence[str],
    measures: Mapping[str, Measure],
    seeds: Mapping[tuple[Any, ...], Iterable[int | None]] | None = None,
) -> Comparison:
    """By the parameters' values and the name of a measure, the values of the runs."""
    runs, rows = [], []
    for point, of_names in values.items():
        count = max(map(len, of_names.values()))
        for number, seed in zip(range(count), (seeds or {}).get(point, range(count)), strict=False):
            run = f"{point}-{number}"
            runs.append((run, seed, *point))
            rows += [(run, name, of_name[number]) for name, of_name in of_names.items() if number < len(of_name)]
    schema = {"run": pl.String, "seed": pl.Int64, **dict.fromkeys(names, pl.String)}
    table = pl.DataFrame(runs, schema=schema, orient="row")
    axes = [Axis.of(name, name, table[name]) for name in names if table[name].n_unique() > 1]
    return compare(table, pl.DataFrame(rows, schema=["run", "name", "value"], orient="row"), axes, measures)


def test_means_have_students_interval() -> None:
    values = [4.0, 5.0, 9.0, 2.0, 6.5]
    (row,) = compared({("a",): {"x": values}}, ["p"], {"x": _DELAY}).estimates.to_dicts()
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (row["count"], row["mean"], row["low"], row["high"], row["method"]) == (
        *(5, pytest.approx(5.3), pytest.approx(low), pytest.approx(high)),
        "student",
    )


def test_of_one_run_there_is_no_interval() -> None:
    (row,) = compared({("a",): {"x": [4.0]}}, ["p"], {"x": _DELAY}).estimates.to_dicts()
    assert (row["mean"], row["low"], row["high"], row["deviation"], row["method"]) == (4.0, None, None, None, None)


def test_ratios_of_many_runs_are_resampled_and_cannot_be_less_than_none() -> None:
    # Twenty-nine runs without a loss and one with many: Student's interval would go below zero.
    losses = [0.0] * 29 + [0.3]
    (row,) = compared({("a",): {"x": losses}}, ["p"], {"x": _LOSS}).estimates.to_dicts()
    student, _ = stats.t.interval(0.95, 29, np.mean(losses), stats.sem(losses))
    assert student < 0.0 <= row["low"] < 0.01 < row["high"] < 0.3 and row["method"] == "bootstrap"
    (few,) = compared({("a",): {"x": losses[-19:]}}, ["p"], {"x": _LOSS}).estimates.to_dicts()
    assert few["method"] == "student"


def test_nineteen_of_twenty_intervals_of_pairs_hold_the_true_difference() -> None:
    """Of 500 measures with an effect of 0.5: the seed decides much more than the parameter."""
    chance = np.random.default_rng(3)
    names = [f"m{number}" for number in range(_MANY)]
    of_seeds = {name: chance.normal(0.0, 10.0, 8) for name in names}
    values = {
        (value,): {name: (of_seeds[name] + effect + chance.normal(0.0, 1.0, 8)).tolist() for name in names}
        for value, effect in (("a", 0.0), ("b", 0.5))
    }
    table = compared(values, ["p"], dict.fromkeys(names, _DELAY))
    held = table.differences.filter(pl.col("low") <= 0.5, pl.col("high") >= 0.5).height / _MANY
    # The share of 500 has a standard deviation of 1 %.
    assert held == pytest.approx(0.95, abs=0.03)
    assert table.differences["count"].unique().to_list() == [8]
    # Without pairs they would be seven times as wide: the deviation of a mean is 10 / sqrt(8), of the difference of two more.
    widths = table.differences.select(pl.col("high") - pl.col("low")).mean().item()
    assert widths == pytest.approx(2 * 2.365 * np.sqrt(2 / 8), rel=0.05)


def test_where_there_is_no_difference_one_in_twenty_is_taken_for_one_and_hardly_any_after_the_correction() -> None:
    chance = np.random.default_rng(4)
    values = {(f"v{value:02}",): {f"m{name}": chance.normal(0.0, 1.0, 6).tolist() for name in range(100)} for value in range(21)}
    table = compared(values, ["p"], {f"m{name}": _DELAY for name in range(100)}).differences
    assert table.height == 2000
    assert table.filter(pl.col("verdict") != "no difference").height / 2000 == pytest.approx(0.05, abs=0.02)
    # Holm: of a measure whose 20 comparisons have no difference, one is taken for it in 5 % of all cases at most.
    assert table.filter("is_sure")["name"].n_unique() <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_points_that_differ_in_several_parameters_are_not_compared() -> None:
    values = {point: {"x": [1.0, 2.0]} for point in product(("1 km", "10 km", "2 km"), ("opus", "pcma"))}
    table = compared(values, ["distance", "codec"], {"x": _DELAY})
    points = {row["point"]: (row["distance"], row["codec"]) for row in table.points.to_dicts()}
    assert list(points.values()) == [*product(("1 km", "2 km", "10 km"), ("opus", "pcma"))]
    assert [(row["axis"], points[row["base"]], points[row["point"]]) for row in table.differences.to_dicts()] == [
        *(("distance", ("1 km", codec), (far, codec)) for far, codec in product(("2 km", "10 km"), ("opus", "pcma"))),
        *(("codec", (distance, "opus"), (distance, "pcma")) for distance in ("1 km", "2 km", "10 km")),
    ]


def test_without_common_seeds_the_means_are_compared_as_welch_does() -> None:
    one, other = [4.0, 5.0, 9.0, 2.0], [8.0, 8.5, 9.5, 8.2, 8.1, 8.9]
    seeds = {("a",): [1, 2, 3, 4], ("b",): [5, 6, 7, 8, 9, 10]}
    (row,) = compared({("a",): {"x": one}, ("b",): {"x": other}}, ["p"], {"x": _DELAY}, seeds).differences.to_dicts()
    test = stats.ttest_ind(other, one, equal_var=False)
    interval = test.confidence_interval(0.95)
    assert (row["count"], row["difference"], row["low"], row["high"], row["p"]) == (
        *(0, pytest.approx(np.mean(other) - np.mean(one)), pytest.approx(interval.low), pytest.approx(interval.high)),
        pytest.approx(test.pvalue),
    )


def test_pairs_are_those_of_the_same_seed() -> None:
    seeds = {("a",): [1, 2, 3], ("b",): [3, 1, 4]}
    values = {("a",): {"x": [10.0, 0.0, 30.0]}, ("b",): {"x": [31.5, 11.0, 99.0]}}
    (row,) = compared(values, ["p"], {"x": _DELAY}, seeds).differences.to_dicts()
    test = stats.ttest_rel([31.5, 11.0], [30.0, 10.0])
    assert (row["count"], row["difference"], row["p"]) == (2, pytest.approx(1.25), pytest.approx(test.pvalue))


@pytest.mark.parametrize("seeds", [None, {("a",): [None], ("b",): [None]}])
def test_single_runs_have_a_difference_of_which_nothing_is_known(seeds: Any) -> None:
    (row,) = compared({("a",): {"x": [1.0]}, ("b",): {"x": [3.0]}}, ["p"], {"x": _DELAY}, seeds).differences.to_dicts()
    assert (row["difference"], row["low"], row["high"], row["p"], row["verdict"]) == (2.0, None, None, None, None)


def test_what_arithmetic_rounds_is_no_difference_and_what_is_always_the_same_is_one() -> None:
    values = {("a",): {"x": [0.1 + 0.2] * 3, "y": [1.0, 2.0, 3.0]}, ("b",): {"x": [0.3] * 3, "y": [1.5, 2.5, 3.5]}}
    rounded, shifted = compared(values, ["p"], {"x": _DELAY, "y": _DELAY}).differences.to_dicts()
    assert (rounded["difference"], rounded["verdict"], rounded["p"]) == (0.0, "no difference", 1.0)
    assert (shifted["low"], shifted["high"], shifted["verdict"], shifted["p"]) == (0.5, 0.5, "higher", 0.0)


def test_a_measure_that_only_one_point_has_is_not_compared() -> None:
    values = {("a",): {"x": [1.0, 2.0]}, ("b",): {"y": [3.0, 4.0]}}
    table = compared(values, ["p"], {"x": _DELAY, "y": _DELAY})
    assert table.differences.is_empty() and table.estimates["name"].to_list() == ["x", "y"]


def test_holms_correction_is_that_of_his_procedure() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
    table = pl.DataFrame(
        {"name": ["x"] * 5, "p": [0.01, 0.04, None, 0.03, 0.005], "verdict": ["higher", "lower", None, "lower", "lower"]}
    )
    corrected = _corrected(table)
    assert corrected["p_corrected"].to_list() == [
        pytest.approx(0.03),
        pytest.approx(0.06),
        None,
        pytest.approx(0.06),
        pytest.approx(0.02),
    ]
    assert corrected["is_sure"].fill_null(False).to_list() == [True, False, False, False, True]


def test_outliers_are_those_of_iglewicz_and_hoaglin() -> None:
    values = {
        # The median is 12, the median absolute deviation 1: 0.6745 * 88.
        ("a",): {"x": [10.0, 11.0, 12.0, 13.0, 100.0], "y": [5.0, 5.0, 5.0, 5.0, 5.0]},
        # No median absolute deviation; the mean one is 0.2, and 1 / (1.253314 * 0.2) is 3.99.
        ("b",): {"x": [7.0, 7.0, 8.0, 7.0, 7.0], "y": [0.0, 1.0, 2.0, 3.0, 4.0]},
        # Too few.
        ("c",): {"x": [1.0, 1.0, 1.0, 50.0], "y": [0.1 + 0.2, 0.3, 0.3, 0.3]},
    }
    table = compared(values, ["p"], {"x": _DELAY, "y": _DELAY}).outliers
    assert table.select("run", "name", "value", "median", "score").rows() == [
        ("('a',)-4", "x", 100.0, 12.0, pytest.approx(0.6745 * 88)),
        ("('b',)-2", "x", 8.0, 7.0, pytest.approx(1 / (1.253314 * 0.2))),
    ]


def test_nothing_at_all_is_no_error() -> None:
    table = compare(
        pl.DataFrame(schema={"run": pl.String, "seed": pl.Int64}),
        pl.DataFrame(schema={"run": pl.String, "name": pl.String, "value": pl.Float64}),
        [],
        {},
    )
    assert table.estimates.is_empty() and table.differences.is_empty() and table.outliers.is_empty()
