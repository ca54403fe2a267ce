# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares runs: those of a campaign by its parameters, several campaigns with each other, or single runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl
import polars.selectors as cs
from pydantic import ValidationError

from applications.registry import analyses, measures
from campaigns.description import TOPOLOGY, CampaignFile
from campaigns.measures import NoMeasure, Wanted
from contracts import durable
from contracts.campaign import CAMPAIGN_FILE, INDEX_FILE, RUNS_FOLDER
from contracts.errors import BadTopology, WrongInput, listed, printable
from contracts.quantities import TIME
from results import campaign_report, comparison_plots, delay_distributions
from results.campaign_report import Material, Parameter
from results.comparison import Comparison, compare
from results.parameter_axis import Axis, words
from results.runs import Runs
from testbed.description.yaml_source import read

if TYPE_CHECKING:
    from testbed.documents.campaign import Compare, ComparedDifference, ComparedMean, ComparedOutlier

#: On a page.
_MOST_PANELS: Final = 72
_VALUES_SHOWN: Final = 12
#: Of an entry of the traffic, where no campaign says what is asked, and of the measures that only its application has.
_USUAL: Final = ("goodput_kbps", "loss_ratio", "delay_ms_mean", "delay_ms_p99")
_OWN: Final = 2
_MOST_ENTRIES: Final = 6
#: Nothing that is measured is so much; squares of what is less are numbers.
_NO_NUMBER: Final = 1e60
#: The column that says of which campaign a run is, or which run it is in none.
_SOURCE: Final = "at."


class NothingToCompare(WrongInput):
    """No run has figures."""


class NoPlace(WrongInput):
    """There is no folder for the report, or nothing can be written there."""


@dataclass(frozen=True)
class Compared:
    """What came of it."""

    #: With `run`, `status` and `folder`.
    runs: pl.DataFrame
    comparison: Comparison
    warnings: Sequence[str]
    problems: Sequence[str]
    #: The page, then other files.
    files: Sequence[Path]

    def document(self) -> Compare:
        """For programs."""
        counts = {status: self.runs.filter(status=status).height for status in ("valid", "degraded", "invalid")}
        tables, axes = self.comparison, self.comparison.axes
        names = {axis.column: axis.name for axis in axes}
        return {
            "report": str(self.files[0]),
            "files": list(map(str, self.files)),
            "runs": {
                "valid": counts["valid"],
                "degraded": counts["degraded"],
                "invalid": counts["invalid"],
                "unreadable": len(self.problems),
            },
            "parameters": [
                {"name": axis.name, "values": list(axis.values), "unit": axis.unit, "numbers": list(axis.numbers)}
                for axis in axes
            ],
            "points": [
                {"point": row["point"], "parameters": {axis.name: row[axis.column] for axis in axes}, "runs": row["runs"]}
                for row in tables.points.to_dicts()
            ],
            "means": [cast("ComparedMean", row) for row in tables.estimates.rename({"name": "measure"}).to_dicts()],
            "differences": [
                cast("ComparedDifference", row)
                for row in tables.differences.drop("is_sure")
                .with_columns(pl.col("axis").replace(names))
                .rename({"name": "measure", "axis": "parameter", "count": "pairs"})
                .to_dicts()
            ],
            "outliers": [
                cast("ComparedOutlier", row) for row in tables.outliers.drop("score").rename({"name": "measure"}).to_dicts()
            ],
            "notes": [*self.warnings, *self.problems],
        }


