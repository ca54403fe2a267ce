# SPDX-License-Identifier: GPL-2.0-or-later
"""What the runs of a campaign measured, by the values of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from campaigns.measures import Wanted
from contracts.errors import NetBoxITError
from results.intervals import Interval, mean_interval
from results.runs import Runs


class NotMeasured(NetBoxITError):
    """The runs have no such figure."""


class Cells:
    """A cell of the campaign is what its parameters say: `at`, a value by the name of each that matters."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._values: dict[str, pl.DataFrame] = {}

    def mean(self, measure: str, **at: Any) -> Interval:
        """Of a measure, as a campaign names it, over the repetitions. Raises NotMeasured."""
        return _interval(self._by_repetition(measure, at), measure, at)

    def total(self, measures: Sequence[str], **at: Any) -> Interval:
        """Of the sum of several."""
        return self.derived(measures, lambda *values: sum(values), **at)

    def derived(self, measures: Sequence[str], of: Callable[..., float], **at: Any) -> Interval:
        """Of what follows from several measures of a run."""
        return _interval(self._derived(measures, of, at), ", ".join(measures), at)

    def change(self, measure: str, at: Mapping[str, Any], against: Mapping[str, Any]) -> Interval:
        """Of the relative difference of two cells, by the pairs of runs that have the same seed."""
        return self.derived_change([measure], lambda value: value, at, against)

    def derived_change(
        self, measures: Sequence[str], of: Callable[..., float], at: Mapping[str, Any], against: Mapping[str, Any]
    ) -> Interval:
        """The same of what follows from several measures of a run."""
        ours, theirs = self._derived(measures, of, at), self._derived(measures, of, against)
        pairs = {repetition: ours[repetition] / theirs[repetition] - 1 for repetition in ours if theirs.get(repetition)}
        return _interval(pairs, ", ".join(measures), {**at, "against": dict(against)})

    def change_of_means(self, measure: str, at: Mapping[str, Any], against: Mapping[str, Any]) -> Interval:
        """Of the relative difference of two cells' means: a run that has next to nothing does not outweigh the others.

        Its interval is that of a ratio estimator, by the pairs of runs that have the same seed (Cochran 1977, *Sampling
        Techniques*, 6.4).
        """
        ours, theirs = self._by_repetition(measure, at), self._by_repetition(measure, against)
        shared = [repetition for repetition in ours if repetition in theirs]
        words = {**at, "against": dict(against)}
        mean = _interval({one: theirs[one] for one in shared}, measure, words).mean
        ratio = _interval({one: ours[one] for one in shared}, measure, words).mean / mean
        return _interval({one: ratio - 1 + (ours[one] - ratio * theirs[one]) / mean for one in shared}, measure, words)

    def record(self) -> dict[str, list[dict[str, Any]]]:
        """All that was asked for, run by run: the raw record of the figures."""
        return {measure: table.to_dicts() for measure, table in self._values.items()}

    def _derived(self, measures: Sequence[str], of: Callable[..., float], at: Mapping[str, Any]) -> dict[int, float]:
        tables = [self._by_repetition(measure, at) for measure in measures]
        shared = [repetition for repetition in tables[0] if all(repetition in table for table in tables)]
        return {repetition: of(*(table[repetition] for table in tables)) for repetition in shared}

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        if measure not in self._values:
            found = Wanted.parse(measure).rows(self._runs.flows, self._runs.measures).collect()
            index = self._runs.runs.select("run", *self._runs.parameters, "repetition", "status")
            self._values[measure] = found.join(index, on="run").drop("run").sort(pl.all())
        table = self._values[measure].filter(pl.col("status") != "invalid")
        rows = table.filter(*(pl.col(name) == value for name, value in at.items()))
        if rows["name"].n_unique() > 1:
            raise NotMeasured(f"{measure} is of several: {', '.join(rows['name'].unique(maintain_order=True))}")
        return dict(rows.select("repetition", "value").iter_rows())


def _interval(values: Mapping[int, float], measure: str, at: Mapping[str, Any]) -> Interval:
    if (interval := mean_interval(list(values.values()))) is None:
        raise NotMeasured(f"no run measured {measure} at {dict(at)}")
    return interval
