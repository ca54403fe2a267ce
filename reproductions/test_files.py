# SPDX-License-Identifier: GPL-2.0-or-later
"""How files over wireless links are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from reproductions.cells import Cells
from reproductions.comparison import Comparison
from reproductions.services import independent
from reproductions.services.conferences import LEVELS
from reproductions.services.files import FILES_CELLULAR, FILES_ELSEWHERE, FILES_OVER_ONE, FILES_OVER_TWO, GOODPUT

Told = dict[tuple[str, str], tuple[float, ...]]


def told(topology: str, of: Callable[[independent.File], float]) -> Told:
    """Of an independent simulation of the source's links, schemes and TCP, by link and scheme: a figure at each level."""
    figures = {cell: of(file) for cell, file in independent.whole_files().items() if cell.topology == topology}
    return {
        (cell.link, cell.scheme): tuple(figures[replace(cell, level=level)] for level in LEVELS)
        for cell in figures
        if cell.level == LEVELS[0]
    }


#: kbit/s of whole files over one link and over two, and over one link the link layer's goodput in the file's direction.
ONE_LINK, TWO_LINKS = told("LAN1", lambda file: file.kbps), told("WAN2", lambda file: file.kbps)
CARRIED = told("LAN1", lambda file: file.goodput)


class Simulated(Cells):
    """One value of each cell, in place of runs."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        place = at["link"], at["scheme"]
        if measure == "file.transfer_goodput_kbps":
            return {0: self._told[place][at["level"] - 1]}
        if measure == "file.tcp_repeated_ratio":
            return {0: 0.0}
        return {0: 1.0 if measure == "air.base.station_sent_bytes" else CARRIED[place][at["level"] - 1]}


def not_reproduced(compare: Callable[[Cells], Iterator[Comparison]], told: Told) -> set[str]:
    return missed(compare(Simulated(told)))


def missed(comparisons: Iterator[Comparison]) -> set[str]:
    return {one.what for one in comparisons if one.verdict == "not reproduced"}


def test_another_simulation_of_the_source_has_its_words_but_for_the_least_gain_on_the_wlan_rlp_on_pcs_and_a_goodput() -> None:
    assert not_reproduced(FILES_OVER_ONE.compare, ONE_LINK) == {
        "F4.5, PCS/LAN1: level 1, SR/M2 above RLP",
        "F4.5, PCS/LAN1: level 2, SR/M2 above RLP",
        "F4.8, WLAN/LAN1: gain by SR/M2, level 1",
        "F4.8, WLAN/LAN1: gain by RLP, level 1",
    }
    assert not_reproduced(GOODPUT.compare, ONE_LINK) == {"F4.7, PCS/LAN1: levels with RLP above Snoop"}
    assert not_reproduced(FILES_OVER_TWO.compare, TWO_LINKS) == set()


@pytest.mark.parametrize("level", LEVELS)
def test_a_snoop_that_helps_on_two_links_is_not_that_of_the_source(level: int) -> None:
    told = TWO_LINKS | {
        ("wlan", "snoop"): tuple(2000.0 if one == level else kbps for one, kbps in enumerate(TWO_LINKS["wlan", "snoop"], 1))
    }
    assert not_reproduced(FILES_OVER_TWO.compare, told) == {
        f"F4.9, WLAN/WAN2: level {level}, SR/M2 above Snoop above Default",
        "F4.9, WLAN/WAN2: throughputs near an independent simulation's",
    }


def cellular(one: Told) -> set[str]:
    """The other simulation has neither SR nor SR/M1: they are told to be slower."""
    slower = {
        ("cellular", scheme): tuple(share * kbps for kbps in one["cellular", "sr-m2"])
        for scheme, share in (("sr", 0.8), ("sr-m1", 0.9))
    }
    return missed(FILES_CELLULAR.compare({"LAN1": Simulated(slower | one), "WAN2": Simulated(TWO_LINKS)}))


def test_another_simulation_of_the_cellular_link_has_the_words_of_the_source_but_for_rlps_least_gain_and_snoop() -> None:
    assert cellular(ONE_LINK) == {
        "F4.2, Cellular/LAN1: gain by RLP, level 1",
        "F4.2, Cellular/LAN1: level 3, Snoop most",
    }


def test_a_go_back_n_that_is_slower_than_default_at_all_levels_is_not_that_of_the_source() -> None:
    missed_by = cellular(ONE_LINK | {("cellular", "go-back-n"): (1.0, 1.0, 1.0, 1.0)}) - cellular(ONE_LINK)
    assert missed_by == {
        "F4.2, Cellular/LAN1: levels with GBN below Default",
        "F4.2, Cellular/LAN1: throughputs near an independent simulation's",
    }


def test_an_sr_m1_that_is_faster_than_sr_m2_is_not_that_of_the_source() -> None:
    fast = {("cellular", "sr-m1"): (11.76, 10.0, 8.0, 6.0)}
    assert cellular(ONE_LINK | fast) - cellular(ONE_LINK) == {
        "F4.2, Cellular/LAN1: level 1, SR/M2 above SR/M1 above SR",
    }


def test_what_a_link_layer_and_tcp_both_repeat_is_not_that_of_the_source_below_level_4() -> None:
    class BothRepeat(Simulated):
        def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
            if measure == "file.tcp_repeated_ratio":
                return {0: 0.02 if at["level"] == 2 and at["scheme"] == "rlp" else 0.0}
            return super()._by_repetition(measure, at)

    missed_by = missed(FILES_OVER_ONE.compare(BothRepeat(ONE_LINK))) - not_reproduced(FILES_OVER_ONE.compare, ONE_LINK)
    again = "bytes that TCP receives again, RLP, most of levels 1 to 3"
    assert missed_by == {f"F4.5, PCS/LAN1: {again}", f"F4.8, WLAN/LAN1: {again}"}


def test_another_simulation_has_the_words_of_the_source_of_topologies_without_plots() -> None:
    files = {topology: Simulated(told(topology, lambda file: file.kbps)) for topology in ("LAN1", "WAN1", "LAN2")}
    assert missed(FILES_ELSEWHERE.compare(files)) == set()
    assert len(missed(FILES_ELSEWHERE.compare({**files, "WAN1": files["LAN1"]}))) > 8, "no gain is larger"
