# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP of hosts. Segments are read by tshark, or by hand as their RFCs have them; expectations are RFCs'."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from applications.congestion_control import VARIANTS
from netboxes.endpoints.endpoints_under_test import (
    HOST,
    OTHER,
    PEER,
    arp,
    bulk,
    flow,
    from_peer,
    host,
    is_right,
    needs_tshark,
    packets,
    pair,
    ping,
    sender,
    tcp,
    tshark,
)
from netboxes.engine.virtual import (
    Emulation,
    TimedFrame,
    address,
    checksum,
    run,
)


def options_of(segment: bytes) -> dict[int, bytes]:
    """Of a TCP segment: by kind, without kind and length."""
    found, rest = {}, segment[20 : (segment[12] >> 4) * 4]
    while rest and rest[0]:
        length = 1 if rest[0] == 1 else rest[1]
        found[rest[0]] = rest[2:length]
        rest = rest[length:]
    return found


def syn(**options: Any) -> bytes:
    """The SYN segment of a bulk sender with these options."""
    given = [(0.0, ping(PEER, HOST)), (0.01, arp(2, PEER, HOST))]
    flows = host(bulk("sender", size=1000, start_s=0.1, tcp=options))
    [(when, frame)] = packets(run("endpoints", ["a"], flows, {"a": given}, duration_s=0.5))[1:]
    assert (when, frame[14 + 9]) == (0.1, 6)
    segment = frame[34 : 14 + int.from_bytes(frame[16:18])]
    assert checksum(frame[26:34] + struct.pack(">BBH", 0, 6, len(segment)) + segment) == 0
    return segment


def test_a_syn_has_linuxs_options() -> None:
    segment = syn()
    options = options_of(segment)
    assert options.keys() == {2, 3, 4, 8}
    assert (options[2], options[3]) == ((1460).to_bytes(2), b"\x07")
    assert 6291456 >> 7 <= 65535, "the least scale by which the window can be told (RFC 7323, 2.3)"
    assert segment[12] & 1 << 0 == 0
    assert segment[13] == 0x02


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [({"sack": False}, {2, 3, 8}), ({"timestamps": False}, {2, 3, 4}), ({"window_scaling": False}, {2, 4, 8})],
)
def test_options_can_be_left_out(asked: dict[str, Any], kinds: set[int]) -> None:
    assert options_of(syn(**asked)).keys() == kinds


def test_the_maximum_segment_size_is_the_one_asked_for() -> None:
    assert options_of(syn(mss=1000))[2] == (1000).to_bytes(2)


def test_segments_can_be_as_small_as_linuxs(tmp_path: Path) -> None:
    """TCP_MIN_SND_MSS."""
    ends = [[bulk(role, tcp={"mss": 48, "timestamps": False})] for role in ("sender", "receiver")]
    ends[0][0]["size"] = 4800
    ran = pair(tmp_path, *ends)
    assert ran["right"]["flows"][0]["received"] == 4800


@pytest.mark.parametrize("asked", [{"ecn": True}, {"variant": "dctcp"}])
def test_ecn_is_asked_for_by_both_flags(asked: dict[str, Any]) -> None:
    """RFC 3168, 6.1.1."""
    assert syn(**asked)[13] == 0x02 | 0x40 | 0x80


def test_a_small_receive_buffer_needs_no_scale() -> None:
    assert options_of(syn(receive_buffer=65535))[3] == b"\0"


def test_a_listener_keeps_its_options_when_one_syn_has_none() -> None:
    """RFC 9293, 3.7.1 and RFC 7323, 2.2: an option is of a connection."""
    bare = tcp(PEER, HOST, 0x02)
    full = tcp(OTHER, HOST, 0x02, bytes.fromhex("020405b4030307010402080a0000000100000000"))
    given = [(0.0, bare), (0.1, arp(2, PEER, HOST)), (0.2, full), (0.3, arp(2, OTHER, HOST))]
    answers = packets(run("endpoints", ["a"], host(bulk("receiver")), {"a": given}, duration_s=0.5))
    kinds = {frame[30:34]: options_of(frame[34:]).keys() for _, frame in answers}
    assert kinds == {address(PEER, 4).packed: {2}, address(OTHER, 4).packed: {2, 3, 4, 8}}


