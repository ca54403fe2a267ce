# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of many runs as tables: `Runs.open("results/campaigns/x").select(distance="5 km").table()` (docs/results.md).

A run whose tables cannot be read is left out, and told in `Runs.problems`.
"""

from __future__ import annotations

import difflib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import polars as pl
from typing_extensions import TypedDict

from contracts.document import Document
from contracts.errors import NetBoxITError, WrongInput, listed, printable
from contracts.run_folder import FLOWS_TABLE, FRAMES_TABLE, MEASURES_TABLE, METRICS_FILE, SERIES_TABLE
from contracts.shapes import OtherShape, parsed
from results import frames, journal
from results.measure import TAKEN
from results.run_folder import WARM_UP
from results.stored_runs import Problem, StoredRun, Unreadable, stored_runs
from results.tables import FLOW_COLUMNS, FLOWS, IDENTITY, MEASURE_COLUMNS, MEASURES

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

_T = TypeVar("_T")

#: A run has a thousand flows of an application at most, and measures of some hundred queues.
_MOST_BYTES, _MOST_ROWS = 64 << 20, 1_000_000
#: metrics.json of an hour with a hundred flows has 30 MB.
_LONGEST_METRICS: Final = 256 << 20
#: What each row of a table says of its run, where that is known, before the campaign's parameters and after them.
_OF_RUN: Final = {"run": pl.String}
_OF_INDEX: Final = {"point": pl.Int64, "repetition": pl.Int64, "seed": pl.Int64, "topology": pl.String}
#: A parameter of a campaign with several topologies: their names in its file, in place of those of the topologies' files.
_TOPOLOGY: Final = "topology"
#: What only the table of runs says of them.
_MORE_OF_INDEX: Final = {"attempt": pl.Int64, "digest": pl.String, "took_s": pl.Float64, "failure": pl.String}
#: By which flows are selected.
_OF_FLOW: Final = ("flow", "direction", "kind", "protocol", "traffic", "application", "source", "destination", "dscp")
#: Columns of all tables: a parameter of such a name is `parameter_NAME`.
_COLUMNS: Final = {*TAKEN, *MEASURE_COLUMNS, *frames.COLUMNS, WARM_UP, *journal.SERIES, "folder"}
_STATUSES: Final = ("valid", "degraded", "invalid")


class NotSelected(WrongInput):
    """A selection names what no table has, or a value that no run has."""


class NoPandas(NetBoxITError):
    """pandas is not installed in the environment of this Python."""


class _Verdict(TypedDict):
    status: str


class _Judged(TypedDict):
    """Of metrics.json."""

    lab: str
    clock: str
    verdict: _Verdict


@dataclass(frozen=True)
class _Store:
    """What all selections of the same folders share."""

    runs: Mapping[str, StoredRun]
    #: A row for each run, in their order.
    index: pl.DataFrame
    #: By column: what each run has, as its campaign's file writes it.
    parameters: Mapping[str, Mapping[str, Any]]
    flows: pl.DataFrame
    #: In the order in which they were met, each once.
    problems: dict[Problem, None]
    #: Those that were asked for; None where they cannot be had.
    measures: dict[str, pl.DataFrame | None] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Runs with their tables. Open them by `Runs.open`; each `select` gives others, with less in them.

    Every table has a column `run`, and of a campaign's runs `point`, `repetition`, `seed`, `topology` and a column for each
    parameter with the values that its file writes. A parameter with the name of another column is `parameter_NAME`.
    """

    _store: _Store
    _names: tuple[str, ...]
    _of_flow: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @classmethod
    def open(cls, *folders: str | Path) -> Runs:
        """Of campaigns, of results (with `runs/` in them), or of single runs. Raises NoRuns for what is none of these.

        Tables of flows are read at once, frames and series when they are asked for.
        """
        found, told = stored_runs([Path(folder) for folder in folders])
        problems = dict.fromkeys(told)
        readable = [(run, table) for run in found if (table := _had(problems, run, _flows)) is not None]
        runs = {run.name: run for run, _ in readable}
        parameters = _parameters(runs, {column for _, (table, _) in readable for column in table.columns})
        flows = _together(_OF_RUN | dict(FLOW_COLUMNS), {run.name: table for run, (table, _) in readable})
        of_rows = flows.unique("run", keep="first").select("run", "lab", "clock", "status")
        judged = {
            name: _Judged(lab=lab, clock=clock, verdict={"status": status}) for name, lab, clock, status in of_rows.iter_rows()
        }
        judged |= {run.name: own for run, (_, own) in readable if own is not None}
        return cls(_Store(runs, _index(runs, judged, parameters), parameters, flows, problems), tuple(runs))

    def __repr__(self) -> str:
        return f"<Runs: {len(self)} of {len(self._store.runs)}, problems: {len(self._store.problems)}>"

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Path]:
        """The runs' folders, in the order of `runs`."""
        return (self._store.runs[name].folder for name in self._names)

    @property
    def problems(self) -> list[Problem]:
        """What is left out, and why: of tables that were asked for so far."""
        return list(self._store.problems)

    @property
    def parameters(self) -> dict[str, list[Any]]:
        """The columns of the campaigns' parameters, each with the values of these runs, as they were first met."""
        return {
            name: _distinct(values[run] for run in self._names if run in values)
            for name, values in self._store.parameters.items()
        }

    @property
    def runs(self) -> pl.DataFrame:
        """A row for each run: its parameters, `lab`, `clock`, `status`, `folder`; of a campaign's run also what its index says.

        `status` is that of the run's latest analysis.
        """
        return self._of_these(self._store.index)

    @property
    def flows(self) -> pl.LazyFrame:
        """A row for each run, flow and direction, also of conversations (whose `traffic` is null), with all measures of flows."""
        rows = self._of_these(self._store.flows).lazy()
        for name, values in self._of_flow:
            rows = rows.filter(pl.col(name).is_in(list(values), nulls_equal=True))
        return self._with_parameters(rows)

    @property
    def measures(self) -> pl.LazyFrame:
        """A row for each run and value of a measure that is no flow's (`of`): of queues, netboxes, entries of the traffic, …

        A selection of flows leaves it as it is.
        """
        tables = self._store.measures
        for name in self._names:
            if name not in tables:
                tables[name] = _had(self._store.problems, self._store.runs[name], _measures)
        own = {name: table.clone() for name in self._names if (table := tables[name]) is not None}
        return self._with_parameters(_together(_OF_RUN | dict(MEASURE_COLUMNS), own).lazy())

    @property
    def frames(self) -> pl.LazyFrame:
        """A row for each run and frame of a flow: `frames.parquet` of the runs, which is read when the frame is collected.

        Columns that belong to a netbox (`in_ns.NETBOX`) are null where a run or a path does not have it. Of runs with a warm-up
        `warm_up` says which frames were sent in it, and are in no figure.
        """
        flows = self._store.flows
        sent = flows.filter(pl.col("packets") > 0) if "packets" in flows.columns else flows
        rows = self._scanned(FRAMES_TABLE, needed={*sent["run"]})
        if self._of_flow:
            rows = rows.join(self.flows.select("run", "flow", "direction"), on=["run", "flow", "direction"], how="semi")
        return self._with_parameters(rows)

    @property
    def series(self) -> pl.LazyFrame:
        """A row for each run and sample of a netbox's statistics: `series.parquet` of the runs, read when it is collected."""
        return self._with_parameters(self._scanned(SERIES_TABLE, needed=set()))

    def table(self) -> pl.DataFrame:
        """`flows`, collected."""
        return self.flows.collect()

    def pandas(self) -> pandas.DataFrame:
        """`table` for pandas, without Arrow: numbers that are not known are NaN, words None. Raises NoPandas."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise NoPandas("pandas is not installed: `pip install pandas` in the environment of this Python") from None
        table = self.table()
        return pandas.DataFrame(
            {column.name: column.to_numpy() if column.dtype.is_numeric() else column.to_list() for column in table}
        )

    def select(self, **wanted: Any) -> Runs:
        """The runs and flows whose columns have these values: `select(distance="5 km", status=["valid", "degraded"])`.

        A column is one of `runs` (a parameter, as its file writes it, `status`, `repetition`, …) or `flow`, `direction`, `kind`,
        `protocol`, `traffic`, `application`, `source`, `destination`, `dscp`. Raises NotSelected for any other column, and for a
        value that is in none of the folders that were opened.
        """
        names, of_flow = self._names, self._of_flow
        for column, value in wanted.items():
            values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
            if column in self._store.index.columns:
                has = self._store.parameters.get(column) or self._of_runs(column)
                known = _known(column, values, _distinct(has.values()))
                names = tuple(name for name in names if any(_same(has.get(name), one) for one in known))
            elif column in _OF_FLOW:
                there = self._store.flows[column].unique(maintain_order=True).to_list()
                of_flow = (*of_flow, (column, tuple(_known(column, values, there))))
            else:
                columns = [*self._store.index.columns, *_OF_FLOW]
                near = difflib.get_close_matches(column, columns, n=1)
                remedy = f'did you mean "{near[0]}"?' if near else f"there are {listed(columns, 'and')}"
                raise NotSelected(f'runs have no column "{printable(column)}" to select by; {printable(remedy)}')
        return replace(self, _names=names, _of_flow=of_flow)

    def _of_runs(self, column: str) -> dict[str, Any]:
        return dict(self._store.index.select("run", column).iter_rows())

    def _of_these(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows if len(self) == len(self._store.runs) else rows.filter(pl.col("run").is_in(list(self._names)))

    def _with_parameters(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        index = self._store.index
        known = index.select(
            *dict.fromkeys(("run", *self._store.parameters, *(name for name in _OF_INDEX if name in index.columns)))
        )
        if known.width == 1:
            return rows
        columns = rows.collect_schema().names()
        others = [name for name in columns if name != "run"]
        return rows.join(known.lazy(), on="run", how="left", maintain_order="left").select(*known.columns, *others)

    def _scanned(self, file: str, needed: set[str]) -> pl.LazyFrame:
        """A large table of all runs, of which those in `needed` must have it."""
        schema, names = dict[str, Any](), dict[str, str]()
        for name in self._names:
            run = self._store.runs[name]
            own = _had(
                self._store.problems,
                run,
                partial(_large_columns, file=file, known=schema, taken={*self._store.index.columns}, is_needed=name in needed),
            )
            if own:
                schema |= own
                names[str(run.folder / file)] = name
        if not names:
            return pl.LazyFrame(schema=_OF_RUN | (dict(journal.SERIES) if file == SERIES_TABLE else {}))
        scanned = pl.scan_parquet(
            list(names),
            glob=False,
            hive_partitioning=False,
            schema=schema,
            missing_columns="insert",
            include_file_paths="run",
        )
        return scanned.select(pl.col("run").replace_strict(names, return_dtype=pl.String), pl.exclude("run"))


def _had(problems: dict[Problem, None], run: StoredRun, read: Callable[[StoredRun], _T]) -> _T | None:
    """What is read of a run; None, and a problem, where it cannot be."""
    try:
        return read(run)
    except Unreadable as error:
        problems[Problem(run.folder, str(error))] = None
        return None


def _flows(run: StoredRun) -> tuple[pl.DataFrame, _Judged | None]:
    """Its flows; where there are none, what came of it, which else they say. Raises Unreadable."""
    table = _small_table(run, FLOWS_TABLE, FLOWS)
    if table is None:
        raise Unreadable(_why_none(run))
    columns = list(table.schema.items())
    _check_columns(run, FLOWS_TABLE, columns[: len(FLOW_COLUMNS)], FLOW_COLUMNS)
    for name, kind in columns[len(FLOW_COLUMNS) :]:
        if name in TAKEN or kind != pl.Float64:
            raise Unreadable(_damaged(run, FLOWS_TABLE, f"{name} is no measure"))
    if table.height:
        return table, None
    try:
        content = run.content(METRICS_FILE, _LONGEST_METRICS)
        return table, parsed("" if content is None else content.decode(), _Judged)
    except (OtherShape, UnicodeDecodeError) as error:
        raise Unreadable(_damaged(run, METRICS_FILE, str(error))) from None


def _measures(run: StoredRun) -> pl.DataFrame:
    table = _small_table(run, MEASURES_TABLE, MEASURES)
    if table is None:
        raise Unreadable(f"{MEASURES_TABLE} is missing: {run.remedy}")
    _check_columns(run, MEASURES_TABLE, list(table.schema.items()), MEASURE_COLUMNS)
    return table


def _small_table(run: StoredRun, file: str, document: Document[Any]) -> pl.DataFrame | None:
    """None where there is none. Raises Unreadable."""
    if (content := run.content(file, _MOST_BYTES)) is None:
        return None
    try:
        said = json.loads(pl.read_parquet_metadata(io.BytesIO(content)).get(IDENTITY, "null"))
        if not isinstance(said, dict) or said.get("format") != document.format:
            raise Unreadable(_damaged(run, file, f"it does not say that it is {document.format}"))
        if said.get("version") != document.version:
            raise Unreadable(
                f"{file} is of version {said.get('version')!r}, and this NetBoxIT reads {document.version}: {run.remedy}"
            )
        table = pl.read_parquet(io.BytesIO(content), n_rows=_MOST_ROWS + 1, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, RecursionError) as error:
        raise Unreadable(_damaged(run, file, str(error).partition("\n")[0])) from None
    if table.height > _MOST_ROWS:
        raise Unreadable(_damaged(run, file, f"it has more than {_MOST_ROWS:,} rows"))
    return table


def _check_columns(
    run: StoredRun, file: str, there: Sequence[tuple[str, pl.DataType]], columns: Mapping[str, type[pl.DataType]]
) -> None:
    wanted = columns.items()
    if len(there) != len(columns) or any(
        name != wanted_name or kind != wanted_kind for (name, kind), (wanted_name, wanted_kind) in zip(there, wanted, strict=True)
    ):
        raise Unreadable(_damaged(run, file, f"its columns are not {', '.join(columns)}"))


def _together(schema: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Tables of runs as one, with the runs' names."""
    for name, table in tables.items():
        table.insert_column(0, pl.Series("run", [name] * table.height, pl.String))
    return pl.concat([pl.DataFrame(schema=schema), *tables.values()], how="diagonal")


