# SPDX-License-Identifier: GPL-2.0-or-later
"""A random back-off of players of video, against CoDel above RLC in an eNodeB (Dai 2018, 6.3 and 6.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, Within, between, falls, near
from reproductions.queues.players import BACK_OFFS, CELLS, FAIR, PLAYERS, Crowd, fair
from results.intervals import Interval

_UES = (10, 20)
_MIXED = 46
#: What is known not to come out of 46 players, and why.
_STAYS_FULL = (
    "our CoDel of 50 ms lets packets take 136 ms, the source's, by its 18 % and 100 ms, about 550 ms: as much as ours without an "
    "AQM, 646 ms with 5 s and 663 ms with 3 s. A back-off does not empty the cell for long: players choose by the throughput of "
    "what comes, which leaves out the time that they wait, and so take video of 175 kbit/s (3 s) and 160 kbit/s (5 s) instead of "
    "114 kbit/s with CoDel. The source does not say how its players choose"
)
_RUNS_EMPTY = (
    "with CoDel 0.4 packets wait for a UE in the mean, without an AQM 7.5: too little for a bearer always to have something to "
    "send, as in E7 with a short target"
)
_FEW_SEGMENTS = "in 20 s a player gets 8 or 9 segments, 11 with CoDel, so that a step of the ladder more shows in the index"
_WAITS_SHORT = (
    "players that ask for more than the cell carries, and wait with 3 or 5 s in their buffers: 28 and 15 stalls of all 46, "
    "against 9. CoDel's have 7.6 s in the mean, these 4.0 and 5.3 s"
)
#: The same of 10 and 20 players with one channel.
_LINE_QUEUE = (
    "at CQI 15 packets wait in the queue of the line, which no AQM sees: 42 to 48 packets in the mean with 10 players. Three "
    "runs do not tell 3 s from 5 s: 162 ± 21 and 162 ± 39 ms with 10 players, 256 ± 31 and 248 ± 52 ms with 20"
)
_CODEL_GUARDS_LINE = (
    "with more UEs CoDel in the eNodeB drops more, so that the line's queue has 20 packets instead of 48. The source's CoDel, "
    "whose packets wait for far longer, can hardly have a target of 50 ms"
)
_ONE_CHANNEL = (
    "all players have one channel, begin at one time and share one queue of the line: the index is 0.975 or more. The source "
    "explains its unfairness by flows that compete at the line, of which it tells no queue"
)
_SHORT_CODEL = (
    "our CoDel of 50 ms lets packets take 110 and 139 ms with 10 and 20 players at CQI 8. Those that back off keep a queue "
    "without an AQM full, with 663 to 849 ms, since they take video of a higher rate with what the back-off frees, as in E11. "
    "The source's CoDel is as slow as they are, and it does not tell its target"
)
_EMPTY_BEARERS = "with CoDel 0.4 and 0.5 packets wait for a UE in the mean, without an AQM 8 to 11, as in E11"
_CAPACITIES = (
    "players fill the cell at both, so the ratio is that of what the cell carries: by transport blocks 11.06 Mbit/s at CQI 15, "
    "of which the line leaves 10, and 3.88 Mbit/s at CQI 8, 2.6 to 2.9 times"
)
_NO_LINE_QUEUE = (
    "at 10 Mbit/s 48 and 20 packets wait at the line, where CoDel is not; at 100 Mbit/s none does, and CoDel keeps the rest"
)
_BURSTS = "bursts at 100 Mbit/s overrun the 100 packets of the line's queue: 4.6 % are lost instead of 1.9 %"
_SAME_QUEUE = "340 and 413 ms: 10 players fill the cell as 20 do, and their queues are as long"


def _known() -> Iterator[tuple[str, str]]:
    """What does not come out, and why."""
    for back_off in ("3 s", "5 s"):
        yield f"F6.9: delay of 10 UEs at CQI 8, {back_off} against CoDel", _SHORT_CODEL
    for ues in _UES:
        yield f"F6.6: delay of {ues} UEs at CQI 15", _LINE_QUEUE
        yield f"F6.17: delay of {ues} UEs with 100 Mbit/s above that with 10, CoDel", _NO_LINE_QUEUE
        for name in PLAYERS.values():
            yield f"F6.7: Jain's index of {ues} UEs at CQI 15, {name}", _ONE_CHANNEL
        for back_off in ("3 s", "5 s"):
            yield f"F6.8: goodput of {ues} UEs at CQI 8, {back_off} against CoDel", _EMPTY_BEARERS
    for name in PLAYERS.values():
        yield f"6.4: goodput of 20 UEs at CQI 15 by that at CQI 8, {name}", _CAPACITIES
    yield "F6.6: delay at CQI 15 with more UEs, CoDel", _CODEL_GUARDS_LINE
    yield "F6.9: delay of 20 UEs at CQI 8, 3 s against CoDel", _SHORT_CODEL
    yield "F6.16: goodput of 10 UEs at CQI 15, 100 against 10 Mbit/s, 3 s", _BURSTS
    yield "F6.18: delay with 100 Mbit/s and more UEs, 3 s", _SAME_QUEUE


_KNOWN: Final = dict(_known())
_MS, _KBIT, _JAIN, _TIMES = Unit(" ms", digits=0), Unit(" kbit/s", digits=0), Unit(digits=3), Unit(" times", digits=2)


def _compared(cells: Cells) -> Iterator[Comparison]:
    for one in _judged(cells):
        yield replace(one, reason=_KNOWN.get(one.what, ""))


def _judged(cells: Cells) -> Iterator[Comparison]:
    crowds = {(cell, ues): Crowd(cells, ues, {"cell": cell}) for cell in CELLS for ues in _UES}
    yield from _at_15(crowds)
    yield from _at_8(crowds)
    yield from _both(crowds)
    yield from _fast_line(crowds)


def _at_15(crowds: Mapping[tuple[str, int], Crowd]) -> Iterator[Comparison]:
    few, many = crowds["cqi-15", 10], crowds["cqi-15", 20]
    for player in BACK_OFFS:
        goodputs = [(PLAYERS[one], few.goodput(one)) for one in ("codel", player)]
        yield falls(f"F6.5: goodput of 10 UEs at CQI 15, CoDel above {PLAYERS[player]}", "highest", goodputs, _KBIT)
    yield near("6.4: goodput of 10 UEs at CQI 15, CoDel", 800.0, few.goodput("codel"), Within(share=0.2), _KBIT)
    for player, name in PLAYERS.items():
        goodputs = [(f"{ues} UEs", crowds["cqi-15", ues].goodput(player)) for ues in _UES]
        yield falls(f"F6.5: goodput at CQI 15 with more UEs, {name}", "falls", goodputs, _KBIT)
    delays = [(PLAYERS[one], few.delay(one)) for one in ("back-off-3", "codel", "back-off-5")]
    yield falls("F6.6: delay of 10 UEs at CQI 15", "3 s above CoDel above 5 s", delays, _MS)
    delays = [(PLAYERS[one], many.delay(one)) for one in ("back-off-5", "back-off-3")]
    yield falls("F6.6: delay of 20 UEs at CQI 15", "5 s above 3 s", delays, _MS)
    for player, name in PLAYERS.items():
        delays = [(f"{ues} UEs", crowds["cqi-15", ues].delay(player)) for ues in reversed(_UES)]
        yield falls(f"F6.6: delay at CQI 15 with more UEs, {name}", "rises", delays, _MS)
    for ues in _UES:
        for player, name in PLAYERS.items():
            what = f"F6.7: Jain's index of {ues} UEs at CQI 15, {name}"
            yield between(what, "unfair", crowds["cqi-15", ues].fairness(player), (0.0, FAIR[0]), _JAIN)


def _at_8(crowds: Mapping[tuple[str, int], Crowd]) -> Iterator[Comparison]:
    for ues in _UES:
        for player in BACK_OFFS:
            change = crowds["cqi-8", ues].change("goodput_kbps", player)
            what = f"F6.8: goodput of {ues} UEs at CQI 8, {PLAYERS[player]} against CoDel"
            yield between(what, "a tiny bit below", change, (-0.1, 0.0), PERCENT)
    for player in BACK_OFFS:
        change = crowds["cqi-8", 10].change("delay_ms_mean", player)
        yield between(f"F6.9: delay of 10 UEs at CQI 8, {PLAYERS[player]} against CoDel", "equal", change, (-0.1, 0.1), PERCENT)
    change = crowds["cqi-8", 20].change("delay_ms_mean", "back-off-3")
    yield between("F6.9: delay of 20 UEs at CQI 8, 3 s against CoDel", "much lower", change, (-1.0, -0.1), PERCENT)
    yield from fair("F6.10", "cqi-8", crowds)


def _both(crowds: Mapping[tuple[str, int], Crowd]) -> Iterator[Comparison]:
    for player, name in PLAYERS.items():
        delays = [(CELLS[cell], crowds[cell, 20].delay(player)) for cell in ("cqi-8", "cqi-15")]
        yield falls(f"F6.14: delay of 20 UEs, CQI 15 below CQI 8, {name}", "below", delays, _MS)


def _fast_line(crowds: Mapping[tuple[str, int], Crowd]) -> Iterator[Comparison]:
    for player, name in PLAYERS.items():
        change = crowds["cqi-15", 20].goodput_change(player, crowds["cqi-8", 20])
        ratio = Interval(change.count, change.mean + 1, change.half_width)
        yield near(f"6.4: goodput of 20 UEs at CQI 15 by that at CQI 8, {name}", 2.0, ratio, Within(share=0.25), _TIMES)
    yield from fair("F6.15", "cqi-15-fast", crowds)
    for ues in _UES:
        for player, name in PLAYERS.items():
            change = crowds["cqi-15-fast", ues].goodput_change(player, crowds["cqi-15", ues])
            what = f"F6.16: goodput of {ues} UEs at CQI 15, 100 against 10 Mbit/s, {name}"
            yield between(what, "as with 10 Mbit/s", change, (-0.1, 0.1), PERCENT)
            delays = [(CELLS[cell], crowds[cell, ues].delay(player)) for cell in ("cqi-15-fast", "cqi-15")]
            yield falls(f"F6.17: delay of {ues} UEs with 100 Mbit/s above that with 10, {name}", "above", delays, _MS)
    delays = [(f"{ues} UEs", crowds["cqi-15-fast", ues].delay("back-off-3")) for ues in _UES]
    yield falls("F6.18: delay with 100 Mbit/s and more UEs, 3 s", "falls", delays, _MS)


def _compared_mixed(cells: Cells) -> Iterator[Comparison]:
    crowd = Crowd(cells, _MIXED, {})
    change = crowd.change("delay_ms_mean", "back-off-3")
    yield between("F6.11: delay, 3 s against CoDel", "-18 %", change, (-1.0, -0.1), PERCENT, _STAYS_FULL)
    change = crowd.change("delay_ms_mean", "back-off-5")
    yield between("F6.11: delay, 5 s against CoDel", "about CoDel's", change, (-0.1, 0.1), PERCENT, _STAYS_FULL)
    for player in BACK_OFFS:
        change = crowd.change("goodput_kbps", player)
        what = f"F6.12: goodput, {PLAYERS[player]} against CoDel"
        yield between(what, "similar, below", change, (-0.1, 0.0), PERCENT, _RUNS_EMPTY)
    for player, name in PLAYERS.items():
        reason = "" if player == "codel" else _FEW_SEGMENTS
        yield between(f"F6.13: Jain's index, {name}", "fair", crowd.fairness(player), FAIR, _JAIN, reason)
    without = crowd.stalled("codel").mean
    for player in BACK_OFFS:
        what = f"6.2: how long a video stands still, {PLAYERS[player]}"
        yield between(what, "not for longer", crowd.stalled(player), (0.0, without), Unit(" s"), _WAITS_SHORT)


_OPEN = (
    "The source leaves open the TCP (CUBIC here), the room of RLC (100 packets, as in E7), the delay of the line (50 ms, as in "
    "E7) and its queue (100 packets, as a device of ns-3 has), the target of CoDel (50 ms), and the ladder, the segments and the "
    "adaptation of its players: here those of its module, 20 rates up to 4.2 Mbit/s in segments of 2 s, and the rate by the "
    "throughput of the latest five segments with a buffer of 30 s. CoDel stands in the eNodeB before players that never wait. A "
    "back-off is in the players, before an eNodeB that drops nothing but what has no room. UEs stand still. "
)
DASH = CampaignExperiment(
    id="debloat E9, E10, E12, E13",
    title="players of video with good channels, with bad ones, and with a faster line",
    text=_OPEN + "The source has 10 to 50 UEs, here are 10 and 20. What is unfair and fair it does not say in numbers; "
    "the line is drawn at 0.95, which is its own of E8. What is equal is taken as 10 %.",
    campaign=Path(__file__).with_name("lte-dash.yaml"),
    compare=_compared,
    full_repetitions=5,
)
MIXED = CampaignExperiment(
    id="debloat E11",
    title="players of video with different channels",
    text="As E9. The source has 42 to 50 UEs between 0.5 and 5 km, here are 46. Its 18 % are judged as 10 % or more.",
    campaign=Path(__file__).with_name("lte-dash-mixed.yaml"),
    compare=_compared_mixed,
    full_repetitions=5,
)
