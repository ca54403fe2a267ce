# SPDX-License-Identifier: GPL-2.0-or-later
"""What netboxes tell the nodes at their ports about their links, read by the layout that README.md has."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pytest

from netboxes.engine.virtual import BROADCAST, Change, Emulation, TimedFrame, emulate, ethernet, mac, udp

ETHER_TYPE = 0x88B5
LINK = {"stations": {"left": {"rate": "1 Mbit/s"}, "right": {}}, "rate": "10 Mbit/s", "delay": "50 ms"}


def told(emulation: Emulation, station: str) -> list[tuple[float, dict[int, int]]]:
    """When, in seconds, and the items by their types (RFC 8175, section 13)."""
    found = []
    for at, frame in emulation.received[station]:
        destination, _, ether_type, magic, version, items = struct.unpack_from(">6s6sHHBB", frame)
        if ether_type == ETHER_TYPE:
            assert (destination.hex(), magic, version, len(frame)) == ("0180c200000e", 0x4E42, 1, 60)
            parts = [struct.unpack_from(">HHQ", frame, 18 + 12 * item) for item in range(items)]
            assert all(length == 8 for _, length, _ in parts)
            found.append((at, {kind: value for kind, _, value in parts}))
    return found


def linked(events: Sequence[Change] = (), left: Sequence[TimedFrame] = (), **options: Any) -> Emulation:
    return emulate("link", LINK, {"left": left}, telemetry=True, events=events, duration_s=3.05, **options)


def test_each_node_is_told_its_own_rates_and_latency_each_second() -> None:
    ran = linked()
    assert told(ran, "left") == [(float(at), {14: 10_000_000, 15: 1_000_000, 16: 50_000}) for at in range(4)]
    assert told(ran, "right") == [(float(at), {14: 1_000_000, 15: 10_000_000, 16: 50_000}) for at in range(4)]
    assert ran.statistics["frames"]["telemetry"] == 8


def test_changes_are_told_within_a_tenth_of_a_second() -> None:
    ran = linked([(0.53, "left.rate", 250e3), (1.21, "up", False)])
    assert [(round(at, 6), items[15]) for at, items in told(ran, "left")] == [
        *((0.0, 1_000_000), (0.6, 250_000), (1.3, 0), (2.3, 0)),
    ]
    assert told(ran, "right")[-1][1] == {14: 0, 15: 0, 16: 50_000}


def test_nobody_else_can_tell() -> None:
    forged = ethernet(mac(9), bytes.fromhex("0180c200000e"), ETHER_TYPE, told_frame := bytes(46))
    ran = linked(left=[(0.5, forged), (0.6, ethernet(mac(9), BROADCAST, ETHER_TYPE, told_frame)), (0.7, udp(1, 2))])
    assert [frame for _, frame in ran.received["right"] if frame[12:14] != b"\x88\xb5"] == [udp(1, 2)]
    assert len(told(ran, "right")) == 4
    assert ran.statistics["frames"]["link_control"] == 2


def test_nothing_is_told_where_nobody_asked_or_nothing_is_known() -> None:
    silent = emulate("link", LINK, {"left": []}, duration_s=2.0)
    assert silent.received == {"left": [], "right": []} and silent.statistics["frames"]["telemetry"] == 0
    pan = {"stations": {"a": {"role": "coordinator"}, "b": {}}, "distance": "10 m"}
    unknown = emulate("pan", pan, {"a": []}, telemetry=True, duration_s=2.0)
    assert unknown.received == {"a": [], "b": []}


def test_a_satellite_terminal_is_told_what_rain_leaves_of_its_carrier() -> None:
    """A fade of 15 dB makes the adaptive coding choose another profile: the rate is that of the statistics (regression)."""
    satellite = {
        "stations": {"hub": {"role": "gateway"}, "van": {"role": "terminal"}},
        "return_rate": "2 Mbit/s",
        "forward_rate": "10 Mbit/s",
        "coding": "adaptive",
    }
    events = [(5.0, "fade", 15.0)]
    ran = emulate("satellite", satellite, {"van": []}, telemetry=True, events=events, duration_s=20.0, interval_s=1.0)
    rates = [items[15] for _, items in told(ran, "van")]
    assert 0 < rates[-1] < rates[0]
    assert rates[-1] == int(ran.statistics["segment"]["stations"]["van"]["return"]["rate"])
    assert told(ran, "hub")[-1][1][14] == rates[-1]


def test_a_stage_can_follow_what_its_link_carries() -> None:
    """500 kbit/s of IP packets: 1 Mbit/s lets all pass, 100 kbit/s a fifth, and the burst of 15 kB."""
    frames = [(number / 50, udp(1, 2, 1222, identification=number)) for number in range(400)]
    stages = {"left": [{"stage": "police", "rate": "netbox"}]}
    ran = emulate("link", LINK, {"left": frames}, stages=stages, events=[(4.0, "left.rate", 100e3)])
    sent = [record["in_ns"] / 1e9 for record in ran.records if record["out_ns"] > 0]
    assert sum(at < 4.0 for at in sent) == 200
    assert sum(at >= 4.0 for at in sent) == pytest.approx(4 * 100e3 / 8 / 1250 + 15_000 / 1250, abs=3)
    assert ran.statistics["frames"]["telemetry"] == 0


def test_a_stage_follows_its_link_from_when_it_is_told_to() -> None:
    frames = [(number / 50, udp(1, 2, 1222, identification=number)) for number in range(400)]
    told = [{"stage": "police", "rate": None, "burst": None, "direction": "entering", "per": "port"}]
    link = LINK | {"stations": {"left": {"rate": "100 kbit/s", "queue": {"packets": 1000}}, "right": {}}}
    ran = emulate("link", link, {"left": frames}, events=[(4.0, "left.stages", told)])
    policed = [record["in_ns"] / 1e9 for record in ran.records if record["out_ns"] <= 0]
    assert policed and min(policed) > 4.0