def _large_columns(run: StoredRun, file: str, known: Mapping[str, Any], taken: set[str], is_needed: bool) -> dict[str, Any]:
    """Those of a large table; none where there is no table, as of a run in which nothing was sent. Raises Unreadable."""
    with run.opened(file) as descriptor:
        if descriptor is None and is_needed:
            raise Unreadable(f"{file} is missing: {run.remedy}")
        if descriptor is None:
            return {}
        try:
            schema = dict(pl.read_parquet_schema(f"/proc/self/fd/{descriptor}"))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise Unreadable(_damaged(run, file, str(error).partition("\n")[0])) from None
    if wrong := [name for name, kind in schema.items() if name in taken or kind != known.get(name, kind)]:
        raise Unreadable(_damaged(run, file, f"its column {wrong[0]} is not that of other runs"))
    return schema


def _damaged(run: StoredRun, file: str, why: str) -> str:
    return f"{file} is damaged: {printable(why)}; {run.remedy}"


def _why_none(run: StoredRun) -> str:
    with run.opened(METRICS_FILE) as metrics:
        if metrics is None:
            return f"it has not been analysed: it goes on, or was cut short; when it is over: {run.remedy}"
    return f"{FLOWS_TABLE} is missing, as in a run that an earlier NetBoxIT analysed: {run.remedy}"


