# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of `status --watch`: labs that come and go, what happens in them, and figures of each interval (docs/watching.md)."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from contracts.node_status import PartStatus
from contracts.plan import NodeKind

Light = Literal["green", "amber", "red"]


class LabLine(TypedDict):
    """A lab is up, or gone. One that was changed, or whose network's time begins, is announced as up anew."""

    kind: Literal["lab"]
    lab: str
    state: Literal["up", "gone"]
    #: Of "up": CLOCK_REALTIME at time 0 of its events, null until the network's time begins.
    began_ns: NotRequired[int | None]


class Event(TypedDict):
    """What a node announced, or what was changed in the lab."""

    kind: Literal["event"]
    lab: str
    #: Since the network's time began.
    at_s: float
    #: The node that announced it; null of what was changed.
    node: str | None
    station: str | None
    #: What it is, as the journal of the node or the log of the lab calls it.
    event: str
    #: The same for people.
    words: str


class Port(TypedDict):
    """Rates of an interval, in whole Ethernet frames without FCS; null where they are not known."""

    name: str
    in_bit_s: float | None
    in_frames_s: float | None
    out_bit_s: float | None
    out_frames_s: float | None
    #: Mean time in the netbox of the frames that left here.
    delay_ms: float | None


class Service(TypedDict):
    """A service of a link layer at one station in an interval: what the station hands to it, and what comes to the station."""

    station: str
    service: str
    scheme: str
    #: Accounted bits of packets, without headers of the link layer.
    in_bit_s: float
    out_bit_s: float
    #: Frames that the station repeated.
    retransmissions: int
    #: Packets that do not come to the station any more.
    lost: int
    #: Latest measurements, null before the first: of what it sends, the packets' share of all bytes on the air.
    goodput: float | None
    #: Of what comes to it: share lost after recovery, and delay without queues.
    loss: float | None
    delay_ms: float | None


class StageFigures(TypedDict):
    """A stage of a netbox's station or of a Click router's interface in an interval; words as of its statistics."""

    port: str
    #: Among those of the port, from 0.
    place: int
    #: Its kind.
    stage: str
    #: How things are at the end of the interval; rates in bit/s.
    levels: dict[str, float]
    #: What happened in the interval; only what did.
    counts: dict[str, float]


class LatenessOfKind(TypedDict):
    """Of frames, or of the simulator's events."""

    count: float
    #: Later than the limit.
    missed: float
    #: The bound of the histogram that 99 % kept; null when there was nothing, or more than 1 % was later than 200 ms.
    p99_us: float | None


class Kept(TypedDict):
    frame: LatenessOfKind
    event: LatenessOfKind


class Lateness(Kept):
    limit_us: float


class NodeFigures(TypedDict):
    """A node in an interval; of netboxes also how late they were."""

    name: str
    kind: NodeKind
    cores: list[int]
    alive: bool
    ports: list[Port]
    #: Frames, by reason; only what was lost in the interval.
    lost: dict[str, int]
    #: Of a netbox: copies of frames that were marked as having experienced congestion (RFC 3168).
    marked: NotRequired[int]
    #: Of a host with parts in managed links.
    management: NotRequired[list[PartStatus]]
    #: Of a netbox whose link layer has services.
    services: NotRequired[list[Service]]
    #: Of a netbox or a Click router with stages.
    stages: NotRequired[list[StageFigures]]
    #: Of a netbox, as the keys below.
    answers: NotRequired[bool]
    light: NotRequired[Light]
    #: Null where there are no two answers to compare, as in `cpu`.
    lateness: NotRequired[Lateness | None]
    #: Share of a core.
    cpu: NotRequired[float | None]


class IntervalLine(TypedDict):
    """The figures of an interval."""

    kind: Literal["interval"]
    lab: str
    #: CLOCK_REALTIME at its end.
    at_ns: int
    interval_s: float
    nodes: list[NodeFigures]


WatchLine = LabLine | Event | IntervalLine
