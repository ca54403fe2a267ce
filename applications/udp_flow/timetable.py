# SPDX-License-Identifier: GPL-2.0-or-later
"""When a synthetic flow sends: its periods, and where no program draws them itself, each datagram."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Pattern = Literal["constant", "poisson", "on-off"]


@dataclass(frozen=True)
class Timetable:
    """One flow's. Times are in seconds since its application started.

    constant: a datagram each 1 / `per_s`, the first at `start_s`; poisson: independent exponential gaps of that mean; on-off: as
    constant while it sends, in periods of exponential length with exponential silences between them. Nothing leaves from
    `end_s` on.
    """

    pattern: Pattern
    per_s: float
    start_s: float
    end_s: float
    on_s: float = 1.0
    off_s: float = 1.0
    #: Of all random numbers.
    seed: str = ""

    def periods(self) -> list[tuple[float, float]]:
        """When it sends: one period, or those of on-off, which begins with one of sending."""
        if self.pattern != "on-off":
            return [(self.start_s, self.end_s)]
        chance = random.Random(f"{self.seed} on-off")
        periods, at = [], self.start_s
        while at < self.end_s:
            until = min(at + chance.expovariate(1.0 / self.on_s), self.end_s)
            periods.append((at, until))
            at = until + chance.expovariate(1.0 / self.off_s)
        return periods

    def departures(self) -> NDArray[np.float64]:
        """When each datagram leaves."""
        if self.pattern == "poisson":
            return self._poisson()
        return np.concatenate([np.zeros(0), *(np.arange(at, until, 1.0 / self.per_s) for at, until in self.periods())])

    def _poisson(self) -> NDArray[np.float64]:
        chance = random.Random(f"{self.seed} poisson")
        times, at = [], self.start_s
        while (at := at + chance.expovariate(self.per_s)) < self.end_s:
            times.append(at)
        return np.asarray(times)
