# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import io
import struct
import subprocess
from pathlib import Path

import pytest

from results import pcapng
from results.pcapng import Packet

PACKETS = [
    Packet(1_700_000_000_123_456_789, b"\x01" * 61, 0),
    Packet(1_700_000_001_000_000_000, b"\x02" * 1514, 1),
    Packet(5, b"", 0),
]


def test_what_was_written_is_read_to_the_nanosecond(tmp_path: Path) -> None:
    pcapng.write(tmp_path / "a.pcapng", PACKETS)
    assert list(pcapng.read(tmp_path / "a.pcapng")) == PACKETS


class InSmallParts(io.BytesIO):
    """A pipe whose writer is slow."""

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(7)


def test_what_comes_in_small_parts_is_the_same(tmp_path: Path) -> None:
    pcapng.write(tmp_path / "a.pcapng", PACKETS)
    assert list(pcapng.packets(InSmallParts((tmp_path / "a.pcapng").read_bytes()), "pipe")) == PACKETS


def test_columns_have_the_same_frames(tmp_path: Path) -> None:
    pcapng.write(tmp_path / "a.pcapng", PACKETS)
    (frames,) = pcapng.read_frames(tmp_path / "a.pcapng")
    columns = (frames.time_ns.tolist(), frames.begin.tolist(), frames.end.tolist())
    assert [(time_ns, frames.content[begin:end]) for time_ns, begin, end in zip(*columns, strict=True)] == [
        (packet.time_ns, packet.data) for packet in PACKETS
    ]


def test_an_empty_capture_has_no_packets(tmp_path: Path) -> None:
    pcapng.write(tmp_path / "a.pcapng", [])
    assert list(pcapng.read(tmp_path / "a.pcapng")) == []


@pytest.mark.parametrize("lost", [1, 4, 12, 40, 60])
def test_a_last_block_cut_short_ends_the_stream(tmp_path: Path, lost: int) -> None:
    file = tmp_path / "a.pcapng"
    pcapng.write(file, [(1, bytes(60)), (2, bytes(60))])
    file.write_bytes(file.read_bytes()[:-lost])
    assert [packet.time_ns for packet in pcapng.read(file)] == [1]


def test_tshark_agrees(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    pcapng.write(file, PACKETS[:2])
    command = ["tshark", "-r", str(file), "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.interface_id"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("\t") for line in shown] == [["1700000000.123456789", "61", "0"], ["1700000001.000000000", "1514", "1"]]


def big_endian(kind: int, body: bytes) -> bytes:
    return struct.pack(">II", kind, len(body) + 12) + body + struct.pack(">I", len(body) + 12)


def test_big_endian_sections_with_binary_resolution_and_offset_are_understood(tmp_path: Path) -> None:
    section = big_endian(pcapng.SECTION, struct.pack(">IHHq", pcapng.BYTE_ORDER_MAGIC, 1, 0, -1))
    options = struct.pack(">HHB3xHHqHH", 9, 1, 0x80 | 10, 14, 8, 1000, 0, 0)
    interface = big_endian(pcapng.INTERFACE, struct.pack(">HHI", 1, 0, 3) + options)
    enhanced = big_endian(pcapng.ENHANCED, struct.pack(">IIIII", 0, 0, 512, 2, 2) + b"ab\0\0")
    simple = big_endian(pcapng.SIMPLE, struct.pack(">I", 5) + b"abc\0")
    unknown = big_endian(0x0BAD, b"12345678")
    file = tmp_path / "a.pcapng"
    file.write_bytes(section + interface + unknown + enhanced + simple)
    assert list(pcapng.read(file)) == [Packet(1000_500_000_000, b"ab", 0), Packet(0, b"abc", 0)]


def test_microseconds_are_the_default_resolution(tmp_path: Path) -> None:
    section = big_endian(pcapng.SECTION, struct.pack(">IHHq", pcapng.BYTE_ORDER_MAGIC, 1, 0, -1))
    interface = big_endian(pcapng.INTERFACE, struct.pack(">HHI", 1, 0, 0))
    file = tmp_path / "a.pcapng"
    file.write_bytes(section + interface + big_endian(pcapng.ENHANCED, struct.pack(">IIIII", 0, 0, 7, 0, 0)))
    assert next(pcapng.read(file)).time_ns == 7000


@pytest.mark.parametrize("content", [b"GET / HTTP/1.1\r\n\r\n", struct.pack("<III", pcapng.SECTION, 28, 1) + bytes(20)])
def test_what_is_no_capture_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.pcapng"
    file.write_bytes(content)
    with pytest.raises(pcapng.BadCapture, match="not a pcapng capture"):
        list(pcapng.read(file))


def test_a_damaged_block_length_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    pcapng.write(file, [])
    file.write_bytes(file.read_bytes() + struct.pack("<II", pcapng.ENHANCED, 13) + bytes(40))
    with pytest.raises(pcapng.BadCapture, match="damaged"):
        list(pcapng.read(file))


@pytest.mark.parametrize("lost", [4, 60, 88])
def test_a_block_of_which_a_part_was_not_written_is_refused_where_others_follow(tmp_path: Path, lost: int) -> None:
    """As dumpcap leaves a file where the disk was full for a while: the rest of a buffer is missing, what came later is there."""
    file = tmp_path / "a.pcapng"
    pcapng.write(file, [(1, bytes(60)), (2, bytes(60))])
    whole = file.read_bytes()
    pcapng.write(file, [(3, bytes(61)), (4, bytes(300))])
    file.write_bytes(whole[:-lost] + file.read_bytes()[48:])
    times = []
    with pytest.raises(pcapng.BadCapture, match=r"a\.pcapng is damaged: a block"):
        for packet in pcapng.read(file):
            times.append(packet.time_ns)
    assert times == [1]


def little_endian(kind: int, body: bytes) -> bytes:
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


@pytest.mark.parametrize(
    "blocks",
    [
        # Interfaces without end, as a netbox could write them into the pipe of a capture.
        [little_endian(pcapng.INTERFACE, struct.pack("<HHI", 1, 0, 0))] * 100_000,
        # Whole seconds, of which there are 2**64.
        [
            little_endian(pcapng.INTERFACE, struct.pack("<HHIHHB3xHH", 1, 0, 0, 9, 1, 0, 0, 0)),
            little_endian(pcapng.ENHANCED, struct.pack("<IIIII", 0, 2**32 - 1, 0, 0, 0)),
        ],
    ],
)
def test_a_capture_that_nobody_could_have_made_is_refused(tmp_path: Path, blocks: list[bytes]) -> None:
    section = little_endian(pcapng.SECTION, struct.pack("<IHHq", pcapng.BYTE_ORDER_MAGIC, 1, 0, -1))
    (tmp_path / "a.pcapng").write_bytes(section + b"".join(blocks))
    with pytest.raises(pcapng.BadCapture, match="is damaged"):
        list(pcapng.read(tmp_path / "a.pcapng"))
