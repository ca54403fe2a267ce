# SPDX-License-Identifier: GPL-2.0-or-later
"""A camera's live stream: H.264 over RTP (RFC 6184) by ffmpeg, received, decoded and kept by ffmpeg at the other host.

The scene is synthetic but behaves like a hand-held camera's: it pans, and has the noise of a sensor. The sender keeps what it
encoded (`sent.h264`), the receiver what arrived (`received.mkv`); each picture carries its number, so that one is compared with
its own original.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, ClassVar, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from applications import rtp_recording
from applications.application import Application, ApplicationOptions, Ports, flow_of
from applications.camera.recording import packets
from applications.media.number_strip import NumberStrip
from applications.media.scene import moving_scene
from applications.rtp_recording import RecordingFacts, RecordingFile
from applications.stream import RTP_HEADER, UDP_HEADERS, Stream
from applications.virtual_traffic import RtpMedia, VirtualTraffic, rtp_ends
from contracts.debian_program import DebianProgram
from contracts.flow import Flow
from contracts.plan import TrafficPlan
from contracts.quantities import RATE, TIME, Quantity

#: IP packets of at most 1400 bytes leave room for a tunnel's header on the way; less the headers of IP and UDP.
RTP_PACKET_BYTES = 1400 - 28
PAYLOAD_TYPE = 96
RTP_CLOCK_HZ = 90_000  # RFC 6184, section 8.2.1

#: Of the scene, at least, that a run in virtual time repeats: half a turn of what is seen of it.
_PIECE_S = 10.0

_READY_DEADLINE_S = 15.0
#: Without a BYE, ffmpeg ends 10 s after the last packet (READ_PACKET_TIMEOUT_S of its RTP reader).
_BYE_PATIENCE_S = 13.0


class CameraOptions(ApplicationOptions):
    width: int = Field(default=640, ge=352, le=1920, multiple_of=2)
    height: int = Field(default=360, ge=208, le=1088, multiple_of=2)
    frames_per_second: int = Field(default=15, ge=1, le=60)
    rate: Annotated[float, Quantity(RATE, 64e3, 50e6)] = 400e3
    #: A lost picture is repaired by the next one that needs no other: one each `key_interval`.
    key_interval: Annotated[float, Quantity(TIME, 0.1, 10.0)] = 1.0
    #: Even; RTCP takes the next. A host that has two videos at a time gives the second one others.
    rtp_port: int = Field(default=21_000, ge=1024, le=65_534, multiple_of=2)
    #: A capture of one stream of RTP, pcap or pcapng, beside the topology: in virtual time its packets are sent, again and again,
    #: in place of those of the scene. Labs send the scene.
    recording: RecordingFile | None = None

    def virtual_only(self) -> tuple[str, ...]:
        return () if self.recording is None else ("recording",)

    def ports(self) -> tuple[Ports, ...]:
        return (Ports("rtp_port", self.rtp_port, self.rtp_port + 1),)

    def streams(self) -> tuple[Stream, ...]:
        """A picture of the mean size is cut into packets; the reports of RTCP are lost in their number."""
        picture_bytes = self.rate / 8 / self.frames_per_second
        packets = math.ceil(picture_bytes / (RTP_PACKET_BYTES - RTP_HEADER))
        return (Stream(packets * self.frames_per_second, picture_bytes / packets + RTP_HEADER + UDP_HEADERS),)


class CameraFacts(TypedDict):
    """What an analysis needs to know of it. Files are in the application's folder; null in virtual time, where nobody decodes."""

    sent: str | None
    received: str | None
    width: int
    height: int
    frames_per_second: int
    rate_bit_per_s: float
    #: What was sent in place of the scene.
    recording: NotRequired[RecordingFacts]


def _facts(options: CameraOptions, *, sent: str | None = None, received: str | None = None) -> CameraFacts:
    return {
        "sent": sent,
        "received": received,
        "width": options.width,
        "height": options.height,
        "frames_per_second": options.frames_per_second,
        "rate_bit_per_s": options.rate,
    }


def _flow(plan: TrafficPlan, options: CameraOptions) -> Flow:
    return flow_of(plan, f"{plan.name}.video", "video", options.rtp_port, rtp_clock_hz=RTP_CLOCK_HZ)


def _scene(options: CameraOptions) -> str:
    """ffmpeg's filters for the picture."""
    scene = moving_scene(options.width, options.height, options.frames_per_second)
    clock = r"drawtext=text='frame %{n}   %{pts\:hms}':x=16:y=16:fontsize=20:fontcolor=white:box=1:boxcolor=black"
    return f"{scene},{clock},{NumberStrip(options.height).filters()},format=yuv420p"


def _encoding(options: CameraOptions) -> tuple[str, ...]:
    """ffmpeg's arguments for the encoder."""
    rate, pictures = f"{options.rate:.0f}", str(round(options.key_interval * options.frames_per_second))
    return (
        *("-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1"),
        # A buffer of 200 ms bounds a picture's burst: a key picture may take at most a fifth of a second's rate.
        *("-b:v", rate, "-maxrate", rate, "-bufsize", f"{options.rate / 5:.0f}"),
        *("-g", pictures, "-keyint_min", pictures, "-sc_threshold", "0"),
        *("-x264-params", f"repeat-headers=1:slice-max-size={RTP_PACKET_BYTES - 100}"),
    )


