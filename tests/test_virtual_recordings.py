# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own recordings in virtual time: what is sent is what was recorded, by tshark's account; what is none is refused."""

from __future__ import annotations

import os
import resource
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from applications import rtp_recording
from applications.rtp_recording import BadRecording
from results import pcapng
from tests.test_virtual_run import LINES, virtually, written

CALL = (
    LINES[: LINES.index("traffic:")] + "traffic: {talk: {application: call, from: left, to: right, duration: 4 s, codec: pcma}}\n"
)
CAMERA = CALL.replace("call, ", "camera, ").replace(", codec: pcma", "")


def with_recording(text: str, name: str) -> str:
    return text.replace("duration: 4 s", f"duration: 4 s, recording: {name}")


def captured(results: Path, host: str = "left") -> Path:
    (capture,) = (results / "latest/captures").glob(f"{host}*.pcapng")
    return capture


def packets(capture: Path, source: str) -> list[tuple[float, int, int, bool]]:
    """Of RTP from that address: seconds since the first, bytes of the datagram, timestamp since the first, marker."""
    fields = ("frame.time_epoch", "udp.length", "rtp.timestamp", "rtp.marker")
    done = subprocess.run(
        ["tshark", "-r", capture, "-d", "udp.port==20000-21001,rtp", "-Y", f"rtp && ip.src == {source}", "-T", "fields"]
        + [word for field in fields for word in ("-e", field)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    begin, stamp = float(rows[0][0]), int(rows[0][2])
    return [
        (round(float(row[0]) - begin, 6), int(row[1]), (int(row[2]) - stamp) % (1 << 32), row[3] in ("1", "True")) for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "kind"), [(CALL, "pcap"), pytest.param(CAMERA, "nsecpcap", marks=pytest.mark.long)], ids=["call", "camera"]
)
def test_what_was_recorded_is_sent_again(text: str, kind: str, tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    assert virtually(written(tmp_path, text), first).returncode == 0
    recorded = captured(first)
    subprocess.run(["editcap", "-F", kind, recorded, tmp_path / "mine.pcap"], check=True, capture_output=True)
    subprocess.run(["gzip", tmp_path / "mine.pcap"], check=True)
    done = virtually(written(tmp_path, with_recording(text, "mine.pcap.gz")), again)
    assert done.returncode == 0, done.stdout + done.stderr
    assert packets(captured(again), "10.1.0.2") == packets(recorded, "10.1.0.2")
    if text == CALL:
        assert packets(captured(again, "right"), "10.2.0.2") == packets(captured(first, "right"), "10.2.0.2")


def rtp_frame(number: int, ssrc: int) -> bytes:
    """Of G.711 A-law (payload type 8), each 20 ms, in Ethernet, IPv4 and UDP."""
    payload = bytes([0x80, 8]) + number.to_bytes(2) + (160 * number).to_bytes(4) + ssrc.to_bytes(4) + bytes(160)
    udp = (4000).to_bytes(2) + (4002).to_bytes(2) + (8 + len(payload)).to_bytes(2) + bytes(2) + payload
    ip = bytes([0x45, 0]) + (20 + len(udp)).to_bytes(2) + bytes(4) + bytes([64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2])
    return bytes(12) + b"\x08\x00" + ip + udp


def stream(*sources: int, count: int = 50) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        pcapng.write(path, [(20_000_000 * number, rtp_frame(number, ssrc)) for number in range(count) for ssrc in sources])

    return write


def of_days(path: Path) -> None:
    pcapng.write(path, [(7200 * 10**9 * number, rtp_frame(number, 1)) for number in range(20)])


def cut(path: Path) -> None:
    stream(1)(path)
    subprocess.run(["editcap", "-F", "pcap", path, path.with_suffix(".pcap")], check=True, capture_output=True)
    path.write_bytes(path.with_suffix(".pcap").read_bytes()[:-7])


def test_a_small_file_that_becomes_a_large_one_is_refused_and_takes_no_memory(tmp_path: Path) -> None:
    """Records of no bytes behind a header of pcap: 160 kB become ten million packets."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    (tmp_path / "bomb.pcap").write_bytes(header)
    os.truncate(tmp_path / "bomb.pcap", 160_000_000)
    subprocess.run(["gzip", tmp_path / "bomb.pcap"], check=True)
    bomb = tmp_path / "bomb.pcap.gz"
    assert bomb.stat().st_size < 1_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        BadRecording, match=r"bomb\.pcap\.gz is more than a recording may be: it has more than 1000000 packets; keep"
    ):
        rtp_recording.streams(bomb)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def text(path: Path) -> None:
    path.write_text("no capture\n")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def nothing(path: Path) -> None:
    """No file."""


WRONG = [
    (
        CAMERA,
        stream(1, 2),
        "it is to have one stream, and has rtp.ssrc == 0x00000001 from 192.0.2.1 to 192.0.2.2 (50 packets) and",
    ),
    (CALL, stream(1, 2), "it is to have a stream each way between two hosts, and has rtp.ssrc == 0x00000001"),
    (CALL, stream(1, count=5), "there is no stream of RTP on Ethernet in it; record it at the sender's own interface"),
    (CALL.replace("pcma", "opus"), stream(1), "its speech is pcma, and the call's codec is opus; write codec: pcma"),
    (CALL, of_days, "(20 packets) is 38 h long, and a day is the most; cut it"),
    (CALL, cut, "mine.pcapng is no capture, or a damaged one; editcap says: "),
    (CALL, text, "mine.pcapng is no capture, or a damaged one; editcap says: "),
    (CALL, empty, "there is no stream of RTP on Ethernet in it"),
    (CALL, nothing, "there is no file mine.pcapng; looked in"),
]


@pytest.mark.parametrize(("topology", "write", "message"), WRONG)
def test_what_is_no_recording_is_refused(topology: str, write: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    write(tmp_path / "mine.pcapng")
    done = virtually(written(tmp_path, with_recording(topology, "mine.pcapng")), tmp_path / "results")
    assert (done.returncode, message in done.stdout + done.stderr) == (2, True), done.stdout + done.stderr
    assert not (tmp_path / "results").exists()
