# SPDX-License-Identifier: GPL-2.0-or-later
"""A telephone call: two baresip agents, one in each host, call each other by SIP without a registrar and talk both ways.

Each speaks from a file and records what it hears. The source calls the destination; the destination answers by itself. The call
ends with a BYE of the source when the duration is over. No voice activity detection, so each direction is a constant packet rate.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NotRequired, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from applications import rtp_recording
from applications.application import Application, ApplicationOptions, Ports, Running, flow_of
from applications.media.speech import Speaker, Speech
from applications.rtp_recording import BadRecording, RecordingFacts, RecordingFile, RtpStream
from applications.stream import RTP_HEADER, UDP_HEADERS, Stream
from applications.virtual_traffic import RtpMedia, VirtualTraffic, rtp_ends
from contracts.debian_program import DebianProgram
from contracts.flow import Flow
from contracts.plan import TrafficPlan
from contracts.quantities import TIME, Quantity

LOUDSPEAKER = Path(__file__).with_name("loudspeaker.py")

#: Speech kept in hand beyond the duration: baresip ends a call whose source file ends.
_SPARE_SPEECH_S = 20.0
#: A SIP transaction gives up after 64 T1 = 32 s (RFC 3261, 17.1.1.2).
_ANSWER_DEADLINE_S = 32.0
_READY_DEADLINE_S = 15.0
#: A BYE and its answer over a satellite, with time for two retransmissions (RFC 3261: T1 = 500 ms, doubled).
_BYE_PATIENCE_S = 4.0

#: Speech in one packet, of all codecs.
FRAME_MS = 20.0
#: Payload types from there on are agreed upon for each call (RFC 3551, 6).
_DYNAMIC = 96
#: RTCP: a report each 5 s (RFC 3550, 6.2), a sender report with its source description.
_REPORTS_PER_S, _REPORT_BYTES = 0.2, 100

_READY = "baresip is ready"
_ESTABLISHED = "Call established"
_OVER = re.compile(r"session closed|Call with .* terminated|call: .*timed out")


@dataclass(frozen=True)
class Codec:
    """How baresip is told to use one codec. `rate` is that of its samples, `clock` that of its RTP timestamps."""

    module: str
    rate: int
    clock: int
    lookahead_ms: float
    #: Of one packet.
    payload_bytes: int
    #: RTP's (RFC 3551, 6); that of Opus is dynamic.
    payload_type: int
    settings: tuple[str, ...] = ()


CODECS: dict[str, Codec] = {
    # Constant 28 kbit/s: 70 bytes each 20 ms, 124 on Ethernet, so 49.6 kbit/s, as the thesis's Speex (Sect. 6.2.3.3).
    # Look-ahead of the SILK layer with its resampler: 6.5 ms (RFC 6716, section 2).
    "opus": Codec(
        "opus.so",
        48_000,
        48_000,
        6.5,
        70,
        96,
        (
            "opus_bitrate 28000",
            "opus_cbr yes",
            "opus_dtx no",
            "opus_inbandfec no",
            "opus_application voip",
            "opus_stereo no",
            "opus_sprop_stereo no",
        ),
    ),
    # The RTP clock of G.722 is 8000 Hz by an old error that must stay (RFC 3551, 4.5.2); its filter bank delays some 1.5 ms.
    "g722": Codec("g722.so", 16_000, 8_000, 1.5, 160, 9),
    "pcma": Codec("g711.so", 8_000, 8_000, 0.0, 160, 8),
}


class CallOptions(ApplicationOptions):
    #: G.722 and G.711 A-law ("pcma") need more capacity: 80 kbit/s and more on Ethernet.
    codec: Literal["opus", "g722", "pcma"] = "opus"
    #: A host that has two calls at a time gives the second one other ports.
    sip_port: int = Field(default=5060, ge=1024, le=65_535)
    #: Even; RTCP takes the next.
    rtp_port: int = Field(default=20_000, ge=1024, le=65_534, multiple_of=2)
    #: What the playout buffer collects before it plays, and the most that it keeps.
    playout: Annotated[float, Quantity(TIME, 0.02, 2.0)] = 0.06
    playout_limit: Annotated[float, Quantity(TIME, 0.04, 4.0)] = 0.4
    #: A capture of a call's RTP, pcap or pcapng, beside the topology: in virtual time its packets are sent, again and again, in
    #: place of baresip's. The stream that begins first is the caller's; one that is alone is sent both ways. Labs use baresip.
    recording: RecordingFile | None = None

    @model_validator(mode="after")
    def _buffers_hold_together(self) -> Self:
        if self.playout > self.playout_limit:
            raise ValueError(f"playout {TIME.write(self.playout)} is more than playout_limit {TIME.write(self.playout_limit)}")
        return self

    def virtual_only(self) -> tuple[str, ...]:
        return () if self.recording is None else ("recording",)

    def ports(self) -> tuple[Ports, ...]:
        return Ports("sip_port", self.sip_port, self.sip_port), Ports("rtp_port", self.rtp_port, self.rtp_port + 1)

    def streams(self) -> tuple[Stream, ...]:
        """Both ways alike; SIP is a few frames at both ends of the call."""
        voice = CODECS[self.codec].payload_bytes + RTP_HEADER + UDP_HEADERS
        streams = (Stream(1e3 / FRAME_MS, voice), Stream(_REPORTS_PER_S, _REPORT_BYTES + UDP_HEADERS))
        return tuple(replace(stream, back=back) for back in (False, True) for stream in streams)


class Party(TypedDict):
    """One end of a call. Files are in the application's folder; null in virtual time, where nobody speaks."""

    host: str
    speaker: Speaker
    spoken: str | None
    heard: str | None


