# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment found: tables, what was expected of it, plots."""

from __future__ import annotations

import json
import math
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
    #: Why ours is known not to meet it: a difference from the thesis that the document tells. Empty: it is to be met.
    differs: str = ""

    @property
    def is_as_known(self) -> bool:
        """It is met, or is known to differ and does."""
        return self.met != bool(self.differs)


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
    def surprises(self) -> list[Expectation]:
        """What did not come as it is known to."""
        return [expectation for expectation in self.expectations if not expectation.is_as_known]

    def to_json(self) -> dict[str, Any]:
        """For JSON, which has no NaN: points of a curve that nothing arrived for are null."""
        document: dict[str, Any] = json.loads(json.dumps(asdict(self)), parse_constant=lambda _: None)
        return {**document, "as_known": not self.surprises}


def verdict_of(run: str, carried: Carried) -> Verdict:
    return Verdict(run, carried.verdict or "", carried.reasons)


def chosen(rows: Sequence[Sequence[str]]) -> Table:
    """Figures that come out because a parameter was chosen for it: shown, and not among what is expected."""
    headers = ("figure", "thesis", "ours, virtual", "real", "chosen parameter")
    return Table("Chosen to fit, and so no outcome", headers, rows)


def mbps(figures: Figures) -> float:
    """Goodput at IP, the thesis's unit, in Mbit/s."""
    return figures.goodput_ip_kbps / 1e3


def number(value: float, digits: int = 2) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def share(ratio: float) -> str:
    return "–" if math.isnan(ratio) else f"{100 * ratio:.2f} %"


def delay(figures: Figures) -> str:
    """Mean, least and largest."""
    parts = (figures.delay_mean_ms, figures.delay_min_ms, figures.delay_max_ms)
    return " / ".join(number(part) for part in parts)
