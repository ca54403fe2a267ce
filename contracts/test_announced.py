# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from contracts.announced import is_event, words

A_PATH = {"gateway": "10.9.0.1", "interface": "backhaul"}


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"event": "set", "parameter": "distance", "value": 7500.0}, "field: distance 7500"),
        ({"event": "set", "parameter": "fr1.position", "value": [1.5, 2.0, 0.0]}, "field: fr1.position [1.5, 2, 0]"),
        ({"event": "link_up", "station": "fr1"}, "field.fr1: link up"),
        ({"event": "link_down", "station": "fr1", "reason": "out of range"}, "field.fr1: link down (reason out of range)"),
        ({"event": "handover", "station": "fr1", "from": "a", "to": "b"}, "field.fr1: handover (from a to b)"),
        ({"event": "route", "destination": "10.1.0.0/24", "paths": [A_PATH]}, "field: 10.1.0.0/24 by backhaul (10.9.0.1)"),
        (
            {"event": "route_gone", "destination": "10.1.0.0/24", "paths": [A_PATH, {"gateway": None, "interface": "eth0"}]},
            "field: 10.1.0.0/24 no more by backhaul (10.9.0.1) and eth0 (its own network)",
        ),
        ({"event": "route", "paths": [1]}, "field: route (paths [1])"),
        ({"event": "route"}, "field: route"),
    ],
)
def test_an_event_is_told_in_words(event: dict[str, Any], told: str) -> None:
    line = {"at_s": 1.0, **event}
    assert is_event(line) and words("field", line) == told


@pytest.mark.parametrize("wrong", [{"at_s": "1"}, {"at_s": None}, {"event": 1}, {"event": None}, {"station": ["fr1"]}])
def test_what_no_node_of_ours_writes_is_no_event(wrong: dict[str, Any]) -> None:
    assert not is_event({"at_s": 1.0, "event": "link_up", **wrong})
