# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedulers alone, in the bench that netboxes/queueing/tempest is (Grazia, 4.3.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from reproductions.queues.bench import BenchExperiment, Trials, alone
from results.intervals import Interval

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
_OWN_PACKETS: Final = (
    "with 15 to 25 packets for each flow in the bench a packet waits longest behind those of its own flow, whatever the "
    "scheduler. What the scheduler adds, T-WFI, is 25 ms with DRR and 2 ms with QFQ+"
)
_PACKETS: Final = Unit(" packets", digits=2)
_MS: Final = Unit(" ms", digits=1)


def _fairness(trials: Trials) -> Iterator[Comparison]:
    """Tab 4.4: one flow of a weight beside a hundred of weight 1."""

    def worst(measure: str, scheduler: str, weight: int) -> Interval:
        flows = f"1::100,{weight}::1" if weight > 1 else "1::101"
        common = ("-n", "500k", "-qmin", "15n", "-qmax", "25n", "-burst", "2", "-qsing", "1", "-mode", "single")
        return trials.worst(measure, weight, *common, "-flowsets", flows, "-alg", scheduler)

    def behind(scheduler: str, weight: int) -> Interval:
        return worst("b_wfi_packets", scheduler, weight)

    for weight in _WEIGHTS:
        for scheduler, bound in (("wf2q+", 1.0), ("qfq", 5.0), ("qfq+", 5.0)):
            what = f"F4.21: B-WFI of a flow of weight {weight}, {_SCHEDULERS[scheduler]}"
            reason = _OF_AGGREGATES if scheduler == "qfq+" and weight >= 500 else ""
            yield between(what, f"at most {bound:g} packets", behind(scheduler, weight), (0.0, bound), _PACKETS, reason)
        if weight > 1:
            order = [(_SCHEDULERS[one], behind(one, weight)) for one in ("drr", "wf2q+")]
            yield falls(f"F4.21: DRR is far less fair, weight {weight}", "far higher", order, _PACKETS)
        if weight > 50:
            drr, qfq = (worst("delay_ms_max", one, weight).mean for one in ("drr", "qfq+"))
            what = f"F4.22: worst delay of a flow of weight {weight}, DRR by QFQ+"
            yield between(what, "more than twice", alone(drr / qfq), (2.0, math.inf), Unit(), _OWN_PACKETS)
            order = [(_SCHEDULERS[one], worst("t_wfi_ms", one, weight)) for one in ("drr", "qfq+", "qfq")]
            yield falls(f"F4.22: what the scheduler adds, weight {weight}", "DRR most", order, _MS)


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
    id="ppdr F4.21, F4.22",
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