def test_a_segment_to_a_closed_port_is_reset() -> None:
    """RFC 9293, 3.5.2."""
    given = [(0.0, tcp(PEER, HOST, 0x02)), (0.1, arp(2, PEER, HOST))]
    [(_, reset)] = packets(run("endpoints", ["a"], host(), {"a": given}, duration_s=0.5))
    assert (reset[47], reset[42:46]) == (0x14, (1001).to_bytes(4))


#: From the peer's receiver to a sender of the host: the answer to its SYN, with MSS 1460 and SACK permitted.
TO_SENDER = (5001, 6000)
ACCEPTED = from_peer(TO_SENDER, 0, 1, 0x12, options="020405b401010402")


def sends_to_peer(size: int, *answers: TimedFrame, duration_s: float = 1.0) -> Emulation:
    """A bulk sender without timestamps, whose SYN at 0.1 s is accepted at 0.11 s."""
    given = [(0.0, ping(PEER, HOST)), (0.001, arp(2, PEER, HOST)), (0.11, ACCEPTED), *answers]
    flows = host(bulk("sender", size=size, start_s=0.1, source_port=6000, tcp={"timestamps": False}))
    return run("endpoints", ["a"], flows, {"a": given}, duration_s=duration_s)


def test_a_late_acknowledgement_with_blocks_does_no_harm() -> None:
    """RFC 2883: a block below the acknowledgement is a duplicate's. ns-3 reads beyond its list."""
    late = from_peer(TO_SENDER, 1, 1001, 0x10, options="0101050a" + struct.pack(">II", 1, 501).hex())
    assert flow(sends_to_peer(1000, (0.2, late), (0.3, late)))["acknowledged"] == 1000


def test_a_closed_window_is_probed_with_an_acknowledgement() -> None:
    """RFC 9293, 3.8.6.1. 10 segments of 1460 bytes leave first; none of what is behind them may before the window is open."""
    closed = from_peer(TO_SENDER, 1, 14_601, 0x10, window=0)
    ran = sends_to_peer(100_000, (0.2, closed), (9.0, from_peer(TO_SENDER, 1, 14_601, 0x10)), duration_s=10.0)
    segments = [(time, frame) for time, frame in packets(ran) if frame[23] == 6 and time > 0.2]
    time, probe = segments[0]
    assert (int.from_bytes(probe[16:18]) - 40, int.from_bytes(probe[38:42]), int.from_bytes(probe[42:46])) == (1, 14_601, 1)
    assert (probe[47] & 0x10, round(time - 0.2)) == (0x10, 6)
    assert next(round(when, 3) for when, _ in segments if when > 8.9) == 9.0


def test_a_receiver_of_a_closed_window_sends_nothing() -> None:
    given = [(0.0, tcp(PEER, HOST, 0x02)), (0.1, arp(2, PEER, HOST)), (0.2, from_peer((40000, 5001), 1001, 1, 0x10, window=0))]
    ran = run("endpoints", ["a"], host(bulk("receiver")), {"a": given}, duration_s=30.0)
    assert [frame[47] for _, frame in packets(ran)] == [0x12]


def test_a_reset_counts_only_with_the_next_number() -> None:
    """RFC 5961, 3.2: within the window it is answered, elsewhere it is nothing."""
    given = [(0.0, tcp(PEER, HOST, 0x02)), (0.1, arp(2, PEER, HOST))]
    numbered = [(0.2, 0x10, 1001), (0.3, 0x14, 2001), (0.4, 0x14, 1 << 31)]
    given += [(at, from_peer((40000, 5001), number, 1, flags)) for at, flags, number in numbered]
    ran = run("endpoints", ["a"], host(bulk("receiver")), {"a": given}, duration_s=0.5)
    assert [(time, frame[47]) for time, frame in packets(ran)] == [(0.1, 0x12), (0.3, 0x10)]
    assert flow(ran)["connections"][0]["open"]
    given.append((0.45, from_peer((40000, 5001), 1001, 1, 0x14)))
    ran = run("endpoints", ["a"], host(bulk("receiver")), {"a": given}, duration_s=0.5)
    assert not flow(ran)["connections"][0]["open"]