def _parameters(runs: Mapping[str, StoredRun], columns: set[str]) -> dict[str, dict[str, Any]]:
    written = dict.fromkeys(parameter for run in runs.values() if run.indexed for parameter in run.indexed["parameters"])
    taken = (columns | _COLUMNS) - {_TOPOLOGY}
    columns_of = {parameter: parameter for parameter in written if parameter not in taken}
    for parameter in (parameter for parameter in written if parameter in taken):
        column = f"parameter_{parameter}"
        while column in columns_of.values():
            column = f"parameter_{column}"
        columns_of[parameter] = column
    found: dict[str, dict[str, Any]] = {columns_of[parameter]: {} for parameter in written}
    for name, run in runs.items():
        if run.indexed:
            of_run: dict[str, Any] = {_TOPOLOGY: run.indexed["topology"]} if _TOPOLOGY in written else {}
            for parameter, value in (of_run | run.indexed["parameters"]).items():
                found[columns_of[parameter]][name] = value
    return found


def _index(
    runs: Mapping[str, StoredRun], judged: Mapping[str, _Judged], parameters: Mapping[str, Mapping[str, Any]]
) -> pl.DataFrame:
    def of_index(columns: Mapping[str, Any]) -> list[pl.Series]:
        if not any(run.indexed for run in runs.values()):
            return []
        return [
            pl.Series(name, [run.indexed[name] if run.indexed else None for run in runs.values()], kind)  # type: ignore[literal-required]
            for name, kind in columns.items()
        ]

    return pl.DataFrame(
        [
            pl.Series("run", list(runs), pl.String),
            *(_column(name, [values.get(run) for run in runs]) for name, values in parameters.items()),
            *of_index({name: kind for name, kind in _OF_INDEX.items() if name not in parameters}),
            pl.Series("lab", [judged[name]["lab"] for name in runs], pl.String),
            pl.Series("clock", [judged[name]["clock"] for name in runs], pl.String),
            pl.Series("status", [judged[name]["verdict"]["status"] for name in runs], pl.String),
            pl.Series("folder", [str(run.folder) for run in runs.values()], pl.String),
            *of_index(_MORE_OF_INDEX),
        ]
    )


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Of numbers, of words, or of true and false, where all values are; else of words, as JSON writes them."""
    kinds = {type(value) for value in values if value is not None}
    for kind, column in ((bool, pl.Boolean), (int, pl.Int64), (str, pl.String)):
        if kinds == {kind} and not (kind is int and any(abs(value or 0) >= 2**63 for value in values)):
            return pl.Series(name, values, column)
    if kinds and kinds <= {int, float} and all(abs(value or 0) < 2**1023 or isinstance(value, float) for value in values):
        return pl.Series(name, [None if value is None else float(value) for value in values], pl.Float64)
    words = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, words, pl.String)


def _distinct(values: Any) -> list[Any]:
    found = list[Any]()
    for value in values:
        if not any(_same(value, one) for one in found):
            found.append(value)
    return found


def _same(one: object, other: object) -> bool:
    """true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _known(column: str, wanted: Sequence[Any], there: Sequence[Any]) -> list[Any]:
    """Of what is there, what is wanted. Raises NotSelected for what is not there."""
    values = [*there, *(one for one in _STATUSES if column == "status" and one not in there)]
    for value in wanted:
        if not any(_same(value, one) for one in values):
            near = difflib.get_close_matches(str(value), [one for one in values if isinstance(one, str)], n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, values[:20])) or 'no values'}"
            raise NotSelected(f"no run has {printable(column)} = {value!r}; {remedy}")
    return [one for one in values if any(_same(one, value) for value in wanted)]
