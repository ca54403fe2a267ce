# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packet costs a scheduler, by how many flows there are (Grazia, 4.3.3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reproductions.comparison import Comparison, Unit, between, falls
from reproductions.queues.bench import BenchExperiment, Trials, alone
from results.intervals import Interval

_NAMES: Final = {"fifo": "FIFO", "drr": "DRR", "wf2q+": "WF2Q+", "qfq+": "QFQ+"}
#: Tab 4.1 and 4.2: all of one weight, or of three.
_FLOWS: Final = {"1000 flows": "1::1k", "875 flows of three weights": "1::500,2::250,8::125", "32000 flows": "1::32k"}
#: Smooth arrivals and bursts.
_ARRIVALS: Final = {"F4.18": "0", "F4.19": "2"}
_NS: Final = Unit(" ns", digits=0)


def _compared(trials: Trials) -> Iterator[Comparison]:
    for figure, burst in _ARRIVALS.items():
        for flows, flowsets in _FLOWS.items():
            arrivals = ("-qmin", "0", "-qmax", "30n", "-burst", burst)
            costs = {name: _cost(trials, name, flowsets, arrivals) for name in ("drr", "wf2q+", "qfq+")}
            ratio = alone(costs["qfq+"].mean / costs["drr"].mean)
            yield between(f"{figure}: {flows}, QFQ+ by DRR", "near", ratio, (0.5, 2.0))
            order = [(_NAMES[name], costs[name]) for name in ("wf2q+", "qfq+")]
            yield falls(f"{figure}: {flows}, WF2Q+ above QFQ+", "in this order", order, _NS)
    growth = {}
    for name in _NAMES:
        few, many = (_cost(trials, name, f"1::{flows}", ("-qmin", "4n", "-qmax", "30n", "-burst", "1")) for flows in (10, 1000))
        growth[name] = alone(many.mean / few.mean)
        if name != "wf2q+":
            yield between(f"F4.20: 1000 flows by 10, {_NAMES[name]}", "flat", growth[name], (0.0, 1.5))
    order = [(_NAMES[name], growth[name]) for name in ("wf2q+", "qfq+")]
    yield falls("F4.20: 1000 flows by 10, WF2Q+ grows", "log n", order)


def _cost(trials: Trials, scheduler: str, flowsets: str, arrivals: tuple[str, ...]) -> Interval:
    return trials.cheapest("-n", "1000k", *arrivals, "-mode", "single", "-flowsets", flowsets, "-alg", scheduler)


SCHEDULER_COSTS = BenchExperiment(
    id="ppdr F4.18-4.20",
    title="what a packet costs, by how many flows there are",
    text="Tab 4.1 to 4.3. The source's values are in its figures alone, and of machines of 2007 and 2011, so its words are "
    "judged: *near* as a factor of 2, *flat* as half more at most. With 10 to 1000 flows all that the schedulers keep lies in "
    "the processor's cache. KPS is not here.",
    compare=_compared,
    seeds=3,
)
