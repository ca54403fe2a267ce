# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedulers before stations with bad channels: integrated, or two one behind the other (Grazia, 4.1.3, 4.2.5 and 4.3.3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from reproductions.comparison import Comparison, Unit, between, falls
from reproductions.queues.bench import BenchExperiment, Trials, alone
from results.intervals import Interval

_FLOWS: Final = ("-qmax", "300", "-flowsets", "20::20,10::20,1::60")
#: Tab 4.5 and 4.6: all that came goes before more comes. Refilled: as many come as went, for the flows that have the fewest.
_EMPTIED, _REFILLED = "emptied each time", "refilled"
_ARRIVALS: Final = {_EMPTIED: ("-qmin", "0", "-burst", "1"), _REFILLED: ("-qmin", "280", "-burst", "0")}
_LINEAR, _LOGARITHMIC, _TURNS = "linear losses", "logarithmic losses", "losses of 0.01 and 0.9 in turns"
_CHANNELS: Final = {_LINEAR: "linear:1:0.0001", _LOGARITHMIC: "log:1:0.0001", _TURNS: "two-state:0.01:0.9:50"}
_GRID: Final = [(arrivals, channel) for arrivals in _ARRIVALS for channel in _CHANNELS]
_HFS, _HFS_STAR, _DOUBLE_WF2Q, _DOUBLE_DRR = ("qfq+", "qfq+"), ("qfq+", "drr"), ("wf2q+", "wf2q+"), ("drr", "drr")
_NO_CHOICE: Final = (
    "all packets that came go before more come, so as many go to bad stations as came for them, and the throughput is "
    "the mean of the stations' whatever the order. By the source's own theorem (4.2.2) a packet is behind the order of "
    "the QoS layer by Q at most."
)
_FILLED: Final = (
    "packets of bad stations, which go seldom, fill the prefetcher in the end. With Q = 250 it is 0.68. Where most "
    "stations are good, as with logarithmic losses, the published value comes out."
)
_CONSTANT: Final = (
    "the weights of the MAC layer follow from the mean loss of a channel, which is the same for all here. How weights "
    "follow a channel that changes the source does not say."
)
_CHOOSES_AMONG_ALL: Final = (
    "W2F2Q chooses among all packets that wait, HFS among those that are prefetched; and W2F2Q knows the channel as it is now."
)
#: Where HFS is known to be below what was published, and why.
_BELOW: Final = {
    (_EMPTIED, _LINEAR): _NO_CHOICE,
    (_EMPTIED, _TURNS): _CONSTANT,
    (_REFILLED, _LINEAR): _FILLED,
    (_REFILLED, _TURNS): _CONSTANT,
}
#: Where W2F2Q is known not to be below HFS, and why.
_NOT_ABOVE: Final = {at: _NO_CHOICE if at[0] == _EMPTIED and at[1] != _TURNS else _CHOOSES_AMONG_ALL for at in _GRID}
_SHARE: Final = Unit(digits=3)
_MS: Final = Unit(" ms", digits=1)


def _single(scheduler: str, arrivals: str) -> tuple[str, ...]:
    return ("-n", "200k", *_FLOWS, *_ARRIVALS[arrivals], "-mode", "single", "-alg", scheduler)


def _integrated(at: tuple[str, str]) -> tuple[str, ...]:
    return (*_to_stations(at), "-mode", "integrated", "-alg", "w2f2q", "-intgr_th", "800")


def _double(schedulers: tuple[str, str], prefetched: int, at: tuple[str, str]) -> tuple[str, ...]:
    qos, mac = schedulers
    return (*_to_stations(at), "-mode", "double", "-qos", qos, "-mac", mac, "-qmac", str(prefetched))


def _to_stations(at: tuple[str, str]) -> tuple[str, ...]:
    arrivals, channel = at
    return ("-n", "200k", *_FLOWS, *_ARRIVALS[arrivals], "-ploss", _CHANNELS[channel], "-flowsmac", "20")


def _throughput(trial: dict[str, Any]) -> float:
    throughput: float = trial["throughput"]
    return throughput


def _lateness(trial: dict[str, Any]) -> float:
    """The worst T-WFI of video to stations that get at least 0.8 of what is sent to them (4.2.5.4), ms."""
    late: float = max(one["t_wfi_ms"] for one in trial["stations"] if (one["throughput"] or 0.0) >= 0.8)
    return late


