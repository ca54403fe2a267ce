# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts at the ends of a network. Frames are read by tshark, or by hand as their RFCs have them; expectations are RFCs'."""

from __future__ import annotations

import random
import re
import shutil
import struct
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from applications.congestion_control import VARIANTS
from contracts.errors import NetBoxITError
from netboxes.endpoints.parameters import Parameters
from netboxes.engine.virtual import (
    BROADCAST,
    Emulation,
    EmulationFailed,
    Netbox,
    TimedFrame,
    address,
    checksum,
    emulate,
    ethernet,
    fragments,
    mac,
    run,
    udp,
    vlan,
)
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies
from results import pcapng
from testbed.description.topology_file import load

#: Addresses and MAC addresses are those of the station numbers of netboxes.engine.virtual.
HOST, PEER, OTHER = 1, 2, 3
#: Of 10.1.0.2 and 10.2.0.5, behind a router.
FAR, FARTHER = 0x1_0002, 0x2_0005
FAR_MAC = mac(9)
READS_CHECKSUMS = [word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")]
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def interface(number: int, *addresses: str) -> dict[str, Any]:
    return {"mac": mac(number).hex(":"), "addresses": list(addresses)}


def host(*flows: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """One host with one interface, in base units."""
    interfaces = {"a": interface(HOST, "10.0.0.1/24", "fd00::1/64")}
    return {"hosts": {"h": {"interfaces": interfaces, **keys}}, "flows": [{"host": "h", **flow} for flow in flows]}


def sender(**keys: Any) -> dict[str, Any]:
    """A datagram each 10 ms for 50 ms."""
    times = {"periods": [[0, 0.05]], "per_s": 100, "payload": 100}
    return {"name": "s", "application": "datagrams", "role": "sender", "destination": "10.0.0.2", "port": 5004, **times, **keys}


def bulk(role: str, **keys: Any) -> dict[str, Any]:
    ends = {"sender": {"destination": "10.0.0.2"}, "receiver": {}}
    return {"name": "b", "application": "bulk", "role": role, "port": 5001, **ends[role], **keys}


def arp(operation: int, sender: int, target: int) -> bytes:
    """RFC 826, from the station `sender` about the station `target`."""
    whom = bytes(6) if operation == 1 else mac(target)
    body = struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation)
    body += mac(sender) + address(sender, 4).packed + whom + address(target, 4).packed
    return ethernet(mac(sender), BROADCAST if operation == 1 else mac(target), 0x0806, body)


def ipv4(source: int, destination: int, protocol: int, payload: bytes, *, ttl: int = 64, to: int | None = None) -> bytes:
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, ttl, protocol, 0)
    header += address(source, 4).packed + address(destination, 4).packed
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return ethernet(mac(source), mac(to or destination), 0x0800, header + payload)


def ping(source: int, destination: int, size: int = 56, **keys: Any) -> bytes:
    """RFC 792."""
    message = struct.pack(">BBHHH", 8, 0, 0, 0x1234, 1) + bytes(range(size % 256))
    return ipv4(source, destination, 1, message[:2] + struct.pack(">H", checksum(message)) + message[4:], **keys)


def tcp(
    source: int, destination: int, flags: int, options: bytes = b"", *, offset: int | None = None, port: int = 40000
) -> bytes:
    """RFC 9293, 3.1, without data."""
    words = 5 + len(options) // 4 if offset is None else offset
    segment = struct.pack(">HHIIHHHH", port, 5001, 1000, 0, words << 12 | flags, 65535, 0, 0) + options
    pseudo = address(source, 4).packed + address(destination, 4).packed + struct.pack(">BBH", 0, 6, len(segment))
    return ipv4(source, destination, 6, segment[:16] + struct.pack(">H", checksum(pseudo + segment)) + segment[18:])


def frames(emulation: Emulation, station: str = "a") -> list[bytes]:
    return [frame for _, frame in emulation.received[station]]


