# SPDX-License-Identifier: GPL-2.0-or-later
"""reno-1999 as ns-2 2.1b4 has it, and beside ns-2 itself (README.md names the papers)."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from statistics import fmean
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
from netboxes.engine.virtual import TimedFrame, run

RENO = {"variant": "reno-1999"}
TICK_S = 0.5
#: As ns-2 says them.
BITS = {"20kb": 20e3, "2Mb": 2e6}
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


def test_a_segment_that_was_alone_opens_the_window_also_after_a_timeout() -> None:
    """Each acknowledgement of something new below the threshold: a segment more (Jacobson 1988)."""
    sent = left((6.3, from_peer(TO_SENDER, 1, 1461, 0x10)), duration_s=6.5)
    assert [(round(time, 1), number) for time, number, _ in sent] == [(0.1, 1), (6.1, 1), (6.3, 1461), (6.3, 2921)]


def test_the_timer_starts_again_with_the_back_off_of_before_the_sample() -> None:
    """ns-2 2.1b4, newack(): first the timer, then the round trip. Two segments are lost; the round trip of the one after them
    ends the back-off, while another is on its way."""
    answers = [(0.2, 1461), (1.8, 2921), (1.9, 4381), (2.0, 5841)]
    sent = left(*((time, from_peer(TO_SENDER, 1, number, 0x10)) for time, number in answers), duration_s=9.0)
    assert [(round(time, 1), number) for time, number, _ in sent[:7]] == [
        (0.1, 1),
        (0.2, 1461),
        (0.2, 2921),
        (1.7, 1461),
        (1.8, 2921),
        (1.8, 4381),
        (1.9, 5841),
    ]
    again = [time for time, number, _ in sent if number == 5841]
    assert again[1:] == pytest.approx([2.0 + 2 * 1.5, 2.0 + 2 * 1.5 + 2 * 1.5], abs=1e-6)


def test_duplicates_of_what_a_timeout_had_sent_again_repeat_nothing_and_open_the_window() -> None:
    """ns-2's bugFix_ (RFC 2582, the careful variant) and dupwnd_: the acknowledgement of all that was sent before a timeout, and
    three duplicates, which let three more segments go."""
    grows = [(0.2, 1461), (0.3, 2921), (0.4, 4381), (3.0, 10221)]
    duplicates = [(3.1 + 0.01 * number, 10221) for number in range(3)]
    sent = left(*((time, from_peer(TO_SENDER, 1, number, 0x10)) for time, number in grows + duplicates), duration_s=3.2)
    assert max(number for time, number, _ in sent if time < 1.0) == 10221 - 1460, "all of that is acknowledged"
    assert [number for time, number, _ in sent if 1.0 < time < 2.99] == [4381], "the timeout"
    assert [number for time, number, _ in sent if time > 2.99] == [10221, 11681, 13141, 14601, 16061]


def test_goodput_is_that_of_ns_2(tmp_path: Path) -> None:
    """Beside ns-2 itself, whose figures ns2_reno.tcl has made: 60 000 segments know each goodput to 2 %, and all eight together
    to less than 1 %."""
    with Path(__file__).with_name("ns2_reno.csv").open(newline="") as file:
        cells = itertools.groupby(csv.DictReader(file), lambda row: (row["rate"], row["delay"], row["data_bytes"], row["loss"]))
        expected = {cell: fmean(float(row["goodput_kbps"]) for row in rows) for cell, rows in cells}
    assert len(expected) == 8
    shares = []
    for (rate, delay, data, loss), kbps in expected.items():
        size = int(data)
        duration_s = 60_000 * size * 8e-3 / kbps
        tcp = {**RENO, "mss": size}
        ran = pair(
            tmp_path,
            [bulk("sender", until_s=duration_s, tcp=tcp)],
            [bulk("receiver", tcp=tcp)],
            duration_s=duration_s,
            rate=BITS[rate],
            delay_s=float(delay.removesuffix("ms")) / 1e3,
            queue=50 * (size + 54),
            loss=float(loss),
        )
        shares.append(ran["right"]["flows"][0]["received"] * 8e-3 / duration_s / kbps)
        assert shares[-1] == pytest.approx(1, abs=0.06), (rate, loss)
    assert fmean(shares) == pytest.approx(1, abs=0.02)
