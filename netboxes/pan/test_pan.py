# SPDX-License-Identifier: GPL-2.0-or-later
"""The personal area network in virtual time, against IEEE 802.15.4-2006 and RFC 4944 (arithmetic.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.installation import CHECKOUT
from netboxes.engine.virtual import BROADCAST, EmulationFailed, emulate, ethernet, mac, run, udp
from netboxes.pan import arithmetic
from netboxes.pan.network_under_test import HELLO, HUB, at_snr, lost, paced, packets, saturated, star, station
from netboxes.pan.parameters import Parameters
from netboxes.queueing.queue import Queue
from results.records import Fate
from testbed.description import topology_file

PEERS: dict[str, Any] = {"mode": "peer", "stations": {"a": {}, "b": {}, "c": {}}, "distance": "10 m"}


@pytest.mark.parametrize("length", [40, 115, 116, 1500])
def test_delay_is_backoff_assessment_turnaround_and_air(length: int) -> None:
    emulation = paced(length, 0.5, 200)
    records = emulation.records[emulation.records["in_ns"] >= 1e9]
    delays = (records["out_ns"] - records["in_ns"]) / 1e3
    frames = arithmetic.fragments(length)
    # Between fragments lie an acknowledgement and an interframe space; after the last one neither counts.
    tail = arithmetic.TURNAROUND + arithmetic.airtime(arithmetic.ACK_FRAME) + arithmetic.interframe_space(frames[-1])
    assert delays.mean() == pytest.approx(arithmetic.packet_cycle(length) - tail, rel=0.03)
    if len(frames) == 1:
        assert delays.min() == pytest.approx(arithmetic.frame_delay(frames[0], 0), abs=0.1)
        assert delays.max() == pytest.approx(arithmetic.frame_delay(frames[0], 7), abs=0.1)
    assert station(emulation, "s0")["transmissions"] == 200 * len(frames)
    assert lost(emulation) == {}


@pytest.mark.parametrize(
    ("length", "options"), [(100, {}), (1500, {}), (100, {"addressing": "extended"}), (115, {"mac_min_be": 0})]
)
def test_goodput_of_a_lone_sender(length: int, options: dict[str, Any]) -> None:
    _, rate = saturated(1, length, 20.0, **options)
    expected = arithmetic.goodput(length, extended=options.get("addressing") == "extended", min_be=options.get("mac_min_be", 3))
    assert rate * length * 8 == pytest.approx(expected, rel=0.01)


def test_goodput_without_acknowledgements() -> None:
    _, rate = saturated(1, 115, 20.0, acknowledgements=False)
    assert rate * 115 * 8 == pytest.approx(arithmetic.goodput(115, acknowledged=False), rel=0.01)


def test_contending_stations_get_what_a_fixed_point_model_says() -> None:
    emulation, rate = saturated(5, 100, 20.0, mac_max_frame_retries=0)
    expected, failing = arithmetic.contention(5, arithmetic.fragments(100)[0])
    assert rate == pytest.approx(expected, rel=0.1)
    senders = [station(emulation, f"s{i}") for i in range(5)]
    failures = sum(sender["channel_access_failures"] for sender in senders)
    assert failures / (failures + sum(sender["transmissions"] for sender in senders)) == pytest.approx(failing, abs=0.06)
    # Every packet that entered is accounted for.
    frames = emulation.statistics["frames"]
    assert frames["lost"]["unknown"] == 0
    assert frames["lost"]["retry_limit"] + frames["lost"]["queue_full"] == sum(sum(s["lost"].values()) for s in senders)


def test_one_lost_fragment_loses_the_packet() -> None:
    # 1500 bytes are 15 frames; at a frame error rate p, (1 - p)^15 of the packets arrive.
    emulation = paced(1500, 0.25, 400, acknowledgements=False, **at_snr(0.6))
    snr = station(emulation, "hub")["snr"]
    arriving = math.prod(1 - arithmetic.frame_error_rate(snr, frame) for frame in arithmetic.fragments(1500))
    arrived = len(emulation.received["hub"])
    assert arrived / 400 == pytest.approx(arriving, abs=4 * math.sqrt(arriving * (1 - arriving) / 400))
    assert lost(emulation) == {"on_air": 400 - arrived}
    assert station(emulation, "hub")["reassembly_failures"] >= 400 - arrived - 20


def test_retries_repair_what_noise_spoils() -> None:
    options = at_snr(0.45)
    without = paced(100, 0.1, 600, mac_max_frame_retries=0, **options)
    repaired = paced(100, 0.1, 600, mac_max_frame_retries=7, **options)
    assert lost(without).get("retry_limit", 0) > 10
    assert len(repaired.received["hub"]) > len(without.received["hub"])
    assert station(repaired, "s0")["retransmissions"] > 10
    # An acknowledgement that was lost does not make a packet arrive twice.
    assert len({frame for _, frame in repaired.received["hub"]}) == len(repaired.received["hub"])


def test_the_coordinator_relays_between_devices() -> None:
    there = [(1.0 + i * 0.1, udp(0, 1, 60, identification=i)) for i in range(20)]
    hello = [(0.5, ethernet(mac(1), BROADCAST, 0x88B5, b"hello"))]
    emulation = emulate("pan", star(2), {"s0": there, "s1": hello})
    assert len(emulation.received["s1"]) == 20
    assert len(emulation.received["hub"]) == 1
    assert station(emulation, "hub")["transmissions"] == 20 + 1
    assert lost(emulation) == {}


def test_a_broadcast_reaches_everyone_once() -> None:
    shout = [(1.0, ethernet(mac(0), BROADCAST, 0x88B5, bytes(range(200)) * 4))]
    for parameters, sender in ((star(3), "s0"), (PEERS, "a")):
        emulation = emulate("pan", parameters, {sender: shout})
        for name in parameters["stations"]:
            assert len(emulation.received[name]) == (name != sender)


def test_peers_speak_directly_and_a_far_one_is_out_of_reach() -> None:
    stations = {"a": {"position": ["0 m", "0 m"]}, "b": {"position": ["10 m", "0 m"]}, "c": {"position": ["9 km", "0 m"]}}
    parameters = PEERS | {"stations": stations}
    frames = {
        "a": [(1.0 + i * 0.1, udp(0, 1, 60, identification=i)) for i in range(10)],
        "b": [(0.5, ethernet(mac(1), BROADCAST, 0x88B5, b"hello"))],
    }
    emulation = emulate("pan", parameters, frames)
    assert len(emulation.received["b"]) == 10
    assert emulation.received["c"] == []
    assert lost(emulation) == {"outage": 1}
    assert [(event["station"], event["reason"]) for event in emulation.events("link_down")] == [("c", "out of range")]


def test_a_station_that_leaves_loses_its_link_and_gets_it_back() -> None:
    path = [{"at": f"{t} s", "position": [f"{x} m", "0 m"]} for t, x in ((0, 10), (5, 1500), (10, 10))]
    parameters = {"stations": {"s0": {"path": path}, "hub": {"role": "coordinator"}}}
    emulation = emulate("pan", parameters, {"s0": packets(0, 60, 0.1, 100, 1.0), "hub": [(0.99, HELLO[0][1])]}, duration_s=13.0)
    words = [line["event"] for line in emulation.journal if "event" in line]
    assert words == ["link_down", "link_up"]
    assert lost(emulation).keys() == {"outage"} or lost(emulation).keys() == {"outage", "retry_limit"}
    assert len(emulation.received["hub"]) > 40


def test_outage_power_and_place_change_while_it_runs() -> None:
    events = [(2.0, "outage", True), (3.0, "outage", False), (4.0, "s0.tx_power", -32.0), (4.5, "s0.position", [700.0, 0.0, 0.0])]
    frames = {"s0": packets(0, 60, 0.1, 50), "hub": HELLO}
    emulation = emulate("pan", star(1), frames, events=[(at - 0.5, what, value) for at, what, value in events])
    changes = [(e["event"], e.get("reason")) for e in emulation.journal if e.get("event") in ("link_down", "link_up")]
    assert changes[-1] == ("link_down", "out of range")
    assert ("link_down", "outage") in changes
    assert ("link_up", None) in changes
    assert 20 <= len(emulation.received["hub"]) <= 40
    assert set(lost(emulation)) == {"outage"}


def test_a_fade_takes_a_link_and_gives_it_back() -> None:
    events = [(1.0, "fade", 50.0), (2.0, "fade", 5.0), (3.0, "s0.fade", 45.0), (4.0, "s0.fade", 0.0), (5.0, "hub.fade", 6.0)]
    emulation = emulate("pan", star(2), {"s0": packets(0, 60, 0.1, 60), "hub": HELLO}, events=events)
    link_events = [event for event in emulation.journal if event.get("event", "").startswith("link")]
    changes = [(event["event"], event["station"], event.get("reason")) for event in link_events]
    both = [("link_down", f"s{i}", "faded") for i in range(2)], [("link_up", f"s{i}", None) for i in range(2)]
    assert changes == [*both[0], *both[1], ("link_down", "s0", "faded"), ("link_up", "s0", None)]
    assert set(lost(emulation)) == {"outage"}
    # Friis at 2405 MHz and 5 m, 0 dBm: the network's and the hub's fade add up.
    assert station(emulation, "hub")["signal"] == pytest.approx(-54.05 - 5.0 - 6.0, abs=0.01)


def test_a_station_wanders_out_of_reach() -> None:
    wander = {"area": [["-1 km", "-1 km"], ["1 km", "1 km"]], "speed": ["100 m/s", "200 m/s"]}
    parameters = {"stations": {"s0": {"wander": wander}, "hub": {"role": "coordinator"}}}
    emulation = emulate("pan", parameters, {"hub": HELLO}, duration_s=60.0)
    assert len(emulation.events("link_down")) > 1
    assert abs(len(emulation.events("link_down")) - len(emulation.events("link_up"))) <= 1


@pytest.mark.parametrize(
    ("queue", "arrive"),
    [(4, 5), ({"bytes": "3 kB"}, 4), ({"packets": 4, "bytes": "2 kB"}, 3), ({"buffer": "100 ms"}, 4)],  # 3.1 kB at 250 kbit/s
)
def test_a_full_queue_is_counted(queue: Any, arrive: int) -> None:
    burst = packets(0, 1000, 1e-4, 20)
    emulation = emulate("pan", star(1, queue=queue), {"s0": burst, "hub": HELLO})
    assert len(emulation.received["hub"]) == arrive  # with the one that is being sent
    assert lost(emulation) == {"queue_full": 20 - arrive} == station(emulation, "s0")["lost"]
    assert station(emulation, "s0")["queue"]["dropped"] == {"full": 20 - arrive, "early": 0, "expired": 0}


def test_who_waited_for_too_long_is_lost_when_its_turn_comes() -> None:
    burst = packets(0, 1000, 1e-4, 20)
    emulation = emulate("pan", star(1, queue={"time": "150 ms"}), {"s0": burst, "hub": HELLO})
    assert len(emulation.received["hub"]) == 1 + math.floor(150e3 / arithmetic.packet_cycle(1000))
    assert set(lost(emulation)) == {"queue_expired"}
    queue = station(emulation, "s0")["queue"]
    assert queue["dropped"]["expired"] == lost(emulation)["queue_expired"]
    assert queue["packets"] == queue["bytes"] == 0


def test_a_queue_with_a_rate_of_its_own_sends_so_much_and_none_in_bursts() -> None:
    """A packet begins when the one before has had its time at the queue's rate. Backoffs of ten fragments differ by some ms."""
    own_s = 8 * 1000 / 20e3
    emulation = emulate(
        "pan", star(1, queue={"packets": 50, "rate": "20 kbit/s"}), {"s0": packets(0, 1000, 0.0, 20), "hub": HELLO}
    )
    arrived = emulation.records[(emulation.records["fate"] == Fate.DELIVERED) & (emulation.records["in_ns"] >= 1e9)]["out_ns"]
    assert np.diff(np.sort(arrived)) / 1e9 == pytest.approx([own_s] * 19, abs=0.03)


