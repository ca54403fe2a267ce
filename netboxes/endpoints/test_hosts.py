# SPDX-License-Identifier: GPL-2.0-or-later
"""Ethernet, ARP, IP, ICMP and UDP of a host. Expectations are RFCs'."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import (
    FAR,
    FAR_MAC,
    FARTHER,
    HOST,
    LISTENS,
    OTHER,
    PEER,
    ROUTER,
    arp,
    counters,
    flow,
    frames,
    host,
    interface,
    is_right,
    needs_tshark,
    packets,
    pair,
    ping,
    sender,
    solicitation,
)
from netboxes.engine.virtual import (
    BROADCAST,
    address,
    checksum,
    ethernet,
    fragments,
    mac,
    run,
    udp,
    vlan,
)
from results import pcapng


def test_an_arp_request_is_answered() -> None:
    ran = run("endpoints", ["a"], host(), {"a": [(1.0, arp(1, PEER, HOST))]})
    assert ran.received["a"] == [(1.0, arp(2, HOST, PEER))]


def test_a_request_for_another_host_is_not_answered() -> None:
    assert run("endpoints", ["a"], host(), {"a": [(1.0, arp(1, PEER, OTHER))]}).received["a"] == []


#: Hosts 1 and 3 at one station.
BOTH = {
    "hosts": {
        name: {"interfaces": {"a": interface(number, f"10.0.0.{number}/24", f"fd00::{number}/64")}}
        for name, number in (("h", HOST), ("i", OTHER))
    }
}


def test_each_host_of_a_station_answers_for_itself_alone() -> None:
    asked = [
        (0.0, arp(1, PEER, HOST)),
        (0.1, arp(1, PEER, OTHER)),
        (0.2, arp(1, PEER, 7)),
        (0.3, solicitation(b"\x01\x01" + mac(PEER))),
    ]
    ran = run("endpoints", ["a"], BOTH, {"a": [*asked, (0.4, ping(PEER, OTHER)), (0.5, arp(2, PEER, OTHER))]})
    assert ran.received["a"][:2] == [(0.0, arp(2, HOST, PEER)), (0.1, arp(2, OTHER, PEER))]
    [(when, advertisement)] = packets(ran, 0x86DD)
    assert (when, advertisement[6:12], advertisement[62:78]) == (0.3, mac(HOST), address(HOST, 6).packed)
    [(when, reply)] = packets(ran)
    assert (when, reply[:12], reply[26:30]) == (0.5, mac(PEER) + mac(OTHER), address(OTHER, 4).packed)
    assert counters(ran).items() >= {"received": 6, "sent": 5, "other_host": 1, "malformed": 0, "unsupported": 0}.items()


def test_hosts_of_one_station_do_not_reach_each_other() -> None:
    """RFC 5517, 3: isolated ports."""
    flows = [{"host": "h", **sender(destination="10.0.0.3")}, {"host": "i", **LISTENS[1]}]
    ran = run("endpoints", ["a"], {**BOTH, "flows": flows}, {}, duration_s=3.0)
    # Each is a question by broadcast for the other one's address (RFC 826).
    assert {(frame[:14], frame[20:32], frame[38:42]) for frame in frames(ran)} == {
        (BROADCAST + mac(HOST) + b"\x08\x06", b"\0\1" + mac(HOST) + address(HOST, 4).packed, address(OTHER, 4).packed)
    }
    assert flow(ran, 1)["received"] == 0


def test_a_broadcast_is_every_hosts_and_counted_once() -> None:
    wrong = bytearray(udp(PEER, HOST))
    wrong[:6] = BROADCAST
    wrong[25] ^= 1
    ran = run("endpoints", ["a"], BOTH, {"a": [(0.0, bytes(wrong)), (0.1, ethernet(mac(PEER), BROADCAST, 0x88CC, bytes(50)))]})
    assert counters(ran).items() >= {"received": 2, "malformed": 1, "unsupported": 1}.items()
    assert frames(ran) == []


@pytest.mark.parametrize("size", [0, 1, 56, 255])
def test_a_ping_is_answered_with_its_own_data(size: int) -> None:
    given = [(0.0, ping(PEER, HOST, size)), (0.5, arp(2, PEER, HOST))]
    [(when, reply)] = packets(run("endpoints", ["a"], host(), {"a": given}))
    total = int.from_bytes(reply[16:18])
    assert (when, total, len(reply)) == (0.5, 28 + size, max(60, 42 + size))
    assert (reply[20:22], reply[23], checksum(reply[14:34]), checksum(reply[34 : 14 + total])) == (b"\0\0", 1, 0, 0)
    assert reply[34:36] == b"\0\0"
    assert reply[38 : 14 + total] == ping(PEER, HOST, size)[38 : 14 + total]
    assert reply[:12] == mac(PEER) + mac(HOST)
    assert not any(reply[14 + total :]), "padding is of zeros (RFC 1042)"


def test_a_ping_with_a_wrong_checksum_is_not_answered() -> None:
    wrong = bytearray(ping(PEER, HOST))
    wrong[60] ^= 1
    ran = run("endpoints", ["a"], host(), {"a": [(0.0, bytes(wrong)), (0.5, arp(2, PEER, HOST))]})
    assert frames(ran) == []
    assert ran.statistics["segment"]["hosts"]["h"]["malformed"] == 1


def test_a_datagram_to_a_closed_port_is_answered_by_port_unreachable() -> None:
    """RFC 1122, 3.2.2.1 and 4.1.3.1."""
    asked = udp(PEER, HOST)
    given = [(0.0, asked), (0.1, arp(2, PEER, HOST))]
    [(_, answer)] = packets(run("endpoints", ["a"], host(), {"a": given}))
    total = int.from_bytes(answer[16:18])
    assert (answer[23], answer[34:36], checksum(answer[34 : 14 + total])) == (1, b"\x03\x03", 0)
    assert answer[42:70] == asked[14:42]


def test_datagrams_leave_at_their_times_as_rfc_768_has_them() -> None:
    ran = run("endpoints", ["a"], host(sender(source_port=40000, dscp=46)), {"a": [(0.0, arp(2, PEER, HOST))]}, duration_s=1.0)
    when, question = ran.received["a"][0]
    assert (when, question[:32], question[38:]) == (0.0, arp(1, HOST, PEER)[:32], arp(1, HOST, PEER)[38:])
    given = [(0.0, arp(1, PEER, HOST)), (0.005, arp(2, PEER, HOST))]
    ran = run("endpoints", ["a"], host(sender(source_port=40000, dscp=46)), {"a": given}, duration_s=1.0)
    sent = packets(ran)
    assert [time for time, _ in sent] == [0.005, 0.01, 0.02, 0.03, 0.04], "the first one waits for ARP"
    for number, (_, frame) in enumerate(sent):
        expected = udp(HOST, PEER, dscp=46, identification=number)
        assert frame[42:58] == struct.pack(">QQ", number, number * 10_000_000)
        assert not any(frame[58:])
        assert frame[:40] == expected[:40]
        pseudo = frame[26:34] + struct.pack(">BBH", 0, 17, 108)
        assert checksum(pseudo + frame[34:]) == 0
    assert len(np.unique(ran.records["identity"][ran.records["length"] == 142])) == 5
    assert flow(ran).items() >= {"sent": 5, "bytes": 500, "refused": 0, "finished": True}.items()


def test_periods_have_pauses_and_no_rounding_adds_up() -> None:
    pauses = sender(periods=[[0.1, 0.2], [0.3, 0.4]], per_s=30, start_s=0.5)
    given = [(0.0, ping(PEER, HOST)), (0.01, arp(2, PEER, HOST))]
    times = [time for time, frame in packets(run("endpoints", ["a"], host(pauses), {"a": given}, duration_s=2.0))][1:]
    assert times == pytest.approx([0.6, 0.6 + 1 / 30, 0.6 + 2 / 30, 0.8, 0.8 + 1 / 30, 0.8 + 2 / 30], abs=1e-9)


def test_a_host_without_a_route_refuses_and_counts() -> None:
    ran = run("endpoints", ["a"], host(sender(destination="192.168.0.1")), {}, duration_s=1.0)
    assert (frames(ran), flow(ran)["refused"]) == ([], 5)


def test_a_recordings_datagrams_are_sent_at_its_times_and_cut_ones_in_full_length(tmp_path: Path) -> None:
    recorded = [udp(7, 8, 40, identification=5), udp(7, 8, 1400, identification=6)[:80], arp(1, 7, 8), udp(7, 8, 0)]
    pcapng.write(
        tmp_path / "call.pcapng", [(10**18 + at, frame) for at, frame in zip((0, 250, 300, 7_000_000), recorded, strict=True)]
    )
    plays = {key: None for key in ("periods", "per_s", "payload")} | {"recording": str(tmp_path / "call.pcapng"), "start_s": 0.1}
    given = [(0.0, ping(PEER, HOST)), (0.01, arp(2, PEER, HOST))]
    sent = packets(run("endpoints", ["a"], host(sender(**plays)), {"a": given}, duration_s=1.0))[1:]
    assert [round(time * 1e9) for time, _ in sent] == [100_000_000, 100_000_250, 107_000_000]
    payloads = [frame[42 : 14 + int.from_bytes(frame[16:18])] for _, frame in sent]
    assert payloads == [recorded[0][42:], recorded[1][42:].ljust(1400, b"\0"), b""]


def test_a_sink_counts_whole_datagrams_and_those_in_fragments() -> None:
    receiver = {"name": "r", "application": "datagrams", "role": "receiver", "port": 5004}
    whole, long = udp(PEER, HOST, 100), udp(PEER, HOST, 2000, identification=9)
    given = [(0.1, whole), *[(0.2 + at / 1000, part) for at, part in enumerate(reversed(fragments(long, 800)))]]
    ran = run("endpoints", ["a"], host(receiver), {"a": [*given, (0.3, vlan(whole, 5)), (0.4, whole[:30])]}, duration_s=1.0)
    assert flow(ran).items() >= {"received": 2, "bytes": 2100}.items()
    assert counters(ran).items() >= {"received": 6, "unsupported": 1, "malformed": 1}.items()


def test_a_router_forwards_with_one_hop_less_and_asks_for_the_next_one() -> None:
    passing = ping(PEER, FAR, ttl=9, to=HOST)
    ran = run("endpoints", ["a", "b"], ROUTER, {"a": [(0.0, passing)], "b": []}, duration_s=0.5)
    [(_, question)] = ran.received["b"]
    assert question[38:42] == address(FAR, 4).packed
    answer = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 2) + FAR_MAC + address(FAR, 4).packed + mac(OTHER) + bytes([10, 1, 0, 1])
    answer = ethernet(FAR_MAC, mac(OTHER), 0x0806, answer)
    ran = run("endpoints", ["a", "b"], ROUTER, {"a": [(0.0, passing)], "b": [(0.2, answer)]}, duration_s=0.5)
    [(when, left)] = packets(ran, station="b")
    assert (when, left[:12], left[22], checksum(left[14:34])) == (0.2, FAR_MAC + mac(OTHER), 8, 0)
    changed = {22, 24, 25}
    assert all(left[at] == passing[at] for at in range(14, len(passing)) if at not in changed)
    assert ran.statistics["segment"]["hosts"]["r"]["forwarded"] == 1


def test_a_router_takes_the_route_behind_another_router() -> None:
    ran = run("endpoints", ["a", "b"], ROUTER, {"a": [(0.0, ping(PEER, FARTHER, to=HOST))], "b": []}, duration_s=0.5)
    assert [frame[38:42] for frame in frames(ran, "b")] == [bytes([10, 1, 0, 2])]


def test_a_packet_at_the_end_of_its_life_is_answered_by_time_exceeded() -> None:
    """RFC 792; RFC 1812, 5.3.1."""
    given = [(0.0, ping(PEER, FAR, ttl=1, to=HOST)), (0.1, arp(2, PEER, HOST))]
    ran = run("endpoints", ["a", "b"], ROUTER, {"a": given, "b": []}, duration_s=0.5)
    [(_, answer)] = packets(ran)
    total = int.from_bytes(answer[16:18])
    assert (answer[34:36], answer[26:30], checksum(answer[34 : 14 + total])) == (b"\x0b\0", bytes([10, 0, 0, 1]), 0)
    assert answer[42:70] == given[0][1][14:42]
    assert frames(ran, "b") == []


def test_a_host_that_is_no_router_forwards_nothing() -> None:
    closed = {"hosts": {"r": {**ROUTER["hosts"]["r"], "forwarding": False}}}
    ran = run("endpoints", ["a", "b"], closed, {"a": [(0.0, ping(PEER, FAR, to=HOST))], "b": []}, duration_s=0.5)
    assert (frames(ran), frames(ran, "b")) == ([], [])


def test_a_host_with_ipv6_says_nothing_by_itself() -> None:
    assert frames(run("endpoints", ["a"], host(), {}, duration_s=10.0)) == []


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_neighbour_solicitation_is_answered(times: int) -> None:
    ran = run("endpoints", ["a"], host(), {"a": [(0.5, solicitation((b"\x01\x01" + mac(PEER)) * times))]})
    [(when, answer)] = packets(ran, 0x86DD)
    assert (when, answer[:6], answer[54], answer[62:78]) == (0.5, mac(PEER), 136, address(HOST, 6).packed)
    assert answer[78:86] == b"\x02\x01" + mac(HOST)
    message = answer[54 : 54 + int.from_bytes(answer[18:20])]
    assert checksum(answer[22:54] + struct.pack(">II", len(message), 58) + message) == 0


def test_a_neighbour_that_did_not_answer_is_asked_again() -> None:
    """Who comes late is found: three requests are in vain, and the fourth one is for the next packet."""
    ran = run("endpoints", ["a"], host(sender(periods=[[0.0, 12.0]], per_s=1)), {}, duration_s=12.0)
    asked = [time for time, _ in packets(ran, 0x0806)]
    assert len(asked) > 6
    assert max(asked) > 9.0


def test_a_host_without_ipv6_leaves_its_packets_alone() -> None:
    old = host()
    old["hosts"]["h"]["interfaces"]["a"]["addresses"] = ["10.0.0.1/24"]
    given = [(0.0, udp(PEER, HOST, version=6)), (0.1, ping(PEER, HOST))]
    ran = run("endpoints", ["a"], old, {"a": given}, duration_s=0.5)
    assert counters(ran)["unsupported"] == 1
    # It is there: before it answers the ping it asks for the asker's address.
    assert packets(ran, 0x0806)


@needs_tshark
def test_datagrams_of_both_versions_are_right_and_arrive(tmp_path: Path) -> None:
    receiver = {"name": "r", "application": "datagrams", "role": "receiver", "port": 5004}
    sends = [
        sender(payload=size, periods=[[0.1, 1.1]], destination=to) for size in (16, 101, 1400) for to in ("10.0.0.2", "fd00::2")
    ]
    ran = pair(tmp_path, [*sends, sender(payload=5000, periods=[[0.1, 1.1]])], [receiver], duration_s=2.0)
    assert ran["right"]["flows"][0]["received"] == 700
    assert is_right(tmp_path / "pair.pcapng")
