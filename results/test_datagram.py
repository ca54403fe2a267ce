# SPDX-License-Identifier: GPL-2.0-or-later
"""Headers that are read by columns, against tshark, and against each frame read by itself from its first octet on."""

from __future__ import annotations

import random
import struct
import subprocess
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import pcapng
from results.captured_frames import Frames
from results.conftest import CENTRE, FIELD, frame, rtp
from results.datagram import Packets, datagram, ends_of
from results.identity import identities, identity


def read(frames: list[bytes]) -> list[tuple[Any, ...] | None]:
    """Of each frame: source, destination, protocol, ports, DSCP, lengths of frame and payload; None where it is no IP."""
    packets = Packets.of(Frames.of(frames))
    keys: dict[bytes, int] = {}
    ends = packets.ends(keys)
    known = [ends_of(key) for key in keys]
    rows: list[tuple[Any, ...] | None] = [None] * len(frames)
    columns = (packets.frame, ends, packets.dscp, packets.ethernet_bytes, packets.payload_bytes)
    for at, of, *figures in zip(*(column.tolist() for column in columns), strict=True):
        rows[at] = (*known[of], *figures)
    return rows


def alone(data: bytes) -> tuple[Any, ...] | None:
    """The same of one frame: IEEE 802.1Q, RFC 791, RFC 8200, RFC 768, RFC 9293."""
    at = 12
    while data[at : at + 2] in (b"\x81\x00", b"\x88\xa8") and len(data) >= at + 6:
        at += 4
    kind, packet = data[at : at + 2], data[at + 2 :]
    if kind == b"\x08\x00" and len(packet) >= 20:
        first, traffic, total, _, fragment, _, number, _, source, destination = struct.unpack("!BBHHHBBH4s4s", packet[:20])
        if fragment & 0x1FFF:
            return None
        begin, end, dscp = (first & 15) * 4, total, traffic >> 2
    elif kind == b"\x86\xdd" and len(packet) >= 40:
        first, length, number, _, source, destination = struct.unpack("!IHBB16s16s", packet[:40])
        begin, end, dscp = 40, 40 + length, (first >> 22) & 63
    else:
        return None
    names = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmpv6", 89: "ospf", 132: "sctp"}
    ports = (0, 0)
    carried, payload = packet[begin:], begin
    if len(carried) >= {6: 20, 17: 8}.get(number, 1 << 30):
        ports = struct.unpack("!HH", carried[:4])
        payload += 8 if number == 17 else (carried[12] >> 4) * 4
    addresses = (str(ip_address(source)), str(ip_address(destination)))
    return (*addresses, names.get(number, f"ip-{number}"), *ports, dscp, at + 2 + end, max(0, end - payload))


tags = st.lists(st.sampled_from([b"\x81\x00\x00\x05", b"\x88\xa8\x20\x07"]), max_size=3).map(b"".join)
rest = st.binary(max_size=60)
numbers = st.sampled_from([1, 6, 17, 58, 89, 200])
ipv4 = st.builds(
    lambda first, tos, total, fragment, number, addresses, data: (
        b"\x08\x00" + struct.pack("!BBHHHBBH", first, tos, total, 7, fragment, 64, number, 0) + addresses + data
    ),
    st.one_of(st.just(0x45), st.integers(0, 255)),
    st.integers(0, 255),
    st.integers(0, 200),
    st.sampled_from([0, 0x4000, 0x2000, 0x2001, 8]),
    numbers,
    st.sampled_from([bytes([10, 0, 0, 1, 10, 0, 0, 2]), bytes(range(8))]),
    rest,
)
ipv6 = st.builds(
    lambda first, length, number, addresses, data: (
        b"\x86\xdd" + struct.pack("!IHBB", first, length, number, 64) + addresses + data
    ),
    st.sampled_from([0x60000000, 0x6B800001, 0x12345678]),
    st.integers(0, 100),
    numbers,
    st.sampled_from([bytes(range(32)), bytes(31) + b"\x01"]),
    rest,
)
cut = st.builds(
    lambda data, size: data[:size],
    st.builds(lambda *parts: bytes(12) + b"".join(parts), tags, st.one_of(ipv4, ipv6)),
    st.integers(0, 120),
)
any_frame = st.one_of(cut, cut, st.binary(max_size=80))


@given(st.lists(any_frame, min_size=1, max_size=30))
def test_frames_that_are_read_together_say_what_each_says_alone(frames: list[bytes]) -> None:
    assert read(frames) == [alone(data) for data in frames]
    assert identities(Frames.of(frames)).tolist() == [identity(data) if len(data) >= 14 else 0 for data in frames]


