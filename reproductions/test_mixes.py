# SPDX-License-Identifier: GPL-2.0-or-later
"""How speech beside TCP, pages, and three applications at once are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from campaigns.campaign import Campaign
from reproductions.campaign_experiment import measured, repeated
from reproductions.cells import Cells
from reproductions.services.browsing import BROWSING
from reproductions.services.conferences import LEVELS
from reproductions.services.files import FILES_CELLULAR
from reproductions.services.mixes import MIX_OVER_ONE
from reproductions.services.plots import LINK_GOODPUT, TALK_DELAY
from reproductions.services.scheduling import SCHEDULING
from reproductions.test_files import missed

#: What a run of each level measured: kbit/s of the file and of pages, share of lost speech, and its delay in ms.
Levels = tuple[tuple[float, float, float, float], ...]

#: Of an independent simulation of the source's links, TCP and applications, over the cellular link without recovery. With pacing
#: its two services are one.
PACED: Levels = ((4.4, 4.5, 0.0133, 1632), (4.0, 4.6, 0.0225, 1452), (2.6, 3.3, 0.0493, 864), (1.2, 1.5, 0.1013, 400))
ONE_SERVICE: dict[str, Levels] = {
    "LAN1": ((4.7, 4.7, 0.011, 2391), (4.0, 4.7, 0.021, 1707), (2.7, 3.2, 0.0499, 850), (1.2, 1.5, 0.1013, 400)),
    "WAN2": ((3.1, 3.8, 0.019, 1521), (2.2, 2.6, 0.0402, 902), (0.8, 1.2, 0.0988, 461), (0.1, 0.2, 0.1908, 338)),
    "paced": PACED,
}
TWO_SERVICES: dict[str, Levels] = {
    "LAN1": ((4.7, 4.6, 0.0101, 219), (4.0, 4.6, 0.0203, 218), (2.6, 3.5, 0.0508, 210), (1.2, 1.5, 0.1013, 183)),
    "WAN2": ((3.2, 3.7, 0.0195, 391), (2.0, 2.6, 0.0389, 380), (0.8, 1.3, 0.098, 346), (0.1, 0.3, 0.1904, 322)),
    "paced": PACED,
}
#: Over the PCS link and the WLAN.
ONE_SERVICE_OF_LINKS: dict[str, Levels] = {
    "pcs": ((29.5, 16.2, 0.0139, 1938), (28.1, 15.4, 0.0258, 1855), (25.1, 13.5, 0.0564, 1611), (19.0, 13.8, 0.1018, 1442)),
    "wlan": (
        (1136.3, 200.4, 0.0073, 214),
        (824.4, 143.9, 0.0156, 155),
        (453.2, 94.8, 0.0288, 85),
        (151.8, 50.9, 0.0576, 38),
    ),
}
TWO_SERVICES_OF_LINKS: dict[str, Levels] = {
    "pcs": ((28.7, 16.2, 0.0148, 160), (27.9, 15.5, 0.0248, 162), (25.2, 13.5, 0.0527, 164), (20.6, 11.6, 0.096, 166)),
    "wlan": ((1114.3, 201.8, 0.007, 21), (852.9, 154.1, 0.0151, 20), (466.7, 96.8, 0.0306, 18), (175.3, 50.6, 0.0586, 14)),
}
_MEASURES = ("file.transfer_goodput_kbps", "web.page_goodput_kbps", "talk.loss_ratio", "talk.delay_ms_mean")


class Simulated(Cells):
    """One run of each cell, by the values of its parameters but the level."""

    def __init__(self, told: Mapping[tuple[str, ...], Levels]) -> None:
        self._told = told

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        if measure == "talk.delay_ms_deviation":
            return {0: 0.0}
        level = self._told[tuple(at[name] for name in ("link", "scheme", "services") if name in at)][at["level"] - 1]
        if measure == "talk.goodput_kbps":
            return {0: 9.6 * (1 - level[_MEASURES.index("talk.loss_ratio")])}
        return {0: level[_MEASURES.index(measure)]}


def scheduled(two: Mapping[str, Levels], two_of_links: Mapping[str, Levels] = TWO_SERVICES_OF_LINKS) -> set[str]:
    links: dict[tuple[str, ...], Levels] = {
        (link, services): levels
        for services, of_links in (("one", ONE_SERVICE_OF_LINKS), ("two", two_of_links))
        for link, levels in of_links.items()
    }
    cells = {word: Simulated({("one",): own, ("two",): two[word]}) for word, own in ONE_SERVICE.items()}
    return missed(SCHEDULING.compare({**cells, "links": Simulated(links)}))


def test_another_simulation_of_the_scheduler_has_the_words_of_the_source_but_where_hardly_anything_is_carried() -> None:
    """At the most errors of two links TCP has 0.3 and 0.4 kbit/s there, to a tenth. On the WLAN hardly anything waits then."""
    assert scheduled(TWO_SERVICES) == {
        "F8.3, Cellular/WAN2: throughput of TCP with two services against one, level 4",
        "8.2.1, WLAN/LAN1: change of the delay from level 1 to 4, two services",
        "8.2.1, WLAN/LAN1: throughput of TCP with two services against one, level 4",
    }


def test_a_scheduler_that_does_nothing_is_not_that_of_the_source() -> None:
    found = scheduled(ONE_SERVICE, ONE_SERVICE_OF_LINKS)
    for figure in ("F8.2, Cellular/LAN1", "F8.3, Cellular/WAN2", "8.2.1, PCS/LAN1", "8.2.1, WLAN/LAN1"):
        assert f"{figure}: delay of one service beyond that of two, level 1" in found
    for figure in ("F8.2, Cellular/LAN1", "F8.3, Cellular/WAN2", "8.2.1, WLAN/LAN1"):
        assert f"{figure}: change of the delay from level 1 to 4, two services" in found


def test_a_scheduler_that_works_below_pacing_is_not_that_of_the_source() -> None:
    found = scheduled(TWO_SERVICES | {"paced": TWO_SERVICES["LAN1"]})
    assert found - scheduled(TWO_SERVICES) == {
        f"8.2.1, Cellular/LAN1: delay of two services against one at level {level}, with pacing" for level in LEVELS
    }


#: kbit/s of pages at each level that have the source's gains where it says them, and its orderings.
PAGES: dict[str, dict[tuple[str, str], tuple[float, ...]]] = {
    "LAN1": {
        ("cellular", "none"): (6.0, 4.0, 1.5, 0.5),
        ("cellular", "sr-m2"): (8.04, 7.5, 7.2, 7.0),
        ("cellular", "rlp"): (8.7, 8.0, 7.0, 5.4),
        ("cellular", "snoop"): (6.6, 4.4, 1.65, 0.55),
        ("pcs", "none"): (15.0, 14.0, 13.0, 10.0),
        ("pcs", "sr-m2"): (39.0, 38.9, 38.0, 37.5),
        ("pcs", "rlp"): (40.5, 40.0, 38.0, 36.0),
        ("pcs", "snoop"): (15.5, 14.5, 13.5, 10.5),
        ("wlan", "none"): (200.0, 100.0, 50.0, 25.0),
        ("wlan", "sr-m2"): (1100.0, 1090.0, 1080.0, 1070.0),
        ("wlan", "rlp"): (1130.0, 1130.0, 1140.0, 1240.0),
        ("wlan", "snoop"): (210.0, 105.0, 52.0, 26.0),
    },
    "WAN2": {
        ("cellular", "none"): (2.0, 1.0, 0.6, 0.2),
        ("cellular", "sr-m2"): (5.7, 5.4, 5.0, 4.6),
        ("cellular", "rlp"): (5.8, 5.4, 4.5, 3.34),
        ("cellular", "snoop"): (2.1, 1.1, 0.7, 0.3),
        ("pcs", "none"): (8.0, 7.0, 6.0, 5.0),
        ("pcs", "sr-m2"): (31.6, 31.0, 30.0, 32.0),
        ("pcs", "rlp"): (32.0, 31.5, 30.5, 29.0),
        ("pcs", "snoop"): (8.5, 7.5, 6.5, 5.5),
        ("wlan", "none"): (100.0, 50.0, 30.0, 15.0),
        ("wlan", "sr-m2"): (255.0, 250.0, 240.0, 219.75),
        ("wlan", "rlp"): (250.0, 245.0, 240.0, 224.25),
        ("wlan", "snoop"): (110.0, 55.0, 33.0, 18.0),
    },
}


def browsed(pages: Mapping[str, Mapping[tuple[str, str], tuple[float, ...]]]) -> set[str]:
    return missed(
        BROWSING.compare(
            {
                topology: Simulated({place: tuple((0.0, kbps, 0.0, 0.0) for kbps in levels) for place, levels in own.items()})
                for topology, own in pages.items()
            }
        )
    )


def test_pages_with_the_gains_of_the_source_have_its_words() -> None:
    assert browsed(PAGES) == set()


def test_a_snoop_that_helps_pages_is_not_that_of_the_source() -> None:
    helpful = {**PAGES["LAN1"], ("wlan", "snoop"): (400.0, 300.0, 200.0, 100.0)}
    assert browsed({**PAGES, "LAN1": helpful}) == {f"F4.15, WLAN/LAN1: Snoop against Default, level {level}" for level in LEVELS}


def mixed(delays: tuple[float, ...]) -> set[str]:
    """Of the cellular link, where Snoop beside RLP/OOS has such delays and all else is as its order in the source asks."""
    told: dict[tuple[str, ...], Levels] = {}
    for link in ("cellular", "pcs", "wlan"):
        for number, scheme in enumerate(("none+none", "none+rlp-oos", "rlp+rlp-oos", "snoop+rlp-oos", "sr-m2+rlp-oos")):
            told[link, scheme] = tuple((1.0, 1.0, 0.01, 100.0 * (1 + number) + level) for level in LEVELS)
    told["cellular", "snoop+rlp-oos"] = tuple((1.0, 1.0, 0.01, delay) for delay in delays)
    return {what for what in missed(MIX_OVER_ONE.compare(Simulated(told))) if what.startswith("F7.13") and "Snoop" in what}


def test_speech_waits_longest_beside_snoop_but_for_the_most_errors() -> None:
    above, below = (600.0, 601.0, 602.0), (400.0, 401.0, 402.0)
    assert mixed((*above, 603.0)) == {"F7.13, Cellular/LAN1: level 4, SR/M2 above Snoop above RLP"}
    assert "F7.13, Cellular/LAN1: level 1, Snoop above SR/M2 above RLP" in mixed((*below, 403.0))
    assert "F7.13, Cellular/LAN1: level 4, SR/M2 above Snoop above RLP" not in mixed((*below, 403.0))


def cells_of(path: Path, results: Path, *, duration_s: float | None = None, **values: list[Any]) -> Cells:
    """A run at each of these values of a campaign's parameters, and at all of those that are not said."""
    campaign = repeated(Campaign.load(path), 1)
    parameters = dict(campaign.file.parameters)
    for name, wanted in values.items():
        known = parameters[name].values
        chosen = {value: known[value] for value in wanted} if isinstance(known, dict) else wanted
        parameters[name] = parameters[name].model_copy(update={"values": chosen})
    update: dict[str, Any] = {"parameters": parameters}
    if duration_s is not None:
        update["duration"] = duration_s
    return measured(replace(campaign, file=campaign.file.model_copy(update=update)), results, lambda _: None)


