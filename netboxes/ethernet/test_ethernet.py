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
    assert emulation.statistics["segment"]["stations"]["left"] == {"queued": 0, "lost": {"queue_full": 149}}
    assert (emulation.records["fate"] == Fate.QUEUE_FULL).sum() == 149


def test_rate_and_delay_change_while_frames_pass() -> None:
    frames = {"left": burst(2, udp(LEFT, RIGHT, 18), at=1.0) + burst(2, udp(LEFT, RIGHT, 18), at=3.0)}
    times = arrivals(emulate("ethernet", LINK, frames, events=[(2.0, "rate", 10e6), (2.0, "delay", 0.25)]))
    assert list(times) == [1_001_000_576, 1_001_001_248, 3_250_057_600, 3_250_124_800]


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("rate", 1e3, "rate cannot be 1000.0; it is a number from 10000 to 1e+10 bit/s"),
        ("delay", -1, "delay cannot be -1; it is a number from 0 to 10 s"),
        ("queue", 5, "no live parameter 'queue'; there are rate delay"),
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
        ({"stations": {"left": {}, "right": {}, "third": {}}}, "at most 2 items"),
        ({"rate": "1 kbit/s"}, "outside 10 kbit/s … 10 Gbit/s"),
        ({"queue": 0}, "greater than or equal to 1"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Parameters.model_validate(LINK | change)
    assert message in str(refused.value)
