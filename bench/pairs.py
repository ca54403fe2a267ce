# SPDX-License-Identifier: GPL-2.0-or-later
"""Two contestants in turns, A B A B: what the machine does meanwhile happens to both, and their ratio stays."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from testbed.documents.bench import RatioOfPairs

T = TypeVar("T")


@dataclass(frozen=True)
class Ratio:
    """A ratio by its pairs; median, smallest and largest say how much of it is chance."""

    pairs: tuple[tuple[float, float], ...]

    @property
    def values(self) -> list[float]:
        return [above / below for above, below in self.pairs]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def to_json(self) -> RatioOfPairs:
        return {
            "median": self.median,
            "min": min(self.values),
            "max": max(self.values),
            "pairs": [{"above": above, "below": below, "ratio": above / below} for above, below in self.pairs],
        }


def alternate(contestants: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Lets each contestant have its turn, `rounds` times over; what each got, by turn."""
    got: dict[str, list[T]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, turn in contestants.items():
            got[name].append(turn())
    return got


def ratio(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Turn by turn: the first of one against the first of the other."""
    return Ratio(tuple(zip(above, below, strict=True)))
