# SPDX-License-Identifier: GPL-2.0-or-later
"""What an LTE network cannot be, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.lte.parameters import Parameters

CELL: dict[str, Any] = {"stations": {"ue": {"role": "ue"}, "core": {"role": "gateway"}}}
VOICE = {"class": "voice", "qci": 1, "uplink_rate": "64 kbit/s"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stations": {"ue": {"role": "ue"}, "other": {"role": "ue"}}}, "exactly one station with `role: gateway`"),
        ({"stations": CELL["stations"] | {"core": {"role": "gateway", "distance": "3 m"}}}, "has no `distance`"),
        ({"stations": CELL["stations"] | {"ue": {"role": "ue", "handover": "east"}}}, "netboxit set"),
        ({"resource_blocks": 30}, "6, 15, 25, 50, 75 or 100"),
        ({"band": 20, "resource_blocks": 6}, "TS 36.101"),
        ({"band": 38}, "no FDD band 38"),
        ({"earfcn": 1201}, "1250 to 1900"),
        ({"scheduler": "cqa", "transmission_mode": 2}, "one layer"),
        ({"queue": {"target": "5 ms"}}, "fifo has no target"),
        ({"bearers": [VOICE | {"qci": 9}]}, "guarantees no rate"),
        ({"bearers": [{"class": "voice", "qci": 1}]}, "guarantees a rate"),
        ({"bearers": [VOICE, VOICE]}, "a class has one"),
        ({"bearers": [VOICE | {"class": f"c{number}"} for number in range(8)]}, "8 at most"),
        ({"bearers": [VOICE | {"stations": ["core"]}]}, "no UE"),
        ({"bearers": [VOICE | {"stations": []}]}, "at least 1 item"),
        ({"bearers": [VOICE | {"uplink_maximum": "10 kbit/s"}]}, "below"),
        ({"propagation": "okumura-hata", "enodebs": {"a": {"position": ["0 m", "0 m", "-5 m"]}}}, "below ground"),
        ({"stations": {f"ue{n}": {"role": "ue"} for n in range(151)} | {"core": {"role": "gateway"}}}, "too many"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Parameters.model_validate(CELL | wrong)
    assert message in str(refused.value)


def test_a_channel_is_in_the_middle_of_its_band() -> None:
    assert Parameters.model_validate(CELL).earfcn == 1575
    assert Parameters.model_validate(CELL | {"band": 14, "resource_blocks": 50}).earfcn == 5330
