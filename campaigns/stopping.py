# SPDX-License-Identifier: GPL-2.0-or-later
"""When a point of a campaign has enough repetitions, and what they say so far of what the campaign asks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from campaigns.description import CampaignFile
from campaigns.design import Point
from campaigns.measures import Wanted
from results.intervals import CONFIDENCE, Interval, mean_interval


class StoppingRule:
    """Intervals of the means of the measures that a campaign names, by point.

    Whether repetition n is needed follows from the repetitions before it alone: not from how fast which run is.
    """

    def __init__(self, file: CampaignFile, points: Mapping[int, Point]) -> None:
        """Raises NoMeasure."""
        self._repetitions, self._points = file.repetitions, points
        until = [file.repetitions.until.measure] if file.repetitions.until else []
        self._wanted = {name: Wanted.parse(name) for name in (*until, *file.measures)}
        self._count: dict[int, int] = defaultdict(int)
        #: By point and the campaign's name of a measure, the values of each flow, queue, … that it is of.
        self._values: dict[tuple[int, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        #: Those of their means: only those of the point change that a run is added to.
        self._intervals: dict[tuple[int, str], dict[str, Interval]] = defaultdict(dict)

    def add(self, point: Point, run: Path) -> None:
        """Takes what the folder of the point's next repetition measured."""
        self._count[point.number] += 1
        for name, wanted in self._wanted.items():
            for whose, value in wanted.of_run(run).items():
                (values := self._values[point.number, name][whose]).append(value)
                if (interval := mean_interval(values)) is not None:
                    self._intervals[point.number, name][whose] = interval

    def needs(self, point: int, repetition: int) -> bool:
        """Whether the point is to have this repetition, once it has all before."""
        if repetition < self._repetitions.at_least:
            return True
        return repetition < self._repetitions.at_most and not self._is_narrow(point)

    def runs(self) -> tuple[int, int]:
        """How many runs there will be, at least and at most."""
        return sum(map(self._least, self._points)), sum(map(self._most, self._points))

    def words(self) -> str:
        """The estimate that is relatively widest, of the points that have several runs; "" when there is none."""
        widest, told = 0.0, ""
        for point, whose, interval in self._told():
            width = interval.half_width / abs(interval.mean) if interval.mean else interval.half_width
            if math.isfinite(width) and width >= widest:
                what = f"{whose} at {point.words}" if point.words else whose
                widest, told = width, f"{what}: {interval.mean:.4g} ± {interval.half_width:.2g} ({CONFIDENCE:.0%})"
        return told

    def _told(self) -> Iterator[tuple[Point, str, Interval]]:
        for (number, _), intervals in self._intervals.items():
            for whose, interval in intervals.items():
                yield self._points[number], whose, interval

    def _is_narrow(self, point: int) -> bool:
        """Of each flow, queue, … that the measure is of: with a value of every repetition that would do at least."""
        if (until := self._repetitions.until) is None:
            return True
        intervals = self._intervals[point, until.measure].values()
        return bool(intervals) and all(
            interval.count >= self._repetitions.at_least
            and interval.half_width <= until.half_width.value * (abs(interval.mean) if until.half_width.relative else 1.0)
            for interval in intervals
        )

    def _least(self, point: int) -> int:
        return max(self._count[point] + self.needs(point, self._count[point]), self._repetitions.at_least)

    def _most(self, point: int) -> int:
        over = self._count[point] >= self._repetitions.at_least and not self.needs(point, self._count[point])
        return self._count[point] if over else self._repetitions.at_most
