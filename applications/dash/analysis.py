# SPDX-License-Identifier: GPL-2.0-or-later
"""How a video was seen: when it began, how often it stood still, in which quality and with how many changes of it.

All of it is from the player's own record, which has the same form in real and in virtual time. The measures are those of
ISO/IEC 23009-1, annex D, and of ITU-T P.1203: initial loading, stalling, representations and their switches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from typing_extensions import TypedDict

from applications import records
from applications.dash.application import DashFacts
from applications.dash.chart import course
from applications.dash.record import PlaybackRecord, SegmentRecord
from contracts.flow import ApplicationRecord, Flow
from contracts.run_files import DamagedRun
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, MeasuredValues
from results.measure import Measure
from results.metrics_document import Summary
from results.statistics import summary

_Records = list[SegmentRecord | PlaybackRecord]
#: A type, too.
_RECORD: Final[Any] = SegmentRecord | PlaybackRecord


class Quality(TypedDict):
    """A representation."""

    rate_kbps: float
    segments: int
    #: Of all segments that came.
    ratio: float


class BufferLevels(TypedDict):
    """The play-out buffer, before and after each arrival and where it was empty; between them it plays or stands still."""

    time_s: list[float]
    level_s: list[float]


#: A video by adaptive streaming (`dash`). Times count from when the player began.
Streaming = TypedDict(
    "Streaming",
    {
        "traffic": str,
        "from": str,
        "to": str,
        "adaptation": str,
        "variant": str,
        #: Until it first played; null where it never did, or began in the warm-up.
        "start_up_s": float | None,
        "stalls": int,
        "stalled_s": float,
        #: Of the time since it first played.
        "stalled_ratio": float | None,
        "segments": int,
        #: Of the representations, on the mean of all segments that came.
        "rate_kbps": float | None,
        #: From one segment to the next.
        "switches": int,
        #: Of their sizes.
        "switch_kbps": float | None,
        "qualities": list[Quality],
        #: Of what the buffer held when a segment had come.
        "buffer_s": Summary | None,
        "buffer": BufferLevels,
        #: Why the start-up is not told; null where it needs no words.
        "reason": str | None,
    },
)


class DrawnStreaming(TypedDict):
    """With its course as a chart."""

    streaming: Streaming
    chart: str | None


class StreamingPart(TypedDict):
    """What the template of the report is given."""

    streamings: Sequence[DrawnStreaming]


def judge(evidence: Evidence) -> Findings:
    """Raises DamagedRun."""
    found = [(record, evidence.facts(record, DashFacts), _records(evidence, record)) for record in evidence.records]
    streamings = [_streaming(evidence, record, facts, records) for record, facts, records in found]
    return Findings(
        streamings,
        drawn=partial(_drawn, streamings, [(facts, records, evidence.warm_up_of(record)) for record, facts, records in found]),
        measured=[
            _measured(flow, streaming)
            for record, streaming in zip(evidence.records, streamings, strict=True)
            for flow in record.flows  # from server to player
        ],
    )


def _records(evidence: Evidence, record: ApplicationRecord) -> _Records:
    facts, player = evidence.facts(record, DashFacts), evidence.planned[record.name].destination
    own: _Records = records.read(evidence, record, facts["record"], player, _RECORD)
    if any(one["representation"] >= len(facts["ladder"]) for one in segments(own)):
        file = records.place(evidence, record, facts["record"], player)
        raise DamagedRun(file, "the player fetched a representation that there is not")
    return own


def segments(records: _Records) -> list[SegmentRecord]:
    """Those that came, in order."""
    return [one for one in records if one["record"] == "segment"]


def playback(records: _Records) -> list[PlaybackRecord]:
    """When it began to play, and to stand still."""
    return [one for one in records if one["record"] == "playback"]


def stalls(records: _Records, until_s: float) -> list[tuple[float, float]]:
    """From when until when it stood still."""
    changes = playback(records)
    ends = [one["time_s"] for one in changes[1:]] + [until_s]
    return [
        (one["time_s"], max(one["time_s"], end)) for one, end in zip(changes, ends, strict=False) if one["state"] == "stalled"
    ]


def _streaming(evidence: Evidence, record: ApplicationRecord, facts: DashFacts, records: _Records) -> Streaming:
    entry, ladder = evidence.planned[record.name], [rate / 1e3 for rate in facts["ladder"]]
    from_s = evidence.warm_up_of(record)
    came = [one for one in segments(records) if one["requested_s"] >= from_s]
    start_up_s = next((one["time_s"] for one in playback(records) if one["state"] == "playing"), None)
    stood_still = [(max(begin, from_s), end) for begin, end in stalls(records, facts["duration_s"]) if end > from_s]
    stalled_s = sum(end - begin for begin, end in stood_still)
    watched_s = 0.0 if start_up_s is None else facts["duration_s"] - max(start_up_s, from_s)
    rates = [ladder[one["representation"]] for one in came]
    steps = [abs(after - before) for before, after in pairwise(rates) if before != after]
    return {
        "traffic": record.name,
        "from": entry.source,
        "to": entry.destination,
        "adaptation": facts["adaptation"],
        "variant": facts["variant"],
        "start_up_s": None if from_s else start_up_s,
        "stalls": len(stood_still),
        "stalled_s": stalled_s,
        "stalled_ratio": stalled_s / watched_s if watched_s > 0 else None,
        "segments": len(came),
        "rate_kbps": sum(rates) / len(rates) if rates else None,
        "switches": len(steps),
        "switch_kbps": sum(steps) / len(steps) if steps else None,
        "qualities": [
            {"rate_kbps": rate, "segments": rates.count(rate), "ratio": rates.count(rate) / len(rates) if rates else 0.0}
            for rate in ladder
        ],
        "buffer_s": summary([one["buffer_s"] for one in came]),
        "buffer": _levels(records, facts["segment_s"]),
        "reason": "it began in the warm-up, so how long its start-up took does not count" if from_s else None,
    }


def _measured(flow: Flow, streaming: Streaming) -> MeasuredValues:
    values = {
        "start_up_s": streaming["start_up_s"],
        "stalls": streaming["stalls"],
        "stalled_s": streaming["stalled_s"],
        "stalled_ratio": streaming["stalled_ratio"],
        "video_rate_kbps": streaming["rate_kbps"],
        "rate_switches": streaming["switches"],
        "buffer_s_mean": streaming["buffer_s"]["mean"] if streaming["buffer_s"] else None,
    }
    return MeasuredValues(values, streaming["traffic"], flow.name, flow.direction)


def _levels(records: _Records, segment_s: float) -> BufferLevels:
    arrivals = [
        (one["completed_s"], level)
        for one in segments(records)
        for level in (max(0.0, one["buffer_s"] - segment_s), one["buffer_s"])
    ]
    empty = [(one["time_s"], 0.0) for one in playback(records) if one["state"] == "stalled"]
    levels = sorted([(0.0, 0.0), *arrivals, *empty], key=lambda point: point[0])
    return {"time_s": [at for at, _ in levels], "level_s": [level for _, level in levels]}


def _drawn(streamings: Sequence[Streaming], found: Sequence[tuple[DashFacts, _Records, float]]) -> StreamingPart:
    return {
        "streamings": [
            {"streaming": streaming, "chart": _chart(streaming, facts, records, warm_up_s)}
            for streaming, (facts, records, warm_up_s) in zip(streamings, found, strict=True)
        ]
    }


def _chart(streaming: Streaming, facts: DashFacts, records: _Records, warm_up_s: float) -> str | None:
    came = segments(records)
    if not came:
        return None
    qualities = [(one["requested_s"], facts["ladder"][one["representation"]] / 1e3) for one in came]
    levels = list(zip(streaming["buffer"]["time_s"], streaming["buffer"]["level_s"], strict=True))
    return course(qualities, levels, stalls(records, facts["duration_s"]), facts["duration_s"], warm_up_s)


ANALYSIS: Final = ApplicationAnalysis(
    key="streaming",
    entry=Streaming,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    files=(
        ("traffic/*/player.jsonl", "what a player of adaptive streaming fetched and played"),
        ("traffic/*/access.log", "requests that nginx answered"),
    ),
    measures=(
        Measure("start_up_s", "s", "until the video first played", "lower"),
        Measure("stalls", "", "times that the play-out buffer was empty", "lower"),
        Measure("stalled_s", "s", "how long the play-out buffer was empty", "lower"),
        Measure("stalled_ratio", "", "share of the time since it first played in which the video stood still", "lower"),
        Measure("video_rate_kbps", "kbit/s", "rate of the representations that came, mean", "higher"),
        Measure("rate_switches", "", "changes of the representation", "lower"),
        Measure("buffer_s_mean", "s", "media in the play-out buffer when a segment had come, mean", "higher"),
    ),
)