class VoiceCodec(TypedDict):
    """What a planner's voice model (the E-model) must know of a codec and of the phone that plays it."""

    name: str
    #: Speech in one packet.
    frame_ms: float
    #: Speech that the encoder looks at beyond the frame.
    lookahead_ms: float
    #: What the receiver's playout buffer holds before it starts to play.
    playout_ms: float


class CallFacts(TypedDict):
    """What an analysis needs to know of it."""

    codec: VoiceCodec
    sample_rate_hz: int
    parties: list[Party]
    #: What was sent in place of baresip's packets.
    recording: NotRequired[RecordingFacts]


@dataclass(frozen=True)
class Agent:
    """One telephone."""

    host: str
    address: str
    speaker: Speaker


def _facts(agents: Sequence[Agent], options: CallOptions, *, spoken: bool) -> CallFacts:
    """`spoken`: there are recordings of what was spoken and heard."""
    codec = CODECS[options.codec]
    return {
        "codec": {
            "name": options.codec,
            "frame_ms": FRAME_MS,
            "lookahead_ms": codec.lookahead_ms,
            "playout_ms": options.playout * 1e3,
        },
        "sample_rate_hz": codec.rate,
        "parties": [
            {
                "host": agent.host,
                "speaker": agent.speaker,
                "spoken": f"{agent.host}-spoken.wav" if spoken else None,
                "heard": f"{agent.host}-heard.wav" if spoken else None,
            }
            for agent in agents
        ],
    }


def _flows(plan: TrafficPlan, options: CallOptions) -> list[Flow]:
    name, port, clock_hz = f"{plan.name}.voice", options.rtp_port, CODECS[options.codec].clock
    return [flow_of(plan, name, "voice", port, rtp_clock_hz=clock_hz, back=back) for back in (False, True)]


def _agents(plan: TrafficPlan) -> tuple[Agent, Agent]:
    """The caller and the called."""
    field_calls = plan.direction == "return"
    return (
        Agent(plan.source, plan.source_address, "field" if field_calls else "centre"),
        Agent(plan.destination, plan.destination_address, "centre" if field_calls else "field"),
    )