def packets(emulation: Emulation, ether_type: int = 0x0800, station: str = "a") -> list[TimedFrame]:
    return [(time, frame) for time, frame in emulation.received[station] if frame[12:14] == struct.pack(">H", ether_type)]


def counters(emulation: Emulation, station: str = "a") -> dict[str, int]:
    counted: dict[str, int] = emulation.statistics["segment"]["stations"][station]
    return counted


def flow(emulation: Emulation, number: int = 0) -> dict[str, Any]:
    values: dict[str, Any] = emulation.statistics["segment"]["flows"][number]
    return values


def tshark(file: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-r", str(file), *READS_CHECKSUMS, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def is_right(capture: Path) -> bool:
    """What tshark finds fault with."""
    wrong = " || ".join(f"{protocol}.checksum.status == 0" for protocol in ("ip", "tcp", "udp", "icmpv6"))
    return not tshark(capture, "-Y", f"{wrong} || icmp.checksum.status == 0 || _ws.malformed || _ws.expert.severity == error")


def test_an_arp_request_is_answered() -> None:
    ran = run("endpoints", ["a"], host(), {"a": [(1.0, arp(1, PEER, HOST))]})
    assert ran.received["a"] == [(1.0, arp(2, HOST, PEER))]


def test_a_request_for_another_host_is_not_answered() -> None:
    assert run("endpoints", ["a"], host(), {"a": [(1.0, arp(1, PEER, OTHER))]}).received["a"] == []


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


ROUTER: dict[str, Any] = {
    "hosts": {
        "r": {
            "interfaces": {"a": interface(HOST, "10.0.0.1/24", "fd00::1/64"), "b": interface(OTHER, "10.1.0.1/24", "fd01::1/64")},
            "routes": [{"destination": "10.2.0.0/16", "gateway": "10.1.0.2"}],
            "forwarding": True,
        }
    }
}


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


def solicitation(options: bytes) -> bytes:
    """RFC 4861, 4.3, for the host's address."""
    source, target = (address(number, 6).packed for number in (PEER, HOST))
    group = bytes.fromhex("ff0200000000000000000001ff") + target[13:]
    message = struct.pack(">BBHI", 135, 0, 0, 0) + target + options
    pseudo = source + group + struct.pack(">II", len(message), 58)
    message = message[:2] + struct.pack(">H", checksum(pseudo + message)) + message[4:]
    packet = struct.pack(">IHBB", 6 << 28, len(message), 58, 255) + source + group + message
    return ethernet(mac(PEER), b"\x33\x33\xff" + target[13:], 0x86DD, packet)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_neighbour_solicitation_is_answered(times: int) -> None:
    ran = run("endpoints", ["a"], host(), {"a": [(0.5, solicitation((b"\x01\x01" + mac(PEER)) * times))]})
    [(when, answer)] = packets(ran, 0x86DD)
    assert (when, answer[:6], answer[54], answer[62:78]) == (0.5, mac(PEER), 136, address(HOST, 6).packed)
    assert answer[78:86] == b"\x02\x01" + mac(HOST)
    message = answer[54 : 54 + int.from_bytes(answer[18:20])]
    assert checksum(answer[22:54] + struct.pack(">II", len(message), 58) + message) == 0


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


def hostile(chance: random.Random) -> bytes:
    """A frame of a kind that hosts get, with something wrong, or no frame at all."""
    kind = chance.randrange(12)
    frame = bytearray(
        chance.choice(
            [
                udp(PEER, HOST, chance.randrange(200)),
                udp(PEER, HOST, chance.randrange(200), version=6),
                tcp(PEER, HOST, chance.randrange(512), chance.randbytes(4 * chance.randrange(11))),
                tcp(PEER, HOST, 0x02, bytes([2, chance.randrange(6), 5, 180]), offset=chance.randrange(16)),
                ping(PEER, HOST, chance.randrange(256)),
                arp(chance.randrange(1, 3), PEER, HOST),
                solicitation(chance.randbytes(8 * chance.randrange(4))),
                chance.choice(
                    fragments(udp(PEER, HOST, 2000, identification=chance.randrange(1 << 16)), 8 * chance.randrange(20, 180))
                ),
                ethernet(mac(PEER), mac(HOST), chance.choice([0x800, 0x806, 0x86DD]), chance.randbytes(chance.randrange(100))),
            ]
        )
    )
    if kind == 0:
        return bytes(frame[: chance.randrange(14, len(frame))])
    if kind == 1:
        return bytes(frame) + chance.randbytes(chance.randrange(1400))
    if kind == 2:
        return chance.randbytes(chance.randrange(14, 1514))
    for _ in range(chance.randrange(4) if kind < 9 else 0):
        frame[chance.randrange(14, len(frame))] = chance.randrange(256)
    if frame[12:14] == b"\x08\0" and len(frame) > 34 and kind > 4:
        header = frame[14:24] + b"\0\0" + frame[26:34]
        frame[24:26] = struct.pack(">H", checksum(bytes(header)))
    return bytes(frame)


LISTENS = (bulk("receiver"), {"name": "r", "application": "datagrams", "role": "receiver", "port": 5004})


@pytest.mark.parametrize("seed", range(4))
def test_no_frame_ends_a_host(seed: int) -> None:
    chance = random.Random(seed)
    given = [(0.001 * number, hostile(chance)) for number in range(10_000)]
    router = {**ROUTER, "flows": [{"host": "r", **end} for end in LISTENS]}
    for stations, configuration in ((["a"], host(*LISTENS)), (["a", "b"], router)):
        ran = run("endpoints", stations, configuration, {"a": [*given, (10.5, arp(1, PEER, HOST))]}, duration_s=11.0)
        assert arp(2, HOST, PEER) in [frame for time, frame in ran.received["a"] if time >= 10.5]
        assert ran.statistics["frames"]["absorbed"] > 9900, "the port drops those that are longer than its MTU"


def segment(chance: random.Random) -> bytes:
    """Of a far end that wants to harm: for one of four connections, with numbers, options and windows near those that are."""
    flags = chance.choice([0x02, 0x10, 0x10, 0x10, 0x18, 0x11, 0x12, 0x04, 0x14, 0x52, 0xC2, chance.randrange(256)])
    numbers = [0, 1, 2, 100, 1449, 2897, 14481, chance.randrange(1 << 32), (1 << 31), (1 << 32) - 1]
    options = chance.choice(
        [
            b"",
            b"\x01\x01\x08\x0a" + chance.randbytes(8),
            bytes.fromhex("020405b4030307010402080a0000000100000000"),
            b"\x02\x04" + chance.randbytes(2),
            b"\x01\x01\x05\x0a" + struct.pack(">II", chance.choice(numbers), chance.choice(numbers)),
        ]
    )
    data = chance.randbytes(chance.choice([0, 0, 1, 100, 1448]))
    ports = chance.choice([(4000, 5001), (4001, 5001), (5001, 6000), (5001, 6001)])
    window = chance.choice([0, 1, 100, 65535, chance.randrange(1 << 16)])
    words = 5 + len(options) // 4
    header = struct.pack(">HHIIHHHH", *ports, chance.choice(numbers), chance.choice(numbers), words << 12 | flags, window, 0, 0)
    whole = header + options + data
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(whole))
    return ipv4(PEER, HOST, 6, whole[:16] + struct.pack(">H", checksum(pseudo + whole)) + whole[18:])


