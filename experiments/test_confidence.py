# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import pytest

from experiments.confidence import Compared, NoPairs
from results.intervals import mean_interval


def test_the_interval_of_a_mean_is_that_of_the_textbook() -> None:
    """Student's own data: hours of sleep gained by the second drug (Biometrika 6, 1908), as R's t.test has its interval."""
    interval = mean_interval([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.8976775, 3.7623225), abs=1e-5)


def test_a_difference_is_that_of_pairs() -> None:
    """The same persons with both drugs: t.test(second, first, paired = TRUE) of R on its data set `sleep`."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    apart = Compared(first, second, tolerance=1.0).apart
    assert (apart.low, apart.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-5)


def test_without_runs_there_is_nothing_to_compare() -> None:
    with pytest.raises(NoPairs, match="make some of both kinds"):
        _ = Compared([], [], tolerance=1.0).finding


@pytest.mark.parametrize(
    ("virtual", "expected"),
    [
        ((10.4, 10.5, 10.6), "agrees"),
        ((11.4, 11.5, 11.6), "too far"),
        ((8.4, 8.5, 8.6), "too far"),
        # The interval is wider than what is tolerated, whatever the mean is.
        ((8.5, 10.0, 11.5), "not shown"),
        ((10.5, 12.0, 13.5), "not shown"),
        # As wide, and all of it beyond.
        ((18.5, 20.0, 21.5), "too far"),
    ],
)
def test_means_agree_as_far_as_chance_lets_one_tell(virtual: tuple[float, ...], expected: str) -> None:
    assert Compared((9.9, 10.0, 10.1), virtual, tolerance=1.0).finding == expected


@pytest.mark.parametrize(("virtual", "expected"), [(10.9, "agrees"), (11.1, "too far")])
def test_single_values_are_compared_where_chance_decides_nothing(virtual: float, expected: str) -> None:
    compared = Compared([10.0], [virtual], tolerance=1.0, exact=True)
    assert compared.finding == expected
    assert compared.columns(1) == ("10.0", f"{virtual}", f"+{10 * (virtual - 10.0):.0f} %, {expected}")


def test_chance_that_both_runs_of_a_pair_have_in_common_hides_nothing() -> None:
    assert Compared((5.0, 10.0, 15.0), (5.4, 10.5, 15.6), tolerance=1.0).finding == "agrees"
    assert Compared((5.0, 10.0, 15.0), (15.6, 5.4, 10.5), tolerance=1.0).finding == "not shown"
