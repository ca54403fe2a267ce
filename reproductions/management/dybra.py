# SPDX-License-Identifier: GPL-2.0-or-later
"""DyBRA: what clients with slow access cannot use goes to the others (Grazia's dissertation, 2.3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, falls, near
from results.intervals import Interval

_MB, _PACKETS = Unit(" MB"), Unit(" packets", digits=0)
_TRANSFERS = [f"client-{client}.transfer_bytes" for client in range(1, 11)]
#: The source counts at the link: 1052 bytes of each packet with 1000 of data.
_HEADERS = 1052 / 1000


def _compare(cells: Cells) -> Iterator[Comparison]:
    def total(budgets: str) -> Interval:
        return cells.derived(_TRANSFERS, lambda *sent: sum(sent) / 1e6 * _HEADERS, budgets=budgets)

    yield near("2.3.3: sent in 60 s with DyBRA", 143.88, total("dybra"), Within(share=0.07), _MB)
    order = [("DyBRA", total("dybra")), ("equal budgets", total("unweighted"))]
    yield falls("2.3.3: DyBRA above C2ML alone", "C2ML loses throughput from 15 to 45 s", order, _MB)
    yield near("2.3.3: sent in 60 s by TCP alone", 75.93, total("none"), Within(share=0.1), _MB, _OTHER_TCPS)
    queues = [
        ("TCP alone", cells.mean("satellite.lan.queue_packets_mean", budgets="none")),
        ("DyBRA", cells.mean("satellite.lan.queue_packets_mean", budgets="dybra")),
    ]
    yield falls("F2.34: mean queue, DyBRA below TCP alone", "mostly negligible", queues, _PACKETS)
    longest = [
        ("as printed", cells.mean("satellite.lan.queue_packets_max", budgets="printed")),
        ("corrected", cells.mean("satellite.lan.queue_packets_max", budgets="dybra")),
    ]
    yield falls("E2 as printed assigns 32 of 20 Mbit/s: longest queue", "above", longest, _PACKETS)


_OTHER_TCPS = (
    "the source's transfers begin with a slow-start threshold of their initial window and grow by a segment in a round trip of "
    "0.7 s; these of today's TCPs begin with slow start"
)
DYBRA = CampaignExperiment(
    id="ppdr S2",
    title="clients whose access becomes slow",
    text="Ten clients behind 20 Mbit/s and 350 ms one way, pairs of NewReno, Westwood, HighSpeed, Cubic and Noordwijk; the "
    "second of each pair has 0.5 Mbit/s from 15 to 45 s, which its access link tells it. 150 MB is what the line carries.",
    campaign=Path(__file__).with_name("dybra-access.yaml"),
    compare=_compare,
    full_repetitions=5,
)
