# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments with the bench for schedulers that netboxes/queueing/tempest is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.installation import CHECKOUT
from reproductions.comparison import Comparison
from reproductions.experiment import Compared, Experiment
from results.intervals import Interval, mean_interval
from testbed.documents.campaign import CampaignStanding

_TEMPEST: Final = CHECKOUT / "build/bin/tempest"


class Trials:
    """Trials of the bench, each with several seeds."""

    def __init__(self, seeds: int) -> None:
        self._seeds = seeds
        self.record: dict[str, list[dict[str, Any]]] = {}

    def worst(self, measure: str, weight: int, *arguments: str) -> Interval:
        """Of the flows of a weight, over the seeds."""
        return self.of(lambda trial: next(one[measure] for one in trial["weights"] if one["weight"] == weight), *arguments)

    def of(self, value: Callable[[dict[str, Any]], float], *arguments: str) -> Interval:
        """Of a value of each trial, over the seeds."""
        interval = mean_interval([value(trial) for trial in self.trials(*arguments)])
        assert interval is not None, "there is a seed"
        return interval

    def cheapest(self, *arguments: str) -> Interval:
        """What a packet costs in the cheapest trial, ns: other processes of the machine can but add to it."""
        return alone(min(float(trial["ns_per_packet"]) for trial in self.trials(*arguments)))

    def trials(self, *arguments: str) -> list[dict[str, Any]]:
        """What the bench told, by seed."""
        command = " ".join(arguments)
        if command not in self.record:
            self.record[command] = [self._trial(seed, arguments) for seed in range(1, self._seeds + 1)]
        return self.record[command]

    def _trial(self, seed: int, arguments: Sequence[str]) -> dict[str, Any]:
        done = subprocess.run([_TEMPEST, *arguments, "-seed", str(seed)], capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def alone(value: float) -> Interval:
    """One value, whose width is not known."""
    interval = mean_interval([value])
    assert interval is not None, "there is a value"
    return interval


@dataclass(frozen=True)
class BenchExperiment(Experiment):
    """Trials of the bench: minutes, so that they are made anew each time."""

    compare: Callable[[Trials], Iterator[Comparison]]
    seeds: int = 5
    full_seeds: int = 20

    def carry(
        self, results: Path, tell: Callable[[CampaignStanding], None], *, full: bool = False, few: int | None = None
    ) -> Compared:
        seeds = few or (self.full_seeds if full else self.seeds)
        trials = Trials(seeds)
        comparisons = list(self.compare(trials))
        return Compared(f"`tempest`, {seeds} seeds.", comparisons, trials.record)
