# SPDX-License-Identifier: GPL-2.0-or-later
"""AQM in the access point of a Wi-Fi cell that is the bottleneck itself: what Dai 2018 leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between

_AQMS = {"red": "RED", "ared": "ARED", "codel": "CoDel", "pie": "PIE", "fq-codel": "FQ-CoDel"}
_DOWNLOADS = [f"download-{number}.transfer_goodput_kbps" for number in range(1, 11)]


def _compared(cells: Cells) -> Iterator[Comparison]:
    before = {"discipline": "droptail"}
    for discipline, name in _AQMS.items():
        at = {"discipline": discipline}
        queue = cells.change("cell.gateway.queue_packets_mean", at, before)
        yield between(f"mean queue, {name} against DropTail", "shorter", queue, (-1.0, 0.0), PERCENT)
    without = cells.total(_DOWNLOADS, **before).mean
    for discipline, name in {"droptail": "DropTail", **_AQMS}.items():
        mos = cells.mean("call.forward.mos_e_model", discipline=discipline)
        bounds = (1.0, 3.6) if discipline == "droptail" else (3.6, 4.5)
        yield between(f"MOS of the call, {name}", "poor" if discipline == "droptail" else "at least medium", mos, bounds, Unit())
        goodput = cells.total(_DOWNLOADS, discipline=discipline)
        yield between(f"goodput of the downloads, {name}", "kept", goodput, (0.95 * without, float("inf")), Unit(" Mbit/s", 1e-3))


DOWNLOADS = CampaignExperiment(
    id="debloat E4, 802.11 as the bottleneck",
    title="ten downloads and a call through the queue of an access point",
    text="The source's study has its queue in front of a wire and says nothing of a cell that is the bottleneck. Nothing is "
    "published, so what is judged is what the study concludes: an AQM shortens the queue, and costs no goodput to speak "
    "of. TCP is CUBIC.",
    campaign=Path(__file__).with_name("wifi-downloads.yaml"),
    compare=_compared,
)