def _scene_media(options: CameraOptions) -> RtpMedia:
    # Whole pictures, and from one key picture to before another one.
    piece_s = math.ceil(_PIECE_S / options.key_interval) * options.key_interval
    encoder = (*("-f", "lavfi", "-i", _scene(options)), "-t", f"{piece_s:g}", *_encoding(options))
    return {
        "repeat_s": piece_s,
        "until_s": options.duration,
        "clock_hz": RTP_CLOCK_HZ,
        "payload_type": PAYLOAD_TYPE,
        "ssrc": 1,
        "packets": packets(encoder, options.frames_per_second, RTP_PACKET_BYTES, PAYLOAD_TYPE),
    }


class Camera(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = CameraOptions
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = (
        DebianProgram("ffmpeg", "ffmpeg", "video streams (traffic application camera)", "-version"),
    )

    options: CameraOptions

    def prepare(self) -> None:
        self.own_files(self.plan.source)
        self.own_files(self.plan.destination).write("camera.sdp", self.session_description())

    def arrange(self) -> None:
        """The sender will end by itself, the receiver with the sender's RTCP BYE, or when it received nothing for 10 s."""
        port, late_s = self.options.rtp_port, self.options.duration * 0.1 + 5.0
        receiver = self.launch(
            self.plan.destination, "receiver", self.receiver_command(), ends_with=0, patience_s=_BYE_PATIENCE_S
        )
        self.wait_for_port(receiver, port, "udp", named=f"port {port}", deadline_s=_READY_DEADLINE_S)
        self.launch(self.plan.source, "sender", self.sender_command(), ends_with=0, patience_s=late_s, held=True)

    def keep(self) -> None:
        for host, file in ((self.plan.source, "sent.h264"), (self.plan.destination, "received.mkv")):
            self.own_files(host).take(file, self.folder / file)

    def flows(self) -> list[Flow]:
        return [_flow(self.plan, self.options)]

    def facts(self) -> CameraFacts:
        return _facts(self.options, sent="sent.h264", received="received.mkv")

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic:
        """The packets of the recording, or of what ffmpeg makes of a piece of the scene, again and again; nobody decodes them.

        There is no RTCP. Raises BadRecording, ApplicationFailed, SandboxFailed, LimitExceeded.
        """
        options = CameraOptions.model_construct(**plan.options)
        flow, facts = _flow(plan, options), _facts(options)
        if options.recording is None:
            media = _scene_media(options)
        else:
            file = Path(options.recording)
            media = rtp_recording.one_way(file).media(RTP_CLOCK_HZ, options.duration)
            facts["recording"] = rtp_recording.facts(file)
        ends = rtp_ends(flow, flow.name, port=options.rtp_port, dscp=options.dscp, start_s=options.start, media=media)
        return VirtualTraffic(ends, (flow,), facts)

    def session_description(self) -> str:
        """What the receiver is told (RFC 8866); the parameter sets come in the stream itself, before each key picture."""
        return (
            "v=0\n"
            f"o=- 0 0 IN IP4 {self.plan.source_address}\n"
            "s=camera\n"
            f"c=IN IP4 {self.plan.destination_address}\n"
            "t=0 0\n"
            f"m=video {self.options.rtp_port} RTP/AVP {PAYLOAD_TYPE}\n"
            f"a=rtpmap:{PAYLOAD_TYPE} H264/{RTP_CLOCK_HZ}\n"
            f"a=fmtp:{PAYLOAD_TYPE} packetization-mode=1\n"
        )

    def sender_command(self) -> list[str]:
        options, port = self.options, self.options.rtp_port
        target = (
            f"rtp://{self.plan.destination_address}:{port}?localrtpport={port}&pkt_size={RTP_PACKET_BYTES}&dscp={options.dscp}"
        )
        stream = f"payload_type={PAYLOAD_TYPE}:seq=0:ssrc=1:rtpflags=send_bye:onfail=abort"
        return [
            *("ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-y", "-re", "-f", "lavfi", "-i", _scene(options)),
            *("-t", f"{options.duration:g}", *_encoding(options)),
            *("-map", "0:v", "-f", "tee", f"[f=rtp:{stream}]{target}|[f=h264:onfail=abort]{self.inside('sent.h264')}"),
        ]

    def receiver_command(self) -> list[str]:
        """Keeps the stream as it came, and decodes it too: what cannot be decoded is in the log."""
        return [
            *("ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-y", "-protocol_whitelist", "file,udp,rtp"),
            *("-fflags", "+genpts", "-i", self.inside("camera.sdp")),
            *("-map", "0:v", "-c", "copy", "-f", "matroska", self.inside("received.mkv"), "-map", "0:v", "-f", "null", "-"),
        ]
