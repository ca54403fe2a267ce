# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared and switched Ethernet in virtual time."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.installation import CHECKOUT
from netboxes.engine.virtual import BROADCAST, Emulation, EmulationFailed, ethernet, mac, run
from netboxes.ethernet.lan_under_test import START_S, delays_s, delivered, lan, measure, on_wire, packets, saturated
from netboxes.ethernet.parameters import Parameters
from testbed.description import topology_file
from testbed.description.live import parsed, read_value

SHARED: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "2 us"}
SWITCHED: dict[str, Any] = {"rate": "100 Mbit/s", "delay": "500 ns", "switching_delay": "3 us"}


def station(emulation: Emulation, name: str) -> dict[str, Any]:
    counters: dict[str, Any] = emulation.statistics["segment"]["stations"][name]
    return counters


def lost(emulation: Emulation) -> dict[str, int]:
    return {reason: count for reason, count in emulation.statistics["frames"]["lost"].items() if count}


@pytest.mark.parametrize("length", [28, 46, 47, 1500])
def test_a_lone_frame_on_a_shared_medium_takes_its_bits_and_the_propagation(length: int) -> None:
    emulation = measure(lan("shared", 3, **SHARED), {0: packets(0, 2, length, [0, 0.01, 0.02])})
    assert delays_s(emulation) == pytest.approx(on_wire(length, gap=False) / 10e6 + 2e-6, abs=2e-9)
    assert len(emulation.received["s1"]) == 2  # the hellos
    assert lost(emulation) == {}


def test_frames_of_one_station_are_a_gap_apart_on_a_shared_medium() -> None:
    emulation = measure(lan("shared", 2, **SHARED), {0: packets(0, 1, 1000, [0] * 50)})
    assert np.diff(np.sort(delivered(emulation)["out_ns"])) == pytest.approx(on_wire(1000) * 100, abs=2)


def test_stations_of_a_shared_medium_share_its_rate() -> None:
    emulation = saturated(4, 1500, 0.5)
    arrived = delivered(emulation)
    assert len(arrived) * on_wire(1500) / 0.5 == pytest.approx(100e6, rel=0.01)
    shares = np.bincount(arrived["station_in"], minlength=4) / len(arrived)
    assert shares == pytest.approx(0.25, rel=0.15)
    assert station(emulation, "s0")["backoffs"] > 1000
    assert sum(station(emulation, f"s{i}")["airtime"] for i in range(5)) == pytest.approx(0.5, rel=0.02)


def test_a_frame_is_given_up_after_so_many_waits() -> None:
    # 1500 bytes take 12 ms at 1 Mbit/s; 20 waits of 1 or 2 slots of 8 us are over long before.
    slow = lan("shared", 3, rate="1 Mbit/s", backoff={"attempts": 20, "slot": 8, "ceiling": 2})
    emulation = measure(slow, {0: packets(0, 2, 1500, [0]), 1: packets(1, 2, 100, [0.001])}, 5.0)
    assert station(emulation, "s1")["lost"] == {"retry_limit": 1}
    assert station(emulation, "s1")["backoffs"] == 20
    assert lost(emulation) == {"retry_limit": 1}


def test_a_broadcast_reaches_all_others_once() -> None:
    for medium, parameters in (("shared", SHARED), ("switched", SWITCHED)):
        shout = [(1.0, ethernet(mac(0), BROADCAST, 0x88B5, bytes(500)))]
        emulation = measure(lan(medium, 5, **parameters), {0: shout})
        assert [len(emulation.received[f"s{i}"]) for i in range(5)] == [4, 5, 5, 5, 5]
        assert lost(emulation) == {}


@pytest.mark.parametrize(("medium", "parameters"), [("shared", SHARED), ("switched", SWITCHED)])
def test_a_station_whose_wire_is_cut_neither_sends_nor_gets(medium: str, parameters: dict[str, Any]) -> None:
    times = [k * 1e-2 for k in range(300)]
    traffic = {0: packets(0, 1, 500, times), 1: packets(1, 2, 500, times), 2: packets(2, 0, 500, times)}
    events = [(1.995, "s1.outage", True), (2.995, "s1.outage", False)]
    emulation = measure(lan(medium, 3, **parameters), traffic, events=events)
    arrived = delivered(emulation)
    assert [int((arrived["station_out"] == i).sum()) for i in range(3)] == [300, 200, 200]
    assert lost(emulation) == {"outage": 200}
    link_events = [line for line in emulation.journal if "link" in line.get("event", "")]
    links = [(line["event"], line["station"], line.get("reason")) for line in link_events]
    assert links == [("link_down", "s1", "outage"), ("link_up", "s1", None)]
    assert station(emulation, "s1")["link"] is True


