# SPDX-License-Identifier: GPL-2.0-or-later
"""Lengths of queues are found wherever a technology has its queues; what another program wrote in their place is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from contracts.statistics import NetboxStatistics
from results.queues import queues

NOTHING = {"mean": None, "p50": None, "p90": None, "p99": None, "max": None, "empty": None, "dropped": None, "marked": None}
CAUSES = {"dropped": None, "marked": None}
LENGTH = {"mean": 1.5, "p50": 1, "p90": 4, "p99": 9, "max": 12, "empty": 0.25}


def told(segment: dict[str, Any], later: Sequence[dict[str, Any]] | None = None) -> list[Any]:
    return list(queues({"cell": cast("NetboxStatistics", {"segment": segment})}, None if later is None else {"cell": later}))


def counted(lengths: Sequence[int]) -> dict[str, Any]:
    """What a netbox tells of a queue that had each of these lengths for a second."""
    if not lengths:
        return {"queue": {"length": None, "length_s": []}}
    classes = [sum(length.bit_length() == number for length in lengths) for number in range(max(lengths).bit_length() + 1)]
    length = {"mean": sum(lengths) / len(lengths), "empty": lengths.count(0) / len(lengths), "max": max(lengths)}
    return {"queue": {"length": LENGTH | length, "length_s": [float(time_s) for time_s in classes]}}


def test_queues_of_stations_of_bearers_and_of_connections_are_found() -> None:
    segment = {
        "links": {"mobile": {"downlink_flows": [{"class": "voice", "queue": {"length": LENGTH, "packets": 3}}]}},
        "stations": {"base": {"queue": {"length": LENGTH}}, "ue": {"queues": {"default": {"length": LENGTH}}}},
    }
    assert told(segment) == [
        {
            "netbox": "cell",
            "station": None,
            "queue": "links.mobile.downlink_flows.voice.queue",
            **LENGTH,
            **CAUSES,
            "reason": None,
        },
        {"netbox": "cell", "station": "base", "queue": "queue", **LENGTH, **CAUSES, "reason": None},
        {"netbox": "cell", "station": "ue", "queue": "queues.default", **LENGTH, **CAUSES, "reason": None},
    ]


@pytest.mark.parametrize(
    "length", [None, 7, "long", [1], {}, LENGTH | {"p50": "x"}, LENGTH | {"mean": 1e300}, LENGTH | {"max": -(2**70)}]
)
def test_what_is_no_length_of_a_queue_is_passed_over(length: object) -> None:
    assert told({"stations": {"base": {"queue": {"length": length}}}}) == []


@pytest.mark.parametrize("stations", [None, 7, [], {"base": None}, {"base": [7, {"length": 3}]}])
def test_other_shapes_of_stations_have_no_queues(stations: object) -> None:
    assert told({"stations": stations}) == []


def test_of_a_queue_that_was_full_in_the_warm_up_the_rest_is_told() -> None:
    full, rest = [90] * 10, [0, 0, 2, 4, 0, 1, 0, 3]
    (queue,) = told(counted(full + rest), [counted(full), counted([*full, *rest[:3]])])
    assert queue["mean"] == pytest.approx(10 / 8) and queue["empty"] == pytest.approx(4 / 8)
    assert (queue["p50"], queue["p99"], queue["max"]) == (None, None, None)
    assert "counted over the whole run" in queue["reason"]


def test_a_queue_of_which_nothing_is_known_at_the_end_of_the_warm_up_is_not_told() -> None:
    for later in ([], [counted([1, 2])]):
        (queue,) = told(counted([1, 2]), later)
        assert queue == {"netbox": "cell", "station": None, "queue": "queue", **NOTHING, "reason": queue["reason"]}
        assert "no statistics of it after the warm-up" in queue["reason"]


def test_samples_later_than_the_last_statistics_do_not_make_it_another_queue() -> None:
    """A netbox of a lab goes on writing its journal while the run asks for its statistics."""
    full, rest = [90] * 10, [0, 0, 2, 4, 0, 1, 0, 3]
    later = [counted(full), counted(full + rest[:4]), counted([*full, *rest, 0, 0])]
    (queue,) = told(counted(full + rest), later)
    assert queue["mean"] == pytest.approx(10 / 8) and "counted over the whole run" in queue["reason"]
    # It began anew after all samples, or before the last one.
    for later in ([counted([90] * 10), counted([90] * 12)], [counted([90] * 10), counted([5])]):
        (again,) = told(counted([5] * 3), later)
        assert (again["mean"], again["reason"]) == (5, None)


def test_a_queue_that_began_later_or_anew_is_told_whole() -> None:
    (new,) = told(counted([3, 3]), [counted([]), counted([3])])
    (again,) = told(counted([5] * 30), [counted([90] * 10), counted([90] * 12), counted([5]), counted([5] * 20)])
    assert (new["mean"], new["max"], new["reason"]) == (3, 3, None)
    assert (again["mean"], again["max"], again["reason"]) == (5, 5, None)


def test_drops_and_marks_are_told_by_their_cause_and_after_a_warm_up_without_those_of_it() -> None:
    def told_of(early: int, marked: int) -> dict[str, Any]:
        (queue,) = counted([1] * (early + marked)).values()
        return {"queue": {**queue, "dropped": {"full": 1, "early": early}, "marked": {"early": marked}}}

    (whole,) = told(told_of(3, 40))
    (rest,) = told(told_of(3, 40), [told_of(2, 15)])
    assert (whole["dropped"], whole["marked"]) == ({"full": 1, "early": 3}, {"early": 40})
    assert (rest["dropped"], rest["marked"]) == ({"full": 0, "early": 1}, {"early": 25})
