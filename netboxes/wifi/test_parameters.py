# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Wi-Fi cell's parameters accept and refuse."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.wifi.parameters import Parameters

CELL: dict[str, Any] = {
    "stations": {"responder": {"role": "station"}, "commander": {"role": "access-point"}},
    "standard": "802.11a",
    "distance": "80 m",
    "tx_power": "16 dBm",
}
MESH = {"a": {"role": "mesh-point"}, "b": {"role": "mesh-point"}}


def test_emergency_topology_values_are_accepted() -> None:
    cell = Parameters.model_validate(CELL | {"propagation": "friis"})
    assert (cell.distance, cell.tx_power, cell.channel_width, cell.qos) == (80.0, 16.0, 20e6, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stations": {"a": {"role": "station"}, "b": {"role": "station"}}}, "exactly one station with `role: access-point`"),
        ({"distance": "80"}, "has no unit"),
        ({"tx_power": "50 dBm"}, "outside -20 dBm … 36 dBm"),
        ({"rate": "24 Mbit/s"}, "`rate_control: constant` and `rate` belong together"),
        ({"rate_control": "constant", "rate": "25 Mbit/s"}, "has the rates 6 Mbit/s, 9 Mbit/s"),
        ({"standard": "802.11n", "rate_control": "aarf"}, "knows 802.11a, b and g only"),
        ({"standard": "802.11ax", "rate": "24 Mbit/s"}, "has no `rate`; give `mcs`"),
        ({"standard": "802.11n", "rate_control": "constant", "mcs": 8}, "has mcs 0 to 7"),
        ({"standard": "802.11ac", "qos": False}, "cannot do without QoS"),
        ({"band": "2.4 GHz"}, "802.11a works at 5 GHz"),
        ({"channel": 42}, "no channel 42 of 20 MHz"),
        ({"channel_width": "40 MHz"}, "does not exist for 802.11a"),
        ({"distance": "1500 m"}, "distance: 1.5 km is more than 1.19 km, past which nothing is heard"),
        ({"distance": "15 km", "coverage_class": 30}, "15 km is more than 14.69 km"),
        (
            {"stations": CELL["stations"] | {"responder": {"role": "station", "distance": "1.2 km"}}},
            "responder: distance: 1.2 km is more than 1.19 km",
        ),
        ({"distance": None}, "nothing says where responder stands"),
        ({"mode": "ad-hoc"}, "stations are peer"),
        ({"standard": "802.11b", "rate_control": "constant", "rate": "6 Mbit/s"}, "has the rates 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s"),
        ({"hidden": [["responder", "nobody"]]}, "names nobody, which is no station"),
        ({"hidden": [["responder", "responder"]]}, "two different stations"),
        ({"nakagami_m": 0.2}, "greater than or equal to 0.5"),
        ({"nakagami_m": [["10 m", 1.0]]}, "begins at 0 m"),
        ({"nakagami_m": [["0 m", 1.0], ["0 m", 2.0]]}, "rising distances"),
        ({"buildings": [{"corners": [["0 m", "0 m"], ["9 m", "9 m"]]}]}, "a box that has a height"),
        ({"preamble": "short"}, "is for 802.11b"),
        ({"coverage_class": 32}, "less than or equal to 31"),
        ({"coverage_class": 1, "standard": "802.11g"}, "two stations at 5 GHz"),
        ({"device_queue": 10}, "is for a `queue` above it"),
        ({"queue": {"discipline": "fifo", "target": "5 ms"}}, "fifo has no target"),
        ({"mode": "mesh", "stations": MESH, "standard": "802.11n"}, "a mesh is of 802.11a, 802.11b, 802.11g"),
        ({"mode": "mesh", "stations": MESH, "qos": False}, "a mesh cannot do without QoS"),
        ({"mode": "mesh", "stations": MESH, "queue": "pie"}, "in a mesh `queue` is a fifo with a limit in packets alone"),
        ({"mode": "mesh", "stations": MESH, "queue": {"packets": 9, "time": "1 s"}}, "in a mesh `queue` is a fifo"),
        ({"mode": "mesh", "stations": MESH | {"a": {"role": "mesh-point", "distance": "1 m"}}}, "give its `position`"),
    ],
)
def test_bad_parameters_are_refused_with_the_reason(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(CELL | change)
