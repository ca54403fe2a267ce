# SPDX-License-Identifier: GPL-2.0-or-later
"""statistics.json of a node in a run folder, and the same as a running node answers: what it counted.

Counts are of frames. They begin with the network's time, or with the traffic where a lab stays up.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field, FiniteFloat
from typing_extensions import TypedDict

from contracts.announced import Details

#: What a 64-bit counter can hold, and the difference of two.
Count = Annotated[int, Field(ge=-(2**63), lt=2**64)]
Counts = dict[str, Count]


class NetboxPort(TypedDict):
    """A port of a netbox. Others of its keys are the netbox's own."""

    name: str
    received: Count
    sent: Count
    #: The netbox had no time for them.
    overload_drops: Count
    #: Longer than the MTU.
    oversize_drops: Count
    #: Not an Ethernet frame.
    malformed: Count
    #: The interface did not take them.
    send_drops: Count


class NetboxFrames(TypedDict):
    """What became of the copies of frames that a netbox carried. Others of its keys are not read."""

    delivered: Count
    #: By the reason.
    lost: Counts
    #: On their way when this was read.
    inside: NotRequired[Count]
    #: Of a segment that is a source or a sink of traffic.
    emitted: NotRequired[Count]
    absorbed: NotRequired[Count]


class Lateness(TypedDict):
    """How much later than intended things were done, in microseconds."""

    count: Count
    #: Later than the limit.
    missed: NotRequired[Count]
    #: Of all of them.
    sum: NotRequired[FiniteFloat]
    #: Pairs: a bound, and how many were no later than it.
    up_to: NotRequired[list[tuple[FiniteFloat, Count]]]
    #: A percentile is not told of nothing.
    p50: NotRequired[FiniteFloat]
    p90: NotRequired[FiniteFloat]
    p99: NotRequired[FiniteFloat]
    p99_9: NotRequired[FiniteFloat]
    max: NotRequired[FiniteFloat]


class LatenessByKind(TypedDict):
    #: Events of the simulator.
    event: Lateness
    #: Frames that left.
    frame: Lateness


class Miss(TypedDict):
    """What was done later than the limit."""

    #: When it was due, in seconds of simulated time.
    at_s: FiniteFloat
    #: "event" or "frame".
    what: str
    lateness_us: FiniteFloat


class CpuUsage(TypedDict):
    """What the netbox's thread took of its core."""

    #: Including `spin_s`.
    cpu_s: NotRequired[FiniteFloat]
    #: Spent watching the clock.
    spin_s: NotRequired[FiniteFloat]
    #: How often it left the real-time class, because it had used its share.
    stepped_back: NotRequired[Count]


class FrameRecords(TypedDict):
    """Records of frames.bin."""

    written: Count
    #: They found no room.
    dropped: Count


class JournalLines(TypedDict):
    """Lines of journal.jsonl."""

    #: They found no room.
    dropped: Count


class NetboxStatistics(TypedDict):
    """Of a netbox. Others of its keys are not read."""

    #: CLOCK_REALTIME at simulated time 0, in nanoseconds.
    epoch_ns: int
    ports: list[NetboxPort]
    frames: NetboxFrames
    lateness_us: LatenessByKind
    #: Events and frames later than the limit.
    missed: Count
    #: The first ones.
    misses: NotRequired[list[Miss]]
    records: NotRequired[FrameRecords]
    journal: NotRequired[JournalLines]
    #: Of a netbox in real time.
    scheduler: NotRequired[CpuUsage]
    #: The technology's own.
    segment: Details


class SwitchPort(TypedDict):
    """Frames that a port of a switch counted since the switch came up."""

    #: OpenFlow's.
    number: int
    received: int
    sent: int
    receive_drops: int
    send_drops: int
    #: Dropped by `police`.
    policed: int
    #: Found no room in a queue before the port.
    queue_drops: int


class SwitchStatus(TypedDict):
    #: Open vSwitch's word: "system" is the kernel's, "netdev" that in user space.
    datapath: str
    ports: dict[str, SwitchPort]
    #: Frames that came to the sockets of user space and were never read; null where others look after that.
    unserved: int | None


class RouterStatistics(TypedDict):
    """Of a router that is a Click program: what each of its interfaces counted, by the interface's name."""

    devices: dict[str, Counts]