def _throughputs(trials: Trials) -> Iterator[Comparison]:
    def hfs(at: tuple[str, str], schedulers: tuple[str, str] = _HFS) -> Interval:
        return trials.of(_throughput, *_double(schedulers, 100, at))

    for at in _GRID:
        where = ", ".join(at)
        yield between(f"F4.24: HFS, {where}", "near or over 0.9", hfs(at), (0.85, 1.0), _SHARE, _BELOW.get(at, ""))
    for at in _GRID:
        order = [("HFS", hfs(at)), ("W2F2Q", trials.of(_throughput, *_integrated(at)))]
        yield falls(f"F4.24: HFS above W2F2Q, {', '.join(at)}", "above", order, _SHARE, _NOT_ABOVE[at])
    for channel in (_LINEAR, _LOGARITHMIC):
        at = (_REFILLED, channel)
        yield falls(
            f"F4.8: QFQ+ chooses better than DRR, {', '.join(at)}",
            "above",
            [("QFQ+", hfs(at)), ("DRR", hfs(at, _DOUBLE_DRR))],
            _SHARE,
        )
        wf2q = hfs(at, _DOUBLE_WF2Q).mean
        yield between(f"F4.8: QFQ+, {', '.join(at)}", "as WF2Q+ or above", hfs(at), (0.98 * wf2q, 1.0), _SHARE)
        star = hfs(at, _HFS_STAR)
        yield between(f"F4.11: HFS*, {', '.join(at)}", "not above HFS", star, (0.0, hfs(at).mean), _SHARE)


def _delays(trials: Trials) -> Iterator[Comparison]:
    drr = trials.worst("t_wfi_ms", 20, *_single("drr", _EMPTIED))
    wired = trials.worst("t_wfi_ms", 20, *_single("qfq+", _EMPTIED))
    for channel in (_LINEAR, _LOGARITHMIC):
        at = (_EMPTIED, channel)
        without = trials.worst("t_wfi_ms", 20, *_double(_HFS, 0, at))
        yield between(f"F4.12: HFS, Q = 0, {channel}", "as QFQ+ alone", without, (wired.mean - 0.1, wired.mean + 0.1), _MS)
        few = trials.of(_lateness, *_double(_HFS, 1, at))
        yield between(f"F4.12: HFS, Q = 1, by the bound of WF2Q+, {channel}", "near WF2Q+", few, (0.0, 16.6), _MS)
        for prefetched in (100, 250):
            ours = trials.of(_lateness, *_double(_HFS, prefetched, at))
            yield falls(
                f"F4.12: HFS, Q = {prefetched}, less late than DRR, {channel}", "below", [("DRR", drr), ("HFS", ours)], _MS
            )
    at = (_EMPTIED, _LINEAR)
    qfq, wf2q, drr = (trials.of(_lateness, *_double(("qfq+", mac), 100, at)) for mac in ("qfq+", "wf2q+", "drr"))
    yield falls("F4.9: delay by the MAC layer, Q = 100, QFQ+ below DRR", "lowest", [("DRR", drr), ("QFQ+", qfq)], _MS)
    yield between("F4.9: delay by the MAC layer, Q = 100, QFQ+ by WF2Q+", "lowest", alone(qfq.mean / wf2q.mean), (0.0, 1.1))


def _costs(trials: Trials) -> Iterator[Comparison]:
    at = (_EMPTIED, _LOGARITHMIC)
    hfs, drr = trials.cheapest(*_double(_HFS, 100, at)), trials.cheapest(*_double(_DOUBLE_DRR, 100, at))
    yield between("F4.13: cost of a packet, HFS to double DRR", "very close", alone(hfs.mean / drr.mean), (0.5, 2.0))
    mac_drr = trials.cheapest(*_double(("qfq+", "drr"), 100, at))
    yield between("F4.10: cost of a packet, QFQ+ to DRR in the MAC layer", "near", alone(hfs.mean / mac_drr.mean), (0.5, 2.0))
    order = [("W2F2Q", trials.cheapest(*_integrated(at))), ("HFS", hfs)]
    yield falls("F4.13: W2F2Q, which looks at all channels, costs more", "O(N), HFS O(1)", order, Unit(" ns", digits=0))


THROUGHPUT = BenchExperiment(
    id="ppdr F4.4, F4.8, F4.11, F4.24",
    title="what gets through to stations with bad channels",
    text="Tab 4.5 and 4.6: 20 stations with five flows each, losses from 1 to 10^-4, analogical weights, Q = 100. The source"
    " empties its queues each time, does not say how losses lie between the two ends, and keeps them as they are. By "
    "its own theorem nothing can be gained so. We also have flows refilled, and channels that change: a mean dwell of "
    "50 packets in each state. With logarithmic losses the mean of all stations is 0.87 without any choice. F4.4 and "
    "F4.11 state the same as F4.24 of other runs.",
    compare=_throughputs,
    seeds=3,
)
LATENESS = BenchExperiment(
    id="ppdr F4.5, F4.9, F4.12",
    title="what a prefetcher adds to the delay of video",
    text="T-WFI of video to stations that get at least 0.8 of what is sent to them, as the source counts it; the line is "
    "emptied each time. F4.5 has it as an index from 0 to 1 whose scale is not said. Of F4.9 the schedulers of the MAC layer "
    "are compared behind QFQ+, and *lowest* is taken as at most a tenth more than WF2Q+.",
    compare=_delays,
    seeds=3,
)
COSTS = BenchExperiment(
    id="ppdr F4.10, F4.13",
    title="what two schedulers cost",
    text="The source's machines are of 2007 and 2011, so its nanoseconds are compared as ratios, of the cheapest trial of "
    "each. What the source calls very close or near is taken as a factor of 2. With 20 stations WF2Q+ in the MAC layer costs "
    "about as much as QFQ+ here.",
    compare=_costs,
    seeds=5,
)
