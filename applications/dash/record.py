# SPDX-License-Identifier: GPL-2.0-or-later
"""What a player takes down of itself, in real time and in virtual time alike. Times are seconds since it began."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

#: A player's record in real time, one JSON object a line; in virtual time it is in the journal of the client's host.
RECORD_FILE: Final = "player.jsonl"

_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class SegmentRecord(TypedDict):
    """A segment that has come."""

    record: Literal["segment"]
    #: The entry of the traffic.
    flow: str
    #: Since the beginning, from 0; the video begins again and again.
    segment: Annotated[int, Field(ge=0, lt=2**53)]
    #: In order of the rates, from 0.
    representation: Annotated[int, Field(ge=0, lt=2**53)]
    bytes: Annotated[int, Field(ge=0, lt=2**53)]
    requested_s: _Seconds
    completed_s: _Seconds
    #: Seconds of media in the buffer when the representation was chosen.
    decided_at_s: _Seconds
    #: The throughput that was taken for it; null before the first segment.
    estimate_bit_per_s: Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)] | None
    #: In the buffer, with this segment.
    buffer_s: _Seconds


class PlaybackRecord(TypedDict):
    """The player begins to play, or stands still."""

    record: Literal["playback"]
    flow: str
    state: Literal["playing", "stalled"]
    time_s: _Seconds
