# SPDX-License-Identifier: GPL-2.0-or-later
"""What a technology shows to be believed: measured in virtual time, beside a formula, a standard's figure or the literature.

`netboxes/<technology>/validation.py` has `chapters() -> Iterator[Chapter]`; `make validate` writes docs/validation.md from all of
them, and fails when a figure is outside its tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One number that was expected and measured."""

    #: What it is and under what conditions, as in "802.11a, 54 Mbit/s, 1500 bytes: goodput".
    what: str
    unit: str
    expected: float
    measured: float
    #: How far apart they may be: relative to what is expected, and absolute, in the unit. The larger one holds.
    relative: float = 0.0
    absolute: float = 0.0

    @property
    def tolerance(self) -> float:
        """In the unit."""
        return max(self.relative * abs(self.expected), self.absolute)

    @property
    def holds(self) -> bool:
        return abs(self.measured - self.expected) <= self.tolerance


@dataclass(frozen=True)
class Curve:
    """One line of a plot, or its points."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    #: What was measured is drawn as points, what a formula says as a line.
    measured: bool


@dataclass(frozen=True)
class Plot:
    """Curves over one axis; expected and measured ones of the same label have one colour."""

    #: Its file is docs/validation/<name>.svg: unique, with the technology first, as in "wifi-distance".
    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    #: Axes with equal steps for equal ratios.
    logarithmic_x: bool = False
    logarithmic_y: bool = False


@dataclass(frozen=True)
class Chapter:
    """What belongs together: a question, where the answer comes from, and how well the netbox gives it."""

    title: str
    #: Markdown: what was run, by which formula and source it is judged, why the tolerance is what it is, and what is not shown.
    text: str
    figures: Sequence[Figure] = ()
    plots: Sequence[Plot] = ()