@pytest.mark.parametrize("discipline", ["codel", "fq-codel", "pie", "red"])
def test_disciplines_keep_the_queue_short_under_overload(discipline: str) -> None:
    """1.6 times what the channel carries. CoDel leaves 1514 bytes alone, 0.1 s here, PIE 2000 (RFC 8289, 4.4; RFC 8033, 4.1)."""
    own = {"weight": 0.05} if discipline == "red" else {}
    delays = {}
    for name, options in ("fifo", {}), (discipline, own):
        queue = {"discipline": name, "packets": 100, **options}
        emulation = emulate("pan", star(1, queue=queue), {"s0": packets(0, 400, 0.016, 600), "hub": HELLO})
        records = emulation.records[(emulation.records["fate"] == Fate.DELIVERED) & (emulation.records["in_ns"] > 5e9)]
        delays[name] = float(np.median(records["out_ns"] - records["in_ns"])) / 1e9
    dropped = station(emulation, "s0")["queue"]["dropped"]
    assert dropped["early"] == lost(emulation)["queue_early"] > 100
    assert dropped["full"] == 0
    assert delays["fifo"] > 2.0
    assert delays[discipline] < (0.6 if discipline == "red" else 0.2)


@pytest.mark.parametrize(("discipline", "passes"), [("fifo", False), ("fq-codel", True), ("priority", True)])
def test_a_call_passes_a_flood_at_the_coordinator_that_relays_it(discipline: str, passes: bool) -> None:
    flood = [(1.0 + i * 0.02, udp(HUB, 1, 372, identification=i)) for i in range(400)]
    call = [(1.01 + i * 0.2, udp(0, 1, 32, identification=i, ports=(5060, 5060))) for i in range(40)]
    hello = [(0.4, ethernet(mac(1), BROADCAST, 0x88B5, b"hello"))]
    emulation = emulate(
        "pan",
        star(2, queue={"discipline": discipline, "packets": 50}),
        {"hub": flood, "s0": call, "s1": hello},
        classes=[{"name": "call", "match": {"ports": [[5060, 5060]]}}],
    )
    calls = emulation.records[emulation.records["class"] == 0]
    delivered = calls[calls["fate"] == Fate.DELIVERED]
    delay = float(np.median(delivered["out_ns"] - delivered["in_ns"])) / 1e9
    dropped = np.isin(calls["fate"], [Fate.QUEUE_FULL, Fate.QUEUE_EARLY]).sum()
    assert (delay < 0.1, dropped == 0) == (passes, passes)
    assert station(emulation, "hub")["queue"]["packets"] == 0


