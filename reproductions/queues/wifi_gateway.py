# SPDX-License-Identifier: GPL-2.0-or-later
"""AQM in front of the wire behind a Wi-Fi cell (Dai 2018, 3.3 and 3.4)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

_DISCIPLINES = {
    "droptail": "DropTail",
    "codel-50": "CoDel 50 ms",
    "red": "RED",
    "codel-100": "CoDel 100 ms",
    "codel-150": "CoDel 150 ms",
}
_CODELS = ("codel-50", "codel-100", "codel-150")
#: Lost of what was sent: Tables 3-F and 3-H, 3-G and 3-J, in the order of the disciplines above.
_LOST_I = {
    "FTP": (0.000279, 0.009498, 0.008120, 0.003978, 0.002020),
    "voice": (0.000563, 0.011507, 0.0111, 0.005072, 0.002827),
}
_LOST_II = {
    "FTP": (0.000345, 0.002092, 0.003288, 0.001124, 0.000745),
    "voice": (0.003469, 0.009594, 0.024499, 0.006789, 0.005013),
}
#: What is known not to come out, and why.
_FULL = (
    "how full a queue of 1000 packets is, and how often it is overrun, follows from the windows of ten transfers and from "
    "the round trip. Neither is told; ours could fill it with 1340 packets. Runs of ours are from 450 to 515 ms in the mean"
)
_WINDOWS = (
    "by the law of Mathis et al. (1997), 1.5 / W², a transfer that has the 1.35 Mbit/s that voice leaves, and a round trip of "
    "84 ms, has windows W of 14 packets and loses 0.8 %, which is ours with CoDel 50 ms. With each discipline the source loses "
    "a quarter of ours or less, as windows twice as large would; with these the transfer would need twice the rate that is left"
)
_GREEN_DROPS = (
    "GREEN drops so much that by the law of Mathis et al. (1997) ten transfers just fill the line with 22 ms: 12 % here, at "
    "windows of 2.9 segments. So small a window has too few duplicate acknowledgements, and transfers wait for timeouts, of "
    "which the law knows nothing. Grazia finds its goodput very poor on a line as well (Figure 3.33)"
)
_QUEUE = "bottleneck.gateway.queue_packets"
_PACKETS = Unit(" packets", digits=0)
#: Of the wire, ms: how long a bit is on its way, and how long it takes a packet of TCP.
_WIRE_MS, _PACKET_MS = 10.0, 0.8
#: The source's goodput is more than a wire of 10 Mbit/s has room for without headers: a packet of 1000 bytes has 948 of data.
_WITH_HEADERS = 1000 / 948
_FTP = [f"ftp-{number}" for number in range(1, 11)]
_VOICE = [f"voice-{number}" for number in range(1, 11)]
_OPEN = (
    "The source leaves open the TCP, its window, the delay of the wire, the distances and how long it ran. Here TCP is NewReno "
    "with windows of 128 KiB, the wire has 10 ms, the clients stand 10 m away, and traffic goes from the clients to the server. "
    "CoDel's interval is 100 ms with each target, as it is printed; RED is gentle, with 0.02 at the maximum and a weight of "
    "0.002, as ns-3's. The depth of a queue is what the 99th percentile of voice's delay makes of it, goodput is with headers."
)


def _first(cells: Cells) -> Iterator[Comparison]:
    known = {("FTP", "droptail"): _FULL, ("voice", "droptail"): _FULL}
    yield from _losses(cells, _LOST_I, {"FTP": _FTP, "voice": ["voice"]}, "T3-F, T3-H", known)
    for discipline, published in (("codel-50", -0.91), ("red", -0.88)):
        change = cells.change(f"{_QUEUE}_mean", {"discipline": discipline}, {"discipline": "droptail"})
        what = f"F3.16: mean queue, {_DISCIPLINES[discipline]} against DropTail"
        yield between(what, f"{published:.0%}", change, (-0.95, -0.85), PERCENT)
    for discipline, packets in zip(_CODELS, (100, 150, 200), strict=True):
        depth = cells.derived(["voice.delay_ms_p99"], lambda delay_ms: (delay_ms - _WIRE_MS) / _PACKET_MS, discipline=discipline)
        yield near(f"F3.20: depth of the queue, {_DISCIPLINES[discipline]}", packets, depth, Within(share=0.25), _PACKETS)
    delay = cells.mean("voice.delay_ms_mean", discipline="droptail")
    milliseconds = Unit(" ms", digits=0)
    yield between("F3.17: DropTail has most packets wait", "over 500 ms", delay, (500.0, float("inf")), milliseconds, _FULL)
    for target, published in (("codel-50", 9.3939), ("codel-100", 9.3802), ("codel-150", 9.3913)):
        transfers = [f"{flow}.transfer_goodput_kbps" for flow in _FTP]
        goodput = cells.derived(transfers, lambda *kbps: sum(kbps) * _WITH_HEADERS, discipline=target)
        what = f"T3-I: goodput of FTP, {_DISCIPLINES[target]}"
        yield near(what, published * 1e3, goodput, Within(share=0.02), Unit(" Mbit/s", 1e-3))
    yield from _green(cells)


def _green(cells: Cells) -> Iterator[Comparison]:
    """The source does not have GREEN, whose authors claim short queues without less throughput (Feng et al. 2002)."""
    at, against = {"discipline": "green"}, {"discipline": "droptail"}
    queue = cells.change(f"{_QUEUE}_mean", at, against)
    yield between("GREEN: mean queue against DropTail", "shorter", queue, (-1.0, -0.5), PERCENT)
    transfers = [f"{flow}.transfer_goodput_kbps" for flow in _FTP]
    goodput = cells.derived_change(transfers, lambda *kbps: sum(kbps), at, against)
    yield between("GREEN: goodput of FTP against DropTail", "kept", goodput, (-0.05, math.inf), PERCENT, _GREEN_DROPS)


def _second(cells: Cells) -> Iterator[Comparison]:
    known = {("FTP", discipline): _WINDOWS for discipline in _DISCIPLINES}
    yield from _losses(cells, _LOST_II, {"FTP": ["ftp"], "voice": _VOICE}, "T3-G, T3-J", known)
    codel, red = (_lost(cells, _VOICE, discipline) for discipline in ("codel-50", "red"))
    yield falls("3.4.2: CoDel is friendlier to voice than RED", "2.5 times", [("RED", red), ("CoDel 50 ms", codel)], PERCENT)
    delays = [(name, cells.mean("voice-1.delay_ms_mean", discipline=name)) for name in ("droptail", "red", "codel-50")]
    yield falls("F3.19: CoDel 50 ms has the shortest wait", "shortest", delays, Unit(" ms", digits=0))


def _losses(
    cells: Cells,
    published: Mapping[str, Sequence[float]],
    flows: Mapping[str, Sequence[str]],
    table: str,
    known: Mapping[tuple[str, str], str],
) -> Iterator[Comparison]:
    for kind, figures in published.items():
        for (discipline, name), figure in zip(_DISCIPLINES.items(), figures, strict=True):
            ours = _lost(cells, flows[kind], discipline)
            reason = known.get((kind, discipline), "")
            yield near(f"{table}: lost of {kind}, {name}", figure, ours, Within(factor=2.0), Unit(" %", 100.0, 3), reason)
        rising = [(_DISCIPLINES[codel], _lost(cells, flows[kind], codel)) for codel in _CODELS]
        yield falls(f"3.4.3: lost of {kind}, with a larger target", "less", rising, Unit(" %", 100.0, 3))


def _lost(cells: Cells, flows: Sequence[str], discipline: str) -> Interval:
    """Of several flows the mean."""
    measures = [f"{flow}.loss_ratio" for flow in flows]
    return cells.derived(measures, lambda *ratios: sum(ratios) / len(ratios), discipline=discipline)


MOSTLY_TRANSFERS = CampaignExperiment(
    id="debloat E4",
    title="a Wi-Fi cell's gateway, ten transfers and a source of voice",
    text=f"Scenario I of the source's Wi-Fi study. {_OPEN}",
    campaign=Path(__file__).with_name("wifi-ftp.yaml"),
    compare=_first,
)
MOSTLY_VOICE = CampaignExperiment(
    id="debloat E5",
    title="a Wi-Fi cell's gateway, ten sources of voice and a transfer",
    text=f"Scenario II. {_OPEN}",
    campaign=Path(__file__).with_name("wifi-voice.yaml"),
    compare=_second,
)
