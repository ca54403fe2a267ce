# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wi-Fi segment in virtual time, against the arithmetic of IEEE 802.11-2020, clauses 10 and 17."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netboxes.engine.virtual import BROADCAST, EmulationFailed, emulate, ethernet, mac, udp, vlan
from netboxes.wifi.cell_under_test import (
    CELL,
    COMMANDER,
    HEADERS,
    OTHER,
    RESPONDER,
    THREE,
    flow,
    hello,
    lost,
    saturated,
    towards_access_point,
)
from netboxes.wifi.path_loss import NOISE, free_space
from netboxes.wifi.standard_arithmetic import OFDM, ofdm, ofdm_exchange, psdu, saturation
from netboxes.wifi.validation_contention import bianchi, contending

DIFS = OFDM.difs


@pytest.mark.parametrize("rate", [6, 24, 54])
@pytest.mark.parametrize("length", [1500, 500])
def test_saturation_goodput_of_80211a(rate: int, length: int) -> None:
    cell = CELL | {"distance": "10 m", "rate_control": "constant", "rate": f"{rate} Mbit/s"}
    emulation, goodput = towards_access_point(cell, length, 1.3 * saturation(rate, length), seconds=2.0)
    # Beacons take 0.3 % of the time, and the mean of some thousand backoffs scatters by less than 0.5 %.
    assert goodput == pytest.approx(saturation(rate, length), rel=0.01)
    assert emulation.statistics["segment"]["stations"]["responder"]["rate"] == rate * 1e6


def test_latency_below_saturation_at_80_m_is_one_transmission() -> None:
    """E4: below saturation under 1 ms at 80 m with 500-byte packets."""
    emulation, goodput = towards_access_point(CELL, 500, 5e6)
    assert goodput == pytest.approx(5e6, rel=0.001)
    assert lost(emulation) == {}
    records = emulation.records[emulation.records["in_ns"] >= 1e9]
    delays = (records["out_ns"] - records["in_ns"]) / 1e3
    # No backoff when the medium has been idle. The standard needs no DIFS then, either (10.3.4.2); ns-3 waits for one.
    assert np.median(delays) == pytest.approx(DIFS + ofdm(54, psdu(500)), abs=1.0)
    assert delays.max() < 1000.0


def test_goodput_falls_with_distance_in_steps_of_the_ofdm_rates() -> None:
    goodputs, rates = [], []
    for distance in (80, 250, 400, 550, 750):
        cell = CELL | {"distance": f"{distance} m", "sensitivity": "-95 dBm"}
        emulation, goodput = towards_access_point(cell, 500, 25e6, seconds=0.5)
        goodputs.append(goodput)
        rates.append(emulation.statistics["segment"]["stations"]["responder"]["rate"] / 1e6)
    assert rates == [54, 36, 24, 18, 12]
    assert goodputs == sorted(goodputs, reverse=True)
    assert goodputs == pytest.approx([saturation(rate, 500) for rate in rates], rel=0.03)


def test_signal_to_noise_ratio_follows_friis() -> None:
    emulation, _ = towards_access_point(CELL, 500, 1e6)
    responder = emulation.statistics["segment"]["stations"]["responder"]
    assert responder["signal"] == pytest.approx(16 - free_space(80), abs=0.1)
    assert responder["snr"] == pytest.approx(16 - free_space(80) - NOISE, abs=0.1)


def test_log_distance_with_exponent_2_is_friis() -> None:
    results = [
        towards_access_point(CELL | {"propagation": propagation, "path_loss_exponent": 2.0}, 500, 1e6)[0]
        for propagation in ("friis", "log-distance")
    ]
    signals = [result.statistics["segment"]["stations"]["responder"]["signal"] for result in results]
    assert signals[0] == pytest.approx(signals[1], abs=1e-6)


def test_beyond_range_everything_is_an_outage() -> None:
    away = {"responder": {"role": "station", "position": ["3 km", "0 m"]}}
    emulation, _ = towards_access_point(CELL | {"stations": CELL["stations"] | away}, 500, 1e6)
    assert emulation.received["commander"] == []
    assert lost(emulation) == {"outage": 250 + 1}
    assert emulation.statistics["segment"]["stations"]["responder"]["associated"] is False


