# SPDX-License-Identifier: GPL-2.0-or-later
"""The Ethernet link in virtual time, against the lengths of IEEE 802.3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from netboxes.engine.virtual import BROADCAST, Emulation, EmulationFailed, TimedFrame, emulate, ethernet, mac, udp, vlan
from netboxes.ethernet.parameters import Parameters
from results.records import Fate

LINK: dict[str, Any] = {"stations": {"left": {}, "right": {}}, "delay": "1 ms"}
LEFT, RIGHT = 0, 1
PREAMBLE, CHECK_SEQUENCE, GAP = 8, 4, 12


def burst(count: int, frame: bytes, at: float = 1.0) -> list[TimedFrame]:
    return [(at, frame)] * count


def arrivals(emulation: Emulation, station: int = RIGHT) -> NDArray[np.int64]:
    """When frames left the netbox at this station, ns."""
    arrived = emulation.records[(emulation.records["fate"] == Fate.DELIVERED) & (emulation.records["station_out"] == station)]
    return np.asarray(arrived["out_ns"], np.int64)


@pytest.mark.parametrize("payload", [0, 18])
def test_smallest_frames_at_1_gbit_s_leave_exactly_672_ns_apart(payload: int) -> None:
    times = arrivals(emulate("ethernet", LINK, {"left": burst(1000, udp(LEFT, RIGHT, payload))}))
    assert len(times) == 1000
    assert set(np.diff(times)) == {672}


@pytest.mark.parametrize("frame", [udp(LEFT, RIGHT, 200), udp(LEFT, RIGHT, 1472), vlan(udp(LEFT, RIGHT, 1472), 5)])
def test_a_frame_arrives_with_its_last_bit_and_the_next_one_after_the_gap(frame: bytes) -> None:
    times = arrivals(emulate("ethernet", LINK | {"rate": "100 Mbit/s"}, {"left": burst(2, frame)}))
    byte_ns = 80
    on_wire = PREAMBLE + len(frame) + CHECK_SEQUENCE
    assert times[0] == 1_001_000_000 + on_wire * byte_ns
    assert times[1] - times[0] == (on_wire + GAP) * byte_ns


def test_the_directions_do_not_share_the_rate() -> None:
    frames = {"left": burst(500, udp(LEFT, RIGHT)), "right": burst(500, udp(RIGHT, LEFT))}
    emulation = emulate("ethernet", LINK, frames)
    assert (arrivals(emulation, LEFT) == arrivals(emulation, RIGHT)).all()


def test_broadcasts_reach_the_other_end_only() -> None:
    emulation = emulate("ethernet", LINK, {"left": burst(3, ethernet(mac(LEFT), BROADCAST, 0x88B5, b"hello"))})
    assert (len(emulation.received["left"]), len(emulation.received["right"])) == (0, 3)


def test_frames_beyond_the_queue_are_lost_and_accounted_for() -> None:
    emulation = emulate("ethernet", LINK | {"queue": 100}, {"left": burst(250, udp(LEFT, RIGHT))})
    assert len(emulation.received["right"]) == 101  # the queue, and the one being sent
    assert emulation.statistics["frames"]["lost"]["queue_full"] == 149
    left = emulation.statistics["segment"]["stations"]["left"]
    assert left["lost"] == {"queue_full": 149}
    assert (left["queue"]["packets"], left["queue"]["dropped"]["full"], left["sent"]) == (0, 149, 101)
    assert left["airtime"] == pytest.approx(101 * (PREAMBLE + len(udp(LEFT, RIGHT)) + CHECK_SEQUENCE) * 8e-9)
    assert (emulation.records["fate"] == Fate.QUEUE_FULL).sum() == 149


def test_delay_is_length_by_velocity() -> None:
    line = {"stations": {"left": {}, "right": {}}, "length": "60 km", "velocity_factor": 0.68}
    first = burst(1, udp(LEFT, RIGHT, 18))
    events = [(2.0, "length", 6e3)]
    times = arrivals(emulate("ethernet", line, {"left": first + burst(1, udp(LEFT, RIGHT, 18), at=3.0)}, events=events))
    velocity = 0.68 * 299_792_458
    assert list(times) == pytest.approx([1_000_000_576 + 60e12 / velocity, 3_000_000_576 + 6e12 / velocity], abs=1)


def test_what_waits_or_is_on_the_wire_when_it_is_cut_is_lost_and_the_cut_is_announced() -> None:
    frames = {"left": [(1.0 + k * 1e-3, udp(LEFT, RIGHT, identification=k)) for k in range(2000)]}
    slow = LINK | {"delay": "100 ms"}
    emulation = emulate("ethernet", slow, frames, events=[(1.5, "right.outage", True), (2.0, "right.outage", False)])
    left = emulation.statistics["segment"]["stations"]["left"]
    # Of the second before it is joined again, and what was on its way: 0.5 s, and 0.1 s.
    assert left["lost"]["outage"] == pytest.approx(600, abs=1)
    assert len(emulation.received["right"]) == 2000 - left["lost"]["outage"]
    link_events = [line for line in emulation.journal if "link" in line.get("event", "")]
    links = [(line["event"], line["station"], line["at_s"]) for line in link_events]
    changes = ("link_down", 0.5), ("link_up", 1.0)
    assert links == [(event, end, at) for event, at in changes for end in ("left", "right")]


def test_bits_go_wrong_as_often_as_said() -> None:
    frames = [(1.0 + k * 1e-4, udp(LEFT, RIGHT, 972, identification=k)) for k in range(10_000)]
    lost = emulate("ethernet", LINK | {"bit_error_rate": 1e-5}, {"left": frames}).statistics["frames"]["lost"]["on_air"]
    expected = 1 - (1 - 1e-5) ** (8 * (1000 + 18))
    assert lost / 10_000 == pytest.approx(expected, abs=4 * (expected / 10_000) ** 0.5)


def test_a_link_that_is_cut_from_the_start_says_so() -> None:
    emulation = emulate("ethernet", LINK | {"outage": True}, {"left": burst(3, udp(LEFT, RIGHT))})
    assert emulation.statistics["frames"]["lost"]["outage"] == 3
    assert [line["station"] for line in emulation.events("link_down")] == ["left", "right"]


def test_rate_and_delay_change_while_frames_pass() -> None:
    frames = {"left": burst(2, udp(LEFT, RIGHT, 18), at=1.0) + burst(2, udp(LEFT, RIGHT, 18), at=3.0)}
    times = arrivals(emulate("ethernet", LINK, frames, events=[(2.0, "rate", 10e6), (2.0, "delay", 0.25)]))
    assert list(times) == [1_001_000_576, 1_001_001_248, 3_250_057_600, 3_250_124_800]


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("rate", 1e3, "rate cannot be 1000.0; it is a number from 10000 to 1e+10 bit/s"),
        ("delay", -1, "delay cannot be -1; it is a number from 0 to 10 s"),
        ("loss", 0.5, "no live parameter 'loss'; there are "),
        ("bit_error_rate", 0.5, "bit_error_rate cannot be 0.5; it is a number from 0 to 0.01"),
        ("outage", 1, "outage cannot be 1; it is true or false"),
        ("left.rate", 1e6, "only at a switch has a station a rate of its own; change that of the network"),
        ("third.outage", True, "no station 'third'; there are left right"),
    ],
)
def test_bad_live_changes_are_refused(parameter: str, value: float, message: str) -> None:
    with pytest.raises(EmulationFailed) as failed:
        emulate("ethernet", LINK, {"left": burst(1, udp(LEFT, RIGHT))}, events=[(0.5, parameter, value)])
    assert message in str(failed.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stations": {"left": {}}}, "at least 2 items"),
        ({"medium": "link", "stations": {"left": {}, "right": {}, "third": {}}}, "a link has two stations, not 3"),
        ({"length": "100 m"}, "`delay` and `length` say the same"),
        ({"medium": "shared", "rate": "1 Gbit/s"}, "up to 100 Mbit/s: faster ones need carrier extension"),
        ({"medium": "shared", "rate": "100 Mbit/s"}, "has a delay of up to 2.56 us, half a slot of 512 bit times"),
        ({"switching_delay": "1 us"}, "is a switch's"),
        ({"backoff": {}}, "is of a shared medium"),
        ({"stations": {"left": {"rate": "1 Mbit/s"}, "right": {}}}, "left: only at a switch have wires their own rate"),
        ({"velocity_factor": 1.1}, "less than or equal to 1"),
        ({"rate": "1 kbit/s"}, "outside 10 kbit/s … 10 Gbit/s"),
        ({"queue": 0}, "greater than or equal to 1"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Parameters.model_validate(LINK | change)
    assert message in str(refused.value)
