# SPDX-License-Identifier: GPL-2.0-or-later
"""CSV files that a topology names: series over time, with a header line that names the columns and their units."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contracts.files import find_file

#: Rows of a file: a day at ten a second.
MOST_ROWS = 1_000_000


def read_rows(
    name: str, context: Mapping[str, Path] | None, columns: Sequence[str], optional: Sequence[str] = ()
) -> list[tuple[Any, ...]]:
    """The numbers of these columns, row by row; None for an optional column that the file does not have.

    `context` is that of Pydantic's validation, with the topology's folder. Raises ValueError naming file, line and remedy.
    """
    path = find_file(name, context)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return _read(name, csv.reader(file), columns, optional)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} has a byte {error.object[error.start]:#04x}, which is not UTF-8; save the file in UTF-8"
        ) from None
    except (OSError, csv.Error) as error:
        raise ValueError(f"{name} cannot be read as CSV: {error}") from None


def _read(name: str, reader: Any, columns: Sequence[str], optional: Sequence[str]) -> list[tuple[Any, ...]]:
    header = [cell.strip() for cell in next(reader, [])]
    missing = [column for column in columns if column not in header]
    if missing and any(";" in cell or "\t" in cell for cell in header):
        raise ValueError(f"{name}, line 1: its columns are not separated by commas; separate them so, and write 0.5, not 0,5")
    if missing:
        raise ValueError(
            f"{name}, line 1: no column {', '.join(missing)}; its first line names the columns, like {','.join(columns)}"
        )
    if unknown := [column for column in header if column not in (*columns, *optional)]:
        raise ValueError(f"{name}, line 1: unknown column {', '.join(unknown)}; there are {', '.join((*columns, *optional))}")
    places = [header.index(column) if column in header else None for column in (*columns, *optional)]
    rows = []
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"{name}, line {reader.line_num}: {len(row)} cells instead of {len(header)}")
        rows.append(tuple(None if at is None else _number(row[at], name, reader.line_num) for at in places))
        if len(rows) > MOST_ROWS:
            raise ValueError(f"{name} has more than {MOST_ROWS} rows; thin it out")
    if not rows:
        raise ValueError(f"{name} has no rows below its header")
    return rows


def _number(text: str, name: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name}, line {line}: {text.strip()!r} is not a number")
    return number