@pytest.mark.parametrize("flags", [0x04, 0x14])
def test_a_transfer_that_is_reset_has_failed_and_no_reset_is_answered(flags: int) -> None:
    """RFC 9293, 3.5.2 and 3.10.7.4: who has no such connection resets it without ACK, who aborts it with."""
    ran = sends_to_peer(1000, (0.2, from_peer(TO_SENDER, 1, 1 if flags & 0x10 else 0, flags)))
    assert flow(ran)["connections"][0]["failure"] == "connection lost"
    assert not [time for time, _ in packets(ran) if time >= 0.2]


@needs_tshark
@pytest.mark.parametrize("destination", ["10.0.0.2", "fd00::2"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_delivers_all_bytes_over_a_lossy_path(variant: str, destination: str, tmp_path: Path) -> None:
    keys = {"size": 2_000_000, "destination": destination, "tcp": {"variant": variant}}
    ran = pair(tmp_path, [bulk("sender", **keys)], [bulk("receiver")], duration_s=60.0, loss=0.005)
    [sent], [received] = ran["left"]["flows"], ran["right"]["flows"]
    [connection] = sent["connections"]
    assert (sent["acknowledged"], received["received"], connection["delivered"]) == (2_000_000, 2_000_000, 2_000_000)
    assert [line["event"] for line in ran["announced"]] == ["flow_started", "flow_completed"]
    assert connection["completed_s"] == pytest.approx(ran["announced"][1]["at_s"])
    assert connection["retransmissions"] > 0
    assert is_right(tmp_path / "pair.pcapng")


def test_a_transfer_takes_as_long_as_its_frames_on_the_bottleneck(tmp_path: Path) -> None:
    """No loss: frames of 1448 bytes of data and 66 of headers at 10 Mbit/s, and the idle time of slow start."""
    tcp_options = {"variant": "newreno", "receive_buffer": 90_000}
    ran = pair(tmp_path, [bulk("sender", size=14_480_000)], [bulk("receiver", tcp=tcp_options)], queue=200_000)
    [connection] = ran["left"]["flows"][0]["connections"]
    frames_s = 10_000 * 1514 * 8 / 10e6
    assert frames_s < connection["completed_s"] < frames_s + 6 * 0.0412
    assert (connection["retransmissions"], connection["segment"]) == (0, 1448)
    assert connection["rtt_min_ms"] == pytest.approx(40 + (1514 + 66) * 8 / 10e3, abs=0.1)


def test_mathis_law(tmp_path: Path) -> None:
    """Mathis et al., CCR 27(3), 1997: rate = MSS/RTT sqrt(3/2)/sqrt(p) for an acknowledgement of each segment; within 20 %."""
    loss, rtt = 0.002, 0.1
    options = {"variant": "linux-reno"}
    sends = bulk("sender", until_s=400, tcp=options)
    ran = pair(
        tmp_path,
        [sends],
        [bulk("receiver", tcp={"ack_every": 1})],
        rate=1e9,
        delay_s=rtt / 2,
        queue=1e9,
        loss=loss,
        duration_s=400,
    )
    rate = ran["right"]["flows"][0]["received"] / 400
    assert rate == pytest.approx(1448 / rtt * (1.5 / loss) ** 0.5, rel=0.2)


def test_a_port_is_of_one_flow_of_a_host_at_a_time(tmp_path: Path) -> None:
    """RFC 9293, 3.3.1: a connection is known by its addresses and ports."""
    flows = [bulk("sender", size=1000, source_port=6000), bulk("sender", size=1000, source_port=6000)]
    ends = pair(tmp_path, flows, [bulk("receiver")])["left"]["flows"]
    assert [end["connections"][0]["failure"] for end in ends] == [None, "source port 6000 is in use"]
    assert [end["acknowledged"] for end in ends] == [1000, 0]


def test_parallel_connections_share_and_stop_in_time(tmp_path: Path) -> None:
    ran = pair(tmp_path, [bulk("sender", until_s=5, parallel=4, source_port=6000)], [bulk("receiver")], duration_s=10.0)
    connections = ran["left"]["flows"][0]["connections"]
    assert {connection["peer"] for connection in ran["right"]["flows"][0]["connections"]} == {
        f"10.0.0.1:{6000 + n}" for n in range(4)
    }
    assert all(connection["completed_s"] is not None for connection in connections)
    total = sum(connection["acknowledged"] for connection in connections)
    assert total == ran["right"]["flows"][0]["received"] == pytest.approx(10e6 / 8 * 5 * 1448 / 1514, rel=0.1)


def test_connections_end_also_where_the_last_segments_were_lost(tmp_path: Path) -> None:
    """RFC 9293, 3.6: whoever has sent all says so by a FIN, also when what it sent last was a retransmission."""
    options = {"variant": "bbr", "ecn": True, "pacing": True}
    sends = bulk("sender", until_s=20, parallel=3, tcp=options)
    receives = bulk("receiver", tcp={**options, "receive_buffer": 300_000})
    ran = pair(tmp_path, [sends], [receives], duration_s=60.0, rate=20e6, queue=30_000, loss=0.02)
    assert [connection["open"] for connection in ran["right"]["flows"][0]["connections"]] == [False] * 3


def test_a_connection_that_nobody_answers_fails_and_says_so(tmp_path: Path) -> None:
    ran = pair(tmp_path, [bulk("sender", size=1000)], [], duration_s=10.0)
    assert [line["event"] for line in ran["announced"]] == ["flow_started", "flow_failed"]
    assert ran["left"]["flows"][0]["connections"][0]["failure"] == "not connected"


@needs_tshark
def test_the_initial_window_is_the_one_asked_for(tmp_path: Path) -> None:
    """RFC 5681, 3.1: that many segments leave before the first of them is acknowledged."""
    pair(tmp_path, [bulk("sender", size=100_000, tcp={"initial_window": 4})], [bulk("receiver")])
    times = [
        float(line) for line in tshark(tmp_path / "pair.pcapng", "-Y", "tcp.len > 0", "-T", "fields", "-e", "frame.time_relative")
    ]
    assert sum(time < times[0] + 0.02 for time in times) == 4


@needs_tshark
@pytest.mark.parametrize(
    ("sender_tcp", "receiver_tcp", "codepoint"),
    [
        ({"ecn": True}, {"ecn": True}, 2),
        ({"ecn": True}, {"ecn": False}, 0),
        ({"ecn": True}, {}, 2),  # as Linux's tcp_ecn 2 does
        ({}, {}, 0),
        ({"variant": "dctcp", "l4s": True}, {"variant": "dctcp"}, 1),
    ],
)
def test_ecn_is_used_when_one_end_asks_and_the_other_accepts(
    sender_tcp: dict[str, Any], receiver_tcp: dict[str, Any], codepoint: int, tmp_path: Path
) -> None:
    """RFC 3168, 6.1.2: data packets are ECT(0), pure acknowledgements not; L4S packets are ECT(1) (RFC 9331)."""
    pair(tmp_path, [bulk("sender", size=100_000, tcp=sender_tcp)], [bulk("receiver", tcp=receiver_tcp)])
    fields = tshark(tmp_path / "pair.pcapng", "-Y", "tcp", "-T", "fields", "-e", "tcp.len", "-e", "ip.dsfield.ecn")
    marks = {(int(length) > 0, int(mark)) for length, mark in (line.split() for line in fields)}
    assert {mark for has_data, mark in marks if has_data} == {codepoint}
    assert "variant" in sender_tcp or (False, 0) in marks


def test_the_same_run_is_the_same_to_the_ns(tmp_path: Path) -> None:
    captures = []
    for _ in range(2):
        pair(tmp_path, [bulk("sender", size=500_000, tcp={"variant": "bbr"}), sender()], [bulk("receiver")], loss=0.01)
        captures.append((tmp_path / "pair.pcapng").read_bytes())
    assert captures[0] == captures[1]
