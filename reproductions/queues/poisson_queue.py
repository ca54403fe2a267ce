# SPDX-License-Identifier: GPL-2.0-or-later
"""The length of a queue with Poisson arrivals against theory (Dai 2018, 3.2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, near

#: Decay of the packet-scale tail by load (Dai 2018, Eq 3.5).
_DECAY = {0.6: 0.403, 0.7: 0.521, 0.8: 0.659, 0.9: 0.817, 0.95: 0.906}
_MEAN, _EMPTY = "line.server.queue_packets_mean", "line.server.queue_empty_ratio"


def _compared(cells: Cells) -> Iterator[Comparison]:
    for sources, figure in ((1, "3.7"), (2, "3.8"), (5, "3.9")):
        for load, decay in _DECAY.items():
            at = {"sources": f"{sources}-at-{load}"}
            what = f"F{figure}, {sources} sources at {load}" if sources > 1 else f"F{figure}, one source at {load}"
            # Of a geometric tail: the mean of those that wait is that of a geometric distribution.
            ours = cells.derived([_MEAN, _EMPTY], lambda mean, empty: 1 - (1 - empty) / mean, **at)
            yield near(f"{what}: decay of the tail", decay, ours, Within(share=0.1), Unit(digits=3))


POISSON_QUEUE = CampaignExperiment(
    id="debloat F3.7-3.9",
    title="a queue with Poisson arrivals",
    text="The source shows that its queue has the distribution that theory gives. Its Table 3-A says 300 packets/s while a "
    "source sends, with which no load comes out; we take what the loads ask for, one packet at a time. Published here is "
    "its Eq 3.5, the decay η of the queue's tail. Ours follows from the mean length of the queue and from how long "
    "nobody waits, as that of a geometric tail: 1 − P(somebody waits) / mean.",
    campaign=Path(__file__).with_name("poisson-queue.yaml"),
    compare=_compared,
)
