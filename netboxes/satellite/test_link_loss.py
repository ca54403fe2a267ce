# SPDX-License-Identifier: GPL-2.0-or-later
"""A fade that is too deep takes a link away, says so, and gives it back; what waited meanwhile is accounted for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import BROADCAST, Emulation, EmulationFailed, TimedFrame, emulate, ethernet, mac
from netboxes.satellite.link_under_test import DELAY, HUB, LINK, MEOC, OTHER, SHARED, THREE, flow, hello, lost

KINDS: dict[str, dict[str, Any]] = {
    "own carriers": THREE,
    "own carriers, adaptive": THREE | {"coding": "adaptive", "forward_frame": "normal"},
    "mesh": THREE | {"connectivity": "mesh"},
    "RBDC": SHARED | {"capacity_request": "RBDC"},
    "VBDC, adaptive": SHARED | {"capacity_request": "VBDC", "coding": "adaptive", "forward_frame": "normal"},
    "CRA and FCA": SHARED | {"capacity_request": ["CRA", "FCA"], "cra_rate": "100 kbit/s"},
}
FROM, TO = 4.0, 8.0


def both_ways() -> dict[str, list[TimedFrame]]:
    """Both terminals and the hub with each other, 20 packets a second each way from 1 to 12 s, and broadcasts."""

    def to(source: int, destination: int) -> list[TimedFrame]:
        return flow(source, destination, 100 + 10 * source + destination, 0.05, 220)

    calls = [(1.0 + 0.5 * i, ethernet(mac(HUB), BROADCAST, 0x0806, bytes([i]) * 46)) for i in range(22)]
    return {
        "meoc": hello(MEOC) + to(MEOC, HUB) + to(MEOC, OTHER),
        "hub": hello(HUB) + to(HUB, MEOC) + to(HUB, OTHER) + calls,
        "other": hello(OTHER) + to(OTHER, HUB) + to(OTHER, MEOC),
    }


def during_a_deep_fade(kind: str) -> Emulation:
    return emulate("satellite", KINDS[kind], both_ways(), events=[(FROM, "meoc.fade", 25.0), (TO, "meoc.fade", 0.0)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_fade_of_25_db_over_one_terminal_stops_its_frames_and_no_others(kind: str) -> None:
    emulation = during_a_deep_fade(kind)
    assert [(line["station"], line["at_s"], line["reason"]) for line in emulation.events("link_down")] == [
        ("meoc", pytest.approx(FROM - 0.1), "fade")
    ]
    assert [(line["station"], line["at_s"]) for line in emulation.events("link_up")] == [("meoc", pytest.approx(TO - 0.1))]
    out, station_in = emulation.records["out_ns"] / 1e9, emulation.records["station_in"]
    to_or_from_it = (emulation.records["fate"] == 0) & ((emulation.records["station_out"] == MEOC) | (station_in == MEOC))
    # From a star's hub to another terminal what had come before the fade goes on.
    passed = to_or_from_it & (out > FROM) & (out < TO) & ((station_in != MEOC) | (emulation.records["station_out"] == HUB))
    assert not np.any(passed)
    assert np.count_nonzero(to_or_from_it & (out > TO + DELAY)) > 100
    others = (emulation.records["station_out"] != MEOC) & (station_in != MEOC) & (emulation.records["in_ns"] > 0.9e9)
    assert np.all(emulation.records["fate"][others] == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_each_copy_has_one_fate_through_a_fade(kind: str) -> None:
    emulation = during_a_deep_fade(kind)
    frames = emulation.statistics["frames"]
    assert frames["duplicates"] == 0 and frames["inside"] == 0
    assert set(lost(emulation)) <= {"outage", "on_air"}
    assert lost(emulation)["outage"] > 300
    # All that was lost was under way or handed over between the fade and its end.
    failed = emulation.records["in_ns"][emulation.records["fate"] != 0] / 1e9
    assert failed.min() > FROM - 2 * DELAY - 1.0 and failed.max() < TO + 0.01


def test_what_waits_for_slots_when_the_link_is_lost_is_lost_with_it() -> None:
    link = SHARED | {"capacity_request": "CRA", "cra_rate": "100 kbit/s"}
    # 400 kbit/s until 3 s, when three quarters of it are queued.
    frames = {"meoc": flow(MEOC, HUB, 500, 0.01, 200), "hub": hello(HUB)}
    events: list[tuple[float, str, Any]] = [(3.1, "meoc.outage", True), (5.0, "meoc.outage", False)]
    emulation = emulate("satellite", link | {"queue": {"buffer": "2 s"}}, frames, events=events, duration_s=20.0)
    assert emulation.received["hub"][-1][0] <= 3.1
    assert lost(emulation)["outage"] == 200 - len(emulation.received["hub"]) > 100
    assert emulation.statistics["segment"]["stations"]["meoc"]["queue"]["bytes"] == 0


def test_what_waits_for_slots_when_the_satellite_changes_is_sent_by_the_next() -> None:
    link = SHARED | {"capacity_request": "CRA", "cra_rate": "100 kbit/s", "delay_gaps": [["3 s", "300 ms"]]}
    # 80 packets of 510 bytes at 100 kbit/s take 3.3 s; time begins with the first frame, at 0.1 s.
    frames = {"meoc": flow(MEOC, HUB, 500, 0.01, 80), "hub": hello(HUB)}
    emulation = emulate("satellite", link | {"queue": {"buffer": "2 s"}}, frames, duration_s=20.0)
    arrivals = np.array([at for at, _ in emulation.received["hub"]])
    # What was on its way is lost, 254 ms of 24 packets a second.
    assert 5 <= lost(emulation)["outage"] <= 9
    assert len(arrivals) == 80 - lost(emulation)["outage"]
    assert not np.any((arrivals > 3.1) & (arrivals < 3.4 + DELAY)) and np.any(arrivals > 3.4 + DELAY)


@pytest.mark.parametrize("discipline", ["fifo", "priority"])
def test_packets_that_wait_for_too_long_are_given_up(discipline: str) -> None:
    classes = [{"name": "voice", "match": {"dscp": [46]}}]
    queue = {"discipline": discipline, "buffer": "20 s"}
    link = SHARED | {"capacity_request": "CRA", "cra_rate": "16 kbit/s", "queue": queue}
    # Voice alone takes the rate: with priority nothing else is ever sent.
    frames = {"meoc": flow(MEOC, HUB, 100, 0.03, 2000, dscp=46) + flow(MEOC, HUB, 1000, 0.5, 120), "hub": hello(HUB)}
    emulation = emulate("satellite", link, frames, classes=classes, duration_s=100.0)
    assert set(lost(emulation)) == {"queue_expired"}
    records = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["station_in"] == MEOC)]
    assert len(records) + lost(emulation)["queue_expired"] == 2120
    assert ((records["out_ns"] - records["in_ns"]) / 1e9).max() < 20.0 + 1000 * 8 / 16e3 + DELAY + 1.0
    assert emulation.statistics["frames"]["duplicates"] == 0
    if discipline == "priority":
        assert set(records["class"]) == {0}


@pytest.mark.parametrize(
    ("link", "parameter", "value", "message"),
    [
        (LINK, "forward_rate", 5000.0, "QPSK 3/4 takes 2.3424 s, longer than 2 s; its rate is 5856 bit/s or more"),
        (LINK | {"return_waveform": 22}, "return_rate", 2000.0, "16QAM 5/6 takes 2.396 s"),
        (LINK | {"return_waveform": 22}, "meoc.return_rate", 2000.0, "16QAM 5/6 takes 2.396 s"),
        (SHARED, "return_rate", 20e3, "a superframe, which keeps its slots, takes 4.9632 s; it can take 0.001 to 2 s"),
        (SHARED, "return_rate", 1e9, "it can take 0.001 to 2 s"),
    ],
)
def test_rates_at_which_a_codeword_takes_too_long_cannot_be_set(
    link: dict[str, Any], parameter: str, value: float, message: str
) -> None:
    with pytest.raises(EmulationFailed, match=message):
        emulate("satellite", link, {"meoc": flow(MEOC, HUB, 100, 0.1, 20)}, events=[(1.5, parameter, value)])


def test_the_slowest_link_that_is_accepted_carries_packets() -> None:
    slow = {"return_rate": "1 kbit/s", "forward_rate": f"{math.ceil(3072 / 2)} bit/s", "forward_code_rate": "1/4"}
    frames = {"meoc": flow(MEOC, HUB, 100, 5.0, 10), "hub": flow(HUB, MEOC, 100, 5.0, 10)}
    emulation = emulate("satellite", LINK | slow, frames)
    assert lost(emulation) == {}
    assert len(emulation.received["hub"]) == len(emulation.received["meoc"]) == 10