def test_a_wire_is_cut_under_a_frame_and_what_waits_behind_it() -> None:
    cut = measure(lan("shared", 3, **SHARED), {0: packets(0, 2, 1500, [0] * 10)}, events=[(1.003, "s0.outage", True)])
    # A frame takes 1.23 ms: two have arrived, the third is on the wire.
    assert len(delivered(cut)) == 2
    assert station(cut, "s0")["lost"] == {"outage": 8}


def test_rate_and_delay_of_a_shared_medium_change_between_frames() -> None:
    frames = packets(0, 1, 1500, [0, 0, 0, 1])
    emulation = measure(lan("shared", 2, **SHARED), {0: frames}, events=[(1.0005, "rate", 1e6), (1.0005, "delay", 10e-6)])
    old, new = on_wire(1500, gap=False) / 10e6, on_wire(1500, gap=False) / 1e6
    # The gap that runs keeps its length, and ns-3's is the sender's.
    expected = [old + 2e-6, old + 9.6e-6 + new + 10e-6, old + 9.6e-6 + 2 * new + 96e-6 + 10e-6, new + 10e-6]
    assert delays_s(emulation) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("parameter", "value"), [("rate", 200e6), ("delay", 1e-3), ("length", 1e6), ("s0.rate", 1e6), ("s0.delay", 1e-6)]
)
def test_a_shared_medium_refuses_what_half_duplex_does_not_have(parameter: str, value: float) -> None:
    with pytest.raises(EmulationFailed) as failed:
        measure(lan("shared", 2, **SHARED), {}, events=[(0.5, parameter, value)], duration_s=1)
    assert "IEEE 802.3-2018, 4.4.2" in str(failed.value) or "only at a switch has a station" in str(failed.value)


@pytest.mark.parametrize("length", [28, 1500])
def test_a_switch_takes_a_frame_whole_before_it_sends_it_on(length: int) -> None:
    network = lan("switched", 3, **SWITCHED)
    network["stations"]["s1"] = {"rate": "10 Mbit/s", "length": "100 m"}
    emulation = measure(network, {0: packets(0, 1, length, [0, 0.1])})
    bits = on_wire(length, gap=False)
    expected = bits / 100e6 + 500e-9 + 3e-6 + bits / 10e6 + 100 / (0.67 * 299_792_458)
    assert delays_s(emulation) == pytest.approx(expected, abs=2e-9)


def test_pairs_at_a_switch_do_not_share() -> None:
    times = [k * on_wire(1500) / 100e6 for k in range(500)]
    traffic = {i: packets(i, i ^ 1, 1500, times) for i in range(6)}
    emulation = measure(lan("switched", 6, **SWITCHED), traffic)
    assert len(delivered(emulation)) == 6 * 500
    assert delays_s(emulation).max() - delays_s(emulation).min() < 1e-7


def test_a_port_of_a_switch_that_gets_too_much_drops_it() -> None:
    times = [k * on_wire(1500) / 100e6 for k in range(500)]
    network = lan("switched", 3, queue=20, **SWITCHED)
    emulation = measure(network, {0: packets(0, 2, 1500, times), 1: packets(1, 2, 1500, times)})
    port = station(emulation, "s2")["port"]
    assert len(delivered(emulation)) == pytest.approx(500 + 21, abs=2)
    assert port["lost"] == lost(emulation) == {"queue_full": 1000 - len(delivered(emulation))}
    assert station(emulation, "s0")["lost"] == station(emulation, "s1")["lost"] == {}


def test_stations_at_a_switch_have_rates_of_their_own_live() -> None:
    events = [(1.5, "s1.rate", 10e6), (2.5, "rate", 50e6)]
    emulation = measure(lan("switched", 3, **SWITCHED), {0: packets(0, 1, 1000, [0, 1, 2])}, events=events)
    bits, wires = on_wire(1000, gap=False), 2 * 500e-9 + 3e-6
    expected = [bits / up + bits / down + wires for up, down in ((100e6, 100e6), (100e6, 10e6), (50e6, 10e6))]
    assert delays_s(emulation) == pytest.approx(expected, abs=2e-9)


