# SPDX-License-Identifier: GPL-2.0-or-later
"""The netboxes' queues: lengths over time, drops and marks, from their statistics (netboxes/queueing/README.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NotRequired, cast

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


class _Counted(TypedDict):
    """What a queue tells of its length since its netbox began to count."""

    length: _Length
    #: For how long it had each class of lengths.
    length_s: NotRequired[list[Measure]]
    #: Packets, by the cause.
    dropped: NotRequired[dict[str, Count]]
    marked: NotRequired[dict[str, Count]]


class _Figures(TypedDict):
    """Those of a queue in metrics.json."""

    mean: float | None
    p50: int | None
    p90: int | None
    p99: int | None
    max: int | None
    empty: float | None
    dropped: dict[str, int] | None
    marked: dict[str, int] | None
    reason: str | None


#: By station (None: the segment) and name.
_Queues = Mapping[tuple[str | None, str], _Counted]

_NOT_CUT: Final = "percentiles and most are counted over the whole run, with the warm-up, so they are not told"
_UNKNOWN: Final = "its netbox took down no statistics of it after the warm-up, so its share cannot be taken off"


def queues(counted: Mapping[str, NetboxStatistics], later: Mapping[str, Sequence[Details]] | None = None) -> Iterator[Queue]:
    """Those of each netbox: of its segment, then of its stations.

    `later` are, of a run with a warm-up, each netbox's statistics as it took them down since then (results.journal).
    """
    for netbox, statistics in counted.items():
        samples = None if later is None else [dict(_found(sample)) for sample in later.get(netbox, ())]
        for (station, name), own in _found(statistics["segment"]):
            figures = _whole(own) if samples is None else _later(own, (station, name), samples)
            yield {"netbox": netbox, "station": station, "queue": name, **figures}


def _whole(counted: _Counted) -> _Figures:
    return {**counted["length"], "dropped": counted.get("dropped"), "marked": counted.get("marked"), "reason": None}


def _later(counted: _Counted, queue: tuple[str | None, str], samples: Sequence[_Queues]) -> _Figures:
    """Since the first of the samples. All of a queue that began later, or whose netbox began anew, is since then."""
    if samples and queue not in samples[0]:
        return _whole(counted)
    course = [*(sample[queue] for sample in samples if queue in sample), counted]
    times_s = [_time_s(one) for one in course]
    until_s = times_s[-1]
    if times_s[0] <= until_s:
        # A netbox of a lab goes on writing while the run asks for its last statistics.
        times_s = [time_s for time_s in times_s if time_s <= until_s]
    if any(after < before for before, after in pairwise(times_s)):
        return _whole(counted)
    before_s = times_s[0]
    if until_s <= before_s:
        unknown = dict.fromkeys(("mean", "p50", "p90", "p99", "max", "empty", "dropped", "marked"))
        return cast(_Figures, {**unknown, "reason": _UNKNOWN})
    before, until = course[0]["length"], counted["length"]

    def since(first: float, last: float) -> float:
        return max(0.0, (last * until_s - first * before_s) / (until_s - before_s))

    return {
        "mean": since(before["mean"], until["mean"]),
        "p50": None,
        "p90": None,
        "p99": None,
        "max": None,
        "empty": min(1.0, since(before["empty"], until["empty"])),
        "dropped": _grown(course[0].get("dropped"), counted.get("dropped")),
        "marked": _grown(course[0].get("marked"), counted.get("marked")),
        "reason": _NOT_CUT,
    }


def _time_s(counted: _Counted) -> float:
    """How long it has been counted."""
    return sum(counted.get("length_s", ()))


def _grown(before: Mapping[str, int] | None, until: Mapping[str, int] | None) -> dict[str, int] | None:
    """By cause, how many came since then."""
    return None if until is None else {cause: count - (before or {}).get(cause, 0) for cause, count in until.items()}


def _found(segment: Details) -> Iterator[tuple[tuple[str | None, str], _Counted]]:
    stations = segment.get("stations")
    for name, counted in _counted({name: part for name, part in segment.items() if name != "stations"}):
        yield (None, name), counted
    for station, own in stations.items() if isinstance(stations, Mapping) else ():
        for name, counted in _counted(own):
            yield (station, name), counted


def _counted(part: object, within: tuple[str, ...] = ()) -> Iterator[tuple[str, _Counted]]:
    """By the names of queues, with dots where they are nested. What has another shape is no queue's."""
    for name, content in _named(part):
        if name != "length":
            yield from _counted(content, (*within, name))
            continue
        try:
            yield ".".join(within), shaped(part, _Counted)
        except OtherShape:
            continue


def _named(part: object) -> Iterator[tuple[str, object]]:
    """What is in a list is named by its traffic class, or else by its place."""
    if isinstance(part, Mapping):
        yield from ((str(name), content) for name, content in part.items())
    elif isinstance(part, list):
        for place, content in enumerate(part):
            yield str(content.get("class", place)) if isinstance(content, Mapping) else str(place), content