@pytest.mark.parametrize("seed", range(8))
def test_no_segment_of_its_connections_ends_a_host(seed: int) -> None:
    chance = random.Random(seed)
    tcp_options = {"variant": VARIANTS[seed], "sack": chance.random() < 0.7, "timestamps": chance.random() < 0.7}
    flows = (bulk("receiver"), bulk("sender", until_s=5, source_port=6000, parallel=2, tcp=tcp_options))
    given = [(0.0, arp(1, PEER, HOST)), (0.001, arp(2, PEER, HOST))]
    given += [(0.002 + 0.0005 * number, segment(chance)) for number in range(5000)]
    ran = run("endpoints", ["a"], host(*flows), {"a": [*given, (9.5, arp(1, PEER, HOST))]}, duration_s=10.0)
    assert ran.received["a"][-1][0] >= 9.5


def from_peer(
    ports: tuple[int, int], sequence: int, acknowledged: int, flags: int, window: int = 65535, options: str = ""
) -> bytes:
    """A segment without data, of a connection with a host."""
    more = bytes.fromhex(options)
    words = 5 + len(more) // 4
    body = struct.pack(">HHIIHHHH", *ports, sequence, acknowledged, words << 12 | flags, window, 0, 0) + more
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(body))
    return ipv4(PEER, HOST, 6, body[:16] + struct.pack(">H", checksum(pseudo + body)) + body[18:])


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


