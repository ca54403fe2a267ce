# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns and ratios."""

from __future__ import annotations

from bench.pairs import alternate, ratio


def test_contestants_have_their_turns_one_after_the_other() -> None:
    turns: list[str] = []

    def of(name: str, value: float) -> float:
        turns.append(name)
        return value

    got = alternate({"ours": lambda: of("ours", 6.0), "stock": lambda: of("stock", 2.0)}, rounds=3)
    assert turns == ["ours", "stock"] * 3
    assert got == {"ours": [6.0] * 3, "stock": [2.0] * 3}


def test_a_ratio_is_taken_pair_by_pair_and_told_with_its_spread() -> None:
    quotient = ratio([6, 8, 20], [2, 2, 4])
    assert quotient.to_json() == {
        "median": 4.0,
        "min": 3.0,
        "max": 5.0,
        "pairs": [
            {"above": 6, "below": 2, "ratio": 3.0},
            {"above": 8, "below": 2, "ratio": 4.0},
            {"above": 20, "below": 4, "ratio": 5.0},
        ],
    }
