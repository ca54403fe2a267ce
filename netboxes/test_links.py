# SPDX-License-Identifier: GPL-2.0-or-later
"""Stations that have no link when the network's time begins: the journal says so from its start, in every technology."""

from __future__ import annotations

from typing import Any

import pytest

from netboxes.engine.virtual import BROADCAST, Change, emulate, ethernet, mac
from netboxes.technology import technologies

#: Of each technology: parameters, what has changed before the time begins, and which stations are without a link then, and why.
CASES: dict[str, tuple[dict[str, Any], list[Change], dict[str, str]]] = {
    "ethernet": (
        {"medium": "switched", "stations": {"a": {"outage": True}, "b": {}, "c": {}}},
        [],
        {"a": "outage"},
    ),
    "link": ({"stations": {"a": {}, "b": {}}}, [(1.0, "a.up", False)], {"b": "taken down"}),
    "lte": (
        {
            "stations": {"a": {"role": "ue"}, "core": {"role": "gateway"}, "b": {"role": "ue", "position": ["900 km", "0 m"]}},
            "tx_power": "0 dBm",
            "ue_tx_power": "0 dBm",
        },
        [],
        {"b": "no cell in reach"},
    ),
    "multiservice": ({"stations": {"a": {}, "b": {"up": False}}, "profile": "pcs"}, [], {"a": "taken down"}),
    "pan": ({"stations": {"hub": {"role": "coordinator"}, "a": {"distance": "9 km"}, "b": {}}}, [], {"a": "out of range"}),
    "pmr": ({"stations": {"base": {"role": "base"}, "a": {"outage": True}, "b": {}}}, [], {"a": "outage"}),
    "satellite": (
        {
            "stations": {"hub": {"role": "gateway"}, "a": {"role": "terminal", "outage": True}, "b": {"role": "terminal"}},
            "delay": "254 ms",
            "return_rate": "2 Mbit/s",
            "forward_rate": "10 Mbit/s",
        },
        [],
        {"a": "outage"},
    ),
    "wifi": (
        {
            "stations": {
                "commander": {"role": "access-point"},
                "a": {"role": "station", "position": ["9 km", "0 m"]},
                "b": {"role": "station", "position": ["10 m", "0 m"]},
            },
        },
        [],
        {"a": "not associated"},
    ),
    "wimax": (
        {
            "stations": {
                "bs": {"role": "base"},
                "a": {"role": "subscriber", "distance": "12 km"},
                "b": {"role": "subscriber", "distance": "1 km"},
            },
            "tx_power": "30 dBm",
            "frequency": "5 GHz",
        },
        [],
        {"a": "out of range"},
    ),
}


@pytest.mark.parametrize("name", [name for name, model in technologies().items() if "link_down" in model.ANNOUNCES])
def test_the_journal_says_from_its_start_who_has_no_link(name: str) -> None:
    parameters, before, missing = CASES[name]
    first = next(iter(parameters["stations"]))
    hello = [(3.0, ethernet(mac(0), BROADCAST, 0x88B5, b"hello"))]
    emulation = emulate(name, parameters, {first: hello}, events=before, duration_s=4.0)
    reasons = {line["station"]: line["reason"] for line in emulation.events("link_down") if line["at_s"] == 0}
    assert reasons == missing
    assert {line["station"] for line in emulation.events("link_down")} == set(missing), "one was told twice, or went later"
    assert len(emulation.events("link_down")) == len(missing)