def test_a_giant_frame_of_fragments_is_no_more_than_its_limit() -> None:
    """The packet that ends beyond 65 535 bytes (RFC 791, 3.1: total length)."""
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + 64, 7, 8190, 64, 1, 0) + address(PEER, 4).packed + address(HOST, 4).packed
    giant = header[:10] + struct.pack(">H", checksum(header)) + header[12:] + bytes(64)
    ran = run("endpoints", ["a"], host(), {"a": [(0.0, ethernet(mac(PEER), mac(HOST), 0x0800, giant))]})
    assert counters(ran)["malformed"] == 1


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


def test_memory_for_neighbours_fragments_and_connections_is_bounded() -> None:
    wide = host(*LISTENS)
    wide["hosts"]["h"]["interfaces"]["a"]["addresses"] = ["10.0.0.1/8"]
    floods = {
        "neighbours": [ping(1000 + number, HOST) for number in range(6000)],
        "fragments": [fragments(udp(PEER, HOST, 400, identification=number), 200)[0] for number in range(3000)],
        "connections": [tcp(PEER, HOST, 0x02, port=1024 + number) for number in range(3000)],
    }
    ran = {
        name: run("endpoints", ["a"], wide, {"a": [(number / 1e4, frame) for number, frame in enumerate(flood)]}, duration_s=1.0)
        for name, flood in floods.items()
    }
    assert counters(ran["neighbours"])["over_limit"] == 6000 - 4096
    assert counters(ran["fragments"])["over_limit"] == 3000 - 256
    assert flow(ran["connections"])["turned_away"] == 3000 - 1024


def pair(
    folder: Path,
    left: list[dict[str, Any]],
    right: list[dict[str, Any]],
    *,
    duration_s: float = 30.0,
    rate: float = 10e6,
    delay_s: float = 0.02,
    queue: float = 50_000,
    loss: float = 0.0,
) -> dict[str, Any]:
    """Two hosts, joined by a link: what both have counted and announced; `pair.pcapng` has what passed the left one."""
    line = {"rate": f"{rate:.0f} bit/s", "delay": f"{delay_s} s", "queue": {"bytes": f"{queue:.0f} B"}, "loss": loss}
    model = technologies()["link"].model_validate({"stations": {"x": {}, "y": {}}, **line})
    boxes = {"link": Netbox("link", ("x", "y"), model.model_dump(mode="json"))}
    for name, number, flows in (("left", HOST, left), ("right", PEER, right)):
        own = interface(number, f"10.0.0.{number}/24", f"fd00::{number}/64")
        parameters = {"hosts": {name: {"interfaces": {"eth": own}}}, "flows": [{"host": name, **end} for end in flows]}
        captures = {"eth": folder / "pair.pcapng"} if name == "left" else {}
        boxes[name] = Netbox("endpoints", ("eth",), parameters, captures=captures)
    wires = [(("left", "eth"), ("link", "x")), (("link", "y"), ("right", "eth"))]
    ran = emulate_network(boxes, wires, duration_s)
    announced = [line for name in ("left", "right") for line in ran[name].journal if "event" in line]
    return {name: ran[name].statistics["segment"] for name in ("left", "right")} | {"announced": announced}


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
def test_datagrams_of_both_versions_are_right_and_arrive(tmp_path: Path) -> None:
    receiver = {"name": "r", "application": "datagrams", "role": "receiver", "port": 5004}
    sends = [
        sender(payload=size, periods=[[0.1, 1.1]], destination=to) for size in (16, 101, 1400) for to in ("10.0.0.2", "fd00::2")
    ]
    ran = pair(tmp_path, [*sends, sender(payload=5000, periods=[[0.1, 1.1]])], [receiver], duration_s=2.0)
    assert ran["right"]["flows"][0]["received"] == 700
    assert is_right(tmp_path / "pair.pcapng")


