# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters on axes: numbers by their size and in one unit, all else as names."""

from __future__ import annotations

from typing import Any

import pytest

from results.parameter_axis import Axis, words


@pytest.mark.parametrize(
    ("values", "numbers", "unit"),
    [
        (["10 km", "500 m", "2 km"], (0.5, 2.0, 10.0), "km"),
        (["1 Mbit/s", "500 kbit/s", "8 Mbit/s"], (0.5, 1.0, 8.0), "Mbit/s"),
        (["20 dBm", "-3 dBm"], (-3.0, 20.0), "dBm"),
        ([4, 0.5, 2], (0.5, 2.0, 4.0), ""),
        (["0", "5 ms"], (0.0, 5.0), "ms"),
        (["opus", "g711"], (), ""),
        # 1 and 1.0 are one value, true is none, and what is no quantity of one kind is a name.
        ([True, False], (), ""),
        (["5 km", "5 ms"], (), ""),
        (["5 km", None], (), ""),
        (["10", "2"], (), ""),
        (["1e999 km", "1 km"], (), ""),
        ([float("nan"), 1.0], (), ""),
    ],
)
def test_values_that_are_numbers_are_drawn_as_such(values: list[Any], numbers: tuple[float, ...], unit: str) -> None:
    axis = Axis.of("p", "p", values)
    assert (axis.numbers, axis.unit) == (numbers, unit)


def test_numbers_are_in_the_order_of_their_size_and_names_in_that_of_the_file() -> None:
    assert Axis.of("p", "p", ["10 km", "2 km", "10 km"]).values == ("2 km", "10 km")
    assert Axis.of("p", "p", ["wifi", "lte", "wifi"]).values == ("wifi", "lte")


@pytest.mark.parametrize(
    ("values", "by_file", "log"),
    [
        ([1, 10, 100, 1000], False, True),
        ([5, 50, 100, 200], False, True),
        ([5, 20, 40, 60, 80, 100, 125, 150, 175, 200], False, False),
        ([1, 2, 4], False, False),
        ([1, 2, 4], True, True),
        ([0, 2, 4], True, False),
        (["1 dBm", "100 dBm", "40 dBm"], True, False),
    ],
)
def test_an_axis_is_logarithmic_where_the_file_says_so_or_values_are_wide_apart(
    values: list[Any], by_file: bool, log: bool
) -> None:
    assert Axis.of("p", "p", values, log=by_file).log is log


def test_of_many_values_some_are_shown_with_both_ends() -> None:
    axis = Axis.of("p", "p", range(100))
    assert axis.some(5) == [0, 25, 50, 74, 99]
    assert axis.some(1) == [0] and list(axis.some(100)) == [*range(100)]


def test_words_of_values_move_no_cursor() -> None:
    assert [words(value) for value in (None, True, 5, "\x1b[31mred")] == ["–", "true", "5", "\\x1b[31mred"]
