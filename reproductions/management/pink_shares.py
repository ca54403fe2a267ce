# SPDX-License-Identifier: GPL-2.0-or-later
"""PINK's shares with different round trips, with a second bottleneck, and by what is left for headers.

Casoni et al. 2017, 6.2, 6.4 and 6.5."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, near

_S = Unit(" s", digits=1)
_MBPS = Unit(" Mbit/s", 1e-3)
_C = 0.95
_TOO_SHORT = (
    "with the smallest round trip of a flow's life, which is that of its handshake, the queue stays shorter than the "
    "law asks for; why is not understood yet"
)
_TRANSFERS = ("first", "second", "third", "fourth")
#: When each begins, and when it is over if all that are there share what 1000 of 1052 bytes leave of 10 Mbit/s.
_BEGIN = (0.0, 25.0, 50.0, 75.0)
_OVER = (161.0, 236.0, 261.0, 269.3)


def _round_trips(cells: Cells) -> Iterator[Comparison]:
    for transfer, begin, over in zip(_TRANSFERS, _BEGIN, _OVER, strict=True):
        completed = cells.derived([f"{transfer}.transfer_completed_s"], lambda took_s, begin=begin: took_s + begin, aqm="pink")
        yield near(f"F11-14: the {transfer} transfer is over with PINK", over, completed, Within(share=0.05), _S)


def _two_bottlenecks(cells: Cells) -> Iterator[Comparison]:
    #: By the number of all flows, Mbit/s: all together without reallocation, a good one without and with, the bad one.
    ideal = {
        2: (7.00, 5.00, 8.00, 2.0),
        3: (8.67, 3.33, 4.00, 2.0),
        4: (9.50, 2.50, 2.67, 2.0),
        5: (10.0, 2.0, 2.0, 2.0),
        8: (10.0, 1.25, 1.25, 1.25),
    }
    both = ["good.transfer_goodput_kbps", "bad.transfer_goodput_kbps"]
    for flows, (total, without, with_it, bad) in ideal.items():
        good = flows - 1
        of = {name: {"reallocation": name, "good_flows": good} for name in ("none", "base")}
        within = Within(share=0.05)
        yield near(
            f"F20: all {flows} flows without reallocation", total * _C * 1e3, cells.total(both, **of["none"]), within, _MBPS
        )
        yield near(f"F21: all {flows} flows with reallocation", 10.0 * _C * 1e3, cells.total(both, **of["base"]), within, _MBPS)
        for figure, name, rate in (("F20", "none", without), ("F21", "base", with_it)):
            each = cells.derived([both[0]], lambda kbps, good=good: kbps / good, **of[name])
            how = "without" if name == "none" else "with"
            yield near(f"{figure}: a good one of {flows} flows {how} reallocation", rate * _C * 1e3, each, within, _MBPS)
        yield near(f"F21: the bad one of {flows} flows", bad * _C * 1e3, cells.mean(both[1], **of["base"]), within, _MBPS)


def _exploitation(cells: Cells) -> Iterator[Comparison]:
    knee = 1000 / 1052
    for line, rate in (("dsl", 10.0), ("satellite", 4.0)):
        for c in (0.8, 0.84, 0.88, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0):
            at = {"topology": line, "c": c}
            what = f"{'F22' if line == 'dsl' else 'F23'}: {line}, c = {c:g}"
            goodput = cells.mean("transfers.transfer_goodput_kbps", **at)
            yield near(f"{what}: goodput", rate * min(c, knee) * 1e3, goodput, Within(share=0.03), _MBPS)
            rise = cells.derived(
                ["transfers.tcp_rtt_ms_mean", "transfers.tcp_rtt_ms_min"], lambda mean, least: mean / least, **at
            )
            reason = _TOO_SHORT if (line, c) == ("satellite", 1.0) else ""
            yield near(f"{what}: round trip by its floor", max(1.0, c / knee), rise, Within(share=0.03), Unit(digits=3), reason)


ROUND_TRIPS = CampaignExperiment(
    id="pink X3",
    title="transfers with different round trips",
    text="Four transfers of 80 MB with round trips of 100, 150, 200 and 250 ms, one begun every 25 s. The source leaves open "
    "where the delay is; here it is behind the line. Published are sentences; the figures are those of flows that share "
    "at once and equally.",
    campaign=Path(__file__).with_name("pink-round-trips.yaml"),
    compare=_round_trips,
    full_repetitions=5,
)
TWO_BOTTLENECKS = CampaignExperiment(
    id="pink X4",
    title="a flow with another bottleneck",
    text="One of the flows goes on over a line of 2 Mbit/s. The figures are those that the equations give for payload with c = "
    "0.95.",
    campaign=Path(__file__).with_name("pink-two-bottlenecks.yaml"),
    compare=_two_bottlenecks,
    full_repetitions=5,
)
EXPLOITATION = CampaignExperiment(
    id="pink X5",
    title="what is left for headers",
    text="Four clients; the figures are those of the law that follows from 1000 of 1052 bytes: below c = 0.951 the goodput is c "
    "times the rate and the round trip stays on its floor; above, the goodput stays and the round trip grows as 1.052 c. "
    "A flow's round trip is the smallest one of its life, as in the source: in that of 10 s a standing queue would be.",
    campaign=Path(__file__).with_name("pink-exploitation.yaml"),
    compare=_exploitation,
    full_repetitions=5,
)
