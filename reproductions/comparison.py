# SPDX-License-Identifier: GPL-2.0-or-later
"""A published figure beside ours: whether it was reproduced, by a tolerance that was said before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from results.intervals import Interval

Verdict = Literal["reproduced", "ordering reproduced", "not reproduced"]
_UNKNOWN: Final = "–"


@dataclass(frozen=True)
class Comparison:
    """One figure of a source."""

    what: str
    #: As the source has it.
    published: str
    #: With its 95 % interval.
    ours: str
    tolerance: str
    verdict: Verdict
    #: Why it is known not to be reproduced; empty: it is to be.
    reason: str = ""

    @property
    def is_as_known(self) -> bool:
        """It is reproduced, or is known not to be and is not."""
        return (self.verdict != "not reproduced") != bool(self.reason)


@dataclass(frozen=True)
class Unit:
    """How a figure is written: its factor from what was measured, digits behind the point, and what follows."""

    word: str = ""
    factor: float = 1.0
    digits: int = 2

    def write(self, value: float) -> str:
        return _UNKNOWN if math.isnan(value) else f"{value * self.factor:.{self.digits}f}{self.word}"

    def interval(self, interval: Interval) -> str:
        """Its mean with half of the width."""
        half = interval.half_width
        return self.write(interval.mean) + (f" ± {half * self.factor:.{self.digits}f}" if math.isfinite(half) else "")


PERCENT = Unit(" %", 100.0, 2)


@dataclass(frozen=True)
class Within:
    """How far ours may be from what was published: by a factor, by a share, or by so much."""

    factor: float | None = None
    share: float | None = None
    by: float | None = None

    def bounds(self, published: float) -> tuple[float, float]:
        if self.factor is not None:
            return published / self.factor, published * self.factor
        most = self.by if self.by is not None else abs(published) * (self.share or 0.0)
        return published - most, published + most

    def words(self, unit: Unit) -> str:
        if self.factor is not None:
            return f"factor {self.factor:g}"
        return f"±{unit.write(self.by)}" if self.by is not None else f"±{100 * (self.share or 0.0):g} %"


def near(what: str, published: float, ours: Interval, within: Within, unit: Unit = Unit(), reason: str = "") -> Comparison:
    """Ours is near what was published."""
    low, high = within.bounds(published)
    return _judged(what, unit.write(published), ours, (low, high), within.words(unit), unit, reason)


def between(
    what: str, published: str, ours: Interval, bounds: tuple[float, float], unit: Unit = Unit(), reason: str = ""
) -> Comparison:
    """Ours is between these bounds, by which a published sentence is judged."""
    low, high = bounds
    words = f"{unit.write(low)} to {unit.write(high)}"
    if not math.isfinite(high):
        words = f"at least {unit.write(low)}"
    elif not math.isfinite(low):
        words = f"at most {unit.write(high)}"
    return _judged(what, published, ours, bounds, words, unit, reason)


def falls(what: str, published: str, ours: Sequence[tuple[str, Interval]], unit: Unit = Unit(), reason: str = "") -> Comparison:
    """Ours falls from the first to the last, each time by more than nothing, by the means."""
    falling = all(first.mean > second.mean for (_, first), (_, second) in pairwise(ours))
    told = ", ".join(f"{name}: {unit.interval(interval)}" for name, interval in ours)
    return Comparison(what, published, told, "in this order", "ordering reproduced" if falling else "not reproduced", reason)


def _judged(
    what: str, published: str, ours: Interval, bounds: tuple[float, float], tolerance: str, unit: Unit, reason: str
) -> Comparison:
    low, high = bounds
    verdict: Verdict = "reproduced" if low <= ours.mean <= high else "not reproduced"
    return Comparison(what, published, unit.interval(ours), tolerance, verdict, reason)
