# SPDX-License-Identifier: GPL-2.0-or-later
"""Somebody who reads pages of a web server: nginx at the source, and libcurl at the destination, which gets them as a browser
does. In virtual time two hosts of the network's own exchange the same requests and replies.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from applications.application import Application, ApplicationOptions, Ports
from applications.congestion_control import OF_BOTH_ENDS, Variant
from applications.congestion_control_of_host import check_variant, of_linux
from applications.segment_size import LARGEST_SEGMENT, LEAST_SEGMENT, check_segment
from applications.virtual_traffic import TcpEnd, VirtualTraffic, WebPage, flow_ends
from applications.web import pages
from applications.web.pages import Model
from applications.web.record import RECORD_FILE
from applications.web_server import IDLE_S, NGINX, WebServer
from contracts.debian_program import DebianProgram
from contracts.flow import Flow, opposite
from contracts.plan import TrafficPlan
from contracts.quantities import SIZE, TIME, Quantity

_VISIT_FILE: Final = "visit.json"
_BROWSER: Final = Path(__file__).with_name("browser.py")
#: Pages in a set at most; then the user begins again.
_MOST_PAGES: Final = 2000
#: How long a client may take to start, and to write its last lines.
_LATE_S: Final = 10.0
#: How long an echo may take.
_RESOLVED_S: Final = 2
#: Of a page of one's own: what the middle one of Mah's requests has.
_REQUEST_BYTES: Final = 231

_Bytes = Annotated[float, Quantity(SIZE, 1.0, 1e10)]


class OwnPage(BaseModel):
    """A page of one's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Sizes: of the page's document, then of what that refers to.
    objects: list[Annotated[_Bytes, Field(multiple_of=1)]] = Field(min_length=1, max_length=1000)
    #: How long it is read.
    think: Annotated[float, Quantity(TIME, 0.0, 86_400.0)] = 0.0


class WebOptions(ApplicationOptions):
    #: Draws the pages: sizes as Mah measured them (INFOCOM 1997), or as the evaluation methodology of IEEE 802.16m has them.
    model: Model = "mah"
    #: Of what is drawn: the same seed, the same pages. Default: follows from the topology's `seed`, so that a campaign's
    #: repetitions differ.
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    #: How long a drawn page is read, on the mean; the times are exponential.
    think: Annotated[float, Quantity(TIME, 0.0, 86_400.0)] = pages.READING_S
    #: Pages of one's own in the place of drawn ones: `[{objects: [20 kB, 4 kB], think: 5 s}]`. After the last comes the first.
    pages: list[OwnPage] | None = Field(default=None, min_length=1, max_length=_MOST_PAGES)
    #: How many pages are got; the traffic is over with the last one, at the latest when its duration is. Default: as many as fit.
    count: int | None = Field(default=None, ge=1, le=1_000_000)
    #: Connections at once; browsers have six to a server.
    connections: int = Field(default=6, ge=1, le=64)
    #: A connection serves one request after another, also of the next page; else each has its own, as in HTTP/1.0.
    persistent: bool = True
    #: Congestion control of the server. In real time the kernel must have it, and allow it; newreno and linux-reno are its reno.
    variant: Variant = "cubic"
    #: Largest segment at both ends, bytes, with the options of its header. Default: what the MTU permits. Below 88 in virtual
    #: time only.
    mss: int | None = Field(default=None, ge=LEAST_SEGMENT, le=LARGEST_SEGMENT)
    #: Of TCP, where the server listens.
    port: int = Field(default=8080, ge=1024, le=65_535)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        drawing = sorted({"model", "seed", "think"} & self.model_fields_set)
        if self.pages is not None and drawing:
            raise ValueError(f"pages of one's own are not drawn: leave {', '.join(drawing)} out, or leave pages out")
        return self

    def ports(self) -> tuple[Ports, ...]:
        return (Ports("port", self.port, self.port),)


class WebFacts(TypedDict):
    """What was to be got."""

    #: In the application's folder; null in virtual time, when it is in the journal of the client's host.
    record: str | None

    pages: list[WebPage]
    count: int | None
    connections: int
    persistent: bool
    variant: str


class Visit(TypedDict):
    """What the client's program reads."""

    #: Of the entry of the traffic.
    name: str
    authority: str
    duration_s: float
    count: int | None
    parallel: int
    persistent: bool
    traffic_class: int
    #: null: what the MTU permits.
    mss: int | None
    #: Each with `cookies`: how many bytes of a cookie fill each request up to its size.
    pages: list[dict[str, Any]]


