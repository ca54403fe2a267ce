# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running netbox answers at its control socket, by method (docs/architecture.md, "Netbox process").

Its `status` is contracts.node_status.NetboxStatus. Further keys of an answer are the netbox's own.
"""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from contracts.announced import AnnouncedEvent
from contracts.statistics import (
    Count,
    Details,
    FrameCounters,
    FrameRecords,
    JournalLines,
    LatenessCountersByKind,
    Measure,
    NetboxPort,
    ThreadUsage,
)


class PortCounters(NetboxPort):
    """Bytes are those of Ethernet frames without FCS."""

    received_bytes: Count
    sent_bytes: Count
    #: Sum of the times that the frames which left here were in the netbox.
    delay_s: Measure
    #: Frames that came without a checksum, which the netbox completed.
    checksums_missing: Count


class NetboxCounters(TypedDict):
    """`counters`: what takes the netbox next to no time to say."""

    ports: list[PortCounters]
    frames: FrameCounters
    #: By station, of those that have any: of each stage its kind as "stage", and what only this kind counts.
    stages: dict[str, list[Details]]
    lateness_us: LatenessCountersByKind
    scheduler: ThreadUsage


class Neighbours(TypedDict):
    """What the neighbour proxy did."""

    known: Count
    answered: Count
    suppressed: Count


class RunningStatistics(NetboxCounters):
    """`statistics`: what statistics.json of the run folder will have, too."""

    records: FrameRecords
    journal: JournalLines
    #: The latest ones.
    events: list[AnnouncedEvent]
    #: Null where the segment has no neighbour proxy.
    neighbours: Neighbours | None
    #: The technology's own.
    segment: Details


class Begun(TypedDict):
    """`begin`."""

    simulated_s: Measure


class Reopened(TypedDict):
    """`reopen`, which is repeated until it is done."""

    done: bool


class RecordsWritten(TypedDict):
    """`write_records`: how many frame records are in the file, found no room, and wait."""

    written: Count
    dropped: Count
    left: Count


class CaptureState(TypedDict):
    """`capture` and `capture_stop`: the latest capture at a port."""

    #: As the netbox sees it.
    file: str
    state: Literal["starting", "running", "ended"]
    #: All that was captured is in the file.
    written: bool
    frames: Count
    #: Frames that found no room.
    dropped: Count
    #: Why nothing more is captured.
    error: str | None
