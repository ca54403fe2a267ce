# SPDX-License-Identifier: GPL-2.0-or-later
"""The study of services: its tables, and how runs of conferencing are judged."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from netboxes.multiservice.profiles import ProfileName
from reproductions import document
from reproductions.services import SERVICES, full_recovery
from reproductions.services.conferences import LEVELS, Cell, Conferences, Heard, Scheme, Topology
from reproductions.services.conferencing import compare
from reproductions.services.tables import TABLES

#: By scenario and scheme, loss (%) and delay (ms) of each level, of an independent simulation of the source's links and schemes.
SIMULATED: dict[tuple[ProfileName, Topology, Scheme], tuple[tuple[float, float], ...]] = {
    ("cellular", "LAN1", "none"): ((1.03, 130), (2.05, 130), (5.06, 130), (10.14, 130)),
    ("cellular", "LAN1", "xor"): ((0.07, 301), (0.31, 352), (1.72, 435), (5.76, 498)),
    ("cellular", "LAN1", "xor-adaptive"): ((0.07, 173), (0.28, 188), (1.61, 211), (5.48, 225)),
    ("cellular", "LAN1", "rlp"): ((0.03, 241), (0.1, 304), (0.51, 448), (1.91, 645)),
    ("cellular", "LAN1", "rlp-oos"): ((0.03, 193), (0.1, 220), (0.5, 274), (1.9, 336)),
    ("cellular", "WAN2", "none"): ((2.04, 307), (4.04, 307), (9.8, 307), (19.1, 307)),
    ("cellular", "WAN2", "xor"): ((0.17, 559), (0.63, 631), (3.4, 757), (11.19, 851)),
    ("cellular", "WAN2", "xor-adaptive"): ((0.17, 369), (0.59, 393), (3.18, 428), (10.58, 452)),
    ("cellular", "WAN2", "rlp"): ((0.07, 529), (0.19, 662), (1.01, 972), (3.86, 1354)),
    ("cellular", "WAN2", "rlp-oos"): ((0.06, 399), (0.2, 440), (1, 521), (3.79, 619)),
    ("pcs", "LAN1", "none"): ((1.4, 83), (2.31, 83), (5.19, 83), (9.74, 83)),
    ("pcs", "LAN1", "xor"): ((0.94, 252), (2.04, 255), (4.95, 255), (8.35, 298)),
    ("pcs", "LAN1", "xor-adaptive"): ((0.98, 126), (2.24, 122), (4.73, 121), (9.26, 121)),
    ("pcs", "LAN1", "rlp"): ((0.02, 282), (0.08, 398), (0.42, 729), (1.94, 1139)),
    ("pcs", "LAN1", "rlp-oos"): ((0.02, 179), (0.07, 266), (0.42, 550), (1.94, 886)),
    ("pcs", "WAN2", "none"): ((2.8, 214), (4.89, 214), (9.61, 214), (18.09, 214)),
    ("pcs", "WAN2", "xor"): ((1.95, 451), (3.95, 443), (9.82, 485), (17.67, 547)),
    ("pcs", "WAN2", "xor-adaptive"): ((2.06, 275), (3.95, 271), (9.84, 271), (17.51, 268)),
    ("pcs", "WAN2", "rlp"): ((0.06, 500), (0.14, 687), (0.99, 1265), (4.01, 1930)),
    ("pcs", "WAN2", "rlp-oos"): ((0.04, 351), (0.13, 477), (0.92, 890), (3.71, 1459)),
    ("wlan", "LAN1", "none"): ((0.76, 9), (1.52, 9), (3.01, 9), (5.96, 9)),
    ("wlan", "LAN1", "xor"): ((0.07, 80), (0.26, 90), (0.93, 132), (3.06, 148)),
    ("wlan", "LAN1", "xor-adaptive"): ((0.05, 18), (0.24, 22), (0.91, 26), (3.01, 29)),
    ("wlan", "LAN1", "rlp"): ((0, 14), (0.03, 17), (0.09, 21), (0.35, 30)),
    ("wlan", "LAN1", "rlp-oos"): ((0, 13), (0.03, 14), (0.09, 16), (0.35, 20)),
    ("wlan", "WAN2", "none"): ((1.52, 68), (2.99, 68), (5.92, 68), (11.48, 68)),
    ("wlan", "WAN2", "xor"): ((0.15, 165), (0.5, 183), (1.83, 235), (5.97, 262)),
    ("wlan", "WAN2", "xor-adaptive"): ((0.14, 82), (0.5, 87), (1.81, 93), (5.88, 98)),
    ("wlan", "WAN2", "rlp"): ((0.03, 76), (0.07, 81), (0.19, 89), (0.7, 105)),
    ("wlan", "WAN2", "rlp-oos"): ((0.03, 73), (0.06, 76), (0.19, 79), (0.7, 84)),
}


def told() -> dict[Cell, list[Heard]]:
    return {
        Cell(*scenario, level): [Heard(loss / 100, delay_ms)]
        for scenario, levels in SIMULATED.items()
        for level, (loss, delay_ms) in zip(LEVELS, levels, strict=True)
    }


def not_reproduced(runs: dict[Cell, list[Heard]]) -> set[str]:
    return {one.what for one in compare(Conferences(runs)) if one.verdict == "not reproduced"}


def test_tables_are_exact_and_delays_of_recovery_are_the_published_ones(tmp_path: Path) -> None:
    compared = TABLES.carry(tmp_path, lambda _: None)
    assert {one.verdict for one in compared.comparisons} == {"reproduced"}
    document.keep(SERVICES, {TABLES: compared}, tmp_path)
    assert document.kept(SERVICES, tmp_path) == {TABLES: compared}


def test_another_simulation_of_the_source_reproduces_its_words() -> None:
    assert not_reproduced(told()) == set()


def test_an_rlp_that_does_not_recover_is_not_that_of_the_source() -> None:
    runs = told()
    for level in LEVELS:
        runs[Cell("cellular", "LAN1", "rlp", level)] = runs[Cell("cellular", "LAN1", "none", level)]
    found = not_reproduced(runs)
    assert "F5.4, Cellular/LAN1: lost at level 3, RLP" in found
    assert "F5.4, Cellular/LAN1: lost at level 4, XOR above RLP" in found
    assert "F5.5, Cellular/LAN1: delay with more errors, RLP" in found


def test_parity_that_repairs_fades_is_not_that_of_the_source() -> None:
    runs = told()
    runs[Cell("pcs", "WAN2", "xor", 4)] = [Heard(0.02, 547.0)]
    assert not_reproduced(runs) == {"F5.10, PCS/WAN2: lost at level 4, XOR against Default"}


def test_full_recovery_loses_by_long_timers_alone() -> None:
    """By the independent simulation, with a timer of 0.35 s and of 40 s: not the source's words without such timers."""
    cases: tuple[tuple[Scheme, str | None, tuple[float, ...], float], ...] = (
        ("none", None, (0.01, 0.02, 0.05, 0.1), 130.0),
        ("rlp-oos", None, (0.0003, 0.001, 0.005, 0.019), 336.0),
        ("sr-m2", None, (0.0, 0.0, 0.0001, 0.0004), 2300.0),
        ("sr-m2", "40 s", (0.129, 0.167, 0.243, 0.427), 31_900.0),
    )
    runs = {
        Cell("cellular", "LAN1", scheme, level, timer): [Heard(losses[level - 1], delay_ms)]
        for scheme, timer, losses, delay_ms in cases
        for level in LEVELS
    }
    compared = list(full_recovery.compare(Conferences(runs)))
    assert all(one.is_as_known for one in compared)
    assert [one.verdict for one in compared].count("not reproduced") == 4


@pytest.mark.parametrize(("topology", "percent"), [("LAN1", 1.9), ("WAN2", 3.764)])
def test_rlp_that_asks_once_loses_what_is_lost_twice(topology: Topology, percent: float) -> None:
    """p (1 - (1 - p)^2) of each link; a run has some 20 000 packets."""
    cell = Cell("cellular", topology, "rlp-oos", 4)
    share, count = percent / 100, 3 * 20_000
    loss = Conferences.held(3, [cell]).loss(cell).mean
    assert loss == pytest.approx(share, abs=3 * sqrt(share * (1 - share) / count))
