# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames that want to harm a host: it goes on, and remembers no more than its limits."""

from __future__ import annotations

import random
import struct

import pytest

from applications.congestion_control import VARIANTS
from netboxes.endpoints.endpoints_under_test import (
    HOST,
    LISTENS,
    PEER,
    ROUTER,
    arp,
    bulk,
    counters,
    flow,
    host,
    ipv4,
    ping,
    solicitation,
    tcp,
)
from netboxes.engine.virtual import (
    address,
    checksum,
    ethernet,
    fragments,
    mac,
    run,
    udp,
)


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


def test_a_giant_frame_of_fragments_is_no_more_than_its_limit() -> None:
    """The packet that ends beyond 65 535 bytes (RFC 791, 3.1: total length)."""
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + 64, 7, 8190, 64, 1, 0) + address(PEER, 4).packed + address(HOST, 4).packed
    giant = header[:10] + struct.pack(">H", checksum(header)) + header[12:] + bytes(64)
    ran = run("endpoints", ["a"], host(), {"a": [(0.0, ethernet(mac(PEER), mac(HOST), 0x0800, giant))]})
    assert counters(ran)["malformed"] == 1


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
