# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that tells what many runs say: one file, opened without a network; its figures and tables as files of their own."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

import polars as pl
from markupsafe import Markup

from contracts import durable
from contracts.run_folder import KEPT_FILE, REPORT_FILE
from results import pages, plot
from results.comparison import Comparison
from results.comparison_tables import of_points, tables
from results.measure import Measure
from results.plot import Plot

_TEMPLATE: Final = "campaign_report.html.j2"
FIGURES, TABLES = "figures", "tables"
#: Of each the page shows so many; tables as files have all.
_POINTS_SHOWN: Final = 200
#: A longer table is shut at first.
_POINTS_OPEN: Final = 30
_COLUMNS_SHOWN: Final = 12
_DIFFERENCES_SHOWN: Final = 120
_OUTLIERS_SHOWN: Final = 40
_PROBLEMS_SHOWN: Final = 20


@dataclass(frozen=True)
class Parameter:
    """What was varied, in words."""

    name: str
    #: Where it is in the topology.
    places: str
    values: str


@dataclass(frozen=True)
class Material:
    """All that a page is made of."""

    title: str
    description: str
    #: What of the runs is in no figure, in words; empty where all is.
    warm_up: str
    parameters: Sequence[Parameter]
    #: All runs, with `run`, `status` and `folder`; those that are invalid are not in the comparison.
    runs: pl.DataFrame
    #: What the runs do not tell: where the campaign is not complete, has no value of a measure, …
    warnings: Sequence[str]
    #: Runs that could not be read.
    problems: Sequence[str]
    #: Measures by whose intervals points were repeated until these were narrow enough.
    stopped_by: Sequence[str]
    comparison: Comparison
    #: By name.
    plots: Sequence[tuple[str, Sequence[Plot]]]
    #: Names without plots, because there are too many.
    not_drawn: Sequence[str]
    delays: Sequence[Plot]
    delay_notes: Sequence[str]


@dataclass(frozen=True)
class Drawn:
    """A plot on the page."""

    title: str
    remark: str
    legend: str
    colours: Mapping[str, str]
    svgs: Sequence[Markup]

    @staticmethod
    def of(made: Plot) -> Drawn:
        return Drawn(made.title, made.remark, made.legend, made.colours, [Markup(svg) for svg in plot.panel_svgs(made)])


@dataclass(frozen=True)
class Estimate:
    mean: float
    low: float | None
    high: float | None
    method: str | None


@dataclass(frozen=True)
class Row:
    """Of the table of means."""

    values: Sequence[str]
    runs: int
    cells: Sequence[Estimate | None]


@dataclass(frozen=True)
class Difference:
    """One comparison, or several of the same two values at points with other parameters' values."""

    name: str
    parameter: str
    base: str
    value: str
    #: Of other parameters, where it is one.
    where: str
    #: How many comparisons it is.
    count: int
    pairs: int
    low: float | None
    high: float | None
    difference: float
    most: float
    #: How many comparisons came to each verdict, in words; and how many of these are sure after the correction.
    verdicts: Mapping[str, int]
    sure: int
    better: Literal["higher", "lower"] | None


@dataclass(frozen=True)
class Outlier:
    run: str
    #: Relative to the page; None where the run has no report.
    link: str | None
    #: The command that makes the report.
    remedy: str
    where: str
    name: str
    value: float
    median: float


def write(material: Material, folder: Path, *, files: bool) -> list[Path]:
    """Writes report.html into the folder, and with `files` figures and tables below it. Returns what was written.

    Raises NotWritten.
    """
    text = pages.environment().get_template(_TEMPLATE).render(_page(material, folder))
    durable.put(folder / REPORT_FILE, text)
    return [folder / REPORT_FILE, *(_files(material, folder) if files else ())]


def _files(material: Material, folder: Path) -> Iterator[Path]:
    taken = set[str]()
    of_measures = [made for _, own in material.plots for made in own]
    contents = [
        *((FIGURES, made.name, plot.files(made)) for made in (*of_measures, *material.delays) if made.panels),
        *((TABLES, table.name, table.files()) for table in tables(material.comparison)),
    ]
    for below, name, by_ending in contents:
        stem = _file_name(name, taken)
        for ending, content in by_ending.items():
            with durable.told(folder / below):
                (folder / below).mkdir(parents=True, exist_ok=True)
            durable.write(file := folder / below / f"{stem}.{ending}", content)
            yield file


