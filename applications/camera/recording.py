# SPDX-License-Identifier: GPL-2.0-or-later
"""The packets of a camera's stream, by the real encoder and its real packing (RFC 6184), without a network."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from typing import Final

from applications.application import ApplicationFailed
from applications.virtual_traffic import RtpPacket
from system import sandbox

RTP_HEADER_BYTES: Final = 12
_MARKER: Final = 0x80
#: RTCP sender reports, which ffmpeg writes between the packets (RFC 3550, 6.4.1): without reports and extensions.
_REPORT: Final = b"\x80\xc8\x00\x06"
_REPORT_BYTES: Final = 28

_LIMITS: Final = sandbox.Limits(300.0, output_bytes=128 << 20)


@cache
def packets(encoder: tuple[str, ...], frames_per_second: int, packet_bytes: int, payload_type: int) -> list[RtpPacket]:
    """What ffmpeg sends of what `encoder`, its arguments up to the output, makes; pictures are sent at their times.

    `packet_bytes` is the most of an RTP packet. Raises ApplicationFailed, SandboxFailed, LimitExceeded.
    """
    output = ("-sdp_file", "/dev/null", "-f", "rtp", "-payload_type", str(payload_type), "-seq", "0", "-ssrc", "1")
    command = ("ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-loglevel", "error", *encoder, *output)
    done = sandbox.run((*command, "-packetsize", str(packet_bytes), "pipe:1"), _LIMITS)
    if done.status != 0 or not done.output:
        raise ApplicationFailed(f"ffmpeg could not encode a camera's pictures: {done.complaint.strip() or 'it says nothing'}")
    found = list(_packets(done.output, payload_type))
    pictures = sorted({stamp for _, stamp, _ in found}, key=[stamp for _, stamp, _ in found].index)
    at_s = {stamp: number / frames_per_second for number, stamp in enumerate(pictures)}
    return [
        {"at_s": at_s[stamp], "bytes": length - RTP_HEADER_BYTES, "media_s": at_s[stamp], "marker": marker}
        for length, stamp, marker in found
    ]


def _packets(stream: bytes, payload_type: int) -> Iterator[tuple[int, int, bool]]:
    """Length, timestamp and marker of each: they follow each other without lengths, and each has the next number."""
    places = list(_places(stream, payload_type))
    for place, following in zip(places, [*places[1:], len(stream)], strict=True):
        packet = stream[place:following]
        if packet[-_REPORT_BYTES:].startswith(_REPORT):
            packet = packet[:-_REPORT_BYTES]
        (stamp,) = struct.unpack(">I", packet[4:8])
        yield len(packet), stamp, bool(packet[1] & _MARKER)


def _places(stream: bytes, payload_type: int) -> Iterator[int]:
    at, number = 0, 0
    while (at := _next(stream, at, payload_type, number)) >= 0:
        yield at
        at, number = at + RTP_HEADER_BYTES, number + 1


def _next(stream: bytes, at: int, payload_type: int, number: int) -> int:
    """Where the header of this number is (RFC 3550, 5.1), from there on; -1 when nowhere."""
    found = []
    for kind in (payload_type, payload_type | _MARKER):
        header = struct.pack(">BBH", 0x80, kind, number & 0xFFFF)
        place = stream.find(header, at)
        while place >= 0 and stream[place + 8 : place + RTP_HEADER_BYTES] != b"\0\0\0\1":
            place = stream.find(header, place + 1)
        found.append(place)
    return min((place for place in found if place >= 0), default=-1)
