# SPDX-License-Identifier: GPL-2.0-or-later
"""What an application is in virtual time: what hosts of netboxes/endpoints send and receive in the place of its programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts.flow import Flow

#: As endpoints call them.
VirtualApplication = Literal["datagrams", "bulk", "web", "dash"]
Role = Literal["sender", "receiver", "client", "server"]


class RtpPacket(TypedDict):
    """One of a piece of media that repeats."""

    #: After the piece's beginning.
    at_s: float
    #: Behind the RTP header.
    bytes: int
    #: Where what it carries belongs in the piece; all packets of a picture have one such time.
    media_s: float
    marker: bool


class RtpMedia(TypedDict):
    """RTP whose packets have the lengths and times of a piece that repeats; its bytes are zeros."""

    repeat_s: float
    #: After the start.
    until_s: float
    #: Of timestamps.
    clock_hz: int
    payload_type: int
    ssrc: int
    packets: list[RtpPacket]


class TcpEnd(TypedDict):
    """How TCP behaves at an end of a bulk flow; what is not said is as in Linux."""

    #: Congestion control.
    variant: NotRequired[str]
    #: Whether it asks for ECN, or refuses it.
    ecn: NotRequired[bool]
    #: Slow-start threshold at first, bytes.
    initial_ssthresh: NotRequired[int]
    #: Its packets are L4S's (RFC 9331).
    l4s: NotRequired[bool]
    #: Largest segment, bytes, with the options of its header.
    mss: NotRequired[int]
    #: Bytes that wait or are on their way, of a connection.
    send_buffer: NotRequired[int]


class WebPage(TypedDict):
    """A page of a web server."""

    #: Bytes: of its document, then of what that refers to.
    objects: list[int]
    #: Bytes of what asks for each of them.
    requests: list[int]
    #: From the document's arrival to the requests for the others.
    parse_s: float
    #: From when all is there to the next page.
    think_s: float


class HttpObject(TypedDict):
    """What is at a path of a server of dash: a text, then so many bytes of zeros."""

    path: str
    text: NotRequired[str]
    bytes: NotRequired[int]


class VideoRepresentation(TypedDict):
    """One quality of a video of MPEG-DASH: its rate in bit/s, and paths at the server."""

    rate: float
    initialization: str
    segments: list[str]


class FlowEnd(TypedDict):
    """One end of a flow, as the segment of netboxes/endpoints reads it (its README.md); times count from the network's."""

    name: str
    #: Whose end it is.
    host: str
    application: VirtualApplication
    role: Role
    #: The receiver's, or the server's.
    port: int
    #: All that follows is the sender's, or the client's.
    destination: NotRequired[str]
    source_port: NotRequired[int]
    dscp: NotRequired[int]
    start_s: NotRequired[float]
    #: Of datagrams: [from, until] after the start.
    periods: NotRequired[list[tuple[float, float]]]
    per_s: NotRequired[float]
    #: Gaps are exponential ones of that mean; else they are equal.
    poisson: NotRequired[bool]
    #: Of datagrams, in the place of periods.
    media: NotRequired[RtpMedia]
    #: Until the network's time begins, empty datagrams have the path resolve addresses.
    resolve: NotRequired[bool]
    #: Bytes.
    payload: NotRequired[int]
    #: Of bulk: bytes of each connection, or when it stops. A web client stops by time.
    size: NotRequired[int]
    until_s: NotRequired[float]
    #: Of bulk: how many connections; their source ports count up. Of a web client: how many at most.
    parallel: NotRequired[int]
    #: Of bulk, web and dash; also a receiver and a server have it.
    tcp: NotRequired[TcpEnd]
    #: Of web, at both ends. The client gets one after another, and begins again after the last.
    pages: NotRequired[list[WebPage]]
    #: Of a web client: how many pages at most.
    count: NotRequired[int]
    #: Of a web client: a connection serves more than one request.
    persistent: NotRequired[bool]
    #: Of a server: after which time without requests it closes a connection.
    idle_s: NotRequired[float]
    #: Of a server of dash.
    objects: NotRequired[list[HttpObject]]
    #: Of a client of dash, as all that follows: the path of the manifest, and what is in it, in order of the rates.
    manifest: NotRequired[str]
    representations: NotRequired[list[VideoRepresentation]]
    segment_s: NotRequired[float]
    #: Of the play-out buffer: the most that it holds, and how much before it plays, at first and after it stood still.
    buffer_s: NotRequired[float]
    start_up_s: NotRequired[float]
    rebuffer_s: NotRequired[float]
    #: A buffer above has it wait before a request; null: never.
    back_off_above_s: NotRequired[float | None]
    adaptation: NotRequired[Literal["throughput", "buffer"]]
    #: How much of the throughput is trusted.
    safety: NotRequired[float]


#: Of each application: what the end that listens is, and the one that opens the flow.
_ROLES: Final[dict[VirtualApplication, tuple[Role, Role]]] = {
    "datagrams": ("receiver", "sender"),
    "bulk": ("receiver", "sender"),
    "web": ("server", "client"),
    "dash": ("server", "client"),
}


def flow_ends(
    name: str, application: VirtualApplication, *, listens: tuple[str, str], opens: str, port: int, dscp: int, start_s: float
) -> tuple[FlowEnd, FlowEnd]:
    """The end that listens, a host with its address, and the end that opens the flow, which a sender does from the same port.

    They have what each end has of whatever application.
    """
    (host, address), (listening, opening) = listens, _ROLES[application]
    listener: FlowEnd = {"name": name, "host": host, "application": application, "role": listening, "port": port}
    opener: FlowEnd = {
        "name": name,
        "host": opens,
        "application": application,
        "role": opening,
        "port": port,
        "destination": address,
        "dscp": dscp,
        "start_s": start_s,
    }
    if opening == "sender":
        opener["source_port"] = port
    else:
        listener["dscp"] = dscp
    return listener, opener


def rtp_ends(flow: Flow, name: str, *, port: int, dscp: int, start_s: float, media: RtpMedia) -> tuple[FlowEnd, FlowEnd]:
    """Receiver and sender of a flow of RTP; its path resolves addresses before."""
    to = (flow.destination, flow.destination_address)
    receiver, sender = flow_ends(name, "datagrams", listens=to, opens=flow.source, port=port, dscp=dscp, start_s=start_s)
    return receiver, {**sender, "resolve": True, "media": media}


@dataclass(frozen=True)
class VirtualTraffic:
    """An entry of the traffic section: its ends, and what `flows.json` says of it."""

    ends: tuple[FlowEnd, ...]
    flows: tuple[Flow, ...]
    facts: Mapping[str, object] = field(default_factory=dict)
