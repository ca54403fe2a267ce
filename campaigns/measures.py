# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures as a campaign names them: of what, and which, as `call.mos_e_model` or `call.return.delay_ms_p99`.

`applications.registry.measures` has all that come last in a name. What stands before them:

    TRAFFIC or TRAFFIC.DIRECTION             of flows: without a direction, each of both
    TRAFFIC                                  of an entry of the traffic
    NETBOX, NETBOX.STATION, or with .QUEUE   of queues: all of them, those of a station, one
    NETBOX or NETBOX.STATION                 of stations
    NETBOX or NETBOX.DIRECTION               of a netbox, and of streams that share it
    nothing                                  of the whole run
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import polars as pl

from applications.registry import analyses, measures
from contracts.errors import listed
from contracts.flow import Direction
from contracts.run_folder import FLOWS_TABLE, MEASURES_TABLE
from results.measure import OF_FLOWS, Measure
from testbed.description.input_errors import nearest

_DIRECTIONS: Final = get_args(Direction)
_OF_NETBOXES: Final = ("queue", "station", "sharing", "segment", "netbox")
#: How many words a name of theirs may have behind the netbox: a station, and one of its queues.
_OF_STATIONS: Final[Mapping[str, int]] = {"queue": 2, "station": 1}
#: The columns that say in a run's tables what a value is of. `name` is an entry of the traffic, or a queue.
_OF_FLOW: Final = ("traffic", "direction")
_OF_OTHERS: Final = ("netbox", "station", "name", "direction")
#: Words proposed in place of a measure that is none.
_MOST_PROPOSED: Final = 4


@dataclass(frozen=True)
class Wanted:
    """A measure of a campaign, by the parts of its name."""

    measure: Measure
    #: The entry of the traffic or the netbox; "" of the whole run.
    subject: str
    direction: str | None = None
    station: str | None = None
    queue: str | None = None

    @classmethod
    def parse(cls, name: str) -> Wanted:
        """Of a name that `check` has found right. Raises NoMeasure for a measure that is none."""
        *of, word = name.split(".")
        if (measure := measures().get(word)) is None:
            raise NoMeasure(f'there is no measure "{word}"', _proposed(word, list(measures())))
        subject, first, second = (*of, *[None] * 3)[:3]
        if measure.of in _OF_STATIONS:
            return cls(measure, subject or "", station=first, queue=second)
        return cls(measure, subject or "", direction=first)

    @property
    def words(self) -> str:
        """Its name."""
        parts = (self.subject, self.station, self.queue, self.direction, self.measure.name)
        return ".".join(part for part in parts if part)

    def of_run(self, folder: Path) -> dict[str, float]:
        """Its values in a run that was analysed, by their full names; without those that are not known."""
        found = self.rows(pl.scan_parquet(folder / FLOWS_TABLE), pl.scan_parquet(folder / MEASURES_TABLE))
        return dict(found.select("name", "value").collect().iter_rows())

    def rows(self, flows: pl.LazyFrame, others: pl.LazyFrame) -> pl.LazyFrame:
        """Its values in tables of runs (`results.tables`): full `name` and `value`, and the tables' `run` if they have one.

        Of an entry of the traffic with several connections, their mean.
        """
        table, places = (flows, _OF_FLOW) if self.measure.of == "flow" else (others, _OF_OTHERS)
        schema = table.collect_schema()
        columns = (pl.col(column).cast(pl.String) for column in places if column in schema)
        name = pl.concat_str(*columns, pl.lit(self.measure.name), separator=".", ignore_nulls=True)
        measured = pl.col(self.measure.name if self.measure.of == "flow" else "value") if self._is_in(schema) else pl.lit(None)
        kept = [
            *(column for column in ("run",) if column in schema),
            name.alias("name"),
            measured.cast(pl.Float64).alias("value"),
        ]
        whose = [column for column in ("run", "name") if column == "name" or column in schema]
        values = table.filter(*self._conditions()).select(kept).drop_nulls("value")
        return values.group_by(whose, maintain_order=True).agg(pl.col("value").mean())

    def _is_in(self, schema: pl.Schema) -> bool:
        """Tables of flows have the measures of the applications that their runs have."""
        return self.measure.of != "flow" or self.measure.name in schema

    def _conditions(self) -> Iterator[pl.Expr]:
        if self.measure.of == "flow":
            yield pl.col("traffic") == self.subject
        else:
            yield pl.col("measure") == self.measure.name
            yield pl.col("of") == self.measure.of
            if self.measure.of == "traffic":
                yield pl.col("name") == self.subject
            elif self.subject:
                yield pl.col("netbox").str.split(", ").list.contains(self.subject)
        for column, value in (("station", self.station), ("name", self.queue), ("direction", self.direction)):
            if value is not None:
                yield pl.col(column) == value