def sound(chance: random.Random) -> bytes:
    """A frame that is as its headers say, but for its end, which may be cut off."""
    size, six = chance.randrange(0, 300), chance.random() < 0.4
    payload = chance.randbytes(size)
    if chance.random() < 0.5:
        options = bytes([1] * 4 * chance.randrange(0, 4))
        words = (5 + len(options) // 4) << 12 | 0x18
        ports = chance.randrange(40_000, 60_000), chance.randrange(40_000, 60_000)
        carried, number = struct.pack("!HHIIHHHH", *ports, chance.getrandbits(32), 5, words, 900, 0, 0) + options + payload, 6
    else:
        payload = rtp(chance.randrange(65_536), chance.getrandbits(32), size)
        carried, number = struct.pack("!HHHH", 20_000, 20_000, 8 + len(payload), 0) + payload, 17
    dscp = chance.randrange(64)
    if six:
        addresses = chance.randbytes(15) + b"\x01" + chance.randbytes(15) + b"\x02"
        packet = (
            b"\x86\xdd" + struct.pack("!IHBB", 6 << 28 | dscp << 22, len(carried), number, 64) + b"\x20" + addresses[1:] + carried
        )
    else:
        words = chance.randrange(5, 8)
        total = 4 * words + len(carried)
        fragment = chance.choice([0, 0x4000, 0x2000])
        head = struct.pack("!BBHHHBBH", 0x40 | words, dscp << 2, total, 9, fragment, 64, number, 0)
        packet = (
            b"\x08\x00"
            + head
            + b"\x0a"
            + chance.randbytes(3)
            + b"\x0a"
            + chance.randbytes(3)
            + bytes([1] * 4 * (words - 5))
            + carried
        )
    tag = chance.choice([b"", b"", b"\x81\x00\x00\x05", b"\x88\xa8\x00\x06\x81\x00\x00\x05"])
    whole = bytes(5) + b"\x01" + bytes(5) + b"\x02" + tag + packet
    return whole[: max(len(whole) - chance.choice([0, 0, 40]), len(whole) - size)] + bytes(
        chance.choice([0, 0, 6]) if size > 60 else 0
    )


def test_tshark_reads_the_same(tmp_path: Path) -> None:
    chance = random.Random(1)
    frames = [sound(chance) for _ in range(400)]
    pcapng.write(tmp_path / "a.pcapng", enumerate(frames))
    fields = ["ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "tcp.srcport", "udp.srcport", "tcp.dstport", "udp.dstport"]
    fields += ["ip.dsfield.dscp", "ipv6.tclass.dscp", "tcp.len", "udp.length", "tcp.seq_raw", "rtp.seq", "rtp.timestamp"]
    command = ["tshark", "-r", str(tmp_path / "a.pcapng"), "-T", "fields", "-E", "occurrence=f", "-E", "separator=,"]
    command += ["-o", "ip.defragment:FALSE", "-o", "tcp.desegment_tcp_streams:FALSE", "-d", "udp.port==20000,rtp"]
    command += [word for name in fields for word in ("-e", name)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    packets = Packets.of(Frames.of(frames))
    headers, sequence = packets.rtp(), packets.tcp_sequence
    assert packets.frame.tolist() == list(range(len(frames)))
    for at, (line, own) in enumerate(zip(shown, read(frames), strict=True)):
        told = dict(zip(fields, line.split(","), strict=True))
        assert own is not None
        is_tcp = own[2] == "tcp"
        assert (told["ip.src"] or told["ipv6.src"], told["ip.dst"] or told["ipv6.dst"]) == own[:2], line
        assert (told["tcp.srcport" if is_tcp else "udp.srcport"], told["tcp.dstport" if is_tcp else "udp.dstport"]) == tuple(
            map(str, own[3:5])
        ), line
        assert int(told["ip.dsfield.dscp"] or told["ipv6.tclass.dscp"]) == own[5], line
        if is_tcp:
            assert told["tcp.seq_raw"] == str(sequence[at]), line
            # Of a frame that was cut off tshark tells what is left, of a fragment nothing.
            assert own[6] > len(frames[at]) or told["tcp.len"] in ("", str(own[7])), line
        else:
            assert int(told["udp.length"]) - 8 == own[7], line
            if told["rtp.seq"]:
                assert headers.is_rtp[at] and (int(told["rtp.seq"]), int(told["rtp.timestamp"])) == (
                    headers.sequence[at],
                    headers.timestamp[at],
                )


def test_a_captured_frame_tells_its_addresses_ports_and_true_lengths() -> None:
    whole = frame(FIELD, CENTRE, 1, rtp(9, 1_440, size=500))
    for data in (whole, whole + bytes(20), whole[:256]):
        assert read([data]) == [(FIELD, CENTRE, "udp", 20_000, 20_000, 46, 14 + 20 + 8 + 512, 512)]
        header = Packets.of(Frames.of([data])).rtp()
        assert (header.is_rtp[0], header.sequence[0], header.timestamp[0]) == (True, 9, 1_440)


@pytest.mark.parametrize("data", [b"", bytes(14), bytes(12) + b"\x08\x00" + bytes(10), bytes(12) + b"\x08\x06" + bytes(40)])
def test_what_is_no_datagram_is_none(data: bytes) -> None:
    assert datagram(data) is None


def test_rtcp_is_not_taken_for_rtp() -> None:
    report = b"\x80\xc8" + bytes(26)
    assert not Packets.of(Frames.of([frame(FIELD, CENTRE, 1, report)])).rtp().is_rtp.any()
