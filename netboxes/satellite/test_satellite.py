# SPDX-License-Identifier: GPL-2.0-or-later
"""The satellite segment in virtual time, against the arithmetic of its slots and headers."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import BROADCAST, EmulationFailed, emulate, ethernet, mac
from netboxes.satellite.link_under_test import (
    BBFRAME_BITS,
    BBFRAME_PAYLOAD,
    BURST,
    DELAY,
    FORWARD_RATE,
    FORWARD_SLOT,
    HEADERS,
    HUB,
    LINK,
    MEOC,
    OTHER,
    RETURN_RATE,
    RETURN_SLOT,
    THREE,
    delays,
    flow,
    goodput,
    hello,
    lost,
)
from netboxes.satellite.parameters import Parameters


def test_return_delay_is_slot_wait_plus_bursts_plus_propagation() -> None:
    # 7.3 ms and a slot of 0.752 ms have no common period, so that arrivals see all phases of the slot.
    emulation = emulate("satellite", LINK, {"meoc": flow(MEOC, HUB, 500, 0.0073, 1000)})
    # 500 bytes with RLE: START header 4, type 1, sequence number 1, and 2 bytes a further burst: 510 bytes, 3 bursts of 188.
    bursts = math.ceil((500 + 6 + 2 * 2) / BURST)
    measured = delays(emulation, HUB)
    assert len(measured) == 1000
    assert measured.min() >= DELAY + bursts * RETURN_SLOT - 1e-6
    assert measured.max() <= DELAY + (bursts + 1) * RETURN_SLOT + 1e-6
    assert measured.mean() == pytest.approx(DELAY + (bursts + 0.5) * RETURN_SLOT, abs=0.02e-3)


def test_forward_delay_is_wait_for_the_next_bbframe_plus_its_length_plus_propagation() -> None:
    emulation = emulate("satellite", LINK, {"hub": flow(HUB, MEOC, 500, 0.0073, 1000)})
    measured = delays(emulation, MEOC)
    assert measured.min() >= DELAY + FORWARD_SLOT - 1e-6
    assert measured.max() <= DELAY + 2 * FORWARD_SLOT + 1e-6
    assert measured.mean() == pytest.approx(DELAY + 1.5 * FORWARD_SLOT, abs=0.03e-3)


@pytest.mark.parametrize(("waveform", "payload"), [(3, 38), (13, 123), (16, 298), (22, 599)])
def test_a_burst_lasts_as_long_as_its_waveforms_payload(waveform: int, payload: int) -> None:
    link = LINK | {"return_waveform": waveform, "return_rate": "100 kbit/s"}
    emulation = emulate("satellite", link, {"meoc": flow(MEOC, HUB, HEADERS, 0.0731, 300)})
    slot = payload * 8 / 100e3
    measured = delays(emulation, HUB) - DELAY
    assert slot - 1e-6 <= measured.min() <= 1.1 * slot
    assert 1.9 * slot <= measured.max() <= 2 * slot + 1e-6


@pytest.mark.parametrize("length", [60, 500, 1500])
def test_return_goodput_is_the_rate_less_rle(length: int) -> None:
    emulation = emulate("satellite", LINK, {"meoc": flow(MEOC, HUB, length, length * 8 / 3e6, 3000)})
    # Whole packets (COMPLETE 2, type 1) but one cut at each end of a burst: START 4 instead, END 2, sequence number 1.
    whole = (length + 3) / (1 - 5 / BURST)
    # Packets that no burst can hold, all cut: START 4, type 1, sequence number 1, and a header of 2 for each burst entered.
    cut = (length + 6) / (1 - 2 / BURST)
    bytes_a_packet = whole if length + 3 <= BURST else cut
    assert goodput(emulation.received["hub"], length) == pytest.approx(RETURN_RATE * length / bytes_a_packet, rel=0.005)


@pytest.mark.parametrize("length", [500, 1500])
def test_forward_goodput_is_the_rate_less_bbheader_and_gse(length: int) -> None:
    emulation = emulate("satellite", LINK, {"hub": flow(HUB, MEOC, length, length * 8 / 15e6, 12000)})
    # As above with GSE: header 2, type 2, label 3; cut, START 5 instead of 2, END 3, CRC 4; or all cut.
    whole = (length + 7) / (1 - 10 / BBFRAME_PAYLOAD)
    cut = (length + 14) / (1 - 3 / BBFRAME_PAYLOAD)
    bytes_a_packet = whole if length + 7 <= BBFRAME_PAYLOAD else cut
    information_rate = FORWARD_RATE * BBFRAME_PAYLOAD * 8 / BBFRAME_BITS
    assert goodput(emulation.received["meoc"], length) == pytest.approx(information_rate * length / bytes_a_packet, rel=0.005)


@pytest.mark.parametrize(("sender", "receiver"), [("meoc", "hub"), ("hub", "meoc")])
def test_packets_are_lost_independently_at_the_packet_error_rate(sender: str, receiver: str) -> None:
    count, rate = 20000, 1e-2
    numbers = {"meoc": MEOC, "hub": HUB}
    frames = flow(numbers[sender], numbers[receiver], 60, 0.0005, count)
    emulation = emulate("satellite", LINK | {"packet_error_rate": rate}, {sender: frames})
    errors = lost(emulation)["on_air"]
    assert errors + len(emulation.received[receiver]) == count
    assert abs(errors - count * rate) <= 4 * math.sqrt(count * rate * (1 - rate))
    # Independent losses: as many pairs of neighbours as chance gives (2 expected).
    copies = np.sort(emulation.records, order="in_ns")
    failed = copies["fate"] != 0
    assert np.count_nonzero(failed[1:] & failed[:-1]) <= 10


def test_same_seed_same_run_and_another_seed_another_run() -> None:
    frames = {"meoc": flow(MEOC, HUB, 100, 0.002, 500)}
    noisy = LINK | {"packet_error_rate": 0.1}
    first, again, other = (emulate("satellite", noisy, frames, seed=seed) for seed in (3, 3, 4))
    assert first.received == again.received
    assert first.received != other.received


def test_outage_loses_what_is_sent_or_would_arrive_while_it_lasts() -> None:
    frames = {"meoc": flow(MEOC, HUB, 100, 0.01, 400, start=1.0)}  # until 5 s
    emulation = emulate("satellite", LINK, frames, events=[(2.0, "outage", True), (3.0, "outage", False)])
    arrivals = np.array([time for time, _ in emulation.received["hub"]])
    assert not np.any((arrivals > 2.0) & (arrivals < 3.0 + DELAY))
    # Sent from 1.745 s (on their way when it began) to 3 s: 1.255 s of a packet each 10 ms.
    assert lost(emulation)["outage"] == pytest.approx(125.5, abs=1.5)
    assert len(arrivals) + lost(emulation)["outage"] == 400


def test_live_changes_of_delay_and_rates() -> None:
    frames = {"meoc": flow(MEOC, HUB, 500, 0.05, 200), "hub": flow(HUB, MEOC, 500, 0.05, 200)}
    changes = [(6.0, "delay", 0.120), (6.0, "return_rate", 200e3), (6.0, "forward_rate", 1e6)]
    emulation = emulate("satellite", LINK, frames, events=changes)
    late = emulation.records[emulation.records["in_ns"] > 6.1e9]
    took = (late["out_ns"] - late["in_ns"]) / 1e9
    at_hub, at_terminal = took[late["station_out"] == HUB], took[late["station_out"] == MEOC]
    # A tenth of the rates: slots of ten times the length. The phase of the slots adds 0 to 1 of them.
    assert at_hub.mean() == pytest.approx(0.120 + 3.5 * 10 * RETURN_SLOT, abs=0.5 * 10 * RETURN_SLOT)
    assert at_terminal.mean() == pytest.approx(0.120 + 1.5 * 10 * FORWARD_SLOT, abs=0.5 * 10 * FORWARD_SLOT)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("delay", 5.1, "from 0 to 5 s"),
        ("return_rate", 999.0, "from 1000 to 1e+09 bit/s"),
        ("packet_error_rate", 1.1, "from 0 to 1"),
        ("outage", 1, "true or false"),
        ("return_waveform", 3, "there are delay fade forward_rate outage packet_error_rate queue return_rate"),
    ],
)
def test_bad_live_changes_are_refused_with_what_is_permitted(parameter: str, value: object, message: str) -> None:
    with pytest.raises(EmulationFailed, match=re.escape(message)):
        emulate("satellite", LINK, {"meoc": flow(MEOC, HUB, 100, 0.1, 20)}, events=[(1.5, parameter, value)])


def test_priority_serves_classes_in_the_order_of_declaration() -> None:
    classes = [{"name": "voice", "match": {"dscp": [46]}}, {"name": "video", "match": {"dscp": [34]}}]
    voice = [(t, f) for t, f in flow(MEOC, HUB, 100, 0.02, 200, dscp=46)]
    bulk = flow(MEOC, HUB, 1000, 0.002, 2000)  # 4 Mbit/s into 2 Mbit/s
    frames = {"meoc": voice + bulk}
    waits = {}
    for discipline in ("fifo", "priority"):
        emulation = emulate("satellite", LINK | {"queue": discipline}, frames, classes=classes)
        calls = emulation.records[(emulation.records["class"] == 0) & (emulation.records["fate"] == 0)]
        waits[discipline] = (calls["out_ns"] - calls["in_ns"]).max() / 1e9 - DELAY
        if discipline == "priority":
            assert len(calls) == len(voice)
    # With priority a voice packet waits for at most the packet in service (1000 bytes: 6 bursts), then a slot, then its own.
    assert waits["priority"] <= 8 * RETURN_SLOT
    assert waits["fifo"] == pytest.approx(0.5, rel=0.05)


def test_each_terminal_has_its_own_return_rate() -> None:
    frames = {
        "meoc": hello(MEOC) + flow(MEOC, HUB, 500, 0.001, 3000),
        "hub": hello(HUB),
        "other": hello(OTHER) + flow(OTHER, HUB, 500, 0.001, 3000),
    }
    emulation = emulate("satellite", THREE, frames)
    records = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["in_ns"] > 0.9e9)]
    alone = RETURN_RATE * 500 / ((500 + 6) / (1 - 2 / BURST))
    for terminal in (MEOC, OTHER):
        times = np.sort(records[records["station_in"] == terminal]["out_ns"]) / 1e9
        assert (len(times) - 1) * 500 * 8 / (times[-1] - times[0]) == pytest.approx(alone, rel=0.01)


@pytest.mark.parametrize(("connectivity", "hops"), [("star", 2), ("mesh", 1)])
def test_terminal_to_terminal(connectivity: str, hops: int) -> None:
    frames = {
        "meoc": hello(MEOC) + flow(MEOC, OTHER, 500, 0.01, 100),
        "hub": hello(HUB),
        "other": hello(OTHER),
    }
    emulation = emulate("satellite", THREE | {"connectivity": connectivity}, frames)
    took = emulation.records[(emulation.records["station_out"] == OTHER) & (emulation.records["in_ns"] > 0.9e9)]
    mean = (took["out_ns"] - took["in_ns"]).mean() / 1e9
    expected = hops * DELAY + 3.5 * RETURN_SLOT + (hops - 1) * 1.5 * FORWARD_SLOT
    assert len(took) == 100
    assert mean == pytest.approx(expected, abs=FORWARD_SLOT)


@pytest.mark.parametrize("connectivity", ["star", "mesh"])
def test_broadcast_reaches_everybody_else_once(connectivity: str) -> None:
    for sender in ("meoc", "hub", "other"):
        frames = {sender: [(1.0 + i, ethernet(mac(9), BROADCAST, 0x0806, bytes([i]) * 46)) for i in range(10)]}
        emulation = emulate("satellite", THREE | {"connectivity": connectivity}, frames)
        assert {name: len(received) for name, received in emulation.received.items()} == {
            name: 0 if name == sender else 10 for name in THREE["stations"]
        }
        assert lost(emulation) == {} and emulation.statistics["frames"]["duplicates"] == 0


def test_emergency_topology_values_are_accepted() -> None:
    link = Parameters.model_validate(LINK | {"packet_error_rate": "1e-6"})
    assert (link.delay, link.return_rate, link.forward_rate, link.packet_error_rate) == (0.254, 2e6, 10e6, 1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stations": {"a": {"role": "terminal"}, "b": {"role": "terminal"}}}, "exactly one station with `role: gateway`"),
        ({"capacity_request": "RBDC"}, "write `return_channel: shared`"),
        ({"forward_code_rate": "9/10"}, "no code rate 9/10"),
        ({"delay": "6 s"}, "outside 0 s … 5 s"),
        ({"return_rate": "2"}, "has no unit"),
        ({"return_waveform": 23}, "less than or equal to 22"),
    ],
)
def test_bad_parameters_are_refused_with_the_reason(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(LINK | change)
