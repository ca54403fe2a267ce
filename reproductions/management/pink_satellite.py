# SPDX-License-Identifier: GPL-2.0-or-later
"""PINK over a satellite: shares, round trips and transfers of files (Grazia's dissertation, 3.2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, between, falls, near

_TRANSFERS = ("first", "second", "third", "fourth")
_MBPS, _S, _INDEX = Unit(" Mbit/s", 1e-3), Unit(" s", digits=0), Unit(digits=3)
_C = 0.95
#: The flows with the shortest and the longest round trip, ms.
_ENDS = (("first", 700), ("fourth", 850))
#: By which a rate of the line has its headers.
_HEADERS = 1052 / 1000
_ROUND_TRIPS = (
    "flows send their window at once, and a second is 1.4 round trips of 702 ms: it has one window of some flows and two of "
    "others"
)
_CHANCE = "the source says that shares fluctuate, not by which order; in two runs of ours chance decides more than 150 ms do"
_SLOW_START = (
    "the handshake and slow start, from ten segments to half of the line, take five round trips of 0.7 s by arithmetic, with "
    "each queue; from then on DropTail has the line full as well"
)
_AQMS = {"droptail": "DropTail", "codel": "CoDel", "red": "RED"}


def _shares(cells: Cells) -> Iterator[Comparison]:
    for transfer in _TRANSFERS:
        goodput = cells.mean(f"{transfer}.transfer_goodput_kbps", aqm="pink")
        yield near(f"F3.28: goodput of the {transfer} flow with PINK", 1e3 * _C, goodput, Within(share=0.05), _MBPS)
    worst = cells.mean("line.fairness_worst", aqm="pink")
    yield between("F3.28: worst of Jain's indices, PINK", "stable", worst, (0.95, 1.0), _INDEX, _ROUND_TRIPS)
    for aqm, name in _AQMS.items():
        other = cells.mean("line.fairness_worst", aqm=aqm)
        yield falls(f"F3.25-3.28: worst of Jain's indices, PINK above {name}", "above", [("PINK", worst), (name, other)], _INDEX)


def _round_trips(cells: Cells) -> Iterator[Comparison]:
    for transfer, rtt_ms in zip(_TRANSFERS, (700, 750, 800, 850), strict=True):
        goodput = cells.mean(f"{transfer}.transfer_goodput_kbps", aqm="pink")
        yield near(f"F3.30: goodput with PINK and {rtt_ms} ms", 1e3 * _C, goodput, Within(share=0.05), _MBPS)
    ours = [(f"{rtt_ms} ms", cells.mean(f"{transfer}.transfer_goodput_kbps", aqm="codel")) for transfer, rtt_ms in _ENDS]
    yield falls("F3.29: goodput with CoDel, by round trip", "fluctuates", ours, _MBPS, _CHANCE)


def _files(cells: Cells) -> Iterator[Comparison]:
    for transfers in (2, 8, 32):
        took = cells.mean("transfers.transfer_completed_s", aqm="pink", transfers=str(transfers))
        least = 10 * transfers * _HEADERS
        what = f"F3.31: {transfers} files of 5 MB with PINK"
        reason = _SLOW_START if transfers == 2 else ""
        yield between(what, "lowest", took, (least, 1.15 * least), _S, reason)
        for aqm, name in _AQMS.items():
            other = cells.mean("transfers.transfer_completed_s", aqm=aqm, transfers=str(transfers))
            known = reason if aqm == "droptail" else ""
            yield falls(f"F3.31: {transfers} files, PINK before {name}", "lowest", [(name, other), ("PINK", took)], _S, known)


_OPEN = "The source leaves open the size of segments (1000 bytes here, in packets of 1052), c (0.95) and RED's settings."
SHARES = CampaignExperiment(
    id="ppdr S5",
    title="four flows over a satellite",
    text=f"4 Mbit/s and 700 ms; one flow begins every 5 s. {_OPEN}",
    campaign=Path(__file__).with_name("pink-staggered.yaml"),
    compare=_shares,
    full_repetitions=5,
)
ROUND_TRIPS = CampaignExperiment(
    id="ppdr S6",
    title="round trips from 700 to 850 ms",
    text="The same with flows that begin together, and 50 ms more for each.",
    campaign=Path(__file__).with_name("pink-satellite-round-trips.yaml"),
    compare=_round_trips,
    full_repetitions=5,
)
FILES = CampaignExperiment(
    id="ppdr S7",
    title="transfers of 5 MB over a satellite",
    text="How long the last one takes. The line takes 10.5 s for each; what slow start and the last round trips add may be 15 %.",
    campaign=Path(__file__).with_name("pink-files.yaml"),
    compare=_files,
    full_repetitions=5,
)