def _file_name(name: str, taken: set[str]) -> str:
    """Without what a path or a shell would take for something else; no two are the same."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:100] or "figure"
    stem = next(
        stem for number in range(1, len(taken) + 2) if (stem := plain if number == 1 else f"{plain}-{number}") not in taken
    )
    taken.add(stem)
    return stem


def _page(material: Material, folder: Path) -> Mapping[str, object]:
    comparison = material.comparison
    counted = {status: material.runs.filter(status=status).height for status in ("valid", "degraded", "invalid")}
    differences = list(_differences(comparison))
    return {
        "title": material.title,
        "description": material.description,
        "warm_up": material.warm_up,
        "parameters": material.parameters,
        "counted": counted,
        "status": "invalid" if counted["invalid"] else "degraded" if counted["degraded"] or material.problems else "valid",
        "doubtful": _doubtful(material.runs),
        "warnings": material.warnings,
        "problems": material.problems[:_PROBLEMS_SHOWN],
        "problem_count": len(material.problems),
        "stopped_by": material.stopped_by,
        "axes": comparison.axes,
        "points": comparison.points.height,
        "names": list(_names(comparison))[:_COLUMNS_SHOWN],
        "name_count": len(_names(comparison)),
        "rows": list(_rows(comparison)),
        "rows_open": _POINTS_OPEN,
        "plots": [(comparison.measures[name], name, [Drawn.of(one) for one in own]) for name, own in material.plots],
        "not_drawn": material.not_drawn,
        "delays": [Drawn.of(one) for one in material.delays],
        "delay_notes": material.delay_notes,
        "differences": differences[:_DIFFERENCES_SHOWN],
        "difference_count": len(differences),
        "comparisons": comparison.differences.height,
        "outliers": list(_outliers(material, folder)),
        "outlier_count": comparison.outliers.height,
        "resampled": "bootstrap" in comparison.estimates["method"],
    }


def _doubtful(runs: pl.DataFrame) -> Mapping[str, Sequence[str]]:
    """Runs that are degraded or invalid, by status; some of many."""
    return {
        status: [*names[:_PROBLEMS_SHOWN], *(["…"] if len(names) > _PROBLEMS_SHOWN else [])]
        for status in ("degraded", "invalid")
        if (names := runs.filter(status=status)["run"].to_list())
    }


def _names(comparison: Comparison) -> Mapping[str, Measure]:
    there = set(comparison.estimates["name"])
    return {name: measure for name, measure in comparison.measures.items() if name in there}


def _rows(comparison: Comparison) -> Iterator[Row]:
    names = list(_names(comparison))[:_COLUMNS_SHOWN]
    found = {
        (point, name): Estimate(*rest)
        for point, name, *rest in comparison.estimates.select("point", "name", "mean", "low", "high", "method").iter_rows()
    }
    points = of_points(comparison)
    for point, runs in comparison.points.head(_POINTS_SHOWN).select("point", "runs").iter_rows():
        yield Row(list(points[point].values()), runs, [found.get((point, name)) for name in names])


def _differences(comparison: Comparison) -> Iterator[Difference]:
    """One by one, or those of the same two values together where these would be too many."""
    points, axes = of_points(comparison), {axis.column: axis.name for axis in comparison.axes}
    rows = comparison.differences.to_dicts()
    together = len(rows) > _DIFFERENCES_SHOWN

    def values(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
        name = axes[row["axis"]]
        return row["name"], name, points[row["base"]][name], points[row["point"]][name]

    order = {name: place for place, name in enumerate(comparison.measures)}
    order_of_axes = {name: place for place, name in enumerate(axes.values())}
    rows.sort(key=lambda row: (order[row["name"]], order_of_axes[axes[row["axis"]]]))
    groups: dict[object, list[dict[str, Any]]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(values(row) if together else number, []).append(row)
    for own in groups.values():
        name, parameter, base, value = values(own[0])
        others = ", ".join(f"{other} {words}" for other, words in points[own[0]["point"]].items() if other != parameter)
        verdicts = [row["verdict"] or "not known" for row in own]
        sizes = [row["difference"] for row in own]
        yield Difference(
            name,
            parameter,
            base,
            value,
            others if len(own) == 1 else "",
            len(own),
            min(row["count"] for row in own),
            own[0]["low"] if len(own) == 1 else None,
            own[0]["high"] if len(own) == 1 else None,
            min(sizes),
            max(sizes),
            {
                verdict: verdicts.count(verdict)
                for verdict in ("higher", "lower", "no difference", "not known")
                if verdict in verdicts
            },
            sum(bool(row["is_sure"]) for row in own),
            comparison.measures[name].better,
        )


def _outliers(material: Material, folder: Path) -> Iterator[Outlier]:
    folders = dict(material.runs.select("run", "folder").iter_rows())
    points = of_points(material.comparison)
    for row in material.comparison.outliers.head(_OUTLIERS_SHOWN).to_dicts():
        own = Path(folders[row["run"]])
        has_report = (own / REPORT_FILE).is_file()
        yield Outlier(
            row["run"],
            quote(os.path.relpath(own / REPORT_FILE, folder)) if has_report else None,
            _making_report(own, folder),
            ", ".join(f"{name} {words}" for name, words in points[row["point"]].items()),
            row["name"],
            row["value"],
            row["median"],
        )


def _making_report(run: Path, folder: Path) -> str:
    """A command in the folder of the page. Of a run that was not kept whole only making it again has a report."""
    place = shlex.quote(os.path.relpath(run, folder))
    return f"netboxit run --again {place}" if (run / KEPT_FILE).exists() else f"netboxit report {place}"
