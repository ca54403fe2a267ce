# SPDX-License-Identifier: GPL-2.0-or-later
"""statistics.json of a node in a run folder, and the same as a running node answers: what it counted.

Counts are of frames. They begin with the network's time, or with the traffic where a lab stays up.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

#: What a 64-bit counter can hold, and the difference of two.
Count = Annotated[int, Field(ge=-(2**63), lt=2**64)]
Counts = dict[str, Count]
#: What is measured. A larger number is no measurement, and sums of such numbers would be none.
Measure = Annotated[float, Field(ge=-1e100, le=1e100)]
#: What only its writer knows the keys of: a technology's statistics, or what is an event's own, in base units.
Details = dict[str, Any]


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


class FrameCounters(TypedDict):
    """Copies of frames that a netbox carried: what became of them, and how many are in the netbox now."""

    delivered: Count
    #: By the reason.
    lost: Counts
    inside: Count
    #: Frames that ended in the segment, which is a sink of traffic.
    absorbed: Count
    #: Frames that began in the segment, which is a source of traffic.
    emitted: NotRequired[Count]
    #: Copies whose packet was marked as having experienced congestion (RFC 3168), each as often as it was.
    marked: NotRequired[Count]


class LatenessCounters(TypedDict):
    """How much later than intended things were done, in microseconds."""

    count: Count
    #: Later than the limit.
    missed: Count
    #: Of all of them.
    sum: Measure
    #: Pairs: a bound, and how many were no later than it. The difference of two answers tells the lateness of an interval.
    up_to: list[tuple[Measure, Count]]
    #: Percentiles are those of `statistics`; they are not told of nothing.
    p50: NotRequired[Measure]
    p90: NotRequired[Measure]
    p99: NotRequired[Measure]
    p99_9: NotRequired[Measure]
    max: NotRequired[Measure]


class LatenessCountersByKind(TypedDict):
    #: Events of the simulator.
    event: LatenessCounters
    #: Frames that left.
    frame: LatenessCounters


class Miss(TypedDict):
    """What was done later than the limit."""

    #: When it was due, in seconds of simulated time.
    at_s: Measure
    #: "event" or "frame".
    what: str
    lateness_us: Measure


class ThreadUsage(TypedDict):
    """What the netbox's real-time thread took of its core."""

    #: Including `spin_s`.
    cpu_s: Measure
    #: Spent watching the clock.
    spin_s: Measure
    #: How often it left the real-time class, because it had used its share.
    stepped_back: Count


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
    frames: FrameCounters
    lateness_us: LatenessCountersByKind
    #: Events and frames later than the limit.
    missed: Count
    #: The first ones.
    misses: list[Miss]
    records: FrameRecords
    journal: JournalLines
    #: Not of a netbox in virtual time.
    scheduler: NotRequired[ThreadUsage]
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


class RouterDevice(TypedDict):
    """An interface of a router that is a Click program."""

    received: Count
    sent: Count
    #: No room for what arrived.
    overload_drops: Count
    #: Longer than the MTU.
    oversize_drops: Count
    #: Not an Ethernet frame.
    malformed: Count
    #: The interface did not take them.
    send_drops: Count
    #: Dropped by the interface's stages.
    policed: Count
    #: As `NetboxCounters.stages` has those of a station; absent without any.
    stages: NotRequired[list[Details]]


class RouterStatistics(TypedDict):
    """Of a router that is a Click program: what its interfaces counted, by their names."""

    devices: dict[str, RouterDevice]
