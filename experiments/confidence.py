# SPDX-License-Identifier: GPL-2.0-or-later
"""What pairs of runs, one in real and one in virtual time, show of the difference of a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from contracts.errors import NetBoxITError
from results.intervals import Interval, mean_interval

Finding = Literal["agrees", "too far", "not shown"]


class NoPairs(NetBoxITError):
    """There is nothing to compare."""


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
        difference = _interval([here - there for there, here in zip(self.real, self.virtual, strict=True)])
        return Interval(1, difference.mean, 0.0) if self.exact and difference.count == 1 else difference

    @property
    def finding(self) -> Finding:
        """Whether the means agree, as far as chance lets one tell.

        Nothing is shown where the interval reaches further than the tolerance to each side, unless all of it is beyond.
        """
        distance, half = abs(self.apart.mean), self.apart.half_width
        if half > self.tolerance >= distance - half:
            return "not shown"
        return "agrees" if distance <= self.tolerance else "too far"

    def columns(self, digits: int) -> tuple[str, str, str]:
        """Both means; the difference in shares of the real one, and what it shows."""
        mean = _interval(self.real)
        apart = Interval(self.apart.count, 100 * self.apart.mean / mean.mean, 100 * self.apart.half_width / mean.mean)
        return _words(mean, digits), _words(_interval(self.virtual), digits), f"{_words(apart, 0, '+')} %, {self.finding}"


def _interval(values: Sequence[float]) -> Interval:
    if (interval := mean_interval(values)) is None:
        raise NoPairs("there are no runs to compare; make some of both kinds first")
    return interval


def _words(interval: Interval, digits: int, sign: str = "") -> str:
    half = f" ± {interval.half_width:.{digits}f}" if 0.0 < interval.half_width < math.inf else ""
    return f"{interval.mean:{sign}.{digits}f}{half}"
