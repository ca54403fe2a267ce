# SPDX-License-Identifier: GPL-2.0-or-later
"""Lengths of queues are found wherever a technology has its queues; what another program wrote in their place is none."""

from __future__ import annotations

from typing import Any, cast

import pytest

from contracts.statistics import NetboxStatistics
from results.queues import queues

LENGTH = {"mean": 1.5, "p50": 1, "p90": 4, "p99": 9, "max": 12, "empty": 0.25}


def told(segment: dict[str, Any]) -> list[Any]:
    return list(queues({"cell": cast("NetboxStatistics", {"segment": segment})}))


def test_queues_of_stations_of_bearers_and_of_connections_are_found() -> None:
    segment = {
        "links": {"mobile": {"downlink_flows": [{"class": "voice", "queue": {"length": LENGTH, "packets": 3}}]}},
        "stations": {"base": {"queue": {"length": LENGTH}}, "ue": {"queues": {"default": {"length": LENGTH}}}},
    }
    assert told(segment) == [
        {"netbox": "cell", "station": None, "queue": "links.mobile.downlink_flows.voice.queue", **LENGTH},
        {"netbox": "cell", "station": "base", "queue": "queue", **LENGTH},
        {"netbox": "cell", "station": "ue", "queue": "queues.default", **LENGTH},
    ]


@pytest.mark.parametrize(
    "length", [None, 7, "long", [1], {}, LENGTH | {"p50": "x"}, LENGTH | {"mean": 1e300}, LENGTH | {"max": -(2**70)}]
)
def test_what_is_no_length_of_a_queue_is_passed_over(length: object) -> None:
    assert told({"stations": {"base": {"queue": {"length": length}}}}) == []


@pytest.mark.parametrize("stations", [None, 7, [], {"base": None}, {"base": [7, {"length": 3}]}])
def test_other_shapes_of_stations_have_no_queues(stations: object) -> None:
    assert told({"stations": stations}) == []
