# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue discipline `modular` of an access point, whose channel to one station is bad; its own tests:
netboxes/queueing/test_modular.cc."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import Change, Emulation, emulate, udp
from netboxes.queueing.queue import Queue
from netboxes.wifi.cell_under_test import hello, lost
from netboxes.wifi.error_rates import frame_error_rate
from netboxes.wifi.parameters import Parameters
from netboxes.wifi.standard_arithmetic import psdu
from results.records import Fate

GOOD, BAD, POINT = 0, 1, 2
PAYLOAD = 1472
LENGTH = PAYLOAD + 28
LLC_SNAP = 8
#: Of each station.
FRAMES = 300
CELL: dict[str, Any] = {
    "stations": {
        "good": {"role": "station", "distance": "20 m"},
        "bad": {"role": "station", "distance": "20 m"},
        "point": {"role": "access-point"},
    },
    "standard": "802.11a",
    "rate_control": "constant",
    "rate": "54 Mbit/s",
    "error_model": "nist",
    "device_queue": 2,
    "msdu_lifetime": "20 s",
}
#: By Friis the signal-to-noise ratio at 20 m is 37 dB; so much less lets about a half of such frames fail.
HALF = "15.3 dB"


def modular(**said: Any) -> dict[str, Any]:
    """Everything that comes is prefetched, in the order of its arrival."""
    return {"discipline": "modular", "packets": 2000, "qos": {"scheduler": "fifo"}, "prefetch": "2000 packets"} | said


def burst(queue: Any, *, fade: str = "0 dB", events: Sequence[Change] = (), frames: int = FRAMES) -> Emulation:
    """At 1 s so many frames at once for each of the two stations, in turn."""
    cell = CELL | {"queue": queue}
    cell["stations"] = CELL["stations"] | {"bad": CELL["stations"]["bad"] | {"fade": fade}}
    sent = [(1.0, udp(POINT, to, PAYLOAD, identification=number)) for number in range(frames) for to in (GOOD, BAD)]
    return emulate("wifi", cell, {"good": hello(GOOD), "bad": hello(BAD), "point": sent}, events=events, duration_s=12.0)


def times(emulation: Emulation, station: int) -> npt.NDArray[np.float64]:
    """In seconds, when the burst's frames came to a station."""
    records = emulation.records
    arrived = records[(records["fate"] == Fate.DELIVERED) & (records["station_out"] == station) & (records["in_ns"] >= 1e9)]
    return np.sort(arrived["out_ns"]) / 1e9


def told(emulation: Emulation) -> dict[str, Any]:
    queue: dict[str, Any] = emulation.statistics["segment"]["stations"]["point"]["queue"]
    return queue


def test_the_channel_of_each_station_is_told_as_its_frame_errors_are() -> None:
    """By the union bound at the signal-to-noise ratio of what the station sent."""
    emulation = burst(modular(), fade=HALF)
    snr = emulation.statistics["segment"]["stations"]["point"]["links"]["bad"]["snr"]
    expected = 1.0 - frame_error_rate(54, snr, psdu(LENGTH))
    assert 0.2 < expected < 0.8
    stations = told(emulation)["stations"]
    assert set(stations) == {"good", "bad"}
    assert stations["good"] == {"packets": 0, "success": 1.0, "weight": 1000}
    # The last 0.1 s have some 150 attempts.
    assert stations["bad"]["success"] == pytest.approx(expected, abs=0.15)
    # What the MAC held then was tried later than the latest weighing.
    assert stations["bad"]["weight"] == pytest.approx(1000 * stations["bad"]["success"], abs=100)


@pytest.mark.parametrize("scheduler", ["scfq", "wf2q+", "qfq+"])
def test_a_bad_station_gets_by_its_weight_while_both_have_frames(scheduler: str) -> None:
    emulation = burst(modular(mac={"scheduler": scheduler, "weights": "analogical"}), fade=HALF)
    snr = emulation.statistics["segment"]["stations"]["point"]["links"]["bad"]["snr"]
    share = 1.0 - frame_error_rate(54, snr, psdu(LENGTH))
    good, bad = times(emulation, GOOD), times(emulation, BAD)
    assert len(good) == FRAMES
    assert np.count_nonzero(bad < good[-1]) == pytest.approx(share * FRAMES, abs=0.15 * FRAMES)


def test_with_constant_weights_both_get_the_same_whatever_their_channels() -> None:
    emulation = burst(modular(mac={"scheduler": "qfq+", "weights": "constant"}), fade=HALF)
    good, bad = times(emulation, GOOD), times(emulation, BAD)
    assert np.count_nonzero(bad < good[-1]) == pytest.approx(FRAMES, abs=0.05 * FRAMES)


