# SPDX-License-Identifier: GPL-2.0-or-later
"""The lengths of the netboxes' queues over time, from their statistics (netboxes/queueing/README.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from typing_extensions import TypedDict

from contracts.shapes import OtherShape, shaped
from contracts.statistics import Count, Details, Measure, NetboxStatistics
from results.metrics_document import Queue


class _Length(TypedDict):
    """`length` of a queue."""

    mean: Measure
    p50: Count
    p90: Count
    p99: Count
    max: Count
    empty: Measure


def queues(counted: Mapping[str, NetboxStatistics]) -> Iterator[Queue]:
    """Those of each netbox: of its segment, then of its stations."""
    for netbox, statistics in counted.items():
        stations = statistics["segment"].get("stations")
        yield from _of(netbox, None, {name: part for name, part in statistics["segment"].items() if name != "stations"})
        for station, own in stations.items() if isinstance(stations, Mapping) else ():
            yield from _of(netbox, station, own)


def _of(netbox: str, station: str | None, part: Details) -> Iterator[Queue]:
    for queue, length in _lengths(part):
        yield {"netbox": netbox, "station": station, "queue": queue, **length}


def _lengths(part: object, within: tuple[str, ...] = ()) -> Iterator[tuple[str, _Length]]:
    """By the names of queues, with dots where they are nested. What has another shape is no queue's."""
    for name, content in _named(part):
        if name != "length":
            yield from _lengths(content, (*within, name))
            continue
        try:
            yield ".".join(within), shaped(content, _Length)
        except OtherShape:
            continue


def _named(part: object) -> Iterator[tuple[str, object]]:
    """What is in a list is named by its traffic class, or else by its place."""
    if isinstance(part, Mapping):
        yield from ((str(name), content) for name, content in part.items())
    elif isinstance(part, list):
        for place, content in enumerate(part):
            yield str(content.get("class", place)) if isinstance(content, Mapping) else str(place), content
