# SPDX-License-Identifier: GPL-2.0-or-later
"""What an application's own analysis is: it says of a run what only this application has, beyond the figures of every flow.

`results` knows no application. Who analyses a run hands in the analyses, by the names of their applications
(`applications.registry.analyses`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.flow import ApplicationRecord, Direction
from contracts.plan import TrafficPlan
from contracts.run_files import DamagedRun
from contracts.run_folder import FLOWS_FILE, PLAN_FILE
from contracts.shapes import OtherShape, Seconds, Shape, shaped
from results.measure import Measure

if TYPE_CHECKING:
    from results import metrics_document
    from results.run_folder import Measured
    from results.tcp import Stream


@dataclass(frozen=True)
class MeasuredFlow:
    """A flow with its frames, what metrics.json says of it, and the streams of TCP in it, those of the most bytes first."""

    measured: Measured
    figures: metrics_document.Flow
    streams: Sequence[Stream] = ()


@dataclass(frozen=True)
class Evidence:
    """What a run left of all its entries of one application."""

    #: The run folder.
    run: Path
    #: The entries of the whole plan, by name.
    planned: Mapping[str, TrafficPlan]
    #: Of entries that were started.
    records: Sequence[ApplicationRecord]
    flows: Sequence[MeasuredFlow]
    #: When the run's time began.
    began_ns: int
    #: The run's warm-up: frames that were sent in it are not in `flows`, and an analysis leaves out what else happened in it.
    warm_up_s: float = 0.0

    def warm_up_of(self, record: ApplicationRecord) -> float:
        """How long the warm-up goes on after an entry has started, in seconds; 0 where it is over by then. Raises DamagedRun."""
        if not self.warm_up_s:
            return 0.0
        try:
            start_s = shaped(self.planned[record.name].options.get("start", 0.0), Seconds)
        except OtherShape as error:
            raise DamagedRun(self.run / PLAN_FILE, f"traffic {record.name}: start: {error}") from None
        return max(0.0, self.warm_up_s - start_s)

    def file(self, record: ApplicationRecord, name: str) -> str:
        """A file of the application, relative to the run folder."""
        return f"traffic/{record.name}/{name}"

    def facts(self, record: ApplicationRecord, shape: type[Shape]) -> Shape:
        """What the application took down of itself, in the application's own type. Raises DamagedRun."""
        try:
            return shaped(record.facts, shape)
        except OtherShape as error:
            raise DamagedRun(self.run / self.file(record, FLOWS_FILE), f"facts: {error}") from None


@dataclass(frozen=True)
class KeyFigure:
    """A figure for the top of the report: of a flow, beside the flow's delay, or of the whole run."""

    flow: str | None
    direction: Direction | None
    label: str
    value: str
    note: str


@dataclass(frozen=True)
class MeasuredValues:
    """Values of the analysis's measures, by their names: of a flow in one direction, or of a whole entry of the traffic."""

    #: None: not known. Measures that are not named have no value.
    values: Mapping[str, float | None]
    #: The entry.
    traffic: str
    #: None of the whole entry; then these are measures of traffic.
    flow: str | None = None
    direction: Direction | None = None


@dataclass(frozen=True)
class Findings:
    """What an analysis found."""

    #: Each has the shape that the analysis names.
    entries: Sequence[Mapping[str, object]]
    #: The most important flow first.
    key_figures: Sequence[KeyFigure] = ()
    #: Makes the variables of the analysis's template, a TypedDict of its own.
    drawn: Callable[[], Mapping[str, object]] = dict
    #: For tables, in which runs are compared (docs/results.md).
    measured: Sequence[MeasuredValues] = ()


@dataclass(frozen=True)
class ApplicationAnalysis:
    """The analysis of an application."""

    #: Of metrics.json: a list with an entry for each thing that was found; empty when a run has none.
    key: str
    #: The shape of an entry, a TypedDict.
    entry: type
    judge: Callable[[Evidence], Findings]
    #: Draws the application's part of the report (Jinja, with the filters of results/pages.py); nothing where it has no part.
    template: Path | None = None
    #: The part is no section of its own, it belongs to that of the flows.
    beside_flows: bool = False
    #: What files in the run folder are: patterns, and words for people.
    files: Sequence[tuple[str, str]] = ()
    #: What it says of flows and of entries of the traffic in figures; `Findings.measured` has their values.
    measures: Sequence[Measure] = ()
