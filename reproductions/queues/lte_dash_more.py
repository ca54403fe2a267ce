# SPDX-License-Identifier: GPL-2.0-or-later
"""A random back-off of 30 and more players of video, against CoDel in an eNodeB (Dai 2018, 6.3 and 6.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between, falls
from reproductions.queues.players import BACK_OFFS, CELLS, FAIR, PLAYERS, Crowd, fair

_UES = (30, 40, 50)
_MIXED_UES = (42, 44, 48, 50)
#: What the source calls equal.
_EQUAL = (-0.1, 0.1)
#: What is known not to come out, and why.
_KNOWN: Final[Mapping[str, str]] = {}
_MS, _KBIT, _JAIN = Unit(" ms", digits=0), Unit(" kbit/s", digits=0), Unit(digits=3)
_Crowds = Mapping[tuple[str, int], Crowd]


def _compared(cells: Cells) -> Iterator[Comparison]:
    crowds = {(cell, ues): Crowd(cells, ues, {"cell": cell}) for cell in CELLS for ues in _UES}
    for one in (*_at_15(crowds), *_at_8(crowds), *_fast_line(crowds)):
        yield replace(one, reason=_KNOWN.get(one.what, ""))


def _at_15(crowds: _Crowds) -> Iterator[Comparison]:
    at = {ues: crowds["cqi-15", ues] for ues in _UES}
    for player, name in PLAYERS.items():
        goodputs = [(f"{ues} UEs", crowd.goodput(player)) for ues, crowd in at.items()]
        yield falls(f"F6.5: goodput at CQI 15 with 30 to 50 UEs, {name}", "falls", goodputs, _KBIT)
        delays = [(f"{ues} UEs", at[ues].delay(player)) for ues in (40, 30)]
        yield falls(f"F6.6: delay at CQI 15 from 30 to 40 UEs, {name}", "rises", delays, _MS)
        to_fifty = ("rises", (50, 40)) if player == "back-off-3" else ("falls", (40, 50))
        delays = [(f"{ues} UEs", at[ues].delay(player)) for ues in to_fifty[1]]
        yield falls(f"F6.6: delay at CQI 15 from 40 to 50 UEs, {name}", to_fifty[0], delays, _MS)
    delays = [(PLAYERS[player], at[50].delay(player)) for player in ("back-off-3", "codel")]
    yield falls("F6.6: delay of 50 UEs at CQI 15", "3 s above CoDel", delays, _MS)


def _at_8(crowds: _Crowds) -> Iterator[Comparison]:
    change = crowds["cqi-8", 30].change("delay_ms_mean", "back-off-3")
    yield between("F6.9: delay of 30 UEs at CQI 8, 3 s against CoDel", "much lower", change, (-1.0, -0.1), PERCENT)
    for ues in (40, 50):
        change = crowds["cqi-8", ues].change("goodput_kbps", "back-off-3")
        yield between(f"F6.8: goodput of {ues} UEs at CQI 8, 3 s against CoDel", "slightly lower", change, (-0.2, 0.0), PERCENT)
        for player in BACK_OFFS:
            change = crowds["cqi-8", ues].change("delay_ms_mean", player)
            what = f"F6.9: delay of {ues} UEs at CQI 8, {PLAYERS[player]} against CoDel"
            yield between(what, "equal", change, _EQUAL, PERCENT)
    yield from fair("F6.10", "cqi-8", crowds)
    for player, name in PLAYERS.items():
        delays = [(CELLS[cell], crowds[cell, 50].delay(player)) for cell in ("cqi-8", "cqi-15")]
        yield falls(f"F6.14: delay of 50 UEs, CQI 15 below CQI 8, {name}", "below", delays, _MS)


def _fast_line(crowds: _Crowds) -> Iterator[Comparison]:
    yield from fair("F6.15", "cqi-15-fast", crowds)
    for ues in _UES:
        for player, name in PLAYERS.items():
            change = crowds["cqi-15-fast", ues].goodput_change(player, crowds["cqi-15", ues])
            what = f"F6.16: goodput of {ues} UEs at CQI 15, 100 against 10 Mbit/s, {name}"
            yield between(what, "as with 10 Mbit/s", change, _EQUAL, PERCENT)
    delays = [(f"{ues} UEs", crowds["cqi-15-fast", ues].delay("back-off-3")) for ues in _UES]
    yield falls("F6.18: delay with 100 Mbit/s and 30 to 50 UEs, 3 s", "falls", delays, _MS)


def _compared_mixed(cells: Cells) -> Iterator[Comparison]:
    crowds = {ues: Crowd(cells, ues, {}) for ues in _MIXED_UES}
    for one in _mixed(crowds):
        yield replace(one, reason=_KNOWN.get(one.what, ""))


def _mixed(crowds: Mapping[int, Crowd]) -> Iterator[Comparison]:
    for player, name in PLAYERS.items():
        delays = [(f"{ues} UEs", crowds[ues].delay(player)) for ues in (50, 42)]
        yield falls(f"F6.11: delay with more UEs, {name}", "rises", delays, _MS)
    for ues, crowd in crowds.items():
        change = crowd.change("delay_ms_mean", "back-off-3")
        yield between(f"F6.11: delay of {ues} UEs, 3 s against CoDel", "-18 %", change, (-1.0, -0.1), PERCENT)
        for player in BACK_OFFS:
            change = crowd.change("goodput_kbps", player)
            what = f"F6.12: goodput of {ues} UEs, {PLAYERS[player]} against CoDel"
            yield between(what, "similar, below", change, (-0.1, 0.0), PERCENT)
        for player, name in PLAYERS.items():
            yield between(f"F6.13: Jain's index of {ues} UEs, {name}", "fair", crowd.fairness(player), FAIR, _JAIN)


MORE_DASH = CampaignExperiment(
    id="debloat E9, E10, E12, E13, more UEs",
    title="30 to 50 players of video",
    text="As E9, E10, E12 and E13 above. Runs of 50 players take minutes, so only `FULL=1` makes these, or who asks for them "
    "by their id; the figures here are of one run for each point.",
    campaign=Path(__file__).with_name("lte-dash-more.yaml"),
    compare=_compared,
    is_only_full=True,
    full_repetitions=5,
)
MORE_MIXED = CampaignExperiment(
    id="debloat E11, more UEs",
    title="42 to 50 players of video with different channels",
    text="As E11 above, with the source's other numbers of UEs. Only `FULL=1` makes these, or who asks for them by their id; the "
    "figures here are of one run for each point.",
    campaign=Path(__file__).with_name("lte-dash-mixed-more.yaml"),
    compare=_compared_mixed,
    is_only_full=True,
    full_repetitions=5,
)
