# SPDX-License-Identifier: GPL-2.0-or-later
"""What the netboxes wrote into their journals (docs/architecture.md, "Journal"): events, and their statistics as series."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from contracts.announced import AnnouncedEvent, is_event
from contracts.statistics import Details

#: Of `series.parquet`: one number of a netbox or of one of its stations (null: of the whole segment) at one time of the run.
SERIES = {"netbox": pl.String, "station": pl.String, "time_s": pl.Float64, "name": pl.String, "value": pl.Float64}


#: Of a queue: how long it was over all of the time so far (netboxes/queueing/README.md), which is no course.
_DISTRIBUTION = "length"

#: What lies beyond is of no lab, nor of any chart: times, numbers, and samples closer to each other.
_LONGEST_S, _LARGEST, _CLOSEST_S = 1e9, 1e100, 1e-5


#: A router's journal begins with its process: what was while the lab came up is no part of the run.
EARLIEST_S: Final = -0.5


@dataclass
class Journal:
    """One netbox's: when it began (CLOCK_REALTIME), what happened, and samples of statistics, both by seconds since then."""

    began_ns: int
    events: list[AnnouncedEvent] = field(default_factory=list)
    samples: list[tuple[float, Details]] = field(default_factory=list)
    #: What applications measured of themselves, for their analyses; each has its `flow` and its kind, `record`.
    records: list[Details] = field(default_factory=list)

    def offset_s(self, began_ns: int) -> float:
        """What turns its times into those of a run that began then."""
        return (self.began_ns - began_ns) / 1e9


def read(*paths: Path) -> Journal | None:
    """A journal; None where there is none, or one without its first line.

    A last line that was cut short is left out, and so is what no netbox writes: the program that wrote it may be another one.

    A node that was rebooted begins again in the middle, or in another file, with a time of its own.
    """
    texts = (path.read_text(errors="replace") for path in paths if path.exists())
    lines_read = [line for text in texts for line in _parsed(text.splitlines())]
    if not lines_read or not isinstance(lines_read[0].get("began_ns"), int):
        return None
    journal, later_s, latest_s = Journal(int(lines_read[0]["began_ns"])), 0.0, -math.inf
    for line in lines_read[1:]:
        if isinstance(line.get("began_ns"), int):
            later_s = (line["began_ns"] - journal.began_ns) / 1e9
        elif not isinstance(line.get("at_s"), int | float) or abs(line["at_s"]) > _LONGEST_S:
            continue
        elif is_event(line):
            journal.events.append({**line, "at_s": line["at_s"] + later_s})
        elif isinstance(line.get("record"), str):
            journal.records.append(line)
        elif isinstance(line.get("statistics"), dict) and line["at_s"] + later_s > latest_s + _CLOSEST_S:
            latest_s = line["at_s"] + later_s
            journal.samples.append((latest_s, line["statistics"]))
    return journal


def _parsed(lines: list[str]) -> Iterator[Details]:
    for line in lines:
        try:
            content = _DECODER.decode(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            yield content


def _finite(text: str) -> float:
    """A number that JSON has a way to write and a chart a place for; so have sums and differences of it."""
    if not abs(value := float(text)) <= _LARGEST:
        raise ValueError(f"{text} is no number, or too large")
    return value


def _int64(text: str) -> int:
    if len(text) > len(str(-(2**63))) or abs(value := int(text)) >= 2**63:
        raise ValueError(f"{text} is too large")
    return value


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_int=_int64, parse_constant=_finite)


def series(journals: Mapping[str, Journal], began_ns: int) -> pl.DataFrame:
    """All samples as one table, columns as in SERIES; times are those of a run that began then.

    Nested statistics have names with dots, true and false are 1 and 0; texts and lists are left out, and so are distributions
    since the beginning.
    """
    rows = [
        (netbox, station, at_s + offset_s, name, value)
        for netbox, journal in journals.items()
        for offset_s in [journal.offset_s(began_ns)]
        for at_s, statistics in journal.samples
        if at_s + offset_s >= EARLIEST_S
        for station, name, value in _numbers(statistics)
    ]
    return pl.DataFrame(rows, schema=SERIES, orient="row")


def _numbers(statistics: Details) -> Iterator[tuple[str | None, str, float]]:
    """Station (None: the segment), name and value."""
    for name, value in _flattened({key: value for key, value in statistics.items() if key != "stations"}):
        yield None, name, value
    stations = statistics.get("stations")
    for station, own in stations.items() if isinstance(stations, Mapping) else ():
        for name, value in _flattened(own) if isinstance(own, Mapping) else ():
            yield station, name, value


def _flattened(part: Mapping[str, object], before: str = "") -> Iterator[tuple[str, float]]:
    for key, value in part.items():
        name = f"{before}{key}"
        if key == _DISTRIBUTION:
            continue
        if isinstance(value, (int, float)):  # most are
            yield name, float(value)
        elif isinstance(value, Mapping):
            yield from _flattened(value, f"{name}.")
