# SPDX-License-Identifier: GPL-2.0-or-later
"""Speech beside TCP in one service of the cellular link, and in two that its scheduler serves (Xylomenos 1999, 8.2.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from reproductions.campaign_experiment import CampaignsExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, between, falls
from reproductions.services.conferences import LEVELS
from reproductions.services.plots import FILE, PAGES, TALK_DELAY, TALK_LOST
from results.intervals import Interval

_FIGURES = {"LAN1": "F8.2", "WAN2": "F8.3"}
_SERVICES = ("one", "two")
#: What *far higher* is at the least, and *nearly constant* and *nearly equal* at the most.
_FAR_HIGHER, _CONSTANT, _EQUAL = 2.0, 0.25, 0.1
_REASONS = {
    "F8.3, Cellular/WAN2: delay of one service beyond that of two, level 2": "it is 94 % longer. That *far higher* is twice as "
    "long is ours, the source has no number",
    "F8.3, Cellular/WAN2: throughput of TCP with two services against one, level 3": "TCP carries 1.6 kbit/s there, and six runs "
    "of 1000 s tell the difference to 19 %: their interval contains 0",
}
_TCP = (*FILE.measures, *PAGES.measures)


def compare(cells: Mapping[str, Cells]) -> Iterator[Comparison]:
    """What the source says of both plots, and of pacing."""
    for topology in _FIGURES:
        yield from _of_plot(topology, cells[topology])
    one, two = cells["LAN1"], cells["WAN2"]
    for level in LEVELS:
        what = f"8.2.1, Cellular: delay at level {level}, one service, LAN1 above WAN2"
        yield falls(what, "in this order", _delays(level, "one", LAN1=one, WAN2=two), TALK_DELAY.unit)
    for level in LEVELS:
        what = f"8.2.1, Cellular: delay at level {level}, two services, WAN2 above LAN1"
        yield falls(what, "a little higher", _delays(level, "two", WAN2=two, LAN1=one), TALK_DELAY.unit)
    paced = cells["paced"].derived_change(TALK_DELAY.measures, TALK_DELAY.of, {"services": "two"}, {"services": "one"})
    what = "8.2.1, Cellular/LAN1: delay of two services against one at level 1, with pacing"
    yield between(what, "no effect of the scheduler", paced, (-_EQUAL, _EQUAL), PERCENT)


def _of_plot(topology: str, cells: Cells) -> Iterator[Comparison]:
    def what(words: str) -> str:
        return f"{_FIGURES[topology]}, Cellular/{topology}: {words}"

    def against(level: int) -> Interval:
        at, other = ({"level": level, "services": services} for services in _SERVICES)
        return cells.derived_change(TALK_DELAY.measures, TALK_DELAY.of, at, other)

    delays = {services: [(f"level {level}", _delay(cells, level, services)) for level in LEVELS] for services in _SERVICES}
    yield falls(what("delay with more errors, one service"), "falls", delays["one"], TALK_DELAY.unit)
    for level in LEVELS[:2]:
        words = what(f"delay of one service beyond that of two, level {level}")
        yield between(words, "far higher", against(level), (_FAR_HIGHER - 1, math.inf), PERCENT, _REASONS.get(words, ""))
    beyond = [(f"level {level}", against(level)) for level in LEVELS]
    yield falls(what("delay of one service beyond that of two, with more errors"), "converges", beyond, PERCENT)
    least, most = ({"level": level, "services": "two"} for level in (LEVELS[0], LEVELS[-1]))
    change = cells.derived_change(TALK_DELAY.measures, TALK_DELAY.of, most, least)
    yield between(
        what("change of the delay from level 1 to 4, two services"), "nearly constant", change, (-_CONSTANT, _CONSTANT), PERCENT
    )
    for level in LEVELS:
        two, one = ({"level": level, "services": services} for services in reversed(_SERVICES))
        lost = cells.derived_change(TALK_LOST.measures, TALK_LOST.of, two, one)
        words = what(f"lost of speech with two services against one, level {level}")
        yield between(words, "nearly equal", lost, (-_EQUAL, _EQUAL), PERCENT)
        carried = cells.derived_change(_TCP, lambda *values: sum(values), two, one)
        words = what(f"throughput of TCP with two services against one, level {level}")
        yield between(words, "nearly equal", carried, (-_EQUAL, _EQUAL), PERCENT, _REASONS.get(words, ""))


def _delay(cells: Cells, level: int, services: str) -> Interval:
    return cells.derived(TALK_DELAY.measures, TALK_DELAY.of, level=level, services=services)


def _delays(level: int, services: str, **cells: Cells) -> list[tuple[str, Interval]]:
    return [(topology, _delay(own, level, services)) for topology, own in cells.items()]


SCHEDULING = CampaignsExperiment(
    id="msll F8.2-8.3",
    title="speech beside TCP, in one service and in two",
    text="A file, pages and speech at once over the cellular link without recovery: all in one service, or TCP in one and UDP in "
    "another with the shares of T7.1, without pacing. The source says that it switched pacing off so that its scheduler has "
    "something to schedule; the last row has it on, with all packets in one queue above the services. The delay is the mean and "
    "two standard deviations, *far higher* twice that and more, *nearly constant* within 25 %, *nearly equal* within 10 %. "
    "The source ends a run with its file (2 MB, half an hour and more), we after 1000 s; 200 packets may wait in each service "
    "and above them, so that TCP's windows of 20 segments lose nothing by a full queue, as in the source.",
    campaigns={
        "LAN1": Path(__file__).with_name("scheduling-lan1.yaml"),
        "WAN2": Path(__file__).with_name("scheduling-wan2.yaml"),
        "paced": Path(__file__).with_name("scheduling-pacing.yaml"),
    },
    compare=compare,
    full_repetitions=30,
)
