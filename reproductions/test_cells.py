# SPDX-License-Identifier: GPL-2.0-or-later
"""What follows from the runs of two cells, against values by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reproductions.cells import Cells
from reproductions.test_judging import Told

BEFORE = {0: 1.0, 1: 3.0}


class Measured(Told):
    """Of two runs each."""

    def __init__(self, after: Mapping[int, float]) -> None:
        self._after = after

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        return dict(BEFORE if at["when"] == "before" else self._after)


@pytest.mark.parametrize(("after", "of_means", "of_pairs"), [({0: 2.0, 1: 6.0}, 1.0, 1.0), ({0: 10.0, 1: 2.0}, 2.0, 13 / 3)])
def test_a_change_of_means_is_not_the_mean_of_changes(after: dict[int, float], of_means: float, of_pairs: float) -> None:
    cells: Cells = Measured(after)
    at, against = {"when": "after"}, {"when": "before"}
    assert cells.change_of_means("x.goodput_kbps", at, against).mean == pytest.approx(of_means)
    assert cells.change("x.goodput_kbps", at, against).mean == pytest.approx(of_pairs)


def test_the_interval_of_a_change_of_means_is_that_of_a_ratio_estimator() -> None:
    """Cochran (1977), 6.4: of what is left of each pair, by the mean below; of pairs that are proportional it is 0.

    By hand: the ratio is 3, what is left is 7 and -7, so that the variance is 98; by the mean of 2 and the root of 2 runs, with
    Student's 12.706, half of the width is 12.706 · 7 / 2.
    """
    at, against = {"when": "after"}, {"when": "before"}
    assert Measured({0: 2.0, 1: 6.0}).change_of_means("x.goodput_kbps", at, against).half_width == pytest.approx(0)
    assert Measured({0: 10.0, 1: 2.0}).change_of_means("x.goodput_kbps", at, against).half_width == pytest.approx(44.47, rel=1e-3)
