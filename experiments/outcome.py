# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment found: tables, what was expected of it, plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from experiments.carrying import Carried
from experiments.figures import Figures


@dataclass(frozen=True)
class Table:
    """Cells as they are to be read."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Expectation:
    """One thing that must hold, for the machine to judge."""

    what: str
    required: str
    measured: str
    met: bool


@dataclass(frozen=True)
class Curve:
    """One line of a plot: as we measured it in real or virtual time, or as the thesis has it."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    source: str


@dataclass(frozen=True)
class Plot:
    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    logarithmic_y: bool = False


@dataclass(frozen=True)
class Verdict:
    """How a run in real time was judged."""

    run: str
    status: str
    reasons: Sequence[str]


@dataclass(frozen=True)
class Outcome:
    """All of one experiment."""

    name: str
    title: str
    #: Markdown: what was run, with which parameters, and how it compares.
    text: str
    tables: Sequence[Table]
    expectations: Sequence[Expectation]
    plots: Sequence[Plot]
    verdicts: Sequence[Verdict]

    @property
    def met(self) -> bool:
        return all(expectation.met for expectation in self.expectations)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}


def verdict_of(run: str, carried: Carried) -> Verdict:
    return Verdict(run, carried.verdict or "", carried.reasons)


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def share(ratio: float) -> str:
    return f"{100 * ratio:.2f} %"


def delay(figures: Figures) -> str:
    """Mean, least and largest."""
    parts = (figures.delay_mean_ms, figures.delay_min_ms, figures.delay_max_ms)
    return " / ".join(number(part) for part in parts)
