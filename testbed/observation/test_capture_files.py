# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures on their way into files: the order of time, rings of files, what Wireshark reads in them."""

from __future__ import annotations

import io
import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import pcapng
from results.pcapng import Packet, Point
from system.user_privileges import FileThere
from testbed.observation.capture_files import BadRing, BadTarget, CaptureFile, Ring, Sink, target
from testbed.observation.capture_points import CapturedPoint, CapturePoint
from testbed.observation.capture_sources import CaptureFailed, of_socket
from testbed.observation.capturing import Merge

POINTS = [Point("fr1--field", "at field.responder"), Point("b.eth0", "at b.eth0")]


def counted(frames: int, dropped: int) -> CapturedPoint:
    return CapturedPoint(CapturePoint("a", "a", "eth0", "kernel"), frames, dropped)


def frame(number: int) -> bytes:
    return bytes(12) + b"\x88\xb5" + number.to_bytes(46, "big")


def shown(file: Path, *fields: str) -> list[list[str]]:
    options = [option for field in fields for option in ("-e", field)]
    output = subprocess.run(["tshark", "-r", file, "-T", "fields", *options], check=True, capture_output=True, text=True)
    return [line.split("\t") for line in output.stdout.splitlines()]


def test_wireshark_reads_names_nanoseconds_directions_and_drops(tmp_path: Path) -> None:
    file = tmp_path / "two.pcapng"
    out = CaptureFile(file, POINTS)
    for number, direction in enumerate((1, 2)):
        out.write(Packet(1_700_000_000_123_456_789 + number, frame(number), number, direction))
    out.close([counted(1, 0), counted(1, 7)], 1_700_000_001_000_000_000)
    assert shown(file, "frame.interface_name", "frame.time_epoch", "frame.packet_flags_direction") == [
        ["fr1--field", "1700000000.123456789", "0x00000001"],
        ["b.eth0", "1700000000.123456790", "0x00000002"],
    ]
    output = subprocess.check_output(["capinfos", file], text=True)
    assert "Name = fr1--field" in output and "Description = at field.responder" in output
    statistics = file.read_bytes()[-44 - 12 :]
    assert int.from_bytes(statistics[-16:-8], "little") == 7
    assert list(pcapng.read(file))[1] == Packet(1_700_000_000_123_456_790, frame(1), 1, 2)


def test_a_ring_keeps_the_last_files_each_of_which_is_whole_and_within_its_size(tmp_path: Path) -> None:
    ring = Ring.read("10 kB x 3")
    out = CaptureFile(tmp_path / "ring.pcapng", POINTS, ring)
    for number in range(1000):
        out.write(Packet(number, frame(number), number % 2, 1))
    out.close([counted(500, 0), counted(500, 0)], 1000)
    files = sorted(tmp_path.iterdir())
    assert files == out.files() and len(files) == 3
    kept = [packet.time_ns for file in files for packet in pcapng.read(file)]
    assert kept == list(range(kept[0], 1000))
    assert all(file.stat().st_size <= ring.size + 200 for file in files)
    assert all(file.stat().st_size >= ring.size for file in files[:-1])
    for file in files:
        assert subprocess.run(["capinfos", file], check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("text", ["10 MB", "10 MB x", "x 3", "10 x 3", "10 MB x 0", "1 kB x 3", "10 MB x -1"])
def test_what_is_no_ring_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadRing, match=r"10 MB x 5|at least one file"):
        Ring.read(text)


@pytest.mark.parametrize("text", ["10 MB x 5", "10MBx5", "10 MB×5", "10 MB*5"])
def test_a_ring_can_be_written_in_several_ways(text: str) -> None:
    assert Ring.read(text) == Ring(10_000_000, 5)


def test_a_pipe_has_a_frame_as_soon_as_it_is_flushed() -> None:
    stream = io.BytesIO()
    live = Sink(stream, POINTS)
    live.write(Packet(5, frame(5), 1, 2))
    live.flush()
    assert list(pcapng.packets(io.BytesIO(stream.getvalue()), "pipe")) == [Packet(5, frame(5), 1, 2)]


