# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of adaptation, by tables worked out by hand from their papers."""

from __future__ import annotations

import pytest

from applications.dash.adaptation import RateAdaptation

#: Of the paper's buffer of 240 s: f(B) = 1 Mbit/s + 4 Mbit/s · (B - 90 s) / 126 s.
RATES = (1e6, 2e6, 3e6, 4e6, 5e6)
LONGEST_S = 240.0


@pytest.mark.parametrize(
    "levels_and_choices",
    [
        # The reservoir; then up only when f(B) reaches the next rate: 2 Mbit/s at 121.5 s, 4 Mbit/s at 184.5 s.
        [(0, 0), (90, 0), (91, 0), (121, 0), (122, 1), (152, 1), (185, 3), (215, 3), (216, 4), (240, 4)],
        # Down only when f(B) falls to the next lower rate: 4 Mbit/s at 184.5 s, 3 Mbit/s at 153 s.
        [(240, 4), (215, 4), (185, 4), (184, 3), (154, 3), (150, 2), (122, 2), (121, 1), (90, 0)],
        # Far falls and rises are one step.
        [(216, 4), (100, 1), (200, 3), (10, 0)],
    ],
)
def test_the_rate_follows_the_buffer_as_in_bba_0(levels_and_choices: list[tuple[float, int]]) -> None:
    adaptation = RateAdaptation("buffer", RATES, 1.0, LONGEST_S)
    assert [adaptation.choose(level) for level, _ in levels_and_choices] == [choice for _, choice in levels_and_choices]


def test_the_estimate_is_the_harmonic_mean_of_the_latest_five() -> None:
    adaptation = RateAdaptation("throughput", RATES, 0.9, 30.0)
    assert adaptation.estimate() is None
    for throughput in (1e6, 2e6, 4e6):
        adaptation.add(throughput)
    assert adaptation.estimate() == pytest.approx(3e6 / 1.75)
    for _ in range(5):
        adaptation.add(8e6)
    assert adaptation.estimate() == pytest.approx(8e6)


@pytest.mark.parametrize(
    ("throughput", "safety", "choice"),
    [(0.5e6, 1.0, 0), (2e6, 1.0, 1), (2e6, 0.9, 0), (2.3e6, 0.9, 1), (100e6, 0.9, 4), (4.4e6, 0.9, 2)],
)
def test_the_highest_rate_is_taken_that_the_trusted_part_carries(throughput: float, safety: float, choice: int) -> None:
    adaptation = RateAdaptation("throughput", RATES, safety, 30.0)
    assert adaptation.choose(30.0) == 0, "nothing is known before the first segment"
    adaptation.add(throughput)
    assert adaptation.choose(0.0) == choice
