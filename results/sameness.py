# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two runs are the same: their tables, to the bit where the files are, else row by row.

The first run may be a stranger's: its files are read without following links, and no more rows of them than the second one has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl
from typing_extensions import TypedDict

from contracts.errors import WrongInput, printable
from contracts.run_folder import FLOWS_TABLE, FRAMES_TABLE, MEASURES_TABLE, SERIES_TABLE
from results.stored_runs import StoredRun, Unreadable

_PIECE: Final = 1 << 20
#: What is told first says most.
_TABLES: Final = (FRAMES_TABLE, SERIES_TABLE, FLOWS_TABLE, MEASURES_TABLE)
#: What a row is of.
_NAMING: Final = ("flow", "direction", "of", "name", "netbox", "station", "measure")
#: Of a row, so many values are told.
_SHOWN: Final = 3


class NotComparable(WrongInput):
    """A run has no tables with which another one could be compared."""


class Sameness(TypedDict):
    """What a comparison of two runs found."""

    #: Tables whose files are the same to the bit.
    identical: list[str]
    #: Tables that have the same values, in a file that was written in another way, as by another version of Polars.
    equal: list[str]
    #: In words, for each table that is different, the first row that is.
    differences: list[str]


def check_comparable(run: StoredRun) -> None:
    """Raises NotComparable for a run without tables."""
    if not any(_has(run, table) for table in _TABLES):
        raise NotComparable(f"{printable(str(run.folder))} has no tables to compare with: {run.remedy}")


def compare(before: StoredRun, now: StoredRun) -> Sameness:
    """The tables that the first run has, beside those of the second one. Raises NotComparable."""
    found: Sameness = {"identical": [], "equal": [], "differences": []}
    for table in filter(lambda table: _has(before, table), _TABLES):
        try:
            if _same_bytes(before, now, table):
                found["identical"].append(table)
            elif difference := _difference(before, now, table):
                found["differences"].append(f"{table}: {difference}")
            else:
                found["equal"].append(table)
        except (Unreadable, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            cause = printable(str(error).partition("\n")[0])
            raise NotComparable(f"{table} of {printable(str(before.folder))} cannot be read: {cause}") from None
    return found


def _has(run: StoredRun, table: str) -> bool:
    try:
        with run.opened(table) as descriptor:
            return descriptor is not None
    except Unreadable as error:
        raise NotComparable(f"{printable(str(run.folder))}: {error}") from None


def _same_bytes(before: StoredRun, now: StoredRun, table: str) -> bool:
    with before.opened(table) as one, now.opened(table) as other:
        if one is None or other is None or os.fstat(one).st_size != os.fstat(other).st_size:
            return False
        return all(piece == again for piece, again in zip(_pieces(one), _pieces(other), strict=True))


def _pieces(descriptor: int) -> Iterator[bytes]:
    while piece := os.read(descriptor, _PIECE):
        yield piece


def _difference(before: StoredRun, now: StoredRun, table: str) -> str | None:
    """In words the first one; None where all values are the same."""
    with before.opened(table) as one, now.opened(table) as other:
        if other is None:
            return "the run has it, and its repetition has none"
        new = pl.read_parquet(f"/proc/self/fd/{other}", glob=False, hive_partitioning=False)
        old = pl.read_parquet(f"/proc/self/fd/{one}", n_rows=new.height + 1, glob=False, hive_partitioning=False)
    if old.schema != new.schema:
        columns = [name for name in {**old.schema, **new.schema} if old.schema.get(name) != new.schema.get(name)]
        return f"not the same columns: {printable(', '.join(columns)) or 'they are in another order'}"
    height = min(old.height, new.height)
    changed = pl.select(
        pl.any_horizontal(old[name][:height].ne_missing(new[name][:height]) for name in old.columns).alias("changed")
    )["changed"]
    if (row := changed.arg_max() if changed.any() else None) is None:
        return None if old.height == new.height else _rows(old.height, new.height)
    was, is_ = old.row(row, named=True), new.row(row, named=True)
    values = [
        f"{printable(name)} was {_value(was[name])}, now {_value(is_[name])}"
        for name in old.columns
        if _differ(was[name], is_[name])
    ]
    more = f", and {len(values) - _SHOWN} more columns" if len(values) > _SHOWN else ""
    return (
        f"{_named(row, was)} is the first that differs: {'; '.join(values[:_SHOWN])}{more}; {changed.sum()} of {height} rows do"
    )


def _named(row: int, values: Mapping[str, Any]) -> str:
    names = ", ".join(printable(str(values[name])) for name in _NAMING if values.get(name) is not None)
    return f"row {row + 1}" + (f" ({names})" if names else "")


def _rows(before: int, now: int) -> str:
    """Of the run one row more was read than its repetition has."""
    more = "more" if before > now else str(before)
    return f"the run has {more} rows, its repetition {now}; the first {min(before, now)} are the same"


def _differ(one: Any, other: Any) -> bool:
    both_nan = one != one and other != other
    return not both_nan and one != other


def _value(value: Any) -> str:
    return printable(repr(value))