@dataclass(frozen=True)
class Network:
    """What measures of runs can be of: the traffic's applications by its names, and the stations of each netbox."""

    traffic: Mapping[str, str]
    netboxes: Mapping[str, Collection[str]]


class NoMeasure(ValueError):
    """A name that no measure has: cause and remedy."""

    def __init__(self, cause: str, remedy: str) -> None:
        self.cause, self.remedy = cause, remedy
        super().__init__(f"{cause}; {remedy}")


def check(name: str, network: Network) -> None:
    """Raises NoMeasure where the network has no measure of that name."""
    *of, word = name.split(".")
    subject, place = of[0] if of else "", of[1:]
    if (measure := measures().get(word)) is None:
        raise NoMeasure(f'there is no measure "{word}"', _proposed(word, _known(network, subject)))
    if measure.of == "run":
        if of:
            raise NoMeasure(f"{word} is of the whole run", f"write {word}")
        return
    known: Mapping[str, object] = network.netboxes if measure.of in _OF_NETBOXES else network.traffic
    kind = "netbox" if measure.of in _OF_NETBOXES else "traffic"
    if not of:
        raise NoMeasure(f"nothing says which {kind} {word} is of", f"write {listed([f'{one}.{word}' for one in known] or ['…'])}")
    if subject not in known:
        raise NoMeasure(f'there is no {kind} "{subject}"', nearest(subject, known))
    if kind == "traffic" and word not in (fitting := _known(network, subject)):
        raise NoMeasure(f"{subject} is {network.traffic[subject]}, which has no {word}", _proposed(word, fitting))
    if place:
        _check_place(measure, subject, place, network)


def _check_place(measure: Measure, subject: str, place: list[str], network: Network) -> None:
    if measure.of in _OF_STATIONS and len(place) <= _OF_STATIONS[measure.of]:
        if place[0] not in (stations := network.netboxes[subject]):
            raise NoMeasure(f'{subject} has no station "{place[0]}"', nearest(place[0], stations))
    elif measure.of in ("flow", "segment", "sharing") and len(place) == 1:
        if place[0] not in _DIRECTIONS:
            raise NoMeasure(f'"{place[0]}" is not a direction', nearest(place[0], _DIRECTIONS))
    else:
        raise NoMeasure(f"{measure.name} of {subject} has no {'.'.join(place)}", f"write {subject}.{measure.name}")


def _known(network: Network, subject: str) -> list[str]:
    """Names of measures that a subject may have; of an unknown one all."""
    if subject not in network.traffic:
        return list(measures())
    analysis = analyses().get(network.traffic[subject])
    own = [measure.name for measure in analysis.measures] if analysis else []
    return [*(measure.name for measure in OF_FLOWS), *own]


def _proposed(word: str, names: Collection[str]) -> str:
    if inside := [name for name in names if word and word in name][:_MOST_PROPOSED]:
        return f"did you mean {listed(inside)}?"
    remedy = nearest(word, names)
    return remedy if remedy.startswith("did you mean") else "docs/results.md has all names"