@needs_tshark
@pytest.mark.parametrize("ecn", [True, False])
def test_ecn_is_used_when_both_ends_want_it(ecn: bool, tmp_path: Path) -> None:
    """RFC 3168, 6.1.2: data packets are ECT(0), pure acknowledgements not."""
    pair(tmp_path, [bulk("sender", size=100_000, tcp={"ecn": True})], [bulk("receiver", tcp={"ecn": ecn})])
    fields = tshark(tmp_path / "pair.pcapng", "-Y", "tcp", "-T", "fields", "-e", "tcp.len", "-e", "ip.dsfield.ecn")
    marks = {(int(length) > 0, int(mark)) for length, mark in (line.split() for line in fields)}
    assert marks == {(True, 2 if ecn else 0), (False, 0)}


def test_the_same_run_is_the_same_to_the_ns(tmp_path: Path) -> None:
    captures = []
    for _ in range(2):
        pair(tmp_path, [bulk("sender", size=500_000, tcp={"variant": "bbr"}), sender()], [bulk("receiver")], loss=0.01)
        captures.append((tmp_path / "pair.pcapng").read_bytes())
    assert captures[0] == captures[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hosts": {}}, "station a is no host's"),
        (
            {"hosts": {"h": {"interfaces": {"x": interface(1, "10.0.0.1/24")}}}},
            "hosts.h.interfaces.x: the netbox has no such station",
        ),
        ({"hosts": {"h": {"interfaces": {"a": interface(1, "10.0.0.1")}}}}, "has no prefix length"),
        ({"hosts": {"h": {"interfaces": {"a": {"mac": "03:00:00:00:00:01", "addresses": []}}}}}, "is not the MAC address"),
        (host(routes=[{"destination": "default", "gateway": "10.9.0.1"}]), "hosts.h.routes: gateway 10.9.0.1 is in none"),
        (host({**sender(), "host": "x"}), r'flows\[0\].host: there is no host "x"'),
        (host(sender(periods=[])), "either periods or a recording"),
        (host(sender(periods=[[2, 1]])), "a period is"),
        (host(sender(recording="/nowhere.pcapng", periods=[])), "nowhere.pcapng"),
        (host(sender(speed=1)), r"flows\[0\].speed: no such key"),
        (host(bulk("sender", size=1, tcp={"variant": "cubik"})), r'flows\[0\].tcp.variant: is "cubik"; there are newreno'),
        (host(bulk("sender")), "either a size or until_s"),
        (host(bulk("receiver"), bulk("receiver")), "another flow of host h has port 5001"),
    ],
)
def test_a_netbox_refuses_a_configuration_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        run("endpoints", ["a"], change, {}, duration_s=0.1)