def test_what_waits_moves_to_a_new_queue() -> None:
    new = Queue(packets=4).model_dump()
    burst = packets(0, 1000, 1e-4, 20)
    emulation = emulate("pan", star(1), {"s0": burst, "hub": HELLO}, events=[(0.51, "queue", new)])
    assert [frame for _, frame in emulation.received["hub"]] == [frame for _, frame in burst[:5]]
    assert lost(emulation) == {"queue_full": 15}


def test_a_running_network_takes_no_queue_that_there_is_not() -> None:
    with pytest.raises(EmulationFailed, match="its discipline is one of"):
        emulate("pan", star(1), {"hub": HELLO}, events=[(0.1, "queue", {"discipline": "sfq"})])


def test_fragments_that_come_too_slowly_are_not_put_together() -> None:
    emulation = paced(1500, 0.5, 10, reassembly_timeout="20 ms")
    assert emulation.received["hub"] == []
    assert lost(emulation) == {"queue_expired": 10}


def test_the_same_seed_gives_the_same_run() -> None:
    def times(seed: int) -> list[float]:
        frames = {"s0": packets(0, 300, 0.05, 20), "s1": packets(1, 300, 0.05, 20), "hub": HELLO}
        return [t for t, _ in emulate("pan", star(2, shadowing="4 dB"), frames, seed=seed).received["hub"]]

    assert times(3) == times(3)
    assert times(3) != times(4)


