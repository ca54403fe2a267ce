# SPDX-License-Identifier: GPL-2.0-or-later
"""When a point of a campaign has enough repetitions, and what they say so far of what the campaign asks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from campaigns.description import CampaignFile
from campaigns.design import Point
from campaigns.measured import Asked
from results.intervals import CONFIDENCE, Interval, mean_interval


class StoppingRule:
    """Intervals of the means of the measures that a campaign names, by point.

    Whether repetition n is needed follows from the repetitions before it alone: not from how fast which run is.
    """

    def __init__(self, file: CampaignFile, points: Mapping[int, Point]) -> None:
        self._repetitions = file.repetitions
        named = dict.fromkeys((*file.measures, *([file.repetitions.until.measure] if file.repetitions.until else [])))
        self._asked = [Asked.parse(name) for name in named]
        self._points = points
        self._count: dict[int, int] = defaultdict(int)
        self._values: dict[tuple[int, str], list[float | None]] = defaultdict(list)

    def add(self, point: Point, run: Path) -> None:
        """Takes what the folder of the point's next repetition measured. Raises DamagedRun."""
        self._count[point.number] += 1
        if self._asked:
            for asked, value in zip(self._asked, Asked.values(self._asked, run), strict=True):
                self._values[point.number, asked.name].append(value)

    def needs(self, point: int, repetition: int) -> bool:
        """Whether the point is to have this repetition, once it has all before."""
        if repetition < self._repetitions.at_least:
            return True
        return repetition < self._repetitions.at_most and not self._is_narrow(point)

    def interval(self, point: int, measure: str) -> Interval | None:
        """None where no run says anything."""
        return mean_interval([value for value in self._values[point, measure] if value is not None])

    def runs(self) -> tuple[int, int]:
        """How many runs there will be, at least and at most."""
        return sum(map(self._least, self._points)), sum(map(self._most, self._points))

    def words(self) -> str:
        """The estimate that is relatively widest, of the points that have several runs; "" when there is none."""
        widest, told = 0.0, ""
        for point, asked, interval in self._intervals():
            width = interval.half_width / abs(interval.mean) if interval.mean else interval.half_width
            if math.isfinite(width) and width >= widest:
                what = " ".join(word for word in (asked.name, f"at {point.words}" if point.words else "") if word)
                widest, told = width, f"{what}: {interval.mean:.4g} ± {interval.half_width:.2g} ({CONFIDENCE:.0%})"
        return told

    def _intervals(self) -> Iterable[tuple[Point, Asked, Interval]]:
        for number, point in self._points.items():
            for asked in self._asked:
                if self._count[number] > 1 and (interval := self.interval(number, asked.name)) is not None:
                    yield point, asked, interval

    def _is_narrow(self, point: int) -> bool:
        until = self._repetitions.until
        if until is None:
            return True
        interval = self.interval(point, until.measure)
        if interval is None or interval.count < self._repetitions.at_least:
            return False
        most = until.half_width.value * (abs(interval.mean) if until.half_width.relative else 1.0)
        return interval.half_width <= most

    def _least(self, point: int) -> int:
        return max(self._count[point] + self.needs(point, self._count[point]), self._repetitions.at_least)

    def _most(self, point: int) -> int:
        over = self._count[point] >= self._repetitions.at_least and not self.needs(point, self._count[point])
        return self._count[point] if over else self._repetitions.at_most