STATIONS = {"a": {"addresses": "10.0.0.1/24"}, "b": {"addresses": ["10.0.1.1/24", "fd00::1/64"], "host": "a"}}
SENDS = {"name": "f", "host": "a", "role": "sender", "destination": "10.0.0.2", "port": 5001}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "tcp": {"variant": "cubik"}}]}, "did you mean cubic"),
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "host": "aa"}]}, "did you mean a"),
        ({"flows": [{**SENDS, "application": "bulk"}]}, "either `size` or `until`"),
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "rate": "5 pps"}]}, "has no rate"),
        ({"flows": [{**SENDS, "application": "datagrams"}]}, "either `periods` or a `recording`"),
        ({"flows": [{**SENDS, "application": "datagrams", "periods": [["0 s", "1 s"]], "rate": "5 pps"}]}, "belong together"),
        ({"flows": [{**SENDS, "application": "bulk", "until": "1 s", "start": "2 s"}]}, "not after `start`"),
        ({"stations": {"a": {"addresses": "10.0.0.1/24", "gateway": "10.0.1.2"}}}, "in none of its networks"),
        ({"stations": {"a": {"addresses": "10.0.0.1/24"}, "b": {"addresses": "10.0.0.1/24"}}}, "both have 10.0.0.1"),
        ({"stations": {"a": {"addresses": "fd00::1/64", "mtu": 1000}}}, "1280 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate({"stations": STATIONS, **parameters})


def test_a_file_says_the_same_as_the_configuration() -> None:
    parameters = Parameters.model_validate(
        {
            "stations": {**STATIONS, "c": {"addresses": "10.0.2.1/24", "gateway": "10.0.2.9", "forwarding": True}},
            "flows": [
                {
                    **SENDS,
                    "application": "datagrams",
                    "periods": [["1 s", "2 s"]],
                    "rate": "1 kpps",
                    "payload": "160 B",
                    "dscp": "EF",
                }
            ],
        }
    ).model_dump(mode="json")
    hosts = parameters["hosts"]
    assert (list(hosts), list(hosts["a"]["interfaces"]), hosts["a"]["forwarding"]) == (["a", "c"], ["a", "b"], False)
    assert (hosts["c"]["routes"], hosts["c"]["forwarding"]) == ([{"destination": "default", "gateway": "10.0.2.9"}], True)
    macs = [one["mac"] for each in hosts.values() for one in each["interfaces"].values()]
    assert len(set(macs)) == 3
    assert all(int(text[:2], 16) & 3 == 2 for text in macs), "locally administered, of one interface (IEEE 802, 8.4)"
    expected = {"per_s": 1000.0, "payload": 160.0, "dscp": 46, "periods": [[1.0, 2.0]]}
    assert {key: parameters["flows"][0][key] for key in expected} == expected


def test_a_netbox_reads_what_a_file_says() -> None:
    flows = [
        {**SENDS, "application": "datagrams", "periods": [["0 s", "1 s"]], "rate": "1 pps", "payload": "160 B"},
        {**SENDS, "application": "bulk", "size": "1 MB"},
        {"name": "r", "host": "a", "role": "receiver", "application": "bulk", "port": 5001},
        {"name": "r", "host": "a", "role": "receiver", "application": "datagrams", "port": 5001},
    ]
    ran = emulate("endpoints", {"stations": STATIONS, "flows": flows}, {}, duration_s=1.0)
    assert [one["role"] for one in ran.statistics["segment"]["flows"]] == ["sender", "sender", "receiver", "receiver"]


def test_the_readmes_example_is_a_topology(tmp_path: Path) -> None:
    example = re.search(r"((?: {4}.*\n)+)", (Path(__file__).parent / "README.md").read_text())
    assert example
    (tmp_path / "example.yaml").write_text("name: example\n" + textwrap.dedent(example[1]))
    try:
        assert "link" in load(tmp_path / "example.yaml").netboxes
    except NetBoxITError as error:
        pytest.fail(str(error))
