# SPDX-License-Identifier: GPL-2.0-or-later
"""PINK beside AQMs, in front of a DSL line and of a satellite (Casoni et al. 2017, 6.1 and 6.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between, falls
from results.intervals import Interval

_AQMS = {"droptail": "DropTail", "ared": "ARED", "codel": "CoDel", "pink": "PINK"}
_VARIANTS = {"cubic": "CUBIC", "newreno": "NewReno"}
_CLIENTS = (4, 16, 32, 64)
#: The number of clients at which the AQMs are set beside each other.
_MANY = 32
_GOODPUT, _LOST, _RTT = "transfers.transfer_goodput_kbps", "transfers.loss_ratio", "transfers.tcp_rtt_ms_mean"
_FAIRNESS = "line.fairness_worst"
_MBPS = Unit(" Mbit/s", 1e-3)
_MS, _INDEX = Unit(" ms", digits=0), Unit(digits=3)
_OPEN = (
    "The source leaves open the TCP, c, when flows begin, and how often it ran. Here TCP is CUBIC and NewReno, c is 0.95, and "
    "all begin at once; the delay of ACKs deviates by 0.1 ms, by which runs differ. What is sent in the warm-up is in no figure."
)


@dataclass(frozen=True)
class _Line:
    """What is published of it, and from where on ours is as published."""

    section: str
    #: Of one packet that finds no other, ms.
    floor: float
    #: kbit/s that 1000 of 1052 bytes leave of the line, and what is reproduced.
    ceiling: float
    goodput: float
    #: Of the worst second, with 32 clients.
    fairness: float
    #: What is known not to come out, by what the figure is, and why.
    reasons: Mapping[str, str]

    def compare(self, cells: Cells) -> Iterator[Comparison]:
        for variant, name in _VARIANTS.items():
            yield from self._of_pink(cells, variant, name)
            yield from self._beside_aqms(cells, variant, name)

    def _of_pink(self, cells: Cells, variant: str, name: str) -> Iterator[Comparison]:
        for clients in _CLIENTS:
            at = {"aqm": "pink", "variant": variant, "clients": clients}
            published = f"about {_MBPS.write(self.ceiling)}"
            goodput = cells.mean(_GOODPUT, **at)
            yield self._between(f"goodput of PINK, {clients} {name}", published, goodput, (self.goodput, math.inf), _MBPS)
            rise = cells.derived([_RTT], lambda mean_ms: mean_ms / self.floor - 1, **at)
            yield self._between(f"round trip above its floor, PINK, {clients} {name}", "none", rise, (0.0, 0.05), PERCENT)
            yield self._between(f"lost with PINK, {clients} {name}", "nothing", cells.mean(_LOST, **at), (0.0, 0.0), PERCENT)
        worst = cells.mean(_FAIRNESS, aqm="pink", variant=variant, clients=_MANY)
        yield self._between(f"worst of Jain's indices, PINK, {_MANY} {name}", "high", worst, (self.fairness, 1.0), _INDEX)

    def _beside_aqms(self, cells: Cells, variant: str, name: str) -> Iterator[Comparison]:
        def of(measure: str, aqm: str, clients: int = _MANY) -> Interval:
            return cells.mean(measure, aqm=aqm, variant=variant, clients=clients)

        def order(what: str, published: str, measure: str, aqms: Sequence[str], unit: Unit) -> Comparison:
            what = f"{self.section}: {what}, {_MANY} {name}"
            ours = [(_AQMS[aqm], of(measure, aqm)) for aqm in aqms]
            return falls(what, published, ours, unit, self.reasons.get(what, ""))

        for aqm in ("droptail", "codel", "ared"):
            yield order(f"goodput, PINK above {_AQMS[aqm]}", "above", _GOODPUT, ("pink", aqm), _MBPS)
            yield order(f"worst of Jain's indices, PINK above {_AQMS[aqm]}", "above", _FAIRNESS, ("pink", aqm), _INDEX)
            what = f"{self.section}: lost with {_AQMS[aqm]} and more clients, {name}"
            rising = [(f"{clients} clients", of(_LOST, aqm, clients)) for clients in reversed(_CLIENTS)]
            yield falls(what, "rises", rising, PERCENT, self.reasons.get(what, ""))
        yield order("round trip, DropTail above ARED", "worst", _RTT, ("droptail", "ared"), _MS)
        yield order("round trip, DropTail above CoDel", "worst", _RTT, ("droptail", "codel"), _MS)
        yield order("round trip, CoDel above PINK", "above", _RTT, ("codel", "pink"), _MS)

    def _between(self, what: str, published: str, ours: Interval, bounds: tuple[float, float], unit: Unit) -> Comparison:
        what = f"{self.section}: {what}"
        return between(what, published, ours, bounds, unit, self.reasons.get(what, ""))


_TWO_SEGMENTS = "64 clients have two segments each at least: 128 packets of 1052 bytes, which the line sends in 107.7 ms"
_NEVER_EMPTY = "PINK leaves less than 1 % of the line unused; a queue that is never empty leaves nothing"
_DSL = _Line(
    "6.1",
    floor=100.8,
    ceiling=9506.0,
    goodput=9300.0,
    fairness=0.9,
    reasons={
        "6.1: round trip above its floor, PINK, 64 CUBIC": _TWO_SEGMENTS,
        "6.1: round trip above its floor, PINK, 64 NewReno": _TWO_SEGMENTS,
        "6.1: goodput, PINK above DropTail, 32 CUBIC": _NEVER_EMPTY,
        "6.1: goodput, PINK above DropTail, 32 NewReno": _NEVER_EMPTY,
    },
)
_SATELLITE = _Line(
    "6.3",
    floor=702.1,
    ceiling=3802.0,
    goodput=3700.0,
    fairness=0.75,
    reasons={
        "6.3: goodput, PINK above DropTail, 32 NewReno": "both leave less than 1 % of the line unused, and runs of "
        "DropTail differ by more"
    },
)

DSL = CampaignExperiment(
    id="pink X1",
    title="PINK and AQMs in front of a DSL line",
    text=f"Backlogged transfers over 10 Mbit/s with a round trip of 100 ms. {_OPEN}",
    campaign=Path(__file__).with_name("pink-dsl.yaml"),
    compare=_DSL.compare,
    full_repetitions=5,
)
SATELLITE = CampaignExperiment(
    id="pink X2",
    title="PINK and AQMs in front of a satellite",
    text="The same over 4 Mbit/s with a round trip of 700 ms. Of such a line 3.80 Mbit/s are left for payload; the 4.8 Mbit/s "
    "that the source gives as the optimum are more than the line has.",
    campaign=Path(__file__).with_name("pink-satellite.yaml"),
    compare=_SATELLITE.compare,
    full_repetitions=5,
)