def test_a_station_that_leaves_comes_back() -> None:
    cell = CELL | {"distance": "20 m"}
    events = [(2.0, "distance", 5000.0), (6.0, "distance", 20.0)]
    emulation, _ = towards_access_point(cell, 500, 1e6, seconds=8.0, events=events)
    arrivals = np.array([time for time, _ in emulation.received["commander"]])
    # Ten beacons at most until it notices, and at most a second of scanning and association when it is back.
    assert not np.any((arrivals > 2.0) & (arrivals < 6.0))
    assert np.count_nonzero(arrivals < 2.0) == pytest.approx(250, abs=1)
    assert np.count_nonzero(arrivals > 7.0) == pytest.approx(500, abs=10)
    losses = lost(emulation)
    assert set(losses) <= {"outage", "retry_limit", "queue_expired"} and losses["outage"] > 600
    assert sum(losses.values()) + len(arrivals) == 2000
    assert emulation.statistics["segment"]["stations"]["responder"]["associated"] is True


def test_tx_power_can_change_live() -> None:
    emulation, _ = towards_access_point(CELL, 500, 1e6, events=[(1.5, "tx_power", 6.0)])
    before, _ = towards_access_point(CELL, 500, 1e6)
    signal = [e.statistics["segment"]["stations"]["responder"]["signal"] for e in (before, emulation)]
    assert signal[0] - signal[1] == pytest.approx(10.0, abs=1e-6)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("distance", 0.5, "from 1 to 15100 m"),
        ("tx_power", 37.0, "from -20 to 36 dBm"),
        ("channel", 40, "there are distance fade queue tx_power"),
    ],
)
def test_bad_live_changes_are_refused_with_what_is_permitted(parameter: str, value: object, message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        towards_access_point(CELL, 500, 1e6, events=[(1.5, parameter, value)])


def test_a_station_with_its_own_distance_stays_where_it_is() -> None:
    stations = THREE["stations"] | {"other": {"role": "station", "distance": "40 m"}}
    emulation, _ = towards_access_point(THREE | {"stations": stations}, 500, 1e6, events=[(1.5, "distance", 80.0)])
    signals = emulation.statistics["segment"]["stations"]
    assert signals["other"]["signal"] - signals["responder"]["signal"] == pytest.approx(20 * math.log10(2), abs=1e-6)


def test_log_distance_with_exponent_3_gives_the_thesis_goodput() -> None:
    """E4: 500-byte packets at 80 m saturate near 7 Mbit/s. Friis gives 16 Mbit/s: see README.md."""
    cell = CELL | {"propagation": "log-distance", "path_loss_exponent": 3.0, "sensitivity": "-96 dBm"}
    _, goodput = towards_access_point(cell, 500, 20e6)
    assert goodput == pytest.approx(saturation(12, 500), rel=0.02) and 7e6 < goodput < 8e6


def test_stations_reach_each_other_through_the_access_point() -> None:
    frames = {
        "responder": hello(RESPONDER) + flow(RESPONDER, OTHER, 500, 1e6, 1.0),
        "commander": [],
        "other": hello(OTHER),
    }
    emulation = emulate("wifi", THREE, frames)
    assert len(emulation.received["other"]) == 250 + 1 and len(emulation.received["commander"]) == 2
    records = emulation.records[emulation.records["in_ns"] >= 1e9]
    delays = (records["out_ns"] - records["in_ns"]) / 1e3
    # Two transmissions: the first one's ACK, DIFS and perhaps a backoff before the second.
    shortest = ofdm_exchange(54, 500) + DIFS + ofdm(54, psdu(500))
    assert np.median(delays) == pytest.approx(shortest, abs=(OFDM.cw_min + 1) * OFDM.slot)
    assert lost(emulation) == {}


@pytest.mark.parametrize("sender", ["responder", "commander", "other"])
def test_broadcast_reaches_everybody_else_once(sender: str) -> None:
    frames = {sender: [(1.0 + 0.01 * i, ethernet(mac(9), BROADCAST, 0x0806, bytes([i]) * 46)) for i in range(20)]}
    emulation = emulate("wifi", THREE, frames)
    assert {name: len(received) for name, received in emulation.received.items()} == {
        name: 0 if name == sender else 20 for name in THREE["stations"]
    }
    assert lost(emulation) == {} and emulation.statistics["frames"]["duplicates"] == 0


def test_two_saturated_stations_share_the_medium() -> None:
    frames = {
        "responder": hello(RESPONDER) + flow(RESPONDER, COMMANDER, 1500, 30e6, 1.0),
        "commander": hello(COMMANDER),
        "other": hello(OTHER) + flow(OTHER, COMMANDER, 1500, 30e6, 1.0),
    }
    emulation = emulate("wifi", THREE, frames, duration_s=2.0)
    records = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["in_ns"] >= 1e9)]
    counts = [np.count_nonzero(records["station_in"] == station) for station in (RESPONDER, OTHER)]
    assert counts[0] == pytest.approx(counts[1], rel=0.1)
    total = sum(counts) * 1500 * 8
    assert total == pytest.approx(bianchi(2, 54, 1500, rts=False), rel=0.03)