def test_a_seed_gives_the_same_run_again_and_another_one_does_not() -> None:
    def run(seed: int) -> list[int]:
        chance = np.random.default_rng(1)
        traffic = {i: packets(i, 5, 700, list(np.sort(chance.uniform(0, 0.5, 1000)))) for i in range(5)}
        emulation = measure(lan("shared", 6, rate="40 Mbit/s", bit_error_rate=1e-5), traffic, seed=seed)
        return [int(out_ns) for out_ns in delivered(emulation)["out_ns"]]

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_more_than_two_stations_have_a_switch_when_nothing_is_said() -> None:
    assert Parameters.model_validate({"stations": {"a": {}, "b": {}}}).medium == "link"
    three: dict[str, Any] = {"stations": {"a": {}, "b": {}, "c": {}}}
    assert Parameters.model_validate(three).medium == "switched"
    assert Parameters.model_validate(three | {"medium": "shared"}).rate == 10e6


def test_changes_are_said_as_in_yaml() -> None:
    assert read_value(Parameters, *parsed("length=20 km")) == 20e3
    assert read_value(Parameters, *parsed("rate=10 Mbit/s")) == 10e6
    assert read_value(Parameters, *parsed("outage=true")) is True
    assert read_value(Parameters, *parsed("server.outage=true")) is True
    assert read_value(Parameters, *parsed("server.rate=100 Mbit/s")) == 100e6


@pytest.mark.parametrize(
    ("name", "delays_us"),
    [
        # 500 bytes of layer 3 are 4208 bits with preamble; wires, and what the switch takes.
        ("ethernet", {"post": 42.08 + 4.208 + 5 + 0.5 + 0.1, "coax": 420.8 + 185 / (0.65 * 299.792458)}),
        (
            "chain",
            {"lan": 2 * 42.08 + 1, "first": 4.208 + 10e3 / 200.86, "second": 4.208 + 40e3 / 200.86},
        ),
    ],
)
def test_the_segments_of_the_examples_take_their_time(name: str, delays_us: dict[str, float]) -> None:
    netboxes = topology_file.load(CHECKOUT / "topologies" / f"{name}.yaml").netboxes
    assert set(netboxes) == set(delays_us)
    for segment, expected in delays_us.items():
        parameters = netboxes[segment].parameters.model_dump(mode="json")
        stations = list(parameters["stations"])
        hello = {sender: [(0.1, ethernet(mac(i), BROADCAST, 0x88B5, b"hello"))] for i, sender in enumerate(stations)}
        # From the second to the first station.
        frames = hello | {stations[1]: hello[stations[1]] + packets(1, 0, 500, [0.0])}
        taken = delays_s(run("ethernet", stations, parameters, frames)) * 1e6
        assert taken == pytest.approx(expected, abs=0.05)


@settings(max_examples=40)
@given(
    medium=st.sampled_from(["link", "shared", "switched"]),
    stations=st.integers(2, 6),
    rate=st.sampled_from([1e6, 10e6, 100e6]),
    errors=st.sampled_from([0.0, 1e-6, 1e-4]),
    queue=st.integers(1, 50),
    chance=st.randoms(use_true_random=False),
    seed=st.integers(1, 1000),
)
def test_any_network_accounts_for_its_frames_whatever_changes(
    medium: str, stations: int, rate: float, errors: float, queue: int, chance: random.Random, seed: int
) -> None:
    stations = 2 if medium == "link" else stations
    network = lan(medium, stations, rate=f"{rate} bit/s", delay="1 us", bit_error_rate=errors, queue=queue)
    times = [chance.uniform(0, 0.2) for _ in range(100)]
    traffic = {
        i: packets(i, chance.randrange(stations), [chance.randint(28, 1500) for _ in times], times) for i in range(stations)
    }
    changes: list[tuple[float, str, Any]] = [
        (
            START_S + chance.uniform(0, 0.25),
            *chance.choice(
                [
                    ("outage", chance.random() < 0.3),
                    (f"s{chance.randrange(stations)}.outage", chance.random() < 0.5),
                    ("rate", chance.choice([1e6, 10e6, 100e6])),
                    ("delay", chance.choice([0.0, 1e-6, 2.5e-6])),
                    ("length", chance.choice([0.0, 100.0, 500.0])),
                    ("bit_error_rate", chance.choice([0.0, 1e-5, 1e-3])),
                ]
            ),
        )
        for _ in range(30)
    ]
    emulation = measure(network, traffic, events=changes, seed=seed)
    counted = emulation.statistics["frames"]
    assert counted["lost"]["unknown"] == counted["inside"] == counted["duplicates"] == 0
    counters = emulation.statistics["segment"]["stations"].values()
    on_medium = sum(sum(node["lost"].values()) for node in counters)
    in_ports = sum(sum(node.get("port", {}).get("lost", {}).values()) for node in counters)
    assert on_medium + in_ports <= sum(counted["lost"].values())
