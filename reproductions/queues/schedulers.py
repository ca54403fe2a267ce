# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedulers alone, in the bench that netboxes/queueing/tempest is (Grazia, 4.3.3)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.installation import CHECKOUT
from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from reproductions.experiment import Compared, Experiment
from results.intervals import Interval, mean_interval
from testbed.documents.campaign import CampaignStanding

_TEMPEST: Final = CHECKOUT / "build/bin/tempest"
_WEIGHTS: Final = (1, 5, 10, 50, 100, 500, 1000)
_SCHEDULERS: Final = {"wf2q+": "WF2Q+", "qfq": "QFQ", "qfq+": "QFQ+", "drr": "DRR"}
_OF_AGGREGATES: Final = (
    "the bound that the source gives is QFQ's; that of QFQ+ is larger by what an aggregate of eight flows sends at a time "
    "(Valente 2014), which a flow of so large a weight waits for."
)
_NOT_THE_BOUND: Final = (
    "by the source's own definition (4.3.2.5: delay less the time that what waits of the flow takes at its share) a packet of "
    "WF2Q+ is late by hardly more than one packet of the line. The source's value is half of its bound; what it counts besides "
    "it does not say."
)
_PACKETS: Final = Unit(" packets", digits=2)
_MS: Final = Unit(" ms", digits=1)


class Trials:
    """Trials of the bench, each with several seeds."""

    def __init__(self, seeds: int) -> None:
        self._seeds = seeds
        self.record: dict[str, list[dict[str, Any]]] = {}

    def worst(self, measure: str, weight: int, *arguments: str) -> Interval:
        """Of the flows of a weight, over the seeds."""
        command = " ".join(arguments)
        if command not in self.record:
            self.record[command] = [self._trial(seed, arguments) for seed in range(1, self._seeds + 1)]
        values = [flows[measure] for trial in self.record[command] for flows in trial["weights"] if flows["weight"] == weight]
        interval = mean_interval(values)
        assert interval is not None, f"{command} has flows of weight {weight}"
        return interval

    def _trial(self, seed: int, arguments: Sequence[str]) -> dict[str, Any]:
        done = subprocess.run([_TEMPEST, *arguments, "-seed", str(seed)], capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


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


def _fairness(trials: Trials) -> Iterator[Comparison]:
    """Tab 4.4: one flow of a weight beside a hundred of weight 1."""

    def behind(scheduler: str, weight: int) -> Interval:
        flows = f"1::100,{weight}::1" if weight > 1 else "1::101"
        common = ("-n", "500k", "-qmin", "15n", "-qmax", "25n", "-burst", "2", "-qsing", "1", "-mode", "single")
        return trials.worst("b_wfi_packets", weight, *common, "-flowsets", flows, "-alg", scheduler)

    for weight in _WEIGHTS:
        for scheduler, bound in (("wf2q+", 1.0), ("qfq", 5.0), ("qfq+", 5.0)):
            what = f"F4.21: B-WFI of a flow of weight {weight}, {_SCHEDULERS[scheduler]}"
            reason = _OF_AGGREGATES if scheduler == "qfq+" and weight >= 500 else ""
            yield between(what, f"at most {bound:g} packets", behind(scheduler, weight), (0.0, bound), _PACKETS, reason)
        if weight > 1:
            order = [(_SCHEDULERS[one], behind(one, weight)) for one in ("drr", "wf2q+")]
            yield falls(f"F4.21: DRR is far less fair, weight {weight}", "far higher", order, _PACKETS)


def _delays(trials: Trials) -> Iterator[Comparison]:
    """Tab 4.5, wired schedulers: flows of video (20), web (10) and downloads (1) at 54 Mbit/s."""
    common = ("-n", "1000k", "-qmin", "0", "-qmax", "300", "-burst", "1", "-flowsets", "20::20,10::20,1::60", "-mode", "single")
    delays = {one: trials.worst("t_wfi_ms", 20, *common, "-alg", one) for one in ("drr", "wf2q+")}
    yield between("4.3.3.2: T-WFI of video, WF2Q+, by its bound", "at most 16.6 ms", delays["wf2q+"], (0.0, 16.6), _MS)
    yield between("4.3.3.2: T-WFI of video, DRR, by its bound", "at most 199.5 ms", delays["drr"], (0.0, 199.5), _MS)
    yield near("F4.23: T-WFI of video, WF2Q+", 8.0, delays["wf2q+"], Within(factor=2.0), _MS, _NOT_THE_BOUND)
    yield near("F4.23: T-WFI of video, DRR", 110.0, delays["drr"], Within(factor=2.0), _MS)
    yield falls("F4.23: DRR adds far more than WF2Q+", "more", [("DRR", delays["drr"]), ("WF2Q+", delays["wf2q+"])], _MS)


FAIRNESS = BenchExperiment(
    id="ppdr F4.21",
    title="how far a flow falls behind its share",
    text="Tab 4.4: a flow of some weight beside a hundred of weight 1, in bursts. The values are in the source's figure alone; "
    "its words give the bounds.",
    compare=_fairness,
)
DELAYS = BenchExperiment(
    id="ppdr F4.23",
    title="what a scheduler adds to the delay of video",
    text="Tab 4.5 without the MAC layer: 20 flows of weight 20, 20 of weight 10 and 60 of weight 1 at 54 Mbit/s, with packets of "
    "1700 bytes.",
    compare=_delays,
)