def test_shadowing_has_the_stated_spread() -> None:
    frames = {f"s{i}": packets(i, 60, 1.0, 1, 1.0 + i * 0.05) for i in range(60)}
    emulation = emulate("pan", star(60, shadowing="6 dB"), frames | {"hub": HELLO})
    signals = [station(emulation, f"s{i}")["signal"] for i in range(60)]
    assert np.std(signals) == pytest.approx(6.0, rel=0.3)


def test_the_example_carries_what_its_sensors_say() -> None:
    body = topology_file.load(CHECKOUT / "topologies" / "pan.yaml").netboxes["body"]
    parameters = body.parameters.model_dump(mode="json")
    frames = {"pulse": packets(0, 88, 0.2, 10), "gas": packets(1, 428, 0.4, 5), "hub": HELLO}
    emulation = run("pan", list(parameters["stations"]), parameters, frames)
    assert len(emulation.received["hub"]) == 15
    assert lost(emulation) == {}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mac_min_be": 6}, "macMinBE is 0 to macMaxBE"),
        ({"channel": 10}, "greater than or equal to 11"),
        ({"channel_page": 2}, "write 0"),
        ({"sensitivity": "-80 dBm"}, "-106.58 dBm"),
        ({"mode": "peer"}, "has no coordinator"),
        ({"stations": {"a": {}, "b": {}}}, "exactly one station"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(star(1) | parameters)


@settings(max_examples=25)
@given(
    mode=st.sampled_from(["star", "peer"]),
    sensors=st.integers(1, 5),
    length=st.integers(28, 1500),
    distance=st.floats(0.1, 10e3),
    tx_power=st.floats(-32, 31),
    sensitivity=st.floats(-106.58, -85),
    exponent=st.floats(1, 8),
    shadowing=st.floats(0, 20),
    max_be=st.integers(3, 8),
    backoffs=st.integers(0, 5),
    retries=st.integers(0, 7),
    acknowledgements=st.booleans(),
    addressing=st.sampled_from(["short", "extended"]),
    discipline=st.sampled_from(["fifo", "priority", "codel", "fq-codel", "pie", "red"]),
    seed=st.integers(1, 1000),
)
def test_any_permitted_network_runs_and_accounts_for_its_frames(
    mode: str, sensors: int, length: int, exponent: float, max_be: int, backoffs: int, retries: int, seed: int, **rest: Any
) -> None:
    parameters = star(
        sensors,
        mode=mode,
        propagation="log-distance",
        path_loss_exponent=exponent,
        mac_max_be=max_be,
        mac_max_csma_backoffs=backoffs,
        mac_max_frame_retries=retries,
        mac_min_be=min(3, max_be),
        acknowledgements=rest["acknowledgements"],
        addressing=rest["addressing"],
        queue={"discipline": rest["discipline"], "packets": 5, "time": "0.5 s"},
        distance=f"{rest['distance']} m",
        tx_power=f"{rest['tx_power']} dBm",
        sensitivity=f"{rest['sensitivity']} dBm",
        shadowing=f"{rest['shadowing']} dB",
    )
    if mode == "peer":
        parameters["stations"] = {name: {} for name in parameters["stations"]}
    frames = {f"s{i}": packets(i, length, 0.02, 20) for i in range(sensors)}
    emulation = emulate("pan", parameters, frames | {"hub": HELLO}, seed=seed)
    counted = emulation.statistics["frames"]
    assert counted["lost"]["unknown"] == 0
    assert counted["inside"] == 0