@dataclass(frozen=True)
class _Source:
    """A folder that was named: a campaign, or another one, whose runs are told apart by their names."""

    folder: Path
    #: None where there is no campaign's file that can be read.
    file: CampaignFile | None
    #: Why, where there should be one.
    warning: str = ""

    @property
    def is_campaign(self) -> bool:
        return self.file is not None or bool(self.warning)

    @classmethod
    def of(cls, folder: Path) -> _Source:
        kept = folder / CAMPAIGN_FILE
        if not (folder / INDEX_FILE).exists() and not kept.exists():
            return cls(folder, None)
        if kept.is_symlink() or not kept.is_file():
            return cls(
                folder,
                None,
                f"{printable(str(kept))} is missing: what the campaign asks, and whether it is complete, is not known",
            )
        try:
            source = read(kept)
            return cls(folder, CampaignFile.model_validate(source.data, context=source.context))
        except (BadTopology, ValidationError):
            return cls(folder, None, f"{printable(str(kept))} is not the file of a campaign: what it asks is not known")

    def has(self, run: Path) -> bool:
        return run == self.folder or (run.parent.name == RUNS_FOLDER and run.parent.parent == self.folder)


def place(folders: Sequence[Path], out: Path | None, results: Path) -> Path:
    """Where the page is written: where the user says, to a campaign that is compared alone, else to these results."""
    if out is not None:
        return out
    alone = len(folders) == 1 and _Source.of(folders[0]).is_campaign
    return folders[0] if alone else results / "compared"


def write(folders: Sequence[Path], names: Sequence[str], into: Path, *, files: bool) -> Compared:
    """Compares all runs of these folders, of which there is one at least, by the measures of these names, and writes the page.

    Without names the measures are those that the campaigns ask for, or the usual ones of the traffic. With `files` figures and
    tables are written, too. Raises NoRuns, NothingToCompare, NoPlace, NotWritten.
    """
    runs = Runs.open(*folders)
    sources = [_Source.of(folder) for folder in dict.fromkeys(folders)]
    index, by = _by_source(runs, sources)
    problems = [str(problem) for problem in runs.problems]
    if index.is_empty():
        raise NothingToCompare("; ".join(["no run has figures to compare", *problems[:3]]))
    wanted = _wanted(names, sources, runs)
    axes, parameters = _axes(index, by, runs, sources)
    counted = index.filter(pl.col("status") != "invalid")
    values = _values(wanted, runs, counted)
    of = {name: measures()[name.rpartition(".")[2]] for name in values["name"].unique(maintain_order=True)}
    comparison = compare(counted, values, [axis for axis in axes if len(axis.values) > 1], of)
    warnings, warm_up = list(_warnings(sources, index, counted, wanted, of)), _warm_up(runs, counted)
    plots, not_drawn = comparison_plots.plots(comparison, _MOST_PANELS)
    delays, notes = delay_distributions.plots(runs, comparison, _entries(wanted, runs))
    material = Material(
        title=_title(sources, index),
        description=next((source.file.description for source in sources if source.file and source.file.description), ""),
        warm_up=warm_up,
        parameters=parameters,
        runs=index,
        warnings=warnings,
        problems=problems,
        stopped_by=[name for source in sources if source.file for name in _stopping(source.file)],
        comparison=comparison,
        plots=plots,
        not_drawn=not_drawn,
        delays=delays,
        delay_notes=notes,
    )
    try:
        with durable.told(into):
            into.mkdir(parents=True, exist_ok=True)
        notes = [*warnings, *([warm_up] if warm_up else [])]
        return Compared(index, comparison, notes, problems, campaign_report.write(material, into, files=files))
    except OSError as error:
        place = printable(str(error.filename2 or error.filename or into))
        raise NoPlace(f"{place} cannot be written: {error.strerror}; name a folder of yours by --out") from None


