# SPDX-License-Identifier: GPL-2.0-or-later
"""AQM above RLC in an eNodeB for downloads (Dai 2018, 4.4 and 4.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import cast

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between, falls
from reproductions.queues.over_flows import jain, mean
from results.intervals import Interval, mean_interval

_UES = (2, 4, 6, 8, 10)
_SOME_UES = (2, 6, 10)
#: Nothing is dropped up to the first, all from the second on, ms.
_THRESHOLDS = tuple(product((5, 20, 50), (100, 200, 500)))
_CODELS = {"codel-5": "CoDel 5 ms", "codel-50": "CoDel 50 ms"}
#: Of a packet that waits nowhere, ms: the line with its 1.2 ms of sending, and the four subframes of an idle downlink.
_PATH_MS = 55.2
_NOT_BELOW = (
    "the source does not say CoDel's target, nor from which delay on its own AQM drops. Nothing is dropped here below 50 ms, so "
    "packets wait for longer than with a target of 5 ms"
)
_TOO_SHORT = (
    "with a target of 5 ms packets wait for 7 to 25 ms in the mean, too little for a bearer always to have something to send. "
    "The source does not say its target; with 50 ms it is so"
)
_FIRST_DECIDES = (
    "packets wait about as long as the first threshold, whatever the second is, so the change follows from that threshold and "
    "CoDel's target. About -40 % comes out where both are 50 ms or both are 5 ms (there half, at the edge of the tolerance)"
)
#: Where it comes out.
_ALIKE = {(5, 200, "codel-5"), *((50, most, "codel-50") for most in (100, 200, 500))}
_FAIR = "with one greedy flow for each UE the index is above 0.99 with all numbers of UEs and with each queue"
_MS, _MBIT, _JAIN = Unit(" ms", digits=0), Unit(" Mbit/s", 1e-3), Unit(digits=3)


def _of(ues: int, measure: str) -> list[str]:
    return [f"download-{number}.{measure}" for number in range(1, ues + 1)]


def _waiting(cells: Cells, discipline: str, ues: int) -> Interval:
    """How long packets wait, ms."""
    delays = _of(ues, "delay_ms_mean")
    return cells.derived(delays, lambda *ms: mean(*ms) - _PATH_MS, discipline=discipline, ues=str(ues))


def _lost(cells: Cells, discipline: str, ues: int) -> Interval:
    return cells.derived(_of(ues, "loss_ratio"), mean, discipline=discipline, ues=str(ues))


def _goodput(cells: Cells, discipline: str, ues: int) -> Interval:
    return cells.total(_of(ues, "transfer_goodput_kbps"), discipline=discipline, ues=str(ues))


def _fairness(cells: Cells, discipline: str, ues: int) -> Interval:
    return cells.derived(_of(ues, "transfer_goodput_kbps"), jain, discipline=discipline, ues=str(ues))


def _over_ues(of: Sequence[float]) -> Interval:
    """The mean over all numbers of UEs, with its interval over them."""
    return cast(Interval, mean_interval(of))


def _compared(cells: Cells) -> Iterator[Comparison]:
    names = {"droptail": "DropTail", "cqi": "CQI", **_CODELS}
    delays = {name: [_waiting(cells, name, ues).mean for ues in _UES] for name in names}
    losses = {name: [_lost(cells, name, ues).mean for ues in _UES] for name in names}
    goodputs = {name: [_goodput(cells, name, ues).mean for ues in _UES] for name in names}
    for codel, name in _CODELS.items():
        reason = _NOT_BELOW if codel == "codel-5" else ""
        order = [(names[one], _over_ues(delays[one])) for one in ("droptail", codel, "cqi")]
        yield falls(f"F4.5: queuing delay without an AQM, with {name}, with CQI", "falls", order, _MS, reason)
        change = _over_ues([ours / theirs - 1 for ours, theirs in zip(delays["cqi"], delays[codel], strict=True)])
        what = f"F4.5: queuing delay with CQI against {name}"
        yield between(what, "-40 % on average", change, (-0.5, -0.3), PERCENT, reason)
        order = [(names[one], _over_ues(losses[one])) for one in ("cqi", codel)]
        yield falls(f"F4.6: CQI drops a little more than {name}", "slightly above", order, PERCENT)
    for discipline in ("cqi", *_CODELS):
        reason = _TOO_SHORT if discipline == "codel-5" else ""
        order = [(names[one], _over_ues(goodputs[one])) for one in (discipline, "droptail")]
        yield falls(f"F4.7: goodput with {names[discipline]} above that without an AQM", "above", order, _MBIT, reason)
    for codel, name in _CODELS.items():
        order = [(names[one], _fairness(cells, one, 2)) for one in (codel, "cqi")]
        yield falls(f"F4.8: Jain's index of 2 UEs, CQI below {name}", "below", order, _JAIN)
    order = [(f"{ues} UEs", _fairness(cells, "cqi", ues)) for ues in (10, 2)]
    yield falls("F4.8: Jain's index with CQI improves with more UEs", "improves", order, _JAIN, _FAIR)


CQI = CampaignExperiment(
    id="debloat E7",
    title="an eNodeB's AQM by channel quality",
    text="Table 4-B. The source leaves open the thresholds of its AQM and the target of CoDel: 50 and 500 ms, 5 and 50 ms here. "
    "Its text says video, its table greedy sources with times on and off: here a greedy CUBIC for each UE. The carrier, powers "
    "and noise figures are those of ns-3, CQI by Piro's formula, with CQI 15 and 8 in the rings of 500-1000 m and 9-9.5 km. "
    "UEs move at 50 to 100 m/s by random waypoints in a rectangle within the ring of 2.5 to 5 km. Means are over all numbers of "
    "UEs, and so are their intervals. The queuing delay is what a packet of TCP takes from the server on beyond the 55.2 ms of "
    "an idle path.",
    campaign=Path(__file__).with_name("lte-cqi.yaml"),
    compare=_compared,
)


def _compared_thresholds(cells: Cells) -> Iterator[Comparison]:
    against = {codel: [_waiting(cells, codel, ues).mean for ues in _SOME_UES] for codel in _CODELS}
    for least, most in _THRESHOLDS:
        ours = [_waiting(cells, f"cqi-{least}-{most}", ues).mean for ues in _SOME_UES]
        for codel, name in _CODELS.items():
            change = _over_ues([one / other - 1 for one, other in zip(ours, against[codel], strict=True)])
            what = f"F4.5: queuing delay with CQI from {least} to {most} ms against {name}"
            reason = "" if (least, most, codel) in _ALIKE else _FIRST_DECIDES
            yield between(what, "-40 % on average", change, (-0.5, -0.3), PERCENT, reason)


THRESHOLDS = CampaignExperiment(
    id="debloat E7, thresholds",
    title="from which delays an eNodeB's AQM by channel quality drops",
    text="E7 above with other thresholds, which the source does not tell: its AQM drops nothing while packets wait for no longer "
    "than the first, and everything that comes while they wait for as long as the second. With 2, 6 and 10 UEs.",
    campaign=Path(__file__).with_name("lte-cqi-thresholds.yaml"),
    compare=_compared_thresholds,
)