@pytest.mark.long
def test_in_a_cell_speech_waits_behind_tcp_unless_it_has_a_service_of_its_own(tmp_path: Path) -> None:
    """Xylomenos 1999, 8.2.1; a packet of speech alone takes 129 ms over the LAN and the link, and a frame of TCP 28 ms."""
    cells = cells_of(SCHEDULING.campaigns["LAN1"], tmp_path, duration_s=200.0, level=[1])
    one, two = (cells.derived(TALK_DELAY.measures, TALK_DELAY.of, services=services).mean for services in ("one", "two"))
    assert 129 < two < 129 + 4 * 28 < one / 4


@pytest.mark.long
def test_in_a_cell_pacing_makes_two_services_one(tmp_path: Path) -> None:
    """The same, run by run: a scheduler to which packets come one at a time has nothing to schedule."""
    cells = cells_of(SCHEDULING.campaigns["paced"], tmp_path, duration_s=200.0, level=[1])
    one, two = (cells.derived(TALK_DELAY.measures, TALK_DELAY.of, services=services).mean for services in ("one", "two"))
    assert one == two > 500


@pytest.mark.long
def test_in_a_cell_recovery_carries_a_file_of_short_segments_faster_and_sends_less_than_go_back_n(tmp_path: Path) -> None:
    """At level 3 of the cellular link an independent simulation has 3.8 kbit/s without, 4.0 by Go Back N, 8.4 by RLP."""
    schemes = ["none", "go-back-n", "rlp"]
    cells = cells_of(FILES_CELLULAR.campaigns["LAN1"], tmp_path, duration_s=300.0, level=[3], scheme=schemes)
    kbps = {scheme: cells.mean("file.transfer_goodput_kbps", scheme=scheme).mean for scheme in schemes}
    assert kbps["rlp"] > 1.5 * max(kbps["none"], kbps["go-back-n"])
    goodput = {scheme: cells.derived(LINK_GOODPUT.measures, LINK_GOODPUT.of, scheme=scheme).mean for scheme in schemes}
    assert goodput["go-back-n"] < 0.7 < goodput["rlp"] < 0.95 < 1.05 * goodput["none"]


@pytest.mark.long
def test_in_a_cell_recovery_carries_pages_faster(tmp_path: Path) -> None:
    """At level 1 of the WLAN the source has six times as much, an independent simulation 3.6 times."""
    cells = cells_of(BROWSING.campaigns["LAN1"], tmp_path, link=["wlan"], level=[1], scheme=["none", "rlp"])
    without, by_rlp = (cells.mean("web.page_goodput_kbps", scheme=scheme).mean for scheme in ("none", "rlp"))
    assert by_rlp > 2.5 * without


@pytest.mark.long
def test_in_a_cell_speech_loses_as_little_beside_tcp_as_alone(tmp_path: Path) -> None:
    """RLP that asks once leaves p^2, a NAK being too short to be lost: p is 5.9 % of 1002 bytes at level 4 of the WLAN."""
    cells = cells_of(MIX_OVER_ONE.campaign, tmp_path, link=["wlan"], level=[4], scheme=["sr-m2+rlp-oos"])
    share, packets = 0.0593**2, 3100
    assert cells.mean("talk.loss_ratio").mean == pytest.approx(share, abs=3 * (share / packets) ** 0.5)
