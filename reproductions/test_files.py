# SPDX-License-Identifier: GPL-2.0-or-later
"""How files over wireless links are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from reproductions.cells import Cells
from reproductions.comparison import Comparison
from reproductions.services.conferences import LEVELS
from reproductions.services.files import FILES_OVER_ONE, FILES_OVER_TWO

Told = dict[tuple[str, str], tuple[float, ...]]

#: kbit/s at each level, of whole files in an independent simulation of the source's links, schemes and TCP, by link and scheme.
ONE_LINK: Told = {
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
    ("pcs", "none"): (28.60, 23.48, 15.29, 7.05),
    ("pcs", "sr-m2"): (57.70, 55.38, 49.04, 39.74),
    ("pcs", "rlp"): (57.84, 55.36, 47.60, 37.04),
    ("pcs", "snoop"): (39.46, 33.42, 23.97, 13.88),
    ("wlan", "none"): (424.24, 233.72, 107.00, 39.41),
    ("wlan", "sr-m2"): (1262.62, 1238.97, 1185.48, 1072.86),
    ("wlan", "rlp"): (1262.70, 1239.97, 1183.73, 1060.98),
    ("wlan", "snoop"): (662.86, 411.67, 206.98, 83.48),
}


class Simulated(Cells):
    """One value of each cell, in place of runs."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        return {0: self._told[at["link"], at["scheme"]][int(at["level"]) - 1]}


def not_reproduced(compare: Callable[[Cells], Iterator[Comparison]], told: Told) -> set[str]:
    return {one.what for one in compare(Simulated(told)) if one.verdict == "not reproduced"}


def test_another_simulation_of_the_source_has_its_words_but_for_the_least_gain_on_the_wlan() -> None:
    assert not_reproduced(FILES_OVER_ONE.compare, ONE_LINK) == {
        "F4.8, WLAN/LAN1: gain by SR/M2, level 1",
        "F4.8, WLAN/LAN1: gain by RLP, level 1",
    }
    assert not_reproduced(FILES_OVER_TWO.compare, TWO_LINKS) == set()


@pytest.mark.parametrize("level", LEVELS)
def test_a_snoop_that_helps_on_two_links_is_not_that_of_the_source(level: int) -> None:
    told = TWO_LINKS | {
        ("wlan", "snoop"): tuple(2000.0 if one == level else kbps for one, kbps in enumerate(TWO_LINKS["wlan", "snoop"], 1))
    }
    assert not_reproduced(FILES_OVER_TWO.compare, told) == {f"F4.9, WLAN/WAN2: level {level}, SR/M2 above Snoop above Default"}
