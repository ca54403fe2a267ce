# SPDX-License-Identifier: GPL-2.0-or-later
"""Speech beside TCP in one service of the cellular link, and in two that its scheduler serves (Xylomenos 1999, 8.2.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from reproductions.campaign_experiment import CampaignsExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, between, falls
from reproductions.services.conferences import LEVELS
from reproductions.services.plots import FILE, PAGES, TALK_CARRIED, TALK_DELAY, TALK_LOST, Quantity
from results.intervals import Interval

#: The source's two plots, and what it says of "all topologies and links".
_PLOTS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("F8.2, Cellular/LAN1", "LAN1", {}),
    ("F8.3, Cellular/WAN2", "WAN2", {}),
    ("8.2.1, PCS/LAN1", "links", {"link": "pcs"}),
    ("8.2.1, WLAN/LAN1", "links", {"link": "wlan"}),
)
#: What *far higher* is at the least, and *nearly constant* and *nearly equal* at the most.
_FAR_HIGHER, _CONSTANT, _EQUAL = 2.0, 0.25, 0.1
_UNCERTAIN = "six runs tell it to 15 to 26 %: their interval contains 0. The throughput of speech is the same to 1 %"
_REACHES = "six runs tell it to 10 to 15 %: their interval reaches into the tolerance"
_REASONS = {
    "F8.3, Cellular/WAN2: throughput of TCP with two services against one, level 4": _REACHES,
    "8.2.1, WLAN/LAN1: throughput of TCP with two services against one, level 3": _REACHES,
    "8.2.1, WLAN/LAN1: throughput of TCP with two services against one, level 4": _REACHES,
    "8.2.1, PCS/LAN1: lost of speech with two services against one, level 3": _UNCERTAIN,
    "8.2.1, PCS/LAN1: lost of speech with two services against one, level 4": "it is 14 ± 6 %, of 10 % that are lost; an "
    "independent simulation has 6 %",
    "8.2.1, WLAN/LAN1: change of the delay from level 1 to 4, two services": "it falls by a third, as in an independent "
    "simulation from 21 to 14 ms: TCP backs off, and fewer of its frames are in the way",
}
#: What is nearly equal in both.
_EQUALS = {
    "lost of speech": TALK_LOST,
    "throughput of speech": TALK_CARRIED,
    "throughput of TCP": Quantity((*FILE.measures, *PAGES.measures), FILE.unit, lambda *values: sum(values)),
}


def compare(cells: Mapping[str, Cells]) -> Iterator[Comparison]:
    """What the source says of both plots and of other links, and of pacing."""
    for figure, campaign, at in _PLOTS:
        yield from _of_plot(figure, cells[campaign], at)
    one, two = cells["LAN1"], cells["WAN2"]
    for level in LEVELS:
        what = f"8.2.1, Cellular: delay at level {level}, one service, LAN1 above WAN2"
        yield falls(what, "in this order", _delays(level, "one", LAN1=one, WAN2=two), TALK_DELAY.unit)
    for level in LEVELS:
        what = f"8.2.1, Cellular: delay at level {level}, two services, WAN2 above LAN1"
        yield falls(what, "a little higher", _delays(level, "two", WAN2=two, LAN1=one), TALK_DELAY.unit)
    for level in LEVELS:
        two_services, one_service = ({"level": level, "services": services} for services in ("two", "one"))
        paced = cells["paced"].derived_change(TALK_DELAY.measures, TALK_DELAY.of, two_services, one_service)
        what = f"8.2.1, Cellular/LAN1: delay of two services against one at level {level}, with pacing"
        yield between(what, "no effect of the scheduler", paced, (-_EQUAL, _EQUAL), PERCENT)


def _of_plot(figure: str, cells: Cells, link: Mapping[str, str]) -> Iterator[Comparison]:
    def at(level: int, services: str) -> dict[str, str | int]:
        return {**link, "level": level, "services": services}

    def between_means(words: str, published: str, ours: Interval, bounds: tuple[float, float]) -> Comparison:
        what = f"{figure}: {words}"
        return between(what, published, ours, bounds, PERCENT, _REASONS.get(what, ""))

    def ordered(words: str, published: str, ours: list[tuple[str, Interval]], unit: Unit) -> Comparison:
        what = f"{figure}: {words}"
        return falls(what, published, ours, unit, _REASONS.get(what, ""))

    def beyond(level: int) -> Interval:
        return cells.derived_change(TALK_DELAY.measures, TALK_DELAY.of, at(level, "one"), at(level, "two"))

    one = [(f"level {level}", cells.derived(TALK_DELAY.measures, TALK_DELAY.of, **at(level, "one"))) for level in LEVELS]
    yield ordered("delay with more errors, one service", "falls", one, TALK_DELAY.unit)
    for level in LEVELS[:2]:
        words = f"delay of one service beyond that of two, level {level}"
        yield between_means(words, "far higher", beyond(level), (_FAR_HIGHER - 1, math.inf))
    words = "delay of one service beyond that of two, with more errors"
    yield ordered(words, "converges", [(f"level {level}", beyond(level)) for level in LEVELS], PERCENT)
    least, most = (at(level, "two") for level in (LEVELS[0], LEVELS[-1]))
    change = cells.derived_change(TALK_DELAY.measures, TALK_DELAY.of, most, least)
    words = "change of the delay from level 1 to 4, two services"
    yield between_means(words, "nearly constant", change, (-_CONSTANT, _CONSTANT))
    for level in LEVELS:
        for words, quantity in _EQUALS.items():
            ours = cells.derived_change(quantity.measures, quantity.of, at(level, "two"), at(level, "one"))
            words = f"{words} with two services against one, level {level}"
            yield between_means(words, "nearly equal", ours, (-_EQUAL, _EQUAL))


def _delay(cells: Cells, level: int, services: str) -> Interval:
    return cells.derived(TALK_DELAY.measures, TALK_DELAY.of, level=level, services=services)


def _delays(level: int, services: str, **cells: Cells) -> list[tuple[str, Interval]]:
    return [(topology, _delay(own, level, services)) for topology, own in cells.items()]


SCHEDULING = CampaignsExperiment(
    id="msll F8.2-8.3",
    title="speech beside TCP, in one service and in two",
    text="A file, pages and speech at once over the cellular link without recovery: all in one service, or TCP in one and UDP in "
    "another with the shares of T7.1, without pacing. The source says that it switched pacing off so that its scheduler has "
    "something to schedule; the last rows have it on, with all packets in one queue above the services. The delay is the mean "
    "and two standard deviations, *far higher* twice that and more, *nearly constant* within 25 %, *nearly equal* within 10 %. "
    "The source ends a run with its file (2 MB, half an hour and more), we after 1000 s. Of other links, which are alike, it has "
    "no plot; ours run for 500 s (PCS) and 60 s (WLAN). 200 packets may wait in each service and above them, so that TCP's "
    "windows of 20 segments lose nothing by a full queue, as in the source.",
    campaigns={
        "LAN1": Path(__file__).with_name("scheduling-lan1.yaml"),
        "WAN2": Path(__file__).with_name("scheduling-wan2.yaml"),
        "links": Path(__file__).with_name("scheduling-links.yaml"),
        "paced": Path(__file__).with_name("scheduling-pacing.yaml"),
    },
    compare=compare,
    full_repetitions=30,
)
