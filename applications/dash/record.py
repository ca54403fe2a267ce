# SPDX-License-Identifier: GPL-2.0-or-later
"""What a player records of itself, in both times alike (applications/records.py). Times are seconds since it began."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

from contracts.shapes import Count, Seconds

#: A player's records in real time.
RECORD_FILE: Final = "player.jsonl"


class SegmentRecord(TypedDict):
    """A segment that has come."""

    record: Literal["segment"]
    #: The entry of the traffic.
    flow: str
    #: Since the beginning, from 0; the video begins again and again.
    segment: Count
    #: In order of the rates, from 0.
    representation: Count
    bytes: Count
    requested_s: Seconds
    completed_s: Seconds
    #: Seconds of media in the buffer when the representation was chosen.
    decided_at_s: Seconds
    #: The throughput that was taken for it; null before the first segment.
    estimate_bit_per_s: Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)] | None
    #: In the buffer, with this segment.
    buffer_s: Seconds


class PlaybackRecord(TypedDict):
    """The player begins to play, or stands still."""

    record: Literal["playback"]
    flow: str
    state: Literal["playing", "stalled"]
    time_s: Seconds
