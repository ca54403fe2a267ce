# SPDX-License-Identifier: GPL-2.0-or-later
"""The TETRA-like network in virtual time, against the arithmetic of EN 300 392-2 (arithmetic.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.installation import CHECKOUT
from netboxes.engine.neighbour_frames import advertisement, arp_reply, arp_request, solicitation
from netboxes.engine.virtual import BROADCAST, TimedFrame, emulate, ethernet, mac, run, udp
from netboxes.pmr import arithmetic
from netboxes.pmr.network_under_test import BASE, HELLO, START, lost, network, one_packet, packets, station, stream
from netboxes.pmr.parameters import Parameters
from testbed.description import topology_file

SETUP = 0.3
DIRECT: dict[str, Any] = {
    "mode": "direct",
    "stations": {"a": {}, "b": {}, "c": {}},
    "error_model": "none",
    "distance": "500 m",
}


def known(*numbers: int, at: float = 1.0) -> dict[str, list[tuple[float, bytes]]]:
    """Broadcasts, one after the other, from which the bridge learns where terminals are."""
    return {
        f"t{number}": [(at + 2.5 * i, ethernet(mac(number), BROADCAST, 0x88B5, b"hello"))] for i, number in enumerate(numbers)
    }


@pytest.mark.parametrize("protection", ["none", "low", "high"])
@pytest.mark.parametrize("length", [40, 500, 1500])
def test_a_packet_waits_for_access_set_up_and_its_blocks(protection: str, length: int) -> None:
    for at in (START, START + 0.021):
        begins = arithmetic.access_ends(at) + SETUP
        expected = arithmetic.sent_by(begins, arithmetic.blocks(length, protection)) - at
        assert one_packet(length, at, protection=protection) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("setup_time", [0.0, 0.5, 2.0])
def test_call_set_up_takes_its_time(setup_time: float) -> None:
    expected = arithmetic.sent_by(arithmetic.access_ends(START) + setup_time, 1) - START
    assert one_packet(40, call_setup_time=f"{setup_time} s") == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("protection", "nominal"), [("none", 7200), ("low", 4800), ("high", 2400)])
@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("acknowledged", [False, True])
def test_goodput_is_the_net_rate_less_headers(protection: str, nominal: int, slots: int, acknowledged: bool) -> None:
    assert arithmetic.net_rate(protection, slots) == pytest.approx(slots * nominal)
    emulation, goodput = stream(1500, 200.0, protection=protection, slots=slots, acknowledged=acknowledged)
    assert goodput == pytest.approx(arithmetic.goodput(1500, protection, slots, acknowledged), rel=0.01)
    assert station(emulation, "t0")["calls"] == 1


def test_four_slots_need_a_second_carrier() -> None:
    _, goodput = stream(1500, 100.0, slots=4, carriers=2, acknowledged=False)
    assert goodput == pytest.approx(arithmetic.goodput(1500, "none", 4), rel=0.01)
    with pytest.raises(ValidationError, match="carriers: 2"):
        Parameters.model_validate(network(slots=4))


def test_half_duplex_shares_the_channel_and_turns_round() -> None:
    answer = START + 1.0
    frames = {"t0": packets(0, 40, [START]), "base": [*HELLO, *packets(BASE, 40, [answer], to=0)]}
    emulation = emulate("pmr", network(acknowledged=False), frames)
    # The answer comes while the channel is held: no set-up, but a turn-round.
    expected = arithmetic.sent_by(answer + 0.1133, 1)
    assert emulation.received["t0"][-1][0] == pytest.approx(expected, abs=1e-5)
    assert station(emulation, "base")["calls"] + station(emulation, "t0")["calls"] == 2

    both = [START + 2.0 * i for i in range(50)]
    frames = {"t0": packets(0, 1500, both), "base": [*HELLO, *packets(BASE, 1500, both, to=0)]}
    emulation = emulate("pmr", network(acknowledged=False, queue=3), frames)
    arrived = [at for name in ("t0", "base") for at, _ in emulation.received[name] if START < at < START + 100]
    assert len(arrived) * 1500 * 8 / 100 < arithmetic.goodput(1500, "none")
    assert min(len(emulation.received["t0"]), len(emulation.received["base"])) > 15


def test_a_channel_without_traffic_is_held_for_its_hang_time() -> None:
    for later, calls in ((1.2, 1), (2.0, 2)):
        frames = {"t0": packets(0, 40, [START, START + later]), "base": HELLO}
        emulation = emulate("pmr", network(hang_time="1 s", acknowledged=False), frames)
        assert station(emulation, "t0")["calls"] == calls


def test_a_call_without_traffic_yields_to_another_one_for_its_channel() -> None:
    # With a channel of all three slots, one call at a time.
    frames = {"base": HELLO, "t0": packets(0, 40, [START]), "t1": packets(1, 40, [START + 1.0])}
    emulation = emulate("pmr", network(2, slots=3, hang_time="60 s"), frames)
    expected = arithmetic.sent_by(arithmetic.access_ends(START + 1.0) + SETUP, 1)
    assert [frame[11] for _, frame in emulation.received["base"]] == [0, 1]
    assert emulation.received["base"][-1][0] == pytest.approx(expected, abs=1e-5)
    assert emulation.events("call_preempted") == []


def test_a_call_without_traffic_yields_to_another_one_for_its_members() -> None:
    # All are in t0's group call when t1 and the base want to speak to each other.
    for sender, speaks in (("base", packets(BASE, 40, [START + 1.0], to=1)), ("t1", packets(1, 40, [START + 1.0]))):
        group = [(START, ethernet(mac(0), BROADCAST, 0x88B5, bytes(40)))]
        greetings = {"base": [*HELLO], "t1": [(1.0, udp(1, 77))]}
        frames = greetings | {"t0": group} | {sender: greetings[sender] + speaks}
        emulation = emulate("pmr", network(3, hang_time="60 s"), frames)
        begins = START + 1.0 if sender == "base" else arithmetic.access_ends(START + 1.0)
        receiver = "t1" if sender == "base" else "base"
        assert emulation.received[receiver][-1][0] == pytest.approx(arithmetic.sent_by(begins + SETUP, 1), abs=1e-5)


def test_a_call_goes_on_while_there_is_room_for_others() -> None:
    frames = {"base": HELLO, "t0": packets(0, 40, [START, START + 5.0]), "t1": packets(1, 40, [START + 1.0])}
    emulation = emulate("pmr", network(2, hang_time="60 s"), frames)
    assert [station(emulation, name)["calls"] for name in ("t0", "t1")] == [1, 1]


def test_in_direct_mode_a_call_without_traffic_yields_the_channel() -> None:
    greetings = {name: [(1.0 + number, udp(number, 77))] for number, name in enumerate("abc")}
    frames = greetings | {
        "a": [*greetings["a"], *packets(0, 40, [START], to=2)],
        "b": [*greetings["b"], *packets(1, 40, [START + 1.0], to=2)],
    }
    emulation = emulate("pmr", DIRECT | {"hang_time": "20 s"}, frames)
    expected = arithmetic.sent_by(arithmetic.access_ends(START + 1.0) + SETUP, 1, first=0)
    assert [frame[11] for _, frame in emulation.received["c"]][-2:] == [0, 1]
    assert emulation.received["c"][-1][0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("ask", "answer", "length"), [(arp_request, arp_reply, 28), (solicitation, advertisement, 72)], ids=["arp", "discovery"]
)
def test_address_resolution_takes_one_question_and_its_answer(
    ask: Callable[..., bytes], answer: Callable[..., bytes], length: int
) -> None:
    """A host asks at intervals of 1 s, three times, and then gives up (RFC 4861, section 10; Linux does so with ARP, too)."""
    asks = [(START + second, ask(0, BASE)) for second in range(3)]
    answers: list[TimedFrame] = []
    # The dispatcher's host answers at once whatever reaches it: known when a run with its answers has no further request.
    for _ in range(4):
        emulation = emulate("pmr", network(2), {"t0": asks, "base": answers})
        heard = [at for at, frame in emulation.received["base"] if frame == ask(0, BASE)]
        if len(heard) == len(answers):
            break
        answers = [(at, answer(BASE, 0)) for at in heard]
    blocks = arithmetic.blocks(length, "none")
    # The base repeats a group call for the other terminals, a frame later.
    request = arithmetic.sent_by(arithmetic.access_ends(START) + SETUP, blocks) + arithmetic.FRAME
    # The group call with the request yields to the answer's, which has its own set-up; later requests do not get on the air.
    answered = arithmetic.sent_by(request + SETUP, blocks)
    assert heard == pytest.approx([request], abs=1e-5)
    arrived = [at for at, frame in emulation.received["t0"] if frame == answer(BASE, 0)]
    assert arrived == pytest.approx([answered, START + 1.0, START + 2.0], abs=1e-5)
    # The third party is in the group call, and its host is told nothing more.
    assert len(emulation.received["t1"]) == 1


def test_a_host_out_of_range_is_not_answered_for() -> None:
    frames = {"base": [(1.0, arp_reply(BASE, 0))], "t0": [(START, arp_request(0, BASE, to=mac(BASE)))]}
    emulation = emulate("pmr", network(), frames, events=[(5.0, "t0.fade", 80.0)])
    assert [at for at, _ in emulation.received["t0"] if at >= START] == []
    assert lost(emulation) == {"outage": 1}


def test_terminals_speak_over_the_base_a_frame_later() -> None:
    frames = known(1) | {"t0": packets(0, 40, [START], to=1)}
    emulation = emulate("pmr", network(2), frames)
    begins = arithmetic.access_ends(START) + SETUP
    assert emulation.received["t1"][-1][0] == pytest.approx(arithmetic.sent_by(begins, 1) + arithmetic.FRAME, abs=1e-5)
    assert len(emulation.received["base"]) == 1  # the broadcast only
    assert lost(emulation) == {}


def test_a_group_call_reaches_everyone_at_once() -> None:
    frames = {"t0": [(START, ethernet(mac(0), BROADCAST, 0x88B5, bytes(500)))]}
    emulation = emulate("pmr", network(5), frames)
    times = {emulation.received[f"t{i}"][0][0] for i in range(1, 5)}
    assert len(times) == 1
    assert len(emulation.received["base"]) == 1


def test_two_that_begin_together_collide_and_back_off() -> None:
    times = [START + 2.8 * i for i in range(100)]
    frames = {"base": HELLO} | {f"t{i}": packets(i, 40, times) for i in range(2)}
    emulation = emulate("pmr", network(2, access_attempts=15, hang_time="0 s"), frames)
    both = [station(emulation, f"t{i}") for i in range(2)]
    assert lost(emulation) == {}
    # Scatters by 0.4 for each pair: 0.04 for their mean.
    accesses = sum(counters["accesses"] for counters in both)
    assert accesses / 200 == pytest.approx(arithmetic.accesses_of_two(8), abs=0.12)


def test_one_access_that_fails_gives_the_packet_up() -> None:
    frames = {"base": HELLO} | {f"t{i}": packets(i, 40, [START]) for i in range(2)}
    emulation = emulate("pmr", network(2, access_attempts=1), frames)
    assert lost(emulation) == {"retry_limit": 2}


def test_calls_wait_for_a_channel_in_the_order_of_their_classes() -> None:
    classes = [{"name": "urgent", "match": {"dscp": [46]}}]
    frames = {
        "base": HELLO,
        # With a channel of all three slots, one call at a time.
        "t0": packets(0, 1500, [START + 0.01 * i for i in range(3)]),
        "t1": packets(1, 200, [START + 0.1]),
        "t2": packets(2, 200, [START + 0.2], dscp=46),
    }
    emulation = emulate("pmr", network(3, slots=3, hang_time="0 s"), frames, classes=classes)
    senders = [frame[11] for _, frame in emulation.received["base"]]
    assert senders == [0, 0, 0, 2, 1]
    assert lost(emulation) == {}


def test_an_emergency_call_pre_empts_another() -> None:
    classes = [{"name": "urgent", "match": {"dscp": [46]}}]
    frames = {
        "base": HELLO,
        "t0": packets(0, 1500, [START + 0.01 * i for i in range(5)]),
        "t1": packets(1, 40, [START + 1.0], dscp=46),
    }
    parameters = network(2, slots=3, emergency_class="urgent", protection="high")
    emulation = emulate("pmr", parameters, frames, classes=classes)
    urgent = next(at for at, frame in emulation.received["base"] if frame[11] == 1)
    assert urgent - START - 1.0 < 0.6
    assert [event["station"] for event in emulation.events("call_preempted")] == ["t0"]
    # What was interrupted is sent again.
    assert len(emulation.received["base"]) == 6
    assert station(emulation, "t0")["calls_preempted"] == 1


def test_faded_blocks_are_repeated() -> None:
    # Some dB above the sensitivities: many blocks are lost, few packets.
    options: dict[str, Any] = {"error_model": "tu50", "propagation": "log-distance", "path_loss_exponent": 3.5}
    near: dict[str, Any] = {"distance": "0.9 km", "base_tx_power": "30 dBm", "base_sensitivity": "-103 dBm"}
    times = [START + 2.8 * i for i in range(100)]
    frames = {"t0": packets(0, 500, times), "base": HELLO}
    plain = emulate("pmr", network(**options, **near, acknowledged=False), frames)
    repeated = emulate("pmr", network(**options, **near, retransmissions=10), frames)
    assert 3 < station(plain, "t0")["snr"] - 16.33 < 12
    assert lost(plain).get("on_air", 0) > 10
    assert len(repeated.received["base"]) > 90
    assert station(repeated, "t0")["retransmissions"] > 10


def test_direct_mode_needs_no_base() -> None:
    frames = {"b": [(1.0, ethernet(mac(1), BROADCAST, 0x88B5, b"hello"))], "a": packets(0, 200, [START, START + 5.0], to=1)}
    emulation = emulate("pmr", DIRECT, frames)
    assert len(emulation.received["b"]) == 2
    assert len(emulation.received["c"]) == 1
    assert lost(emulation) == {}
    with pytest.raises(ValidationError, match="one slot a call"):
        Parameters.model_validate(DIRECT | {"slots": 2})


def test_direct_mode_waits_for_the_channel() -> None:
    hello = [(1.0, ethernet(mac(2), BROADCAST, 0x88B5, b"hello"))]
    frames = {"c": hello, "a": packets(0, 1500, [START], to=2), "b": packets(1, 200, [START + 1.0], to=2)}
    emulation = emulate("pmr", DIRECT, frames)
    assert [frame[11] for _, frame in emulation.received["c"]] == [0, 1]
    assert lost(emulation) == {}


def test_a_terminal_out_of_range_loses_its_link() -> None:
    path = [{"at": f"{t} s", "position": [f"{x} km", "0 m"]} for t, x in ((0, 1), (20, 10), (40, 1))]
    parameters = network(stations={"t0": {"path": path}, "base": {"role": "base"}}, error_model="tu50")
    frames = {"t0": packets(0, 100, [2.0 + i for i in range(44)]), "base": HELLO}
    emulation = emulate("pmr", parameters, frames)
    assert [line["event"] for line in emulation.journal if "event" in line] == ["link_down", "link_up"]
    assert emulation.events("link_down")[0]["reason"] == "out of range"
    assert lost(emulation)["outage"] > 10
    assert len(emulation.received["base"]) > 10


def test_a_fade_takes_a_link_and_gives_it_back() -> None:
    events = [(1.0, "fade", 80.0), (2.0, "fade", 3.0), (3.0, "t0.fade", 80.0), (4.0, "t0.fade", 4.0), (5.0, "base.fade", 5.0)]
    frames = {"t0": packets(0, 40, [START]), "base": HELLO}
    without = emulate("pmr", network(2), frames, duration_s=20.0)
    faded = emulate("pmr", network(2), frames, events=events, duration_s=20.0)
    link_events = [event for event in faded.journal if event.get("event", "").startswith("link")]
    changes = [(event["event"], event["station"], event.get("reason")) for event in link_events]
    both = [("link_down", f"t{i}", "faded") for i in range(2)], [("link_up", f"t{i}", None) for i in range(2)]
    assert changes == [*both[0], *both[1], ("link_down", "t0", "faded"), ("link_up", "t0", None)]
    for name in ("signal", "snr", "snr_at_base"):
        assert station(faded, "t0")[name] == pytest.approx(station(without, "t0")[name] - 3.0 - 4.0 - 5.0)


def test_a_terminal_wanders_out_of_range() -> None:
    wander = {"area": [["0 km", "0 km"], ["40 km", "40 km"]], "speed": ["500 m/s", "900 m/s"]}
    parameters = network(stations={"t0": {"wander": wander}, "base": {"role": "base"}}, error_model="tu50")
    emulation = emulate("pmr", parameters, {"base": HELLO}, duration_s=600.0)
    assert len(emulation.events("link_down")) > 1
    assert abs(len(emulation.events("link_down")) - len(emulation.events("link_up"))) <= 1


def test_parameters_change_while_it_runs() -> None:
    changes: list[tuple[float, str, Any]] = [
        (18.0, "outage", True),
        (19.0, "outage", False),
        (25.0, "slots", 3),
        (25.0, "call_setup_time", 1.0),
    ]
    changes += [(35.0, "t0.position", [90e3, 0.0, 0.0])]
    # The second one is under way when the radios go off.
    frames = {"t0": packets(0, 1500, [START, 17.5, 20.0, 30.0, 36.0]), "base": [(START - 5, HELLO[0][1])]}
    emulation = emulate("pmr", network(hang_time="0 s"), frames, events=changes)
    assert [(e["event"], e.get("reason")) for e in emulation.journal if e.get("event", "").startswith("link")] == [
        ("link_down", "outage"),
        ("link_down", "outage"),
        ("link_up", None),
        ("link_up", None),
        ("link_down", "out of range"),
    ]
    assert lost(emulation) == {"outage": 2}
    expected = arithmetic.sent_by(arithmetic.access_ends(30.0) + 1.0, arithmetic.blocks(1500, "none"), slots=3)
    assert [at for at, _ in emulation.received["base"]][-1] == pytest.approx(expected, abs=1e-5)
    assert len(emulation.received["base"]) == 3


def test_what_waits_too_long_or_finds_no_room_is_counted() -> None:
    frames = {"t0": packets(0, 1500, [START + 0.01 * i for i in range(20)]), "base": HELLO}
    emulation = emulate("pmr", network(protection="high", queue={"packets": 6, "time": "10 s"}), frames)
    counted = lost(emulation)
    assert counted["queue_full"] == 20 - 6
    assert counted["queue_expired"] + len(emulation.received["base"]) == 6
    assert counted["queue_expired"] > 1


def test_the_same_seed_gives_the_same_run() -> None:
    def times(seed: int) -> list[float]:
        frames = {f"t{i}": packets(i, 300, [START + 3.0 * k for k in range(10)]) for i in range(3)}
        parameters = network(3, error_model="tu50", distance="4.5 km")
        return [t for t, _ in emulate("pmr", parameters, frames | {"base": HELLO}, seed=seed).received["base"]]

    assert times(3) == times(3)
    assert times(3) != times(4)


def test_the_example_carries_a_message() -> None:
    trunk = topology_file.load(CHECKOUT / "topologies" / "pmr.yaml").netboxes["trunk"]
    parameters = trunk.parameters.model_dump(mode="json")
    frames = {"patrol": packets(0, 140, [START, START + 5]), "dispatch": [(1.0, udp(BASE, 0, 40))]}
    emulation = run("pmr", list(parameters["stations"]), parameters, frames)
    assert len(emulation.received["dispatch"]) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"protection": "medium"}, "'none', 'low' or 'high'"),
        ({"sensitivity": "-60 dBm"}, "-80 dBm"),
        ({"call_setup_time": "9 s"}, "5 s"),
        ({"stations": {"a": {}, "b": {}}}, "exactly one station"),
        ({"stations": {"everyone": {}, "base": {"role": "base"}}}, "everyone"),
        ({"mode": "direct"}, "no base station"),
        ({"stations": {"a": {}, "b": {}}, "mode": "direct", "propagation": "hata"}, "log-distance or friis"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(network() | parameters)


@settings(max_examples=25)
@given(
    direct=st.booleans(),
    terminals=st.integers(2, 6),
    length=st.integers(28, 1500),
    carriers=st.integers(1, 3),
    slots=st.integers(1, 4),
    protection=st.sampled_from(["none", "low", "high"]),
    acknowledged=st.booleans(),
    distance=st.floats(1, 100e3),
    error_model=st.sampled_from(["tu50", "static", "none"]),
    propagation=st.sampled_from(["friis", "log-distance", "hata"]),
    setup_time=st.floats(0, 5),
    hang_time=st.floats(0, 5),
    attempts=st.integers(1, 15),
    emergency=st.booleans(),
    seed=st.integers(1, 1000),
)
def test_any_permitted_network_runs_and_accounts_for_its_frames(
    direct: bool, terminals: int, length: int, carriers: int, slots: int, distance: float, seed: int, **rest: Any
) -> None:
    parameters = network(
        terminals,
        carriers=carriers,
        slots=1 if direct else min(slots, 3 if carriers == 1 else 4),
        protection=rest["protection"],
        acknowledged=rest["acknowledged"],
        distance=f"{distance} m",
        error_model=rest["error_model"],
        propagation="friis" if direct else rest["propagation"],
        call_setup_time=f"{rest['setup_time']} s",
        hang_time=f"{rest['hang_time']} s",
        access_attempts=rest["attempts"],
        emergency_class="urgent" if rest["emergency"] else None,
    )
    if direct:
        parameters |= {"mode": "direct", "stations": {name: {} for name in parameters["stations"]}}
    frames = {f"t{i}": packets(i, length, [START + 0.3 * k for k in range(12)], dscp=46 * (i == 1)) for i in range(terminals)}
    frames["base"] = [*HELLO, *packets(BASE, length, [START + 0.5 * k for k in range(12)], to=0)]
    classes = [{"name": "urgent", "match": {"dscp": [46]}}]
    counted = emulate("pmr", parameters, frames, seed=seed, classes=classes).statistics["frames"]
    assert counted["lost"]["unknown"] == 0
    assert counted["inside"] == 0
