# SPDX-License-Identifier: GPL-2.0-or-later
"""Ad hoc networks and meshes, 802.11b, who moves, and what is announced of it, in virtual time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import BROADCAST, Emulation, EmulationFailed, emulate, ethernet, mac
from netboxes.wifi.cell_under_test import CELL, THREE, flow, hello, line, lost, towards_access_point
from netboxes.wifi.path_loss import free_space


def changes_of(emulation: Emulation, station: str) -> list[tuple[float, str]]:
    return [(e["at_s"], e["event"]) for e in emulation.journal if e.get("station") == station and e["event"].startswith("link_")]


@pytest.mark.parametrize("standard", ["802.11a", "802.11b", "802.11g", "802.11n", "802.11ac", "802.11ax"])
def test_ad_hoc_peers_speak_with_each_other_without_an_access_point(standard: str) -> None:
    cell = line("ad-hoc", 3, 20, standard=standard)
    frames = {"s0": hello(0, 0.5) + flow(0, 2, 1000, 2e6, 1.0), "s1": hello(1, 0.6), "s2": hello(2, 0.7)}
    emulation = emulate("wifi", cell, frames)
    assert len(emulation.received["s2"]) == 250 + 2 and len(emulation.received["s1"]) == 2
    assert lost(emulation) == {} and emulation.statistics["frames"]["duplicates"] == 0
    transmissions = emulation.statistics["segment"]["stations"]["s0"]["transmissions"]
    assert transmissions == 250 + 1  # each once, nobody between them


def test_ad_hoc_peers_out_of_range_hear_nothing_and_have_no_link() -> None:
    cell = line("ad-hoc", 3, 300)
    frames = {"s0": hello(0, 0.5) + flow(0, 2, 500, 1e6, 0.2), "s1": hello(1, 0.6), "s2": hello(2, 0.7)}
    emulation = emulate("wifi", cell, frames, events=[(2.0, "s2.position", [5000.0, 0.0, 0.0])])
    assert len(emulation.received["s2"]) == 1  # that of s1, its neighbour
    assert set(lost(emulation)) == {"outage"}
    assert [event for _, event in changes_of(emulation, "s2")] == ["link_down"] and changes_of(emulation, "s0") == []


@pytest.mark.parametrize("standard", ["802.11a", "802.11b", "802.11g"])
@pytest.mark.parametrize("rate_control", ["ideal", "minstrel"])
def test_mesh_points_reach_each_other_through_those_between(standard: str, rate_control: str) -> None:
    # At 2.4 GHz signals go farther.
    cell = line("mesh", 4, 300 if standard == "802.11a" else 600, standard=standard, rate_control=rate_control)
    frames = {
        "s0": hello(0, 2.5) + flow(0, 3, 1000, 0.3e6, 2.0, start=4.0),
        "s3": hello(3, 2.7),
        "s1": hello(1, 3.0),
    }
    emulation = emulate("wifi", cell, frames)
    received = {name: len(got) for name, got in emulation.received.items()}
    # Minstrel loses a frame now and then to a rate that it tries, which may cost the link, too.
    samples = sum(lost(emulation).values()) if rate_control == "minstrel" else 0
    assert received == {"s0": 2, "s1": 2, "s2": 3, "s3": 75 + 2 - samples} and samples < 4
    assert sum(lost(emulation).values()) == samples and emulation.statistics["frames"]["duplicates"] == 0
    stations = emulation.statistics["segment"]["stations"]
    assert [stations[f"s{index}"]["peers"] for index in range(4)] == [1, 2, 2, 1]
    assert stations["s1"]["transmissions"] >= 75 and stations["s2"]["transmissions"] >= 75


def test_a_mesh_finds_another_way_and_loses_what_has_none() -> None:
    """A rhombus: from s0 to s3 by s1 or s2. When both are away there is no way, and nobody waits for one for ever."""
    places = {"s0": (0, 0), "s1": (250, 60), "s2": (250, -60), "s3": (500, 0)}
    stations = {name: {"role": "mesh-point", "position": [f"{x} m", f"{y} m"]} for name, (x, y) in places.items()}
    cell = {"mode": "mesh", "stations": stations}
    frames = {"s0": flow(0, 3, 500, 0.2e6, 20.0, start=4.0), "s3": hello(3, 3.0)}
    events = [(10.0, "s1.position", [0.0, 5000.0, 0.0]), (18.0, "s2.position", [0.0, -5000.0, 0.0])]
    emulation = emulate("wifi", cell, frames, events=events, duration_s=60.0)
    arrivals = np.array([time for time, _ in emulation.received["s3"]])
    assert np.count_nonzero(arrivals < 10.0) > 290 and np.count_nonzero((arrivals > 14.0) & (arrivals < 18.0)) > 190
    assert not np.any(arrivals > 18.1)
    assert sum(lost(emulation).values()) + len(arrivals) == 1000
    assert lost(emulation)["outage"] > 200 and "unknown" not in lost(emulation)
    assert changes_of(emulation, "s1")[-1][1] == changes_of(emulation, "s3")[-1][1] == "link_down"


def test_a_station_that_walks_out_of_range_says_so_and_when_it_is_back() -> None:
    waypoints = [(0, 20), (2, 20), (4, 600), (6, 600), (8, 20)]
    path = [{"at": f"{at} s", "position": [f"{x} m", "0 m"]} for at, x in waypoints]
    stations = {"responder": {"role": "station", "path": path}, "commander": {"role": "access-point"}}
    cell = {"stations": stations, "standard": "802.11a"}
    emulation, _ = towards_access_point(cell, 500, 0.5e6, seconds=11.0)
    (down, first), (up, second) = changes_of(emulation, "responder")
    # Out of range (366 m) 3.2 s after it set out, ten beacons later it notices; back in range after 6.8 s.
    assert (first, second) == ("link_down", "link_up")
    assert 3.0 < down < 4.6 and 6.5 < up < 8.0
    arrivals = np.array([time for time, _ in emulation.received["commander"]])
    assert not np.any((arrivals > 4.0) & (arrivals < 7.0)) and np.count_nonzero(arrivals > 9.0) > 200


def test_a_wandering_station_stays_in_its_area_and_goes_where_its_seed_says() -> None:
    wander = {"area": [["20 m", "0 m"], ["60 m", "0.1 m"]], "speed": ["20 m/s", "40 m/s"]}
    stations = {
        "responder": {"role": "station", "wander": wander},
        "commander": {"role": "access-point", "position": ["0 m", "0 m"]},
    }

    def signals(seed: int) -> list[float]:
        cell = {"stations": stations, "standard": "802.11a"}
        emulation, _ = towards_access_point(cell, 500, 0.2e6, seconds=8.0, seed=seed, interval_s=0.5)
        assert lost(emulation) == {}
        samples = [line["statistics"]["stations"]["commander"]["links"] for line in emulation.journal if "statistics" in line]
        return [links["responder"]["signal"] for links in samples if links]

    first, again, other = (signals(seed) for seed in (3, 3, 4))
    assert first == again != other
    nearest, farthest = 16 - free_space(20), 16 - free_space(60.1)
    assert all(farthest <= signal <= nearest for signal in first) and max(first) - min(first) > 3.0


def test_places_and_powers_of_single_stations_change_live() -> None:
    near, far = (
        towards_access_point(THREE, 500, 1e6, events=events)[0].statistics["segment"]["stations"]["responder"]["signal"]
        for events in ([(1.2, "responder.distance", 40.0)], [(1.2, "responder.position", [80.0, 0.0, 0.0])])
    )
    weak, _ = towards_access_point(THREE, 500, 1e6, events=[(1.2, "commander.tx_power", 10.0)])
    assert near - far == pytest.approx(6.02, abs=0.01)
    signals = weak.statistics["segment"]["stations"]
    assert signals["responder"]["signal"] == pytest.approx(near + 6.02 - 6.0, abs=0.01)
    assert signals["commander"]["links"]["responder"]["signal"] == pytest.approx(near + 6.02, abs=0.01)


def test_fades_of_the_cell_and_of_a_station_add_up() -> None:
    stations = THREE["stations"] | {"responder": {"role": "station", "fade": "3 dB"}}
    events = [(1.2, "fade", 10.0), (1.3, "other.fade", 5.0)]
    cell = THREE | {"stations": stations, "sensitivity": "-92 dBm"}
    clear, _ = towards_access_point(THREE, 500, 1e6)
    faded, _ = towards_access_point(cell, 500, 1e6, events=events)
    before, after = (emulation.statistics["segment"]["stations"] for emulation in (clear, faded))
    lost_by = {name: before[name]["signal"] - after[name]["signal"] for name in ("responder", "other")}
    assert lost_by == {"responder": pytest.approx(13.0, abs=1e-6), "other": pytest.approx(15.0, abs=1e-6)}


@pytest.mark.parametrize("standard", ["802.11b", "802.11g", "802.11n", "802.11ax"])
@pytest.mark.parametrize("mode", ["infrastructure", "ad-hoc"])
def test_a_long_broadcast_at_2_4_ghz_takes_its_time_and_arrives(standard: str, mode: str) -> None:
    """It goes at 1 Mbit/s: 1500 bytes with their headers in 12.4 ms."""
    cell = CELL if mode == "infrastructure" else line("ad-hoc", 2, 20)
    width = {} if standard in ("802.11b", "802.11g") else {"channel_width": "20 MHz"}
    sender, receiver = ("commander", "responder") if mode == "infrastructure" else ("s0", "s1")
    frames = {sender: [(1.0 + 0.1 * i, ethernet(mac(0), BROADCAST, 0x88B5, bytes(1486))) for i in range(5)]}
    emulation = emulate("wifi", cell | {"standard": standard, "band": "2.4 GHz"} | width, frames)
    delays = [at - (1.0 + 0.1 * i) for i, (at, _) in enumerate(emulation.received[receiver])]
    assert len(delays) == 5 and min(delays) > 0.012 and lost(emulation) == {}


def test_a_fade_takes_a_link_and_gives_it_back() -> None:
    """Ad hoc, where range is reckoned; and with an access point, where beacons tell."""
    for cell, station in ((line("ad-hoc", 2, 20), "s1"), (CELL, "responder")):
        first = next(iter(cell["stations"]))
        events = [(2.0, f"{station}.fade", 80.0), (5.0, f"{station}.fade", 0.0)]
        emulation = emulate("wifi", cell, {first: hello(0) + hello(0, 7.0)}, events=events)
        assert [event for _, event in changes_of(emulation, station)] == ["link_down", "link_up"]


@pytest.mark.parametrize(
    ("cell", "parameter", "value", "message"),
    [
        (CELL, "nobody.distance", 10.0, "no station 'nobody'; there are responder commander"),
        (CELL, "responder.position", [1.0], "it is a list of 3, its \\[0\\] is a number from -1e\\+06 to 1e\\+06 m"),
        (CELL, "responder.position", [1.0, 0.0, 2e6], "its \\[2\\] is a number from -1e\\+06 to 1e\\+06 m"),
        (CELL, "responder.tx_power", 40.0, "from -20 to 36 dBm"),
        (CELL, "responder.fade", -1.0, "from 0 to 100 dB"),
        (CELL, "responder.colour", 1.0, "there are distance fade position stages tx_power"),
        (CELL, "commander.distance", 10.0, "only stations of an access point"),
        (CELL | {"propagation": "two-ray"}, "responder.position", [1.0, 0.0, -2.0], "antennas are above the ground"),
        (line("ad-hoc", 2, 20), "s0.distance", 10.0, "only stations of an access point"),
    ],
)
def test_bad_changes_of_a_station_are_refused(cell: dict[str, Any], parameter: str, value: object, message: str) -> None:
    first = next(iter(cell["stations"]))
    with pytest.raises(EmulationFailed, match=message):
        emulate("wifi", cell, {first: hello(0)}, events=[(0.6, parameter, value)])


def test_a_coverage_class_lets_two_stations_speak_over_kilometres() -> None:
    away = {"responder": {"role": "station", "position": ["2.5 km", "0 m"]}}
    cell = CELL | {"stations": CELL["stations"] | away, "tx_power": "30 dBm", "antenna_gain": "20 dB"}
    deaf, _ = towards_access_point(cell, 500, 1e6)
    assert set(lost(deaf)) == {"outage"}
    emulation, goodput = towards_access_point(cell | {"coverage_class": 4}, 500, 1e6)
    assert lost(emulation) == {} and goodput == pytest.approx(1e6, rel=0.01)


def test_access_categories_are_counted_by_themselves() -> None:
    frames = {
        "responder": flow(0, 1, 200, 80e3, 1.0, dscp=46) + flow(0, 1, 1500, 40e6, 1.0),
        "commander": hello(1),
    }
    emulation = emulate("wifi", CELL | {"qos": True, "queue": 50}, frames)
    categories = emulation.statistics["segment"]["stations"]["responder"]["access_categories"]
    assert categories["voice"]["transmissions"] - categories["voice"]["retransmissions"] == 50
    assert categories["voice"]["lost"] == {} and categories["best_effort"]["lost"]["queue_full"] > 500


def test_airtime_is_what_the_frames_take() -> None:
    emulation, _ = towards_access_point(CELL | {"distance": "20 m"}, 1500, 10e6)
    stations = emulation.statistics["segment"]["stations"]
    # 833 frames of 1500 bytes at 54 Mbit/s take 248 us each; an acknowledgement at 24 Mbit/s 28 us.
    assert stations["responder"]["airtime"] == pytest.approx(833 * 248e-6, rel=0.01)
    assert stations["commander"]["airtime"] > 833 * 28e-6
    both = stations["responder"]["airtime"] + stations["commander"]["airtime"]
    # ns-3 senses a frame once it has detected its preamble, 4 us after its begin.
    assert stations["responder"]["busy"] == pytest.approx(both - 833 * 4e-6, rel=0.01)


def test_airtime_counts_from_the_beginning_of_the_networks_time() -> None:
    """An idle cell has its beacons alone, one each 102.4 ms (ns-3's BeaconInterval): airtime is in proportion to time."""
    airtimes = []
    for seconds in (5.0, 10.0):
        ran = emulate("wifi", CELL, {"responder": hello(0, 4.0)}, duration_s=4.0 + seconds)
        stations = ran.statistics["segment"]["stations"]
        assert stations["responder"]["busy"] == pytest.approx(stations["commander"]["airtime"], rel=0.05)
        airtimes.append(stations["commander"]["airtime"])
    assert airtimes[1] / airtimes[0] == pytest.approx(2.0, rel=0.03)
