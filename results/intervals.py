# SPDX-License-Identifier: GPL-2.0-or-later
"""Confidence intervals of what repeated runs measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from results.statistics import Values

#: Of every interval that is told.
CONFIDENCE: Final = 0.95
#: With fewer values the bootstrap knows too little of their distribution: its intervals hold the mean of 5 values of a normal
#: distribution in 85 % of all cases and of 10 in 90 %, Student's in 95 %; from here on it is 92 % and more.
FEWEST_RESAMPLED: Final = 20
#: Efron and Tibshirani (1993), section 19.3, ask for 1000 at least; one less than a round number makes its quantiles whole.
_RESAMPLES: Final = 1999
#: Values in memory at the same time.
_MOST_AT_ONCE: Final = 20_000_000


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
    half_width = student_half_widths(np.array([array.size]), np.array([array.std(ddof=1)]))
    return Interval(int(array.size), float(array.mean()), float(half_width[0]))


def student_half_widths(counts: Values, deviations: Values) -> Values:
    """Of the intervals of means of so many values with these standard deviations; infinite of fewer than two values."""
    return scaled_quantiles(counts - 1, deviations / np.sqrt(np.maximum(counts, 1)))


def scaled_quantiles(freedom: Values, errors: Values) -> Values:
    """Half-widths by Student's distribution with these degrees of freedom, of standard errors; infinite without a degree."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # here: 0.1 s that only campaigns take

    with np.errstate(invalid="ignore"):
        widths = stdtrit(np.maximum(freedom, 1e-9), (1 + CONFIDENCE) / 2) * errors
    return np.where(freedom > 0, widths, np.inf)


def student_p(differences: Values, errors: Values, freedom: Values) -> Values:
    """How likely differences as large as these are where there is none, by Student's distribution, two-sided."""
    from scipy.special import stdtr

    with np.errstate(invalid="ignore", divide="ignore"):
        p: Values = 2 * stdtr(freedom, -np.abs(differences) / errors)
    return np.where(errors == 0.0, np.where(differences == 0.0, 1.0, 0.0), p)


def bootstrap_bounds(values: Values) -> tuple[Values, Values]:
    """Of each row, independent values from whatever distribution, the ends of the interval of their mean.

    By resampling, bias-corrected and accelerated (Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 14.3). The
    same values have the same interval.
    """
    from scipy.stats import bootstrap  # type: ignore[import-untyped]  # here: half a second that only reports take

    low, high = values.mean(axis=1), values.mean(axis=1)
    # Of equal values there is nothing to resample.
    different = np.flatnonzero(np.ptp(values, axis=1) > 0)
    for some in np.array_split(different, 1 + different.size * values.shape[1] * _RESAMPLES // _MOST_AT_ONCE):
        if some.size:
            generator = np.random.default_rng(0)
            found = bootstrap(
                (values[some],),
                np.mean,
                axis=-1,
                n_resamples=_RESAMPLES,
                confidence_level=CONFIDENCE,
                method="BCa",
                rng=generator,
            ).confidence_interval
            low[some], high[some] = found.low, found.high
    return low, high
