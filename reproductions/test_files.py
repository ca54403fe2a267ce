# SPDX-License-Identifier: GPL-2.0-or-later
"""How files over wireless links are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from reproductions.cells import Cells
from reproductions.comparison import Comparison
from reproductions.services.conferences import LEVELS
from reproductions.services.files import FILES_CELLULAR, FILES_OVER_ONE, FILES_OVER_TWO, GOODPUT

Told = dict[tuple[str, str], tuple[float, ...]]

#: kbit/s at each level, of whole files in an independent simulation of the source's links, schemes and TCP, by link and scheme.
ONE_LINK: Told = {
    ("cellular", "none"): (11.23, 8.13, 3.81, 1.37),
    ("cellular", "go-back-n"): (8.94, 6.73, 4.01, 2.43),
    ("cellular", "sr-m2"): (11.75, 10.58, 8.46, 6.46),
    ("cellular", "rlp"): (11.96, 10.71, 8.36, 5.78),
    ("cellular", "snoop"): (12.84, 11.56, 7.93, 3.00),
    ("pcs", "none"): (49.48, 48.28, 43.73, 34.24),
    ("pcs", "sr-m2"): (60.92, 59.85, 56.55, 50.59),
    ("pcs", "rlp"): (61.14, 60.13, 56.37, 49.56),
    ("pcs", "snoop"): (55.21, 51.54, 45.89, 41.23),
    ("wlan", "none"): (1526.85, 1041.19, 485.03, 169.31),
    ("wlan", "go-back-n"): (1658.13, 1415.59, 1088.12, 739.96),
    ("wlan", "sr-m2"): (1948.23, 1911.79, 1851.35, 1759.36),
    ("wlan", "rlp"): (1952.30, 1918.19, 1863.21, 1769.29),
    ("wlan", "snoop"): (1945.94, 1888.32, 1757.32, 1409.01),
}
TWO_LINKS: Told = {
    ("cellular", "none"): (4.13, 2.36, 0.80, 0.15),
    ("cellular", "go-back-n"): (6.70, 4.85, 2.92, 1.84),
    ("cellular", "sr-m2"): (10.19, 8.59, 6.06, 4.23),
    ("cellular", "rlp"): (10.25, 8.60, 5.79, 3.47),
    ("cellular", "snoop"): (6.03, 3.71, 1.59, 0.51),
    ("pcs", "none"): (28.60, 23.48, 15.29, 7.05),
    ("pcs", "sr-m2"): (57.70, 55.38, 49.04, 39.74),
    ("pcs", "rlp"): (57.84, 55.36, 47.60, 37.04),
    ("pcs", "snoop"): (39.46, 33.42, 23.97, 13.88),
    ("wlan", "none"): (424.24, 233.72, 107.00, 39.41),
    ("wlan", "sr-m2"): (1262.62, 1238.97, 1185.48, 1072.86),
    ("wlan", "rlp"): (1262.70, 1239.97, 1183.73, 1060.98),
    ("wlan", "snoop"): (662.86, 411.67, 206.98, 83.48),
}
#: The same simulation's goodput of the link layer over one link, in the file's direction.
CARRIED: Told = {
    ("cellular", "none"): (0.970, 0.960, 0.927, 0.865),
    ("cellular", "go-back-n"): (0.788, 0.683, 0.504, 0.356),
    ("cellular", "sr-m2"): (0.926, 0.905, 0.831, 0.704),
    ("cellular", "rlp"): (0.951, 0.940, 0.910, 0.860),
    ("cellular", "snoop"): (0.970, 0.958, 0.924, 0.870),
    ("pcs", "none"): (0.977, 0.971, 0.959, 0.954),
    ("pcs", "sr-m2"): (0.972, 0.961, 0.936, 0.886),
    ("pcs", "rlp"): (0.978, 0.969, 0.948, 0.912),
    ("pcs", "snoop"): (0.980, 0.971, 0.953, 0.933),
    ("wlan", "none"): (0.991, 0.984, 0.968, 0.936),
    ("wlan", "go-back-n"): (0.866, 0.764, 0.615, 0.439),
    ("wlan", "sr-m2"): (0.988, 0.979, 0.959, 0.918),
    ("wlan", "rlp"): (0.991, 0.983, 0.968, 0.938),
    ("wlan", "snoop"): (0.992, 0.984, 0.969, 0.939),
}


class Simulated(Cells):
    """One value of each cell, in place of runs."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        place = at["link"], at["scheme"]
        if measure == "file.transfer_goodput_kbps":
            return {0: self._told[place][at["level"] - 1]}
        return {0: 1.0 if measure == "air.base.station_sent_bytes" else CARRIED[place][at["level"] - 1]}


def not_reproduced(compare: Callable[[Cells], Iterator[Comparison]], told: Told) -> set[str]:
    return missed(compare(Simulated(told)))


def missed(comparisons: Iterator[Comparison]) -> set[str]:
    return {one.what for one in comparisons if one.verdict == "not reproduced"}


def test_another_simulation_of_the_source_has_its_words_but_for_the_least_gain_on_the_wlan_and_a_goodput() -> None:
    assert not_reproduced(FILES_OVER_ONE.compare, ONE_LINK) == {
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
    assert not_reproduced(FILES_OVER_TWO.compare, told) == {f"F4.9, WLAN/WAN2: level {level}, SR/M2 above Snoop above Default"}


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
    assert missed_by == {"F4.2, Cellular/LAN1: levels with GBN below Default"}


def test_an_sr_m1_that_is_faster_than_sr_m2_is_not_that_of_the_source() -> None:
    fast = {("cellular", "sr-m1"): (11.76, 10.0, 8.0, 6.0)}
    assert cellular(ONE_LINK | fast) - cellular(ONE_LINK) == {
        "F4.2, Cellular/LAN1: level 1, SR/M2 above SR/M1 above SR",
    }
