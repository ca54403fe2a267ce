# SPDX-License-Identifier: GPL-2.0-or-later
"""The rates and latencies that netboxes tell the nodes at their ports are those at which frames get through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.test_telemetry import told
from netboxes.engine.virtual import Emulation, emulate, udp
from results.records import Fate

RECEIVE, TRANSMIT, LATENCY = 14, 15, 16
#: By technology what is said, the sender's station first, and a rate that is more than it has, bit/s.
SATURATED: dict[str, tuple[dict[str, Any], float]] = {
    "ethernet": ({"stations": {"x": {}, "y": {}}, "rate": "10 Mbit/s", "delay": "1 ms"}, 12e6),
    "wimax": ({"stations": {"x": {"role": "subscriber"}, "y": {"role": "base"}}, "distance": "1 km"}, 30e6),
    "wimax, far": ({"stations": {"x": {"role": "subscriber"}, "y": {"role": "base"}}, "distance": "6 km"}, 30e6),
    "lte": ({"stations": {"x": {"role": "ue"}, "y": {"role": "gateway"}}, "distance": "1 km", "resource_blocks": 6}, 5e6),
    "lte, far": ({"stations": {"x": {"role": "ue"}, "y": {"role": "gateway"}}, "distance": "9 km", "resource_blocks": 6}, 5e6),
}
#: Headers of the technology take a part of what is told: Ethernet's 38 bytes of 1538 at most.
LEAST, MOST = 0.9, 1.02


def saturated(name: str, sender: str) -> tuple[Emulation, float]:
    """What came out, and the rate at which layer 3 got through, from 1 s to 3 s."""
    said, offered = SATURATED[name]
    source, destination = (1, 2) if sender == "x" else (2, 1)
    count = round(3 * offered / 8 / 1500)
    frames = [(3 * number / count, udp(source, destination, 1472, identification=number % 65536)) for number in range(count)]
    queue = {"discipline": "fifo", "packets": 50}
    ran = emulate(name.partition(",")[0], {**said, "queue": queue}, {sender: frames}, telemetry=True, duration_s=4.0)
    came = ran.records[(ran.records["fate"] == Fate.DELIVERED) & (ran.records["length"] > 1000)]
    came = came[(came["out_ns"] > 1e9) & (came["out_ns"] < 3e9)]
    return ran, 8 * 1500 * len(came) / 2


@pytest.mark.parametrize("name", SATURATED)
@pytest.mark.parametrize("sender", ["x", "y"])
def test_what_is_told_is_what_gets_through(name: str, sender: str) -> None:
    ran, through = saturated(name, sender)
    receiver = "y" if sender == "x" else "x"
    assert LEAST < through / told(ran, sender)[2][1][TRANSMIT] < MOST
    assert told(ran, receiver)[2][1][RECEIVE] == told(ran, sender)[2][1][TRANSMIT]


@pytest.mark.parametrize(("name", "most"), [("ethernet", 1.2), ("wimax", 2.0), ("lte", 1.3)])
def test_the_latency_that_is_told_is_that_of_a_packet_alone(name: str, most: float) -> None:
    """Of small packets far apart; in WiMAX a packet asks for its room in one frame, and has it in another."""
    said, _ = SATURATED[name]
    frames = [(1 + 0.0537 * number, udp(1, 2, 100)) for number in range(40)]
    ran = emulate(name, said, {"x": frames}, telemetry=True, duration_s=4.0)
    delays = ran.records["out_ns"].astype(float) - ran.records["in_ns"]
    assert 0.7 < float(np.median(delays)) / (1000 * told(ran, "x")[2][1][LATENCY]) < most


@pytest.mark.parametrize(("name", "event"), [("ethernet", "x.outage"), ("wimax", "x.fade"), ("lte", "x.fade")])
def test_a_link_that_is_down_has_no_rate(name: str, event: str) -> None:
    said, _ = SATURATED[name]
    value = True if event == "x.outage" else 100.0
    ran = emulate(name, said, {"x": []}, telemetry=True, events=[(1.5, event, value)], duration_s=5.0)
    before, after = told(ran, "x")[1][1], told(ran, "x")[-1][1]
    assert before[TRANSMIT] > 0 < before[RECEIVE]
    assert (after[TRANSMIT], after[RECEIVE]) == (0, 0)