def _by_source(runs: Runs, sources: Sequence[_Source]) -> tuple[pl.DataFrame, str | None]:
    """All runs, with `seed`, `point` and `repetition` in any case, in the order of their points; and the column that says of
    which campaign each is, or which run it is in no campaign. None where all are of one campaign."""
    index = runs.runs
    index = index.with_columns(
        pl.lit(None, pl.Int64).alias(name) for name in ("point", "repetition", "seed") if name not in index.columns
    )
    names = {source.folder: source.folder.resolve().name for source in sources}
    if len({*names.values()}) < len(names):
        names = {folder: str(folder) for folder in names}
    place, of = list[int](), list[str]()
    for run, point, folder in index.select("run", "point", "folder").iter_rows():
        at = next((at for at, source in enumerate(sources) if source.has(Path(folder))), len(sources))
        place.append(at)
        of.append(run if point is None or at == len(sources) else names[sources[at].folder])
    index = index.with_columns(pl.when(cs.float().is_finite()).then(cs.float()).name.keep())  # as NaN of a stranger's index
    index = index.rename({column: _column(column) for column in runs.parameters})
    index = index.with_columns(pl.Series(_SOURCE, of), place=pl.Series(place, dtype=pl.Int64))
    index = index.sort("place", "point", "repetition", "run", nulls_last=True).drop("place")
    return index, _SOURCE if index[_SOURCE].n_unique() > 1 else None


def _column(parameter: str) -> str:
    """Of a table of runs that is compared: a parameter may be called mean, count or whatever else such tables have."""
    return f"at.{parameter}"


def _wanted(names: Sequence[str], sources: Sequence[_Source], runs: Runs) -> list[Wanted]:
    """Raises NothingToCompare for a measure that is none."""
    asked = [name for source in sources if source.file for name in _asked(source.file)]
    try:
        return [Wanted.parse(name) for name in dict.fromkeys(names or asked)] or list(_usual(runs))
    except NoMeasure as error:
        raise NothingToCompare(printable(str(error))) from None


def _asked(file: CampaignFile) -> Sequence[str]:
    return [*file.measures, *_stopping(file)]


def _stopping(file: CampaignFile) -> Sequence[str]:
    return [file.repetitions.until.measure] if file.repetitions.until else []


def _usual(runs: Runs) -> Iterator[Wanted]:
    entries = runs.flows.select("traffic", "application").drop_nulls().unique(maintain_order=True).collect()
    for traffic, application in entries.head(_MOST_ENTRIES).iter_rows():
        analysis = analyses().get(application)
        own = [measure.name for measure in analysis.measures[:_OWN]] if analysis else []
        for name in (*own, *_USUAL):
            yield Wanted(measures()[name], traffic)


def _entries(wanted: Sequence[Wanted], runs: Runs) -> list[str]:
    """Of the traffic, those whose measures are wanted; all where these are of none."""
    named = dict.fromkeys(one.subject for one in wanted if one.measure.of in ("flow", "traffic"))
    every = runs.flows.select("traffic").drop_nulls().unique(maintain_order=True).collect()["traffic"]
    return list(named) or every.to_list()


def _values(wanted: Sequence[Wanted], runs: Runs, counted: pl.DataFrame) -> pl.DataFrame:
    """Of runs that count: `run`, `name` and finite `value`, in the order in which they are wanted."""
    flows, others = runs.flows, runs.measures
    tables = pl.collect_all([one.rows(flows, others).filter(pl.col("value").abs() < _NO_NUMBER) for one in wanted])
    none = pl.DataFrame(schema={"run": pl.String, "name": pl.String, "value": pl.Float64})
    values = pl.concat([none, *tables]).join(counted.select("run"), on="run", how="semi", maintain_order="left")
    return values.unique(["run", "name"], keep="first", maintain_order=True)


def _axes(index: pl.DataFrame, by: str | None, runs: Runs, sources: Sequence[_Source]) -> tuple[list[Axis], list[Parameter]]:
    """The parameters, in the order of the files, and what is to be said of them."""
    files = [source.file for source in sources if source.file]
    columns = dict[str, str]()
    for column in runs.parameters:
        columns[_other(_name(column, files), columns)] = column
    order = dict.fromkeys(name for file in files for name in file.names())
    axes, parameters = list[Axis](), list[Parameter]()
    if by is not None:
        name = _other("campaign" if index["point"].null_count() == 0 else "run", columns)
        axes.append(Axis.of(by, name, index[by]))
        parameters.append(Parameter(axes[-1].name, "", _listed(axes[-1].values)))
    for name in sorted(columns, key=lambda name: list(order).index(name) if name in order else len(order)):
        own = [file.parameters[name] for file in files if name in file.parameters]
        is_log = any(parameter.scale == "log" for parameter in own)
        axis = Axis.of(_column(columns[name]), name, index[_column(columns[name])], log=is_log)
        paths = dict.fromkeys(path for file in files for path in _paths(file, name))
        axes.append(axis)
        parameters.append(Parameter(name, ", ".join(paths), _listed(axis.values)))
    return axes, parameters


