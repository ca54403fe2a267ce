# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own recording of a call or a camera: the lengths and times of its RTP packets (RFC 3550), for runs in virtual time.

Any capture of Ethernet that Wireshark's editcap reads will do: pcap, pcapng, compressed or not.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, ValidationInfo
from typing_extensions import TypedDict

from applications.virtual_traffic import RtpMedia
from contracts.errors import WrongInput, listed
from contracts.files import find_file
from results import pcapng
from results.captured_frames import Frames
from results.datagram import UDP, Packets, ends_of
from system import sandbox

#: Of a capture, RTP or not. An hour of a call both ways has 360 000.
MOST_PACKETS: Final = 1_000_000
#: A stream has at least so many packets, and of those that follow each other such a part has the next number. What only looks
#: like RTP has not.
_LEAST_PACKETS: Final = 10
_IN_ORDER: Final = 0.5
_RTP_HEADER_BYTES: Final = 12  # RFC 3550, 5.1
#: As long as traffic may last.
_LONGEST_S: Final = 86_400.0
_STAMPS: Final = 1 << 32
_NUMBERS: Final = 1 << 16
_NS: Final = 1e9
#: A turn ends after its last packet.
_NEXT_TURN_S: Final = 1e-6
_LIMITS: Final = sandbox.Limits(120.0, output_bytes=512 << 20)
#: Of each packet no more than its headers.
_EDITCAP: Final = ("editcap", "-F", "pcapng", "-s", "128", "-", "-")
_READ_BYTES: Final = 1 << 20


def _find(text: Any, info: ValidationInfo) -> Path:
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError("a recording is a capture file; write its path, like recordings/call.pcapng")
    return find_file(text, info.context)


RecordingFile = Annotated[Path, BeforeValidator(_find), PlainSerializer(str)]


class BadRecording(WrongInput):
    """A recording from which no media can be taken; says why, and what to do."""


class RecordingFacts(TypedDict):
    """Which recording was sent."""

    file: str
    sha256: str


@dataclass(frozen=True)
class _Packet:
    time_ns: int
    #: Behind the RTP header of 12 bytes.
    bytes: int
    number: int
    stamp: int
    marker: bool


@dataclass(frozen=True)
class RtpStream:
    """The packets of one synchronisation source from one host to another, in order of time."""

    source: str
    destination: str
    ssrc: int
    payload_type: int
    packets: Sequence[_Packet]

    def __str__(self) -> str:
        return f"rtp.ssrc == {self.ssrc:#010x} from {self.source} to {self.destination} ({len(self.packets)} packets)"

    @property
    def span_s(self) -> float:
        """From its first packet to its last."""
        return (self.packets[-1].time_ns - self.packets[0].time_ns) / _NS

    def media(self, clock_hz: int, until_s: float) -> RtpMedia:
        """What sends it again and again until then; timestamps go on from one turn to the next."""
        first = self.packets[0]
        stamps = self._stamps()
        at_s = [(packet.time_ns - first.time_ns) / _NS for packet in self.packets]
        least = min(stamps)
        # A turn lasts as long as its media: from the first timestamp to the last, and one step more.
        span = max(stamps) - least + _step(stamps)
        return {
            "repeat_s": max(span / clock_hz, at_s[-1] + _NEXT_TURN_S),
            "until_s": until_s,
            "clock_hz": clock_hz,
            "payload_type": self.payload_type,
            "ssrc": self.ssrc,
            "packets": [
                {"at_s": at, "bytes": packet.bytes, "media_s": (stamp - least) / clock_hz, "marker": packet.marker}
                for at, packet, stamp in zip(at_s, self.packets, stamps, strict=True)
            ],
        }

    def frame_ms(self, clock_hz: int) -> float:
        """Media in one packet, by the commonest distance of timestamps."""
        return _step(self._stamps()) / clock_hz * 1e3

    def _stamps(self) -> list[int]:
        """Since the first packet's; they begin anew after 2^32."""
        return [_nearest(packet.stamp - self.packets[0].stamp, _STAMPS) for packet in self.packets]


def streams(recording: Path) -> list[RtpStream]:
    """All that are in a capture, the earliest first. Raises BadRecording, SandboxFailed."""
    found: dict[tuple[str, int, str, int, int, int], list[_Packet]] = {}
    try:
        for ends, packet in _rtp_packets(recording):
            found.setdefault(ends, []).append(packet)
    except sandbox.LimitExceeded as error:
        raise _too_large(recording, error.what) from None
    all_streams = [
        RtpStream(source, destination, ssrc, payload_type, _once(packets))
        for (source, _, destination, _, ssrc, payload_type), packets in found.items()
        if _counts_on(packets)
    ]
    if not all_streams:
        raise BadRecording(
            f"{recording}: there is no stream of RTP on Ethernet in it; record it at the sender's own interface, not at `any`"
        )
    if longest := next((stream for stream in all_streams if stream.span_s > _LONGEST_S), None):
        raise BadRecording(
            f"{recording}: {longest} is {longest.span_s / 3600:.0f} h long, and a day is the most; cut it, say by editcap -B"
        )
    return sorted(all_streams, key=lambda stream: stream.packets[0].time_ns)


