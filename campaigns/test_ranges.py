# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import math

import pytest

from campaigns.ranges import BadEnd, Range, Scalar, Scale


@pytest.mark.parametrize(
    ("low", "high", "scale", "values"),
    [
        ("1 Mbit/s", "16 Mbit/s", "log", ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s", "8 Mbit/s", "16 Mbit/s"]),
        ("0 m", "1 km", "linear", ["0 m", "250 m", "500 m", "750 m", "1000 m"]),
        ("10 dBm", "30 dBm", "linear", ["10 dBm", "15 dBm", "20 dBm", "25 dBm", "30 dBm"]),
        (1, 9, "linear", [1, 3, 5, 7, 9]),
        (0.0, 1, "linear", [0.0, 0.25, 0.5, 0.75, 1.0]),
        (1e-6, 1e-2, "log", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
        (-2, 2, "linear", [-2, -1, 0, 1, 2]),
    ],
)
def test_steps_have_the_unit_of_the_lower_end(low: Scalar, high: Scalar, scale: Scale, values: list[Scalar]) -> None:
    steps = Range.between(low, high, scale).steps(5)
    assert steps == values
    assert list(map(type, steps)) == list(map(type, values))


def test_a_quantile_of_whole_numbers_gives_each_the_same_share() -> None:
    numbers = Range.between(1, 4, "linear")
    assert [numbers.quantile(share / 8) for share in range(8)] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_half_of_a_logarithmic_range_is_below_its_geometric_mean() -> None:
    assert Range.between("1 km", "4 km", "log").quantile(0.5) == "2 km"


@pytest.mark.parametrize(
    ("low", "high", "scale", "key", "words"),
    [
        ("2 km", "1 km", "linear", "from", "not less"),
        ("1 km", "1000 m", "linear", "from", "not less"),
        ("1 km", "2 s", "linear", "to", "is a time"),
        ("1 km", 2, "linear", "to", "has no unit"),
        (1, "2 km", "linear", "to", "is a length"),
        ("1 mile", "2 km", "linear", "from", "is not a unit"),
        ("NaN", 2, "linear", "from", "leave the quotes out"),
        ("nan m", "2 m", "linear", "from", "not finite"),
        (1, math.inf, "linear", "to", "not finite"),
        (True, 2, "linear", "from", "neither a number"),
        ([1], 2, "linear", "from", "neither a number"),
        ("", 2, "linear", "from", "neither a number"),
        ("0 m", "1 m", "log", "from", "no logarithm"),
        (-1, 1, "log", "from", "no logarithm"),
        ("1 dBm", "9 dBm", "log", "scale", "logarithmic itself"),
    ],
)
def test_a_wrong_end_is_named(low: Scalar, high: Scalar, scale: Scale, key: str, words: str) -> None:
    with pytest.raises(BadEnd, match=words) as error:
        Range.between(low, high, scale)
    assert error.value.key == key
