# SPDX-License-Identifier: GPL-2.0-or-later
"""reno-1999 as ns-2 2.1b4 has it, and Noordwijk as its formulas have it (README.md names the papers)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from netboxes.endpoints.endpoints_under_test import (
    HOST,
    PEER,
    arp,
    bulk,
    from_peer,
    host,
    needs_tshark,
    packets,
    pair,
    ping,
    tshark,
)
from netboxes.engine.virtual import EmulationFailed, TimedFrame, run

RENO = {"variant": "reno-1999"}
NOORDWIJK = {"variant": "noordwijk"}
TICK_S = 0.5
FRAME, DATA = 1514, 1448
#: From the peer's receiver to a sender of the host: MSS 1460 and no other option.
TO_SENDER = (5001, 6000)
ACCEPTED = from_peer(TO_SENDER, 0, 1, 0x12, options="020405b4")


def left(*answers: TimedFrame, duration_s: float, tcp: dict[str, Any] = RENO) -> list[tuple[float, int, int]]:
    """Times, sequence numbers and lengths of the data that a sender, accepted at 0.1 s, sends to a peer that answers so."""
    given = [(0.0, ping(PEER, HOST)), (0.001, arp(2, PEER, HOST)), (0.1, ACCEPTED), *answers]
    flows = host(bulk("sender", size=100_000, start_s=0.05, source_port=6000, tcp=tcp))
    ran = run("endpoints", ["a"], flows, {"a": given}, duration_s=duration_s)
    segments = [(time, frame) for time, frame in packets(ran) if frame[23] == 6]
    sized = [
        (time, int.from_bytes(frame[38:42]), int.from_bytes(frame[16:18]) - 20 - 4 * (frame[46] >> 4)) for time, frame in segments
    ]
    return [(time, number, length) for time, number, length in sized if length > 0]


def test_the_first_timeout_of_reno_1999_is_6_s_and_doubles() -> None:
    """ns-2 2.1b4: rtxcur_init_ 6 s; the window is one segment."""
    sent = left(duration_s=100.0)
    assert {number for _, number, _ in sent} == {1}
    times = [time - 0.1 for time, _, _ in sent]
    assert times == pytest.approx([6.0 * (2**number - 1) for number in range(5)], abs=1e-6)


def test_timeouts_of_reno_1999_are_whole_ticks() -> None:
    """Jacobson 1988: a round trip within a tick counts as one, srtt 1, rttvar 1/2: 3 ticks; then doubled."""
    sent = left((0.2, from_peer(TO_SENDER, 1, 1461, 0x10)), duration_s=20.0)
    times = [time for time, number, _ in sent if number == 1461]
    assert times == pytest.approx([0.2, 0.2 + 1.5, 0.2 + 1.5 + 3.0, 0.2 + 1.5 + 3.0 + 6.0], abs=1e-6)


def test_a_round_trip_of_reno_1999_counts_the_ticks_that_passed() -> None:
    """1.3 s from 0.1 s on ends two ticks later, or three: srtt 2, rttvar 1: 6 ticks, or 9."""
    sent = left((1.4, from_peer(TO_SENDER, 1, 1461, 0x10)), duration_s=10.0)
    times = [time for time, number, _ in sent if number == 1461]
    assert (times[1] - times[0]) / TICK_S in (pytest.approx(6, abs=1e-5), pytest.approx(9, abs=1e-5))


def test_the_timeout_of_reno_1999_on_a_fast_path_stays_3_ticks() -> None:
    """Equal round trips within a tick: a variation of half a tick, of which whole numbers leave a quarter out, never falls."""
    answers = [(0.2 + 0.01 * number, from_peer(TO_SENDER, 1, 1461 + 1460 * number, 0x10)) for number in range(12)]
    sent = left(*answers, duration_s=3.0)
    last = max(time for time, _ in answers)
    again = next(time for time, _, _ in sent if time > last + 0.1)
    assert again - last == pytest.approx(1.5, abs=1e-6)


@needs_tshark
def test_reno_1999_has_no_options_acknowledges_each_segment_and_never_has_more_than_20_on_the_way(tmp_path: Path) -> None:
    ran = pair(tmp_path, [bulk("sender", size=1_000_000, tcp=RENO)], [bulk("receiver", tcp=RENO)], delay_s=0.1, loss=0.01)
    assert ran["right"]["flows"][0]["received"] == 1_000_000
    fields = ("tcp.srcport", "tcp.seq", "tcp.len", "tcp.ack", "tcp.options.sack_perm", "tcp.options.timestamp.tsval")
    printed = tshark(
        tmp_path / "pair.pcapng", "-Y", "tcp", "-T", "fields", *itertools.chain(*(("-e", field) for field in fields))
    )
    lines = [line.split("\t") for line in printed]
    assert not any(line[4] or line[5] for line in lines)
    acknowledged, outstanding = 1, []
    for port, sequence, length, ack, *_ in lines:
        if port == "5001":
            acknowledged = max(acknowledged, int(ack))
        elif int(length):
            outstanding.append(int(sequence) + int(length) - acknowledged)
    assert max(outstanding) == 20 * 1460
    arrived = sum(port != "5001" and int(length) > 0 for port, _, length, *_ in lines) * 0.99
    answered = sum(port == "5001" for port, *_ in lines)
    assert answered == pytest.approx(arrived * 0.99, rel=0.02)


def test_options_of_reno_1999_can_be_asked_for(tmp_path: Path) -> None:
    asked = {**RENO, "sack": True, "timestamps": True, "window_scaling": True, "initial_window": 2}
    ran = pair(tmp_path, [bulk("sender", size=1_000_000, tcp=asked)], [bulk("receiver", tcp=asked)], loss=0.02, duration_s=300.0)
    [connection] = ran["left"]["flows"][0]["connections"]
    assert (connection["segment"], connection["delivered"]) == (1448, 1_000_000)


def test_reno_1999_leaves_fast_recovery_by_the_first_new_acknowledgement() -> None:
    """RFC 2581, 3.2 without RFC 2582: of two segments lost in a window the second waits for more duplicates or the timer."""
    answers = [(0.2 + 0.1 * number, from_peer(TO_SENDER, 1, 1461 + 1460 * number, 0x10)) for number in range(6)]
    held = 1461 + 1460 * 5
    answers += [(1.0 + 0.01 * number, from_peer(TO_SENDER, 1, held, 0x10)) for number in range(3)]
    answers.append((1.2, from_peer(TO_SENDER, 1, held + 1460, 0x10)))
    sent = left(*answers, duration_s=5.0)
    assert [round(time, 2) for time, number, _ in sent if number == held][1] == 1.02, "after the third duplicate"
    second = [time for time, number, _ in sent if number == held + 1460]
    assert len(second) == 2
    assert second[1] - 1.2 >= 2 * TICK_S, "by the timer"


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
