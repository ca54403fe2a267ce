# SPDX-License-Identifier: GPL-2.0-or-later
"""What a benchmark has measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from bench.pairs import Ratio

if TYPE_CHECKING:
    from testbed.documents.bench import Figures


@dataclass(frozen=True)
class Table:
    """One of the report's tables; cells are text for people."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def to_markdown(self) -> str:
        lines = [f"### {self.title}", "", _row(self.head), _row(["---"] * len(self.head)), *map(_row, self.rows)]
        return "\n".join([*lines, *(["", self.note] if self.note else []), ""])


@dataclass(frozen=True)
class Outcome:
    """By name: ratios of two contestants, and figures in base units or with their unit in the name."""

    ratios: dict[str, Ratio] = field(default_factory=dict)
    figures: Figures = field(default_factory=lambda: cast("Figures", {}))
    tables: tuple[Table, ...] = ()


def rate(frames_per_second: float) -> str:
    """1 234 567, to what a bisection can tell."""
    return f"{float(f'{frames_per_second:.3g}'):,.0f}".replace(",", " ")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
