# SPDX-License-Identifier: GPL-2.0-or-later
"""A video by MPEG-DASH (ISO/IEC 23009-1): nginx has it in some qualities, and a player takes of each segment the one that fits.

The player is a program of our own (player.py), so that in real and in virtual time one published rule adapts the rate, and its
buffer can be seen. Players of others have rules of their own, which change from one version to the next.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from applications.application import Application, ApplicationOptions, Ports, flow_of
from applications.congestion_control import OF_BOTH_ENDS, Variant
from applications.congestion_control_of_host import check_variant, of_linux
from applications.dash import video
from applications.dash.adaptation import Rule
from applications.dash.manifest import Manifest
from applications.dash.player import PlayerOptions
from applications.dash.record import RECORD_FILE
from applications.virtual_traffic import HttpObject, TcpEnd, VirtualTraffic, flow_ends
from applications.web_server import IDLE_S, NGINX, WebServer, authority
from contracts.debian_program import DebianProgram
from contracts.flow import Flow
from contracts.plan import TrafficPlan
from contracts.quantities import RATE, TIME, Quantity

PROGRAM: Final = "player.zip"
#: What the player is made of.
_MODULES: Final = ("__init__.py", "adaptation.py", "manifest.py", "play_buffer.py", "player.py")
_START: Final = "import sys\nfrom applications.dash.player import main\nsys.exit(main())\n"

#: Those of the ns-3 module of D. J. Vergados et al. ("FDASH: A Fuzzy-Based MPEG/DASH Adaptation Algorithm", IEEE Systems Journal,
#: 2016), bit/s, with segments of 2 s.
_LADDER: Final = (
    *(45e3, 89e3, 131e3, 178e3, 221e3, 263e3, 334e3, 396e3, 522e3, 595e3),
    *(791e3, 1033e3, 1245e3, 1547e3, 2134e3, 2484e3, 3079e3, 3527e3, 3840e3, 4220e3),
)
_MOST_RATES: Final = 32
_LATE_S: Final = 5.0


class DashOptions(ApplicationOptions):
    #: Media in each segment.
    segment: Annotated[float, Quantity(TIME, 0.4, 10.0)] = 2.0
    #: Bit rates of the video, rising. The default has 20, as ns-3's module of FDASH.
    ladder: tuple[Annotated[float, Quantity(RATE, 20e3, 20e6)], ...] = Field(
        default=_LADDER, min_length=1, max_length=_MOST_RATES
    )
    #: How much media the player keeps at most.
    buffer: Annotated[float, Quantity(TIME, 1.0, 600.0)] = 30.0
    #: How much it has before it plays.
    start_up: Annotated[float, Quantity(TIME, 0.1, 300.0)] = 4.0
    #: The same, after its buffer was empty.
    rebuffer: Annotated[float, Quantity(TIME, 0.1, 300.0)] = 4.0
    #: By the throughput of the latest segments, or by how full the buffer is (BBA-0).
    adaptation: Rule = "throughput"
    #: How much of the throughput is trusted.
    safety: float = Field(default=0.9, ge=0.1, le=1.0)
    #: When its buffer has more, the player waits a random time of up to a second before each request. Default: never.
    back_off: Annotated[float, Quantity(TIME, 0.0, 600.0)] | None = None
    #: Of TCP, at the server.
    port: int = Field(default=8080, ge=1024, le=65_535)
    #: Congestion control of the server. In real time the kernel must have it, and allow it; newreno and linux-reno are its reno.
    variant: Variant = "cubic"

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for lower, higher in zip(self.ladder, self.ladder[1:], strict=False):
            if higher <= lower:
                raise ValueError(
                    f"`ladder` rises from each rate to the next, not from {RATE.write(lower)} to {RATE.write(higher)}"
                )
        pictures = self.segment * video.FRAMES_PER_SECOND
        if abs(pictures - round(pictures)) > 1e-9:
            raise ValueError(
                f"`segment` has whole pictures, of which a second has {video.FRAMES_PER_SECOND}; take a multiple of 40 ms"
            )
        if self.buffer < max(self.start_up, self.rebuffer) + self.segment:
            raise ValueError(
                "`buffer` has no room for a segment besides what `start_up` and `rebuffer` ask for; take a longer one"
            )
        if sum(self.ladder) / 8 * video.length_s(self.segment) > video.MOST_BYTES:
            raise ValueError(
                f"the video would take more than {video.MOST_BYTES >> 20} MiB; take fewer or lower rates in `ladder`"
            )
        return self

    def ports(self) -> tuple[Ports, ...]:
        return (Ports("port", self.port, self.port),)


class DashFacts(TypedDict):
    """What an analysis needs to know."""

    #: In the application's folder; null in virtual time, when it is in the journal of the client's host.
    record: str | None
    duration_s: float
    segment_s: float
    #: Bit/s.
    ladder: list[float]
    adaptation: Rule
    variant: str


class Dash(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = DashOptions
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = (
        NGINX,
        DebianProgram("ffmpeg", "ffmpeg", "videos for adaptive streaming (traffic application dash)", "-version"),
    )

    options: DashOptions

    def prepare(self) -> None:
        """Raises VariantMissing, ApplicationFailed, SandboxFailed, LimitExceeded."""
        check_variant(self.hosts, self.plan.name, self.plan.source, self.options.variant)
        self._server.prepare({})
        served = self.own_files(self.plan.source)
        for name, content in video.files(tuple(self.options.ladder), self.options.segment).items():
            served.write(name, content)
        self.own_files(self.plan.destination).write(PROGRAM, player_program())

    def arrange(self) -> None:
        self._server.launch()
        url = f"http://{authority(self.plan.source_address, self.options.port)}/{video.MANIFEST}"
        told = json.dumps(self._player_options())
        argv = ["/usr/bin/python3", self.inside(PROGRAM), url, self.inside(RECORD_FILE), told]
        self.launch(self.plan.destination, "player", argv, ends_with=0, patience_s=_LATE_S, held=True)

    def keep(self) -> None:
        self._server.keep()
        self.own_files(self.plan.destination).take(RECORD_FILE, self.folder / RECORD_FILE)

    def flows(self) -> list[Flow]:
        return [flow(self.plan)]

    def facts(self) -> DashFacts:
        return facts(self.plan, record=RECORD_FILE)

    @property
    def _server(self) -> WebServer:
        options = self.options
        return WebServer(
            self,
            self.plan.source,
            self.plan.source_address,
            options.port,
            traffic_class=options.dscp << 2,
            congestion_control=of_linux(options.variant),
        )

    def _player_options(self) -> PlayerOptions:
        options = self.options
        return {
            "name": self.plan.name,
            "duration_s": options.duration,
            "buffer_s": options.buffer,
            "start_up_s": options.start_up,
            "rebuffer_s": options.rebuffer,
            "back_off_above_s": options.back_off,
            "adaptation": options.adaptation,
            "safety": options.safety,
            "traffic_class": options.dscp << 2,
            "seed": 1,
        }

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic:
        """The same video, of which the client is told what a player reads of the manifest."""
        options = DashOptions.model_construct(**plan.options)
        files = video.files(tuple(options.ladder), options.segment)
        manifest = Manifest.parsed(files[video.MANIFEST])
        tcp: TcpEnd = {"variant": options.variant}
        server, client = flow_ends(
            plan.name,
            "dash",
            listens=(plan.source, plan.source_address),
            opens=plan.destination,
            port=options.port,
            dscp=options.dscp,
            start_s=options.start,
        )
        server |= {"idle_s": IDLE_S, "tcp": tcp, "objects": [_object(name, content) for name, content in files.items()]}
        client |= {
            "until_s": options.start + options.duration,
            "manifest": f"/{video.MANIFEST}",
            "representations": [
                {
                    "rate": one.rate,
                    "initialization": f"/{one.initialization}",
                    "segments": [f"/{name}" for name in one.segments],
                }
                for one in manifest.representations
            ],
            "segment_s": manifest.segment_s,
            "buffer_s": options.buffer,
            "start_up_s": options.start_up,
            "rebuffer_s": options.rebuffer,
            "back_off_above_s": options.back_off,
            "adaptation": options.adaptation,
            "safety": options.safety,
        }
        if options.variant in OF_BOTH_ENDS:
            client["tcp"] = tcp
        return VirtualTraffic((server, client), (flow(plan),), facts(plan, record=None))


def flow(plan: TrafficPlan) -> Flow:
    """What the server sends; requests and acknowledgements are a conversation (results.conversations)."""
    options = DashOptions.model_construct(**plan.options)
    update = {"protocol": "tcp", "destination_ports": None}
    return flow_of(plan, plan.name, "dash", options.port).model_copy(update=update)


def facts(plan: TrafficPlan, *, record: str | None) -> DashFacts:
    """What a plan's entry of this application asks for."""
    options = DashOptions.model_construct(**plan.options)
    return {
        "record": record,
        "duration_s": options.duration,
        "segment_s": options.segment,
        "ladder": list(options.ladder),
        "adaptation": options.adaptation,
        "variant": options.variant,
    }


def player_program() -> bytes:
    """The player as one file that Python runs."""
    folder = Path(__file__).parent
    program = io.BytesIO()
    with zipfile.ZipFile(program, "w") as archive:
        archive.writestr("__main__.py", _START)
        archive.writestr("applications/__init__.py", "")
        for name in _MODULES:
            archive.writestr(f"applications/dash/{name}", (folder / name).read_bytes())
    return program.getvalue()


def _object(name: str, content: bytes) -> HttpObject:
    """A file of the server's; of media only their length is sent."""
    made: HttpObject = {"path": f"/{name}"}
    if name == video.MANIFEST:
        return {**made, "text": content.decode()}
    return {**made, "bytes": len(content)}
