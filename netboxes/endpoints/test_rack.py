# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender finds what is lost by time (RFC 8985), also what it had sent again. A peer by hand says what has arrived."""

from __future__ import annotations

import pytest

from netboxes.endpoints.endpoints_under_test import HOST, PEER, arp, bulk, from_peer, host, packets, ping
from netboxes.engine.virtual import TimedFrame, run

TO_SENDER = (5001, 6000)
DATA = 1460
#: The sender asks at 0.05 s, is accepted a round trip later, and sends its first window of ten segments at once.
ROUND_TRIP_S = 0.1
ACCEPTED_S = 0.05 + ROUND_TRIP_S


def begin(segment: int) -> int:
    """Its first sequence number; the first segment is 0."""
    return 1 + DATA * segment


def arrived(first: int, last: int, acknowledged: int = 0) -> bytes:
    """All before the segment `acknowledged` has arrived, and `first` to `last` (RFC 2018)."""
    block = begin(first).to_bytes(4) + begin(last + 1).to_bytes(4)
    return from_peer(TO_SENDER, 1, begin(acknowledged), 0x10, options=f"0101050a{block.hex()}")


def sent(answers: list[TimedFrame], *, variant: str = "linux-reno", duration_s: float = 2.0) -> dict[int, list[float]]:
    """Of each segment when it is sent, s."""
    accepted = from_peer(TO_SENDER, 0, 1, 0x12, options="020405b401010402")
    given = [(0.0, ping(PEER, HOST)), (0.001, arp(2, PEER, HOST)), (ACCEPTED_S, accepted), *answers]
    flows = host(bulk("sender", size=1_000_000, start_s=0.05, source_port=6000, tcp={"variant": variant}))
    ran = run("endpoints", ["a"], flows, {"a": given}, duration_s=duration_s)
    times: dict[int, list[float]] = {}
    for time, frame in packets(ran):
        if frame[23] == 6 and int.from_bytes(frame[16:18]) > 1000:
            times.setdefault((int.from_bytes(frame[38:42]) - 1) // DATA, []).append(time)
    return times


@pytest.mark.parametrize("variant", ["linux-reno", "cubic"])
def test_a_retransmission_that_is_lost_is_sent_once_more_when_something_sent_later_arrives(variant: str) -> None:
    """6.2, step 5: no timeout, which would be 0.3 s later at the earliest. In recovery, without reordering, nothing is waited for
    (step 4)."""
    at = ACCEPTED_S + ROUND_TRIP_S
    answers = [(at + 0.001 * number, arrived(1, 1 + number)) for number in range(9)]
    found = at + 0.002  # by the third
    later = found + ROUND_TRIP_S + 0.01
    times = sent([*answers, (later, arrived(1, 12))], variant=variant)
    assert found < min(times[12]) < later - ROUND_TRIP_S / 2  # it was sent after the retransmission
    assert times[0][:3] == pytest.approx([ACCEPTED_S, found, later], abs=1e-6)


def test_a_segment_is_lost_a_quarter_of_a_round_trip_after_one_that_was_sent_later_has_arrived() -> None:
    """6.2, step 4, and 6.3: one or two selective acknowledgements may be reordering; a timer waits for that."""
    times = sent([(ACCEPTED_S + ROUND_TRIP_S, arrived(1, 1))])
    assert times[0][:2] == pytest.approx([ACCEPTED_S, ACCEPTED_S + 1.25 * ROUND_TRIP_S], abs=1e-6)


def test_where_segments_have_overtaken_each_other_three_that_arrive_prove_no_loss() -> None:
    """6.2, step 3: the fourth segment arrived before the first three, so the window stays a quarter of a round trip."""
    at = ACCEPTED_S + ROUND_TRIP_S
    reordered = [(at, arrived(3, 3)), (at + 0.001, arrived(5, 5, acknowledged=4))]
    times = sent([*reordered, (at + 0.002, arrived(5, 6, acknowledged=4)), (at + 0.003, arrived(5, 7, acknowledged=4))])
    assert times[0] == pytest.approx([ACCEPTED_S], abs=1e-6)
    assert times[4][:2] == pytest.approx([ACCEPTED_S, at + 0.25 * ROUND_TRIP_S], abs=0.004)


def test_round_trips_are_taken_of_what_arrives_in_a_recovery() -> None:
    """Linux's tcp_ack_update_rtt(): a round trip of 0.1 s, then some of 0.28 s by selective acknowledgements alone. By RFC 6298,
    2.3, the variation is 0.75 · 0.05 + 0.25 · 0.18 s after the first, and the timeout four of it more than 0.12 s, not 0.3 s."""
    at = ACCEPTED_S + 0.28
    times = sent([(at + 0.001 * number, arrived(1, 1 + number)) for number in range(9)], duration_s=3.0)
    first, *again = (time for time in times[0] if time > ACCEPTED_S + 0.01)
    assert first < at + 0.01
    assert again[0] - first > 0.12 + 4 * (0.75 * 0.05 + 0.25 * 0.18)
