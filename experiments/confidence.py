# SPDX-License-Identifier: GPL-2.0-or-later
"""Means with their 95 % confidence intervals by Student, and what differences of pairs show."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

_CONFIDENCE: Final = 0.95
#: Of the integral, whose error is of the order of the step squared.
_STEPS: Final = 100_001

Finding = Literal["agrees", "too far", "not shown"]


@dataclass(frozen=True)
class Interval:
    """From `middle - half` to `middle + half`. Of a single value nothing is known: `half` is infinite."""

    middle: float
    half: float

    @classmethod
    def of_mean(cls, values: Sequence[float]) -> Interval:
        mean = statistics.mean(values)
        if len(values) < 2:
            return cls(mean, math.inf)
        return cls(mean, quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values)))

    def over(self, scale: float) -> Interval:
        return Interval(self.middle / scale, self.half / scale)


def quantile(degrees: float) -> float:
    """What the magnitude of Student's t with so many degrees of freedom stays below with 95 % probability.

    With t = sqrt(degrees) tan(angle) the probability is the integral of cos(angle)^(degrees - 1), over that up to a right
    angle (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    angles = np.linspace(0.0, math.pi / 2, _STEPS)
    density = np.cos(angles) ** (degrees - 1)
    probability = np.concatenate(([0.0], np.cumsum(density[1:] + density[:-1])))
    return math.sqrt(degrees) * math.tan(float(np.interp(_CONFIDENCE, probability / probability[-1], angles)))


@dataclass(frozen=True)
class Compared:
    """One figure of pairs of runs, of which one is in real and one in virtual time.

    Both runs of a pair have the same seed, so that netboxes draw the same numbers: much of what chance does is in both.
    """

    real: Sequence[float]
    virtual: Sequence[float]
    #: What the means may differ by.
    tolerance: float
    #: Chance decides nothing in these runs, so that a single value is the mean.
    exact: bool = False

    @property
    def apart(self) -> Interval:
        difference = Interval.of_mean([here - there for there, here in zip(self.real, self.virtual, strict=True)])
        return Interval(difference.middle, 0.0) if self.exact and math.isinf(difference.half) else difference

    @property
    def finding(self) -> Finding:
        """Whether the means agree, as far as chance lets one tell.

        Nothing is shown where the interval reaches further than the tolerance to each side, unless all of it is beyond.
        """
        distance, half = abs(self.apart.middle), self.apart.half
        if half > self.tolerance >= distance - half:
            return "not shown"
        return "agrees" if distance <= self.tolerance else "too far"

    def columns(self, digits: int) -> tuple[str, str, str]:
        """Both means; the difference in shares of the real one, and what it shows."""
        mean = Interval.of_mean(self.real)
        apart = f"{_words(self.apart.over(mean.middle / 100), 0, '+')} %, {self.finding}"
        return _words(mean, digits), _words(Interval.of_mean(self.virtual), digits), apart


def _words(interval: Interval, digits: int, sign: str = "") -> str:
    half = f" ± {interval.half:.{digits}f}" if 0.0 < interval.half < math.inf else ""
    return f"{interval.middle:{sign}.{digits}f}{half}"
