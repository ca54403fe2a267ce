# SPDX-License-Identifier: GPL-2.0-or-later
"""Confidence intervals of what repeated runs measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

#: Of every interval that is told.
CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean of `count` values, and half of the width of its 95 % confidence interval: infinite of a single value."""

    count: int
    mean: float
    half_width: float

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Student's interval of the mean of independent values (Student, Biometrika 6, 1908); None where there is no value.

    It holds for values of a normal distribution, and for means of many others.
    """
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        return None
    if array.size == 1:
        return Interval(1, float(array[0]), math.inf)
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # here: 0.1 s that only campaigns take

    error = float(array.std(ddof=1)) / math.sqrt(array.size)
    quantile = float(stdtrit(array.size - 1, (1 + CONFIDENCE) / 2))
    return Interval(int(array.size), float(array.mean()), quantile * error)