def test_frames_wait_until_their_station_is_back_and_hold_nobody_up() -> None:
    """The bad one is out of reach from before the burst on, for 0.2 s: shorter than its association lasts."""
    back = 1.2
    away = [(0.99, "bad.fade", 80.0), (back, "bad.fade", 0.0)]
    without = burst(modular(prefetch="0 packets"), events=away, frames=600)
    emulation = burst(modular(), events=away, frames=600)
    # The good one alone could have 500 frames by then, of 0.39 ms each. Every frame for the bad one takes 11 ms: seven
    # attempts, with backoffs that double from 68 us to 4.6 ms in the mean.
    assert np.count_nonzero(times(emulation, GOOD) < back) > 300
    assert np.count_nonzero(times(without, GOOD) < back) < 60
    for each in (emulation, without):
        assert set(lost(each)) == {"retry_limit"}
        assert len(times(each, GOOD)) == 600 and len(times(each, BAD)) == 600 - lost(each)["retry_limit"]
    assert lost(emulation)["retry_limit"] < 8 < lost(without)["retry_limit"]


def test_a_running_queue_becomes_modular_and_keeps_what_waits() -> None:
    queue = Parameters.model_validate(CELL | {"queue": modular()}).model_dump(mode="json")["queue"]
    plain = {"discipline": "fifo", "packets": 2000, "time": "20 s"}
    emulation = burst(plain, fade=HALF, events=[(1.1, "queue", queue)])
    assert len(times(emulation, GOOD)) == FRAMES
    fates = emulation.records[(emulation.records["station_out"] == BAD) & (emulation.records["in_ns"] >= 1e9)]["fate"]
    assert len(fates) == FRAMES and set(fates) <= {Fate.DELIVERED, Fate.RETRY_LIMIT}
    assert times(emulation, BAD)[-1] > times(emulation, GOOD)[-1] + 0.05


def test_a_queue_with_a_rate_of_its_own_sends_so_much_and_none_in_bursts() -> None:
    """A frame reaches the MAC when the one before has had its time at the queue's rate."""
    own_s = 8 * (LENGTH + LLC_SNAP) / 2e6
    emulation = burst({"packets": 1000, "rate": "2 Mbit/s"}, frames=100)
    arrived = np.sort(np.concatenate([times(emulation, GOOD), times(emulation, BAD)]))
    assert len(arrived) == 200
    assert np.diff(arrived) == pytest.approx([own_s] * 199, abs=0.3e-3)


def test_a_queue_that_loses_its_own_rate_sends_at_once_what_waited() -> None:
    """To the MAC's own queue, as well."""
    fast = Queue(packets=1000).model_dump()
    emulation = burst({"packets": 1000, "rate": "20 kbit/s"}, frames=10, events=[(3.0, "queue", fast)])
    arrived = np.sort(np.concatenate([times(emulation, GOOD), times(emulation, BAD)]))
    own_s = 8 * (LENGTH + LLC_SNAP) / 20e3
    sent = math.floor(2.0 / own_s) + 1
    assert len(arrived) == 20 and np.count_nonzero(arrived < 3.0) == sent
    assert arrived[-1] < 3.02


def test_a_station_has_its_access_point_alone_as_receiver() -> None:
    sent = [(1.0, udp(GOOD, to, PAYLOAD, identification=number)) for number in range(20) for to in (BAD, POINT)]
    cell = CELL | {"queue": modular()}
    emulation = emulate("wifi", cell, {"good": sent, "bad": hello(BAD), "point": hello(POINT, at=0.6)}, duration_s=3.0)
    queue = emulation.statistics["segment"]["stations"]["good"]["queue"]
    assert set(queue["stations"]) == {"point"}
    # What the point relays collides with the station's own frames now and then.
    assert 0.8 < queue["stations"]["point"]["success"] <= 1.0
    assert not lost(emulation)


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        (modular(prefetch="20000 packets"), "queue.prefetch\n  Value error, 20000 packets are outside 0 … 10000 packets"),
        (modular(prefetch="1 GB"), "1 GB is outside 0 B … 15.14 MB"),
        (modular(prefetch="many"), "'many' is not a size"),
        (modular(weights={"voice": 2}), "modular has the weights of classes in `qos`"),
        (modular(qos={"scheduler": "fifo", "weights": {"voice": 2}}), "fifo has no weights; use drr, scfq"),
        (modular(qos={"scheduler": "modular"}), "queue.qos.scheduler\n  Input should be 'fifo', 'priority'"),
        (modular(mac={"scheduler": "priority"}), "queue.mac.scheduler\n  Input should be 'drr', 'scfq'"),
        (modular(mac={"weights": "fair"}), "queue.mac.weights\n  Input should be 'constant', 'linear'"),
        (modular(inner="codel"), "modular has no lines by traffic class; use priority"),
        ({"discipline": "drr", "inner": "modular"}, "modular is for a whole queue; its `qos` has the weights of classes"),
        ({"discipline": "drr", "mac": {"scheduler": "drr"}}, "drr has no mac; only modular has"),
    ],
)
def test_what_does_not_fit_is_refused(queue: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Parameters.model_validate(CELL | {"queue": queue})
    assert message in str(refused.value)
