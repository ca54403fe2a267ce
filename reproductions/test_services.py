# SPDX-License-Identifier: GPL-2.0-or-later
"""The study of services: its tables, and how runs of conferencing are judged."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from reproductions import document
from reproductions.services import SERVICES, full_recovery, independent
from reproductions.services.conferences import LEVELS, Cell, Conferences, Heard, Scheme, Topology
from reproductions.services.conferencing import WORDS, compare
from reproductions.services.tables import TABLES


def told() -> dict[Cell, list[Heard]]:
    """Of an independent simulation of the source's links and schemes."""
    return {cell: [Heard(there.lost_percent / 100, there.delay_ms)] for cell, there in independent.conferences().items()}


def not_reproduced(runs: dict[Cell, list[Heard]]) -> set[str]:
    return {one.what for one in compare(Conferences(runs)) if one.verdict == "not reproduced"}


def test_tables_are_exact_and_delays_of_recovery_are_the_published_ones(tmp_path: Path) -> None:
    compared = TABLES.carry(tmp_path, lambda _: None)
    assert {one.verdict for one in compared.comparisons} == {"reproduced"}
    document.keep(SERVICES, {TABLES: compared}, tmp_path)
    assert document.kept(SERVICES, tmp_path) == {TABLES: compared}


def test_another_simulation_of_the_source_reproduces_its_words() -> None:
    assert not_reproduced(told()) == set()


def test_losses_and_delays_are_beside_those_of_another_simulation() -> None:
    runs = told()
    runs[Cell("pcs", "WAN2", "xor", 4)] = [Heard(0.16, 547.0)]  # 17.67 % there, 1.26 % from run to run
    runs[Cell("wlan", "LAN1", "rlp", 4)] = [Heard(0.0035, 33.5)]  # 30 ms there, 1 ms from run to run

    def far(count: int) -> set[str]:
        beside = independent.beside_conferences(Conferences(runs), count, WORDS, {})
        return {one.what for one in beside if one.verdict == "not reproduced"}

    # Three standard errors of the differences: by two runs 2.9 % and 4 ms, by thirty 1.4 % and 2 ms.
    assert far(2) == set()
    assert far(30) == {
        "PCS/WAN2: losses near an independent simulation's",
        "WLAN/LAN1: delays near an independent simulation's",
    }


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


@pytest.mark.parametrize(("topology", "delay_ms"), [("LAN1", 8.8), ("WAN1", 61.0), ("LAN2", 15.8), ("WAN2", 68.0)])
def test_without_recovery_packets_take_what_the_wlan_and_its_wires_take(topology: Topology, delay_ms: float) -> None:
    """4.004 and 3 ms of a WLAN; 1 and 0.8 ms of a LAN, or 50 and 4 ms of a WAN and 0.1 ms for its headers (tables 3.1 to 3.3)."""
    cell = Cell("wlan", topology, "none", 1)
    assert Conferences.held(1, [cell]).delay_ms(cell).mean == pytest.approx(delay_ms, abs=0.15)
