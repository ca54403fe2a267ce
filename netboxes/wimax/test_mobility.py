# SPDX-License-Identifier: GPL-2.0-or-later
"""Stations that move, fade and change power: the link follows, and what happens is announced."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.wimax.cell_under_test import arrived, cell, distance_for, joined, link, run, snr_db, stream
from netboxes.wimax.parameters import Parameters


def _moving(**station: Any) -> dict[str, Any]:
    parameters = cell(ttg="150 us")
    parameters["stations"]["ss1"] |= station
    return parameters


def _traffic(seconds: float) -> dict[str, Any]:
    return {"ss1": stream(1, 0, ip_bytes=100, rate_bps=20e3, seconds=seconds, start=0.0)}


def test_path_away_steps_through_the_profiles_and_loses_the_link() -> None:
    """From 1 km to 11 km in 20 s: each profile down to BPSK 1/2 where the SNR falls below its threshold, then none."""
    path = [{"at": "0 s", "position": ["1 km", "0 m"]}, {"at": "20 s", "position": ["11 km", "0 m"]}]
    result = run(_moving(path=path), _traffic(21.0))
    steps = [event for event in result.events("profile") if event["direction"] == "uplink"]
    assert [event["to"] for event in steps] == ["16-QAM 3/4", "16-QAM 1/2", "QPSK 3/4", "QPSK 1/2", "BPSK 1/2"]
    for event, threshold in zip(steps, (22.7, 18.2, 16.4, 11.2, 9.4), strict=True):
        distance = float(distance_for(threshold).split()[0])
        assert event["at_s"] == pytest.approx((distance - 1000.0) / 500.0, abs=0.011)
    (down,) = result.events("link_down")
    assert (down["station"], down["reason"]) == ("ss1", "out of range")
    assert down["at_s"] == pytest.approx((float(distance_for(6.4).split()[0]) - 1000.0) / 500.0, abs=0.011)
    assert link(result)["state"] == "out of range"
    assert result.statistics["segment"]["stations"]["ss1"]["rate_bps_uplink"] == 0.0


def test_distance_is_that_in_space_between_base_and_subscriber() -> None:
    parameters = _moving(position=["3 km", "4 km", "100 m"])
    parameters["stations"]["bs"]["position"] = ["0 km", "1 km", "100 m"]
    station = run(parameters, _traffic(0.3)).statistics["segment"]["stations"]["ss1"]
    assert station["distance_m"] == pytest.approx(math.hypot(3000.0, 3000.0))
    assert station["snr_db_uplink"] == pytest.approx(snr_db(math.hypot(3000.0, 3000.0)), abs=0.05)


def test_beyond_the_round_trip_that_ttg_allows_there_is_no_link() -> None:
    path = [{"at": "0 s", "position": ["14 km", "0 m"]}, {"at": "4 s", "position": ["16 km", "0 m"]}]
    parameters = _moving(path=path) | {"ttg": "100 us", "tx_power": "50 dBm"}
    result = run(parameters, _traffic(5.0))
    (down,) = result.events("link_down")
    assert down["reason"] == "beyond ttg"
    assert down["at_s"] == pytest.approx((100e-6 * 299792458.0 / 2 - 14000.0) / 500.0, abs=0.011)


def test_position_distance_power_and_fade_of_a_station_change_while_it_runs() -> None:
    changes = [
        (1.0, "ss1.position", [5000.0, 0.0, 0.0]),
        (2.0, "ss1.distance", 2500.0),
        (3.0, "ss1.tx_power", 33.0),
        (4.0, "ss1.fade", 6.0),
        (5.0, "fade", 2.0),
    ]
    result = run(_moving(), _traffic(6.0), events=changes, interval_s=0.5)
    seen = {line["at_s"]: line["statistics"]["stations"]["ss1"] for line in result.journal if "statistics" in line}
    start = snr_db(2500.0)
    for at, uplink, downlink in [
        (0.5, start, start),
        (1.5, snr_db(5000.0), snr_db(5000.0)),
        (2.5, start, start),
        (3.5, start + 3.0, start),
        (4.5, start - 3.0, start - 6.0),
        (5.5, start - 5.0, start - 8.0),
    ]:
        assert seen[at]["snr_db_uplink"] == pytest.approx(uplink, abs=0.05)
        assert seen[at]["snr_db_downlink"] == pytest.approx(downlink, abs=0.05)
    assert seen[5.5]["fade_db"] == 8.0


def test_fade_over_time_takes_the_link_and_gives_it_back() -> None:
    result = run(_moving(fade_series=[["1 s", "0 dB"], ["2 s", "20 dB"], ["3 s", "20 dB"], ["4 s", "0 dB"]]), _traffic(6.0))
    (down,), (up,) = result.events("link_down"), result.events("link_up")
    assert down["reason"] == "faded"
    assert down["at_s"] == pytest.approx(1.0 + (snr_db(2500.0) - 6.4) / 20.0, abs=0.011)
    # Back from 1 dB above the threshold on, through ranging and registration.
    signal = 4.0 - (snr_db(2500.0) - 7.4) / 20.0
    assert signal + 0.07 < up["at_s"] < signal + 0.6
    # A voice packet sent while the link was away is lost; those before and after are not.
    entered = arrived(result, 1, 0)["in_ns"] / 1e9
    assert not ((entered > down["at_s"]) & (entered < up["at_s"] - 0.02)).any()
    assert (entered > up["at_s"]).sum() == pytest.approx((6.0 - up["at_s"]) * 25, abs=2)


def test_wandering_station_is_where_its_seed_says() -> None:
    wander = {"area": [["0 m", "0 m"], ["5 km", "5 km"]], "speed": ["50 m/s", "200 m/s"]}
    results = [run(_moving(wander=wander), _traffic(5.0), seed=seed) for seed in (3, 3, 4)]
    first, same, other = (result.statistics["segment"]["stations"]["ss1"]["distance_m"] for result in results)
    assert first == same != other


def test_shadowing_has_its_deviation_and_differs_between_stations() -> None:
    result = run(cell(subscribers=50, shadowing="8 dB", distance="300 m", tx_power="50 dBm"), {}, duration_s=0.2)
    stations = result.statistics["segment"]["stations"]
    free = snr_db(300.0) + 20.0
    losses = [free - stations[f"ss{n}"]["snr_db_uplink"] for n in range(1, 51)]
    assert math.fsum(losses) / 50 == pytest.approx(0.0, abs=3 * 8 / math.sqrt(50))
    assert math.sqrt(math.fsum(loss**2 for loss in losses) / 50) == pytest.approx(8.0, rel=0.3)


def test_fifty_stations_each_get_their_share() -> None:
    """A station asks in contention and piggybacks, so all of them are heard in the end, and then take turns."""
    frames = {f"ss{n}": stream(n, 0, ip_bytes=500, rate_bps=40e3, seconds=4.0, port=5000 + n) for n in range(1, 51)}
    result = run(cell(subscribers=50), joined(frames))
    carried = [len(arrived(result, n, 0)) for n in range(1, 51)]
    sent = [len(frames[f"ss{n}"]) for n in range(1, 51)]
    assert min(carried) >= 0.9 * max(sent)
    stations = result.statistics["segment"]["stations"]
    assert sum(stations[f"ss{n}"]["request_collisions"] for n in range(1, 51)) > stations["bs"]["request_collisions"] > 0


def test_more_stations_than_a_map_can_name_take_turns() -> None:
    """In 10 ms at BPSK 1/2 the maps of 120 stations would take most of the downlink; they are polled in turns instead."""
    polled = {"class": "voice", "direction": "uplink", "scheduling": "rtPS", "polling_interval": "20 ms"}
    frames = {f"ss{n}": stream(n, 0, ip_bytes=60, rate_bps=1e3, seconds=3.0, dscp=46, port=5000 + n) for n in range(1, 121)}
    result = run(cell(subscribers=120, service_flows=[polled], downlink_share=0.3), frames, duration_s=6.0)
    carried = [len(arrived(result, n, 0)) for n in range(1, 121)]
    assert min(carried) >= len(frames["ss1"]) - 1


@pytest.mark.parametrize(
    ("changes", "station", "message"),
    [
        ({"distance": None}, {}, "ss1 is nowhere: give it a `distance`, `position`, `path` or `wander`"),
        ({}, {"position": ["20 km", "0 m"]}, "ss1 is 20 km away: its round trip does not fit into `ttg` 100 us"),
        ({}, {"position": ["1 km", "0 m"], "distance": "1 km"}, "distance and position say where the station is"),
        ({"propagation": "sui-b", "base_height": "100 m"}, {}, "sui-b holds for `base_height` 10 m to 80 m"),
    ],
)
def test_impossible_places_are_named(changes: dict[str, Any], station: dict[str, Any], message: str) -> None:
    parameters = cell(**changes)
    parameters["stations"]["ss1"] |= station
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(parameters)
