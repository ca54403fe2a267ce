# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of links: Mahimahi's moments of delivery, or rate, delay and loss over time as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationInfo, model_serializer, model_validator

from contracts.csv_file import MOST_ROWS, read_rows
from contracts.files import find_file
from contracts.netbox_configuration import Limit
from netboxes.limits import limits_of
from netboxes.link.impairments import Part

#: Columns of a CSV besides time_s, what they are, and their limits, in base units.
COLUMNS = {"rate_bit_s": ("rate", 0.0, 100e9), "delay_s": ("delay", 0.0, 10.0), "loss": ("loss", 0.0, 1.0)}
_UNITS = {"rate": "bit/s", "delay": "s", "loss": ""}
#: Of a packet at a moment of Mahimahi's: 1500 bytes and 4 that a TUN device puts before it.
OPPORTUNITY_BYTES = 1504
#: Of Mahimahi's times, ms: a day.
_LONGEST_MS = 86_400_000


class Trace(Part):
    """What a link does over time."""

    file: str = Field(
        description="Mahimahi's (lines of ms at which 1504 bytes can leave), or CSV: time_s and any of rate_bit_s, delay_s, loss."
    )
    repeat: bool = Field(
        True, description="Begin anew at the last line's time; or stay as it is then (Mahimahi: nothing leaves)."
    )
    between: Literal["hold", "line"] = Field(
        "hold", description="CSV: a row holds until the next one, or straight lines join them."
    )
    _series: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def says_delay(self) -> bool:
        return "delay" in self._series

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        if _is_mahimahi(find_file(self.file, info.context)):
            if self.between == "line":
                raise ValueError(f"{self.file} has single moments, between which there are no lines; leave `between` out")
            self._series["opportunities"] = read_opportunities(self.file, info.context)
        else:
            self._series.update(read_series(self.file, info.context))
            if self.repeat and max(points[-1][0] for points in self._series.values()) == 0:
                raise ValueError(f"{self.file} has one row, which cannot repeat; say `repeat: false`, or add a row for its end")
        return self

    @model_serializer
    def _dump(self) -> dict[str, Any]:
        return {"rate": None, **self._series, "repeat": self.repeat, "between": self.between}

    @classmethod
    def limit(cls) -> Limit:
        moment: Limit = {"minimum": 0.0, "maximum": _LONGEST_MS, "unit": "ms", "whole": True}
        keys = {**limits_of(cls, "repeat", "between"), "opportunities": _list_of(moment)}
        for name, minimum, maximum in COLUMNS.values():
            keys[name] = _list_of({"parts": [{}, {"minimum": minimum, "maximum": maximum, "unit": _UNITS[name]}]})
        return {"keys": keys}


def _list_of(item: Limit) -> Limit:
    return {"items": item, "fewest": 1, "optional": True}


def _is_mahimahi(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return next((line.strip().isdecimal() for line in file if line.strip()), False)
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        raise ValueError(f"{path.name} is no trace: byte {wrong:#04x} is not UTF-8; give lines of times, or CSV") from None
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read as a trace: {error.strerror}") from None


def read_opportunities(name: str, context: Mapping[str, Path] | None) -> list[int]:
    """The times of a trace in Mahimahi's format, ms. Raises ValueError naming file, line and remedy."""
    times: list[int] = []
    for number, line in enumerate(find_file(name, context).read_text("utf-8").splitlines(), 1):
        text = line.strip()
        if not text:
            continue
        if not (text.isascii() and text.isdecimal()) or int(text) > _LONGEST_MS:
            raise ValueError(f"{name}, line {number}: {text!r} is not a time in whole milliseconds, 0 … {_LONGEST_MS}")
        if times and int(text) < times[-1]:
            raise ValueError(f"{name}, line {number}: {text} ms comes after {times[-1]} ms; put the lines in order")
        times.append(int(text))
        if len(times) > MOST_ROWS:
            raise ValueError(f"{name} has more than {MOST_ROWS} lines; cut it")
    if not times or times[-1] == 0:
        raise ValueError(f"{name}: its last line is the time after which it repeats, above 0 ms")
    return times


def read_series(name: str, context: Mapping[str, Path] | None) -> dict[str, list[tuple[float, float]]]:
    """By what it is (rate, delay, loss) the pairs of a time and a value. Raises ValueError naming file, line and remedy."""
    rows = read_rows(name, context, ("time_s",), tuple(COLUMNS))
    times = [row[0] for row in rows]
    if times[0] != 0:
        raise ValueError(f"{name}, line 2: its first row is at {times[0]:g} s; a trace begins at 0")
    if falling := next((pair for pair in pairwise(times) if pair[1] <= pair[0]), None):
        raise ValueError(f"{name}: the row at {falling[1]:g} s follows that at {falling[0]:g} s; put them in order")
    sections: dict[str, list[tuple[float, float]]] = {}
    for place, (column, (what, minimum, maximum)) in enumerate(COLUMNS.items(), 1):
        if rows[0][place] is None:
            continue
        for row in rows:
            if not minimum <= row[place] <= maximum:
                raise ValueError(f"{name}: {column} is {row[place]:g} at {row[0]:g} s, outside {minimum:g} … {maximum:g}")
        sections[what] = [(row[0], row[place]) for row in rows]
    if not sections:
        raise ValueError(f"{name} has no column besides time_s; it needs one of {', '.join(COLUMNS)}")
    if "rate" in sections and not any(value for _, value in sections["rate"]):
        raise ValueError(f"{name}: rate_bit_s is 0 throughout; use `up: false` for a link on which nothing passes")
    return sections
