# SPDX-License-Identifier: GPL-2.0-or-later
"""Noordwijk as its formulas have it (README.md names the papers)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from netboxes.endpoints.endpoints_under_test import bulk, host, needs_tshark, pair, tshark
from netboxes.engine.virtual import EmulationFailed, run

NOORDWIJK = {"variant": "noordwijk"}
FRAME, DATA = 1514, 1448


def long_transfer(folder: Path, *flows: dict[str, Any], **line: Any) -> dict[str, Any]:
    receives = [bulk("receiver", port=flow.get("port", 5001), tcp=NOORDWIJK) for flow in flows]
    return pair(folder, [bulk("sender", tcp=NOORDWIJK, **flow) for flow in flows], receives, **line)


@needs_tshark
def test_bursts_of_noordwijk_are_20_segments_each_500_ms_at_first(tmp_path: Path) -> None:
    """Grazia, 2.2.2.1; a round trip of 0.9 s: the second train is back after the third burst."""
    long_transfer(tmp_path, {"until_s": 6.0}, delay_s=0.45, rate=50e6, queue=1e6, duration_s=6.0)
    printed = tshark(
        tmp_path / "pair.pcapng", "-Y", "tcp.len > 0 && ip.src == 10.0.0.1", "-T", "fields", "-e", "frame.time_relative"
    )
    times = [float(line) for line in printed]
    bursts = [len(list(group)) for _, group in itertools.groupby(times, lambda time: round(time - times[0], 3))]
    assert bursts[:3] == [20, 20, 20]
    assert (times[20] - times[0], times[40] - times[0]) == pytest.approx((0.5, 1.0), abs=1e-6)


def test_noordwijk_reaches_the_bottlenecks_rate_and_its_queue_grows_by_a_segment_a_burst(tmp_path: Path) -> None:
    """Rate Tracking: TX = B0 δ with δ = Δ/B, and Δ is B - 1 frames long: each burst brings one more than has left."""
    duration, rate = 60.0, 5e6
    ran = long_transfer(tmp_path, {"until_s": duration}, delay_s=0.3, rate=rate, queue=10e6, duration_s=duration)
    [connection] = ran["left"]["flows"][0]["connections"]
    frame_s = FRAME * 8 / rate
    assert connection["burst"] == 20
    assert connection["burst_timer_ms"] == pytest.approx(19 * frame_s * 1e3, rel=0.01)
    assert connection["retransmissions"] == 0
    # From about 2 s on it sends 20 frames each 19 frames' time; what is on its way is the round trip's, and the queue.
    waiting = connection["rtt_ms"] / 1e3 - 0.6
    assert waiting == pytest.approx((duration - 2 - 0.6 - waiting) / 19 + 20 * frame_s, rel=0.1)
    received = ran["right"]["flows"][0]["received"]
    assert received == pytest.approx((duration - 2) * rate / 8 * DATA / FRAME, rel=0.03)


def test_rate_adjustment_halves_a_burst_whose_round_trips_differ_by_more_than_beta(tmp_path: Path) -> None:
    """20 frames at 500 kbit/s take 460 ms, and ΔRTT = Δ: B = 20 Δ/(Δ + Δ) = 10, whose 218 ms are too many: 5, and tracking
    sets in: 5 + 15/2 = 12.5. The timer stays near 20 δ, so the rate is below the bottleneck's."""
    ran = long_transfer(tmp_path, {"until_s": 60}, delay_s=0.1, rate=500e3, queue=10e6, duration_s=60.0)
    [connection] = ran["left"]["flows"][0]["connections"]
    frame_s = FRAME * 8 / 500e3
    assert 5 <= connection["burst"] <= 17
    assert 20 * frame_s * 0.75 < connection["burst_timer_ms"] / 1e3 < 20 * frame_s
    assert connection["rtt_ms"] / 1e3 < 0.2 + 20 * frame_s + frame_s
    assert connection["retransmissions"] == 0


def test_two_long_transfers_of_noordwijk_get_the_same(tmp_path: Path) -> None:
    flows = ({"until_s": 60}, {"until_s": 60, "port": 5002, "name": "c"})
    ran = long_transfer(tmp_path, *flows, delay_s=0.3, rate=5e6, queue=20e6, duration_s=60.0)
    first, second = (flow["received"] for flow in ran["right"]["flows"])
    assert (first + second) ** 2 / (2 * (first**2 + second**2)) > 0.95, "Jain's index"


@pytest.mark.parametrize("segments", [10, 20, 50])
def test_a_short_file_of_noordwijk_takes_its_bursts(segments: int, tmp_path: Path) -> None:
    """Before the first train is back bursts leave each 500 ms: all but the last, a round trip, the last one's frames."""
    size = segments * DATA
    ran = long_transfer(tmp_path, {"size": size}, delay_s=0.5, rate=5e6, queue=1e6)
    [connection] = ran["left"]["flows"][0]["connections"]
    bursts = -(-segments // 20)
    last = segments - 20 * (bursts - 1)
    frame_s = FRAME * 8 / 5e6
    took = connection["completed_s"] - connection["connected_s"]
    assert took == pytest.approx(0.5 * (bursts - 1) + 1.0 + last * frame_s, abs=0.002)


def test_noordwijk_delivers_over_a_line_that_loses(tmp_path: Path) -> None:
    ran = long_transfer(tmp_path, {"size": 3_000_000}, delay_s=0.3, rate=5e6, queue=1e6, loss=0.02, duration_s=300.0)
    [connection] = ran["left"]["flows"][0]["connections"]
    assert (connection["delivered"], connection["retransmissions"] > 20) == (3_000_000, True)


def test_burst_and_timer_are_those_asked_for_and_of_noordwijk_alone(tmp_path: Path) -> None:
    """C2ML: 5 segments each 50 ms (Grazia, 2.2.2.1)."""
    asked = {**NOORDWIJK, "burst": 5, "burst_timer_s": 0.05}
    ran = pair(
        tmp_path, [bulk("sender", size=29 * DATA, tcp=asked)], [bulk("receiver", tcp=NOORDWIJK)], delay_s=0.5, rate=5e6, queue=1e6
    )
    [connection] = ran["left"]["flows"][0]["connections"]
    took = connection["completed_s"] - connection["connected_s"]
    assert took == pytest.approx(5 * 0.05 + 1.0 + 4 * FRAME * 8 / 5e6, abs=0.002)
    with pytest.raises(EmulationFailed, match=r"flows\[0\].tcp.burst: is of noordwijk alone"):
        run("endpoints", ["a"], host(bulk("sender", size=1, tcp={"burst": 5})), {}, duration_s=0.1)
