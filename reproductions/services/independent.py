# SPDX-License-Identifier: GPL-2.0-or-later
"""Ours beside an independent simulation of the source's links, schemes and TCP (Xylomenos 1999).

The source's plots have no numbers that can be read. That simulation was written from its text, apart from NetBoxIT, in another
language: its figures are nobody's publication, and show what else the text can mean.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from pathlib import Path
from typing import Any, cast

from netboxes.multiservice.validation import NAMES
from reproductions.comparison import Comparison
from reproductions.services.conferences import Cell, Conferences, Scheme
from reproductions.services.plots import Plot

_NOT_PUBLISHED = "not the source's: an independent simulation"
#: Runs of each of its cells of conferencing.
_RUNS = 10
#: Standard errors of the difference of two means.
_SIGMAS = 3.0
#: Half of the last digit of its losses and of their deviations, %; of its delays, ms.
_DIGIT_PERCENT, _DIGIT_MS = 0.005, 0.5
_SHARE = 0.1


@dataclass(frozen=True)
class Conference:
    """Of one cell: losses in %, delays as mean and two standard deviations, each with the deviation of its runs."""

    lost_percent: float
    lost_deviation: float
    delay_ms: float
    delay_deviation: float


@dataclass(frozen=True)
class File:
    """Of one cell, over whole files: kbit/s with the deviation of its runs, and over the first link the link layer's goodput."""

    kbps: float
    deviation: float
    goodput: float


def conferences() -> dict[Cell, Conference]:
    return {cell: Conference(*figures) for cell, figures in _read("conferencing")}


def whole_files() -> dict[Cell, File]:
    return {cell: File(*figures) for cell, figures in _read("files")}


def beside_conferences(
    runs: Conferences, count: int, words: Mapping[Scheme, str], reasons: Mapping[str, str]
) -> Iterator[Comparison]:
    """How many losses and delays of each scenario, each of `count` runs, are within three standard errors of its.

    `reasons`: by figure, why some are not.
    """
    errors = _SIGMAS * sqrt(1 / _RUNS + 1 / count)

    def loss_is_near(cell: Cell, there: Conference) -> bool:
        tolerance = errors * (there.lost_deviation + _DIGIT_PERCENT) + _DIGIT_PERCENT
        return abs(100 * runs.loss(cell).mean - there.lost_percent) <= tolerance

    def delay_is_near(cell: Cell, there: Conference) -> bool:
        tolerance = errors * (there.delay_deviation + _DIGIT_MS) + _DIGIT_MS
        return abs(runs.delay_ms(cell).mean - there.delay_ms) <= tolerance

    for (link, topology), cells in groupby(conferences().items(), lambda item: (item[0].link, item[0].topology)):
        scenario = list(cells)
        for measure, is_near in (("losses", loss_is_near), ("delays", delay_is_near)):
            near = {f"{words[cell.scheme]} at level {cell.level}": is_near(cell, there) for cell, there in scenario}
            figure = f"{NAMES[link]}/{topology}: {measure} near an independent simulation's"
            yield _counted(figure, near, "within 3 standard errors", reasons.get(figure, ""))


def beside_files(plot: Plot, reason: str = "") -> Comparison:
    """How many throughputs of a plot of them are within a tenth of its; `reason`: why some are not."""
    near = {
        f"{plot.words[cell.scheme]} at level {cell.level}": abs(plot.value(cell.scheme, cell.level).mean / there.kbps - 1)
        <= _SHARE
        for cell, there in whole_files().items()
        if (cell.link, cell.topology) == (plot.link, plot.topology)
    }
    return _counted(plot.what("throughputs near an independent simulation's"), near, "within 10 %", reason)


def _read(name: str) -> Iterator[tuple[Cell, tuple[float, ...]]]:
    with Path(__file__).with_name(f"independent-{name}.csv").open(newline="") as file:
        for link, topology, scheme, level, *figures in list(csv.reader(file))[1:]:
            yield Cell(cast("Any", link), cast("Any", topology), cast("Any", scheme), int(level)), tuple(map(float, figures))


def _counted(what: str, is_near: Mapping[str, bool], tolerance: str, reason: str) -> Comparison:
    far = [name for name, near in is_near.items() if not near]
    ours = f"{len(is_near) - len(far)} of {len(is_near)}" + (f"; not {', '.join(far)}" if far else "")
    return Comparison(what, _NOT_PUBLISHED, ours, f"all {tolerance}", "not reproduced" if far else "reproduced", reason)