class Web(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = WebOptions
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = (
        NGINX,
        # A host has the machine's Python, not that of NetBoxIT.
        DebianProgram(
            "/usr/bin/python3",
            "python3-pycurl",
            "web clients (traffic application web)",
            "-cimport pycurl; print(pycurl.version)",
        ),
    )

    options: WebOptions
    _ended = False

    def prepare(self) -> None:
        """Raises VariantMissing or SegmentTooSmall."""
        check_segment(self.plan.name, self.options.mss)
        check_variant(self.hosts, self.plan.name, self.plan.source, self.options.variant)
        set_of_pages = page_set(self.options)
        self._server.prepare(
            {f"{page}/{item}": size for page, one in enumerate(set_of_pages) for item, size in enumerate(one["objects"])}
        )
        files = self.own_files(self.plan.destination)
        files.write(_VISIT_FILE, json.dumps(self._visit(set_of_pages)))
        files.write(_BROWSER.name, _BROWSER.read_text())

    @property
    def _server(self) -> WebServer:
        options, plan = self.options, self.plan
        return WebServer(
            self,
            plan.source,
            plan.source_address,
            options.port,
            traffic_class=options.dscp << 2,
            congestion_control=of_linux(options.variant),
        )

    def arrange(self) -> None:
        """As in virtual time, the path has resolved addresses when the first page is asked for."""
        self._server.launch()
        self.hosts.run(self.plan.destination, ["ping", "-c", "1", "-W", str(_RESOLVED_S), self.plan.source_address])
        self.launch(
            self.plan.destination,
            "browser",
            ["/usr/bin/python3", *map(self.inside, (_BROWSER.name, _VISIT_FILE, RECORD_FILE))],
            ends_with=0,
            patience_s=_LATE_S,
            held=True,
        )

    def check(self) -> None:
        """It is over when its client has got all pages."""
        super().check()
        for client in self._running:
            if client.name == "browser" and client.program.poll() is not None and not self._ended:
                self._ended = True
                self.ends = min(self.ends, time.monotonic())

    def keep(self) -> None:
        self._server.keep()
        self.own_files(self.plan.destination).take(RECORD_FILE, self.folder / RECORD_FILE)

    def flows(self) -> list[Flow]:
        return flows(self.plan, self.options)

    def facts(self) -> WebFacts:
        return facts(self.options, record=RECORD_FILE)

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic:
        options = WebOptions.model_construct(**plan.options)
        set_of_pages = page_set(options)
        server, client = flow_ends(
            plan.name,
            "web",
            listens=(plan.source, plan.source_address),
            opens=plan.destination,
            port=options.port,
            dscp=options.dscp,
            start_s=options.start,
        )
        segment: TcpEnd = {} if options.mss is None else {"mss": options.mss}
        server |= {"pages": set_of_pages, "idle_s": IDLE_S, "tcp": {"variant": options.variant, **segment}}
        client |= {
            "until_s": options.start + options.duration,
            "pages": set_of_pages,
            "parallel": options.connections,
            "persistent": options.persistent,
        }
        if options.count is not None:
            client["count"] = options.count
        if options.variant in OF_BOTH_ENDS:
            client["tcp"] = {"variant": options.variant, **segment}
        elif segment:
            client["tcp"] = segment
        return VirtualTraffic((server, client), tuple(flows(plan, options)), facts(options, record=None))

    def _visit(self, set_of_pages: list[WebPage]) -> Visit:
        options = self.options
        return {
            "name": self.plan.name,
            "authority": self._server.authority,
            "duration_s": options.duration,
            "count": options.count,
            "parallel": options.connections,
            "persistent": options.persistent,
            "traffic_class": options.dscp << 2,
            "mss": options.mss,
            "pages": [
                {
                    "objects": page["objects"],
                    "parse_s": page["parse_s"],
                    "think_s": page["think_s"],
                    "cookies": [
                        max(
                            0,
                            wanted - len(request(f"/{number}/{item}", self._server.authority, options.persistent)) - len(_COOKIE),
                        )
                        for item, wanted in enumerate(page["requests"])
                    ],
                }
                for number, page in enumerate(set_of_pages)
            ],
        }


#: What a cookie takes besides its bytes.
_COOKIE: Final = "Cookie: \r\n"


def request(target: str, of: str, persistent: bool) -> str:
    """A request as both clients write it, without the cookie that fills it."""
    closing = "" if persistent else "Connection: close\r\n"
    return f"GET {target} HTTP/1.1\r\nHost: {of}\r\nUser-Agent: NetBoxIT\r\nAccept: */*\r\n{closing}\r\n"


def page_set(options: WebOptions) -> list[WebPage]:
    """The pages that are got one after another, and from the first on again: the same in both times."""
    if options.pages is not None:
        return [
            {
                "objects": [round(size) for size in page.objects],
                "requests": [_REQUEST_BYTES] * len(page.objects),
                "parse_s": 0.0,
                "think_s": page.think,
            }
            for page in (OwnPage.model_construct(**dict(page)) for page in options.pages)
        ]
    return pages.drawn(
        options.model,
        f"{options.seed} web",
        reading_s=options.think,
        most=min(_MOST_PAGES, options.count or _MOST_PAGES),
        lasting_s=options.duration,
    )


def facts(options: WebOptions, *, record: str | None) -> WebFacts:
    return {
        "record": record,
        "pages": page_set(options),
        "count": options.count,
        "connections": options.connections,
        "persistent": options.persistent,
        "variant": options.variant,
    }


def flows(plan: TrafficPlan, options: WebOptions) -> list[Flow]:
    """Pages from the server's port, and requests to it; the client's ports are any."""
    port = (options.port, options.port)
    return [
        Flow(
            name=f"{plan.name}.pages",
            kind="web pages",
            direction=plan.direction,
            source=plan.source,
            destination=plan.destination,
            source_address=plan.source_address,
            destination_address=plan.destination_address,
            protocol="tcp",
            source_ports=port,
        ),
        Flow(
            name=f"{plan.name}.requests",
            kind="web requests",
            direction=opposite(plan.direction),
            source=plan.destination,
            destination=plan.source,
            source_address=plan.destination_address,
            destination_address=plan.source_address,
            protocol="tcp",
            destination_ports=port,
        ),
    ]
