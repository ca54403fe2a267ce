# SPDX-License-Identifier: GPL-2.0-or-later
"""AQM in the access point of a Wi-Fi cell that is the bottleneck itself: what Dai 2018 leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between

_AQMS = {"red": "RED", "ared": "ARED", "codel": "CoDel", "pie": "PIE", "fq-codel": "FQ-CoDel", "green": "GREEN"}
_DOWNLOADS = [f"download-{number}.transfer_goodput_kbps" for number in range(1, 11)]


def _compared(cells: Cells) -> Iterator[Comparison]:
    before = {"discipline": "droptail"}
    for discipline, name in _AQMS.items():
        at = {"discipline": discipline}
        queue = cells.change("cell.gateway.queue_packets_mean", at, before)
        yield between(f"mean queue, {name} against DropTail", "shorter", queue, (-1.0, 0.0), PERCENT)
    for discipline, name in {"droptail": "DropTail", **_AQMS}.items():
        mos = cells.mean("call.forward.mos_e_model", discipline=discipline)
        bounds = (1.0, 3.6) if discipline == "droptail" else (3.6, 4.5)
        yield between(f"MOS of the call, {name}", "poor" if discipline == "droptail" else "at least medium", mos, bounds, Unit())
    for discipline, name in _AQMS.items():
        change = cells.derived_change(_DOWNLOADS, lambda *kbps: sum(kbps), {"discipline": discipline}, before)
        yield between(f"goodput of the downloads, {name} against DropTail", "kept", change, (-0.05, float("inf")), PERCENT)


DOWNLOADS = CampaignExperiment(
    id="debloat E4, 802.11 as the bottleneck",
    title="ten downloads and a call through the queue of an access point",
    text="The source's study has its queue in front of a wire and says nothing of a cell that is the bottleneck. Nothing is "
    "published, so what is judged is what the study concludes: an AQM shortens the queue, and costs no goodput to speak "
    "of (5 %); and a call beside the downloads, by the E-model, is of the source's medium quality (3.60) or better. TCP is "
    "CUBIC, the queue has 1000 packets, and CoDel and PIE have their usual targets.",
    campaign=Path(__file__).with_name("wifi-downloads.yaml"),
    compare=_compared,
)
