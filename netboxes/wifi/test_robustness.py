# SPDX-License-Identifier: GPL-2.0-or-later
"""ns-3's assertions are on: whatever frames come and wherever stations go, none of them may stop a netbox."""

from __future__ import annotations

import random
from typing import Any

import pytest

from netboxes.engine.virtual import BROADCAST, Change, TimedFrame, emulate, ethernet, mac

STATIONS = {"responder": "station", "commander": "access-point", "other": "station"}
DURATION = 6.0
STRANGER, MULTICAST = b"\x02\0\0\0\0\x99", b"\x01\0\x5e\0\0\1"


def babble(station: int, dice: random.Random) -> list[TimedFrame]:
    """Frames of any type and length to anybody."""
    others = [mac(other) for other in range(len(STATIONS)) if other != station]
    frames = [(0.3, ethernet(mac(station), BROADCAST, 0x88B5, b"hello"))]
    for _ in range(3000):
        time = dice.uniform(0.0, DURATION)
        destination = dice.choice([*others, BROADCAST, MULTICAST, STRANGER])
        ether_type = dice.choice([0x0800, 0x0806, 0x86DD, 0x88CC, 0x9999, 0x0030, 0x8100])
        payload = bytes(dice.randrange(256) for _ in range(8)) + bytes(dice.choice([0, 1, 38, 500, 1492]))
        frames.append((time, ethernet(mac(station), destination, ether_type, payload)))
    return frames


def wander(dice: random.Random) -> list[Change]:
    changes: list[Change] = []
    for _ in range(20):
        distance = ("distance", dice.choice([5.0, 100.0, 300.0, 2000.0, 90000.0]))
        power = ("tx_power", dice.uniform(-20.0, 36.0))
        changes.append((dice.uniform(0.0, DURATION), *dice.choice([distance, power])))
    return sorted(changes)


@pytest.mark.parametrize("standard", ["802.11a", "802.11g", "802.11n", "802.11ax"])
def test_babbling_wandering_hidden_stations_do_not_stop_a_netbox(standard: str) -> None:
    dice = random.Random(5)
    cell: dict[str, Any] = {
        "stations": {name: {"role": role} for name, role in STATIONS.items()},
        "distance": "20 m",
        "standard": standard,
        "rate_control": "minstrel",
        "queue": 20,
        "rts_threshold": "500 B",
    }
    frames = {name: babble(station, dice) for station, name in enumerate(STATIONS)}
    emulation = emulate("wifi", cell, frames, seed=5, events=wander(dice), duration_s=DURATION + 31.0)
    counted = emulation.statistics["frames"]
    assert counted["inside"] == 0
    # Only what waits in the queue of a station that has left for good is never heard of again.
    assert counted["lost"]["unknown"] <= 2 * cell["queue"] * 4
    assert counted["delivered"] > 100 and counted["lost"]["outage"] > 100


@pytest.mark.parametrize("seed", range(4))
def test_far_hidden_stations_in_step_do_not_stop_a_netbox(seed: int) -> None:
    """Two stations that hear the access point but not each other leave together, and are strong enough to be heard from afar."""
    cell: dict[str, Any] = {
        "stations": {name: {"role": role} for name, role in STATIONS.items()},
        "distance": "20 m",
        "tx_power": "32 dBm",
        "rate_control": "minstrel",
    }
    dice = random.Random(seed)
    frames = {name: babble(station, dice) for station, name in enumerate(STATIONS)}
    emulation = emulate("wifi", cell, frames, seed=seed, events=[(1.0, "distance", 2000.0)])
    latest = emulation.records[emulation.records["fate"] == 0]["in_ns"].max() / 1e9
    assert latest == pytest.approx(1.0, abs=0.1)