def one_way(recording: Path) -> RtpStream:
    """The only stream of a recording. Raises BadRecording."""
    found = streams(recording)
    if len(found) > 1:
        raise _too_many(recording, found, "one stream")
    return found[0]


def both_ways(recording: Path) -> tuple[RtpStream, RtpStream]:
    """The caller's stream, which began first, and the other's; one that is alone is both. Raises BadRecording."""
    found = streams(recording)
    first, other = found[0], found[-1]
    if len(found) > 2 or (len(found) == 2 and (first.source, first.destination) != (other.destination, other.source)):
        raise _too_many(recording, found, "a stream each way between two hosts")
    return first, other


def facts(recording: Path) -> RecordingFacts:
    with recording.open("rb") as file:
        return {"file": recording.name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _too_many(recording: Path, found: Sequence[RtpStream], wanted: str) -> BadRecording:
    return BadRecording(
        f"{recording}: it is to have {wanted}, and has {listed([str(stream) for stream in found], 'and')}; keep what is meant: "
        f"tshark -r {recording.name} -d udp.port==1024-65535,rtp -Y 'rtp.ssrc == {found[0].ssrc:#010x}' -w one.pcapng"
    )


def _too_large(recording: Path, why: str) -> BadRecording:
    remedy = f"keep what is meant: tshark -r {recording.name} -d udp.port==1024-65535,rtp -Y rtp -w one.pcapng"
    return BadRecording(f"{recording} is more than a recording may be: {why}; {remedy}")


def _rtp_packets(recording: Path) -> Iterator[tuple[tuple[str, int, str, int, int, int], _Packet]]:
    count, known = 0, dict[bytes, int]()
    for frames in _frames(recording):
        if (count := count + frames.begin.size) > MOST_PACKETS:
            raise _too_large(recording, f"it has more than {MOST_PACKETS} packets")
        packets = Packets.of(frames)
        rtp, of_packets = packets.rtp(), packets.ends(known)
        all_ends = [ends_of(key) for key in known]
        which = np.flatnonzero(rtp.is_rtp & (packets.protocol == UDP))
        columns = (
            *(of_packets, frames.time_ns[packets.frame], packets.payload_bytes),
            *(rtp.sequence, rtp.timestamp, rtp.ssrc, rtp.kind >> 7, rtp.kind & 0x7F),
        )
        for at, time_ns, payload_bytes, sequence, stamp, ssrc, marker, payload_type in zip(
            *(column[which].tolist() for column in columns), strict=True
        ):
            ends = all_ends[at]
            key = (ends.source, ends.source_port, ends.destination, ends.destination_port, ssrc, payload_type)
            yield key, _Packet(time_ns, payload_bytes - _RTP_HEADER_BYTES, sequence, stamp, bool(marker))


def _frames(recording: Path) -> Iterator[Frames]:
    """All of a capture, each as soon as it was read: what was compressed may be larger than the memory."""
    with recording.open("rb") as file, sandbox.running(_EDITCAP, _LIMITS, stdin=file) as editcap:
        with io.BufferedReader(_Output(editcap), _READ_BYTES) as output:
            yield from pcapng.frames(output, recording)
        status = editcap.wait()
        # GLib's lines, which tell of a user without a name, are not editcap's own.
        complaints = [line.removeprefix("editcap: ") for line in editcap.complaint().splitlines() if line.startswith("editcap: ")]
    if status != 0 or complaints:
        complaint = " ".join(complaints) or f"it ended with {status}"
        remedy = f"give a whole one, or what is whole of it: editcap {recording.name} whole.pcapng"
        raise BadRecording(f"{recording} is no capture, or a damaged one; editcap says: {complaint.rstrip('.')}; {remedy}")


class _Output(io.RawIOBase):
    """What a program in a sandbox writes, as a file."""

    def __init__(self, program: sandbox.Program) -> None:
        self._program = program

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a buffer of any kind, says typeshed
        part = self._program.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def _counts_on(packets: Sequence[_Packet]) -> bool:
    following = sum((later.number - earlier.number) % _NUMBERS <= 1 for earlier, later in pairwise(packets))
    return len(packets) >= _LEAST_PACKETS and following >= _IN_ORDER * (len(packets) - 1)


def _once(packets: Sequence[_Packet]) -> list[_Packet]:
    """In order of time, and without those that a capture has twice."""
    first: dict[tuple[int, int], _Packet] = {}
    for packet in sorted(packets, key=lambda own: own.time_ns):
        first.setdefault((packet.number, packet.stamp), packet)
    return list(first.values())


def _nearest(difference: int, turn: int) -> int:
    """A difference of counters that begin anew after `turn`, as the one nearest to 0."""
    return (difference + turn // 2) % turn - turn // 2


def _step(stamps: Sequence[int]) -> int:
    """The commonest distance of two timestamps that follow each other; 0 where all are the same."""
    steps = Counter(later - earlier for earlier, later in pairwise(sorted(set(stamps))))
    return steps.most_common(1)[0][0] if steps else 0