def _name(column: str, files: Sequence[CampaignFile]) -> str:
    """A parameter with the name of another column of tables has another name there."""
    own = column.removeprefix("parameter_")
    return own if any(own in file.names() for file in files) else column


def _other(name: str, taken: Collection[str]) -> str:
    """The name, or one like it: a stranger's campaign may call several parameters nearly the same."""
    return name if name not in taken else _other(f"{name}'", taken)


def _paths(file: CampaignFile, name: str) -> Iterator[str]:
    if name != TOPOLOGY and name in file.parameters:
        for topology in file.topologies or ("",):
            yield from file.parameters[name].paths(topology)


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(map(words, values[:_VALUES_SHOWN]))
    return shown if len(values) <= _VALUES_SHOWN else f"{shown}, … ({len(values)})"


def _title(sources: Sequence[_Source], index: pl.DataFrame) -> str:
    if len(sources) > 3:
        return f"{len(sources)} folders of runs"
    names = [(source.file.campaign if source.file else None) or source.folder.resolve().name for source in sources]
    return listed([printable(name) for name in names], "and") if names else ""


def _warm_up(runs: Runs, counted: pl.DataFrame) -> str:
    """What of the runs is in no figure; empty where all is."""
    own = runs.measures.filter(pl.col("measure") == "warm_up_s").select("run", "value").collect()
    values = counted.select("run").join(own.unique("run", keep="first"), on="run", how="left")["value"].fill_null(0.0)
    told = [TIME.write(value) for value in values.unique().sort().to_list() if math.isfinite(value)]
    if told in ([], [TIME.write(0.0)]):
        return ""
    if len(told) == 1:
        return f"what was sent in the first {told[0]} of each run, its warm-up, is in no figure"
    return f"the runs have warm-ups of {listed(told, 'and')}: what was sent in them is in no figure"


def _warnings(
    sources: Sequence[_Source], index: pl.DataFrame, counted: pl.DataFrame, wanted: Sequence[Wanted], of: Mapping[str, Any]
) -> Iterator[str]:
    if counted.is_empty():
        yield "no run counts, so nothing is compared: make the campaign again, or on a machine with less other work"
    for source in sources:
        if source.warning:
            yield source.warning
        if source.file is not None:
            yield from _incomplete(source, source.file, index)
    there = {name.rpartition(".")[2] for name in of}
    if missing := [one.words for one in wanted if one.measure.name not in there]:
        yield f"no run has a value of {listed(list(dict.fromkeys(missing)), 'and')}"
    if counted.height and counted["seed"].null_count() == counted.height:
        yield "these runs are in no campaign: each is a point with one run, so differences have no interval"


def _incomplete(source: _Source, file: CampaignFile, index: pl.DataFrame) -> Iterator[str]:
    own = index.filter(pl.col("folder").str.starts_with(f"{source.folder / RUNS_FOLDER}/"))
    points, each, planned = own.group_by("point").len(), file.repetitions.at_least, file.count()
    if (whole := points.filter(pl.col("len") >= each).height) < planned:
        yield (
            f"the campaign {printable(source.folder.resolve().name)} is not complete: {whole} of {planned} points have their "
            f"{each} runs; `netboxit campaign` goes on with it"
        )
    if points.height > planned:
        yield f"{points.height} points have runs, and the campaign's file has {planned}: some are of an earlier file"