def _codec_media(options: CallOptions, ssrc: int) -> RtpMedia:
    codec = CODECS[options.codec]
    return {
        "repeat_s": FRAME_MS / 1e3,
        "until_s": options.duration,
        "clock_hz": codec.clock,
        "payload_type": codec.payload_type,
        "ssrc": ssrc,
        "packets": [{"at_s": 0.0, "bytes": codec.payload_bytes, "media_s": 0.0, "marker": False}],
    }


def _check_codec(recording: Path, stream: RtpStream, options: CallOptions) -> None:
    """Of payload types that always mean the same codec (RFC 3551, 6). Raises BadRecording."""
    named = {codec.payload_type: name for name, codec in CODECS.items() if codec.payload_type < _DYNAMIC}
    if (stream.payload_type < _DYNAMIC or options.codec in named.values()) and named.get(stream.payload_type) != options.codec:
        found = named.get(stream.payload_type, f"of payload type {stream.payload_type}")
        remedy = f"write codec: {found}" if found in CODECS else f"record one of {', '.join(CODECS)}"
        raise BadRecording(f"{recording}: its speech is {found}, and the call's codec is {options.codec}; {remedy}")


class Call(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = CallOptions
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = (
        DebianProgram("baresip", "baresip-core", "calls (traffic application call)", "-h"),
        DebianProgram("espeak-ng", "espeak-ng", "speech for calls"),
    )

    options: CallOptions
    #: When the caller did, on the monotonic clock.
    _dialled: float | None = None

    @property
    def codec(self) -> Codec:
        return CODECS[self.options.codec]

    @property
    def agents(self) -> tuple[Agent, Agent]:
        return _agents(self.plan)

    def prepare(self) -> None:
        for agent in self.agents:
            spoken = self.folder / f"{agent.host}-spoken.wav"
            Speech(agent.speaker, self.options.duration + _SPARE_SPEECH_S, self.codec.rate, seed=1).write(spoken)
            contents: dict[str, str | bytes] = {
                "spoken.wav": spoken.read_bytes(),
                LOUDSPEAKER.name: LOUDSPEAKER.read_bytes(),
                "config": self.configuration(agent),
                "accounts": f"<sip:{agent.host}@{agent.address}:{self.options.sip_port}>;regint=0;answermode=auto\n",
                "contacts": "",
                "alsa.conf": self.sound_card(),
            }
            files = self.own_files(agent.host)
            for name, content in contents.items():
                files.write(name, content)

    def arrange(self) -> None:
        caller, called = self.agents
        for agent in (called, caller):
            program = [self.inside(file) for file in ("loudspeaker.py", "loudspeaker.fifo", "heard.wav")]
            speaker = self.launch(agent.host, "loudspeaker", ["/usr/bin/python3", *program, str(self.codec.rate)])
            plays = partial(self.own_files(agent.host).exists, "loudspeaker.fifo")
            self.wait_for(plays, "a loudspeaker's start", _READY_DEADLINE_S, speaker.log)
        called_log = self._telephone(called).log
        self.wait_for(
            lambda: _READY in called_log.read_text(errors="replace"), "the called agent's start", _READY_DEADLINE_S, called_log
        )
        self._telephone(caller, "-e", f"/dial sip:{called.host}@{called.address}:{self.options.sip_port}", held=True)

    def start(self) -> None:
        """The caller dials; the duration begins when the call is established, which `check` sees."""
        self._dialled = time.monotonic()
        self.release()

    def check(self) -> None:
        super().check()
        if self._dialled is not None and math.isinf(self.ends):
            self._look_for_answer(self._dialled)
        for running in self._running:
            if running.name == "baresip" and (over := _OVER.search(running.log.read_text(errors="replace"))):
                raise self.failed(f"the call was over too early on {running.host} ({over[0]!r})", running.log)

    def stop(self) -> None:
        self._running.sort(key=lambda running: (running.name == "baresip", running.host == self.plan.source))
        super().stop()

    def keep(self) -> None:
        for agent in self.agents:
            files = self.own_files(agent.host)
            files.take("heard.wav", self.folder / f"{agent.host}-heard.wav")
            files.remove("loudspeaker.fifo")

    def flows(self) -> list[Flow]:
        return _flows(self.plan, self.options)

    def facts(self) -> CallFacts:
        return _facts(self.agents, self.options, spoken=True)

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic:
        """The packets of the recording, or those that baresip sends, both ways; nobody speaks, and nothing is heard.

        There is neither SIP nor RTCP. Raises BadRecording, SandboxFailed, LimitExceeded.
        """
        options = CallOptions.model_construct(**plan.options)
        flows, facts = _flows(plan, options), _facts(_agents(plan), options, spoken=False)
        media = [_codec_media(options, ssrc) for ssrc in range(1, len(flows) + 1)]
        if options.recording is not None:
            file, clock_hz = Path(options.recording), CODECS[options.codec].clock
            streams = rtp_recording.both_ways(file)
            for stream in streams:
                _check_codec(file, stream, options)
            media = [stream.media(clock_hz, options.duration) for stream in streams]
            facts["codec"]["frame_ms"] = streams[0].frame_ms(clock_hz)
            facts["recording"] = rtp_recording.facts(file)
        ends = [
            end
            for flow, own in zip(flows, media, strict=True)
            for end in rtp_ends(
                flow, f"{flow.name}.{flow.direction}", port=options.rtp_port, dscp=options.dscp, start_s=options.start, media=own
            )
        ]
        return VirtualTraffic(tuple(ends), tuple(flows), facts)

    def configuration(self, agent: Agent) -> str:
        """baresip's configuration file."""
        port = self.options.rtp_port
        return f"""\
poll_method epoll
sip_listen {agent.address}:{self.options.sip_port}
call_max_calls 1
audio_source aufile,{self.inside("spoken.wav")}
audio_player alsa,loudspeaker
audio_alert aufile,/dev/null
ausrc_srate {self.codec.rate}
auplay_srate {self.codec.rate}
ausrc_channels 1
auplay_channels 1
audio_txmode thread
audio_buffer {self.options.playout * 1e3:.0f}-{self.options.playout_limit * 1e3:.0f}
rtp_tos {self.options.dscp << 2}
rtp_ports {port}-{port + 1}
rtcp_mux no
jitter_buffer_delay 1-20
rtp_stats yes
module_path /usr/lib/baresip/modules
module {self.codec.module}
module aufile.so
module alsa.so
module_tmp account.so
module_app menu.so
ringback_disabled yes
statmode_default off
""" + "".join(f"{line}\n" for line in self.codec.settings)

    def sound_card(self) -> str:
        """An ALSA configuration whose only device hands the samples to the loudspeaker program."""
        return (
            "</usr/share/alsa/alsa.conf>\n"
            f'pcm.loudspeaker {{ type file slave.pcm {{ type null }} file "{self.inside("loudspeaker.fifo")}" format raw }}\n'
        )

    def _telephone(self, agent: Agent, *more: str, held: bool = False) -> Running:
        return self.launch(
            agent.host,
            "baresip",
            ["baresip", "-f", self.inside(), *more],
            env={"ALSA_CONFIG_PATH": self.inside("alsa.conf")},
            patience_s=_BYE_PATIENCE_S,
            held=held,
        )

    def _look_for_answer(self, dialled: float) -> None:
        caller, called = self.agents
        (log,) = (running.log for running in self._running if (running.host, running.name) == (caller.host, "baresip"))
        if _ESTABLISHED in log.read_text(errors="replace"):
            self.begin()
        elif time.monotonic() > dialled + _ANSWER_DEADLINE_S:
            raise self.failed(f"an answer of {called.host} did not happen within {_ANSWER_DEADLINE_S:g} s", log)
