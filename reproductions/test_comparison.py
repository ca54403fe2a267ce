# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import math

import pytest

from reproductions.comparison import PERCENT, Unit, Within, between, falls, near
from results.intervals import Interval

MS = Unit(" ms", digits=1)


def of(mean: float) -> Interval:
    return Interval(5, mean, 0.5)


@pytest.mark.parametrize(
    ("within", "inside", "outside"),
    [
        (Within(factor=2.0), (5.0, 20.0), (4.9, 20.1)),
        (Within(share=0.1), (9.0, 11.0), (8.9, 11.1)),
        (Within(by=3.0), (7.0, 13.0), (6.9, 13.1)),
    ],
)
def test_a_figure_is_reproduced_within_its_tolerance(
    within: Within, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    assert {near("delay", 10.0, of(mean), within).verdict for mean in inside} == {"reproduced"}
    assert {near("delay", 10.0, of(mean), within).verdict for mean in outside} == {"not reproduced"}


def test_a_negative_figure_has_its_tolerance_on_both_sides() -> None:
    assert near("change", -0.91, of(-0.95), Within(share=0.05), PERCENT).verdict == "reproduced"
    assert near("change", -0.91, of(-0.99), Within(share=0.05), PERCENT).verdict == "not reproduced"


def test_what_is_not_a_number_is_not_reproduced() -> None:
    assert near("delay", 10.0, Interval(1, math.nan, math.inf), Within(factor=2.0)).verdict == "not reproduced"


def test_an_ordering_is_by_all_of_its_neighbours() -> None:
    first, second, third = (("a", of(3.0)), ("b", of(2.0)), ("c", of(1.0)))
    assert falls("drops", "fewer", [first, second, third]).verdict == "ordering reproduced"
    assert falls("drops", "fewer", [first, third, second]).verdict == "not reproduced"
    assert falls("drops", "fewer", [first, first]).verdict == "not reproduced", "equal is no order"


def test_a_known_difference_is_a_surprise_when_it_is_gone() -> None:
    known = between("delay", "short", of(30.0), (0.0, 16.6), MS, "the source counts otherwise")
    assert known.is_as_known
    assert not between("delay", "short", of(3.0), (0.0, 16.6), MS, "the source counts otherwise").is_as_known
    assert not between("delay", "short", of(30.0), (0.0, 16.6), MS).is_as_known


@pytest.mark.parametrize(
    ("bounds", "words"),
    [((0.0, 16.6), "0.0 ms to 16.6 ms"), ((500.0, math.inf), "at least 500.0 ms"), ((-math.inf, 5.0), "at most 5.0 ms")],
)
def test_bounds_are_told(bounds: tuple[float, float], words: str) -> None:
    assert between("delay", "short", of(8.0), bounds, MS).tolerance == words


def test_ours_has_half_of_its_interval_unless_there_is_one_value() -> None:
    assert near("delay", 8.0, of(8.0), Within(factor=2.0), MS).ours == "8.0 ms ± 0.5"
    assert near("delay", 8.0, Interval(1, 8.0, math.inf), Within(factor=2.0), MS).ours == "8.0 ms"