@given(st.lists(st.lists(st.integers(0, 1000)), max_size=4), st.integers(0, 1000))
def test_streams_become_one_in_the_order_of_time_and_nothing_is_lost(streams: list[list[int]], until: int) -> None:
    merge = Merge()
    for number, times in enumerate(streams):
        for time_ns in times:
            merge.put(Packet(time_ns, b"", number))
    first = list(merge.take(until))
    rest = list(merge.take(None))
    everything = [packet.time_ns for packet in (*first, *rest)]
    assert everything == sorted(time_ns for times in streams for time_ns in times)
    assert all(packet.time_ns <= until for packet in first) and merge.late == 0


@pytest.mark.parametrize(
    ("status", "protocol", "tag"),
    [(0, 0, b""), (1 << 4, 0, b"\x81\x00\x60\x07"), (1 << 4 | 1 << 6, 0x88A8, b"\x88\xa8\x60\x07")],
)
def test_the_tag_that_the_kernel_took_out_of_a_frame_is_put_back(status: int, protocol: int, tag: bytes) -> None:
    said = [
        (socket.SOL_SOCKET, 35, struct.pack("=qq", 1_700_000_000, 5)),
        (263, 8, struct.pack("=IIIHHHH", status, 60, 60, 0, 14, 0x6007, protocol)),
    ]
    assert of_socket(frame(1), said, 2) == Packet(1_700_000_000_000_000_005, frame(1)[:12] + tag + frame(1)[12:], 0, 2)


def test_a_frame_that_comes_too_late_is_kept_and_counted() -> None:
    merge = Merge()
    merge.put(Packet(10, b""))
    assert [packet.time_ns for packet in merge.take(10)] == [10]
    merge.put(Packet(9, b""))
    merge.put(Packet(11, b""))
    assert [packet.time_ns for packet in merge.take(20)] == [9, 11]
    assert merge.late == 1


@pytest.mark.parametrize(("ring", "before"), [(None, "x.pcapng"), ("10 kB x 3", "x-00007.pcapng")])
def test_a_capture_that_is_there_is_kept_unless_the_user_says_otherwise(tmp_path: Path, ring: str | None, before: str) -> None:
    (tmp_path / before).write_bytes(b"an hour's work")
    words = ["a", str(tmp_path / "x.pcapng")]
    with pytest.raises(FileThere, match=f"{before} is there already; give another name, or --overwrite"):
        target(words, ring=ring, live=False, json=False)
    assert (tmp_path / before).read_bytes() == b"an hour's work"
    _, opened = target(words, ring=ring, live=False, json=False, overwrite=True)
    opened(POINTS).close([counted(0, 0), counted(0, 0)], 0)
    assert [file.name for file in tmp_path.iterdir()] == ["x-00001.pcapng" if ring else "x.pcapng"]
    assert shown(next(tmp_path.iterdir()), "frame.number") == []


def test_a_capture_that_another_command_began_meanwhile_is_kept(tmp_path: Path) -> None:
    _, opened = target(["a", str(tmp_path / "x.pcapng")], ring=None, live=False, json=False)
    (tmp_path / "x.pcapng").write_bytes(b"the other's")
    with pytest.raises(CaptureFailed, match="File exists"):
        opened(POINTS)
    assert (tmp_path / "x.pcapng").read_bytes() == b"the other's"


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadTarget, match="a pipe or a device; with --live"):
        target(["a", str(tmp_path / "pipe")], ring=None, live=False, json=False)


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["a"], {}, "name at least one point, and then the file"),
        (["a", "nowhere/x.pcapng"], {}, "nowhere is no folder"),
        (["a", "."], {}, "it is a folder"),
        (["a", "/dev/zero"], {}, "it is a pipe or a device"),
        (["a", "x" * 300], {}, "File name too long"),
        (["a"], {"live": True, "json": True}, "--json has no place"),
        (["a"], {"live": True, "ring": "10 MB x 5"}, "--ring has no place"),
    ],
)
def test_where_a_capture_cannot_go_is_told_before_it_begins(words: list[str], options: dict[str, object], said: str) -> None:
    settings: dict[str, object] = {"ring": None, "live": False, "json": False} | options
    with pytest.raises(BadTarget, match=said):
        target(words, **settings)  # type: ignore[arg-type]