@pytest.mark.parametrize("rts", [False, True])
def test_five_saturated_stations_carry_what_bianchi_says(rts: bool) -> None:
    expected = bianchi(5, 54, 1500, rts)
    assert sum(saturated(contending(5, 54, rts), 1500, expected, 1.0)) == pytest.approx(expected, rel=0.04)


def test_one_station_contends_with_nobody() -> None:
    assert bianchi(1, 24, 500, rts=False) == pytest.approx(saturation(24, 500), rel=1e-6)


def test_voice_overtakes_best_effort_with_qos() -> None:
    waits = {}
    for qos in (False, True):
        frames = {
            "responder": flow(RESPONDER, COMMANDER, 200, 80e3, 1.0, dscp=46) + flow(RESPONDER, COMMANDER, 1500, 40e6, 1.0),
            "commander": hello(COMMANDER),
        }
        classes = [{"name": "voice", "match": {"dscp": [46]}}]
        emulation = emulate("wifi", CELL | {"qos": qos}, frames, classes=classes)
        voice = emulation.records[(emulation.records["class"] == 0) & (emulation.records["fate"] == 0)]
        waits[qos] = np.median(voice["out_ns"] - voice["in_ns"]) / 1e6
    assert waits[True] < 2.0 and waits[False] > 50.0


@pytest.mark.parametrize("standard", ["802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"])
@pytest.mark.parametrize("rate_control", ["ideal", "minstrel"])
def test_every_standard_associates_carries_and_recovers(standard: str, rate_control: str) -> None:
    cell = CELL | {"standard": standard, "rate_control": rate_control, "distance": "20 m"}
    events = [(2.0, "distance", 5000.0), (4.0, "distance", 20.0)]
    emulation, _ = towards_access_point(cell, 1500, 5e6, seconds=5.0, events=events)
    arrivals = np.array([time for time, _ in emulation.received["commander"]])
    assert np.count_nonzero(arrivals < 2.0) >= 410 and np.count_nonzero(arrivals > 5.0) >= 410
    assert sum(lost(emulation).values()) + len(arrivals) == len(flow(0, 1, 1500, 5e6, 5.0))


def test_a_tagged_frame_of_full_length_passes_unchanged() -> None:
    longest = vlan(udp(RESPONDER, COMMANDER, 1500 - HEADERS), identifier=7)
    emulation = emulate("wifi", CELL, {"responder": [(1.0, longest)], "commander": hello(COMMANDER)})
    assert [frame for _, frame in emulation.received["commander"]] == [longest]


def test_queue_overflow_is_counted_where_it_happens() -> None:
    emulation, _ = towards_access_point(CELL | {"queue": 50}, 1500, 60e6)
    responder = emulation.statistics["segment"]["stations"]["responder"]
    assert responder["lost"]["queue_full"] == lost(emulation)["queue_full"] > 1000
    records = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["in_ns"] > 1.2e9)]
    longest = (records["out_ns"] - records["in_ns"]).max() / 1e9
    assert longest == pytest.approx(50 * 1500 * 8 / saturation(54, 1500), rel=0.15)


def test_same_seed_same_run_and_another_seed_another_run() -> None:
    frames = {"responder": flow(RESPONDER, COMMANDER, 1000, 40e6, 0.3), "commander": hello(COMMANDER)}
    first, again, other = (emulate("wifi", CELL, frames, seed=seed) for seed in (3, 3, 4))
    assert first.received == again.received
    assert first.received != other.received
