# SPDX-License-Identifier: GPL-2.0-or-later
"""Outages of a flow as its receiver knows them: no frame came for longer than can be explained by its sender.

Taken from the captures at both hosts: the time from the last frame that arrived before to the first one after, which is what a
person hears of a handover or of a route that changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from results.flow_path import FlowPath
from results.metrics_document import Outage, Outages, Side
from results.statistics import Values

#: A pause is an outage from so many usual distances of the flow's frames on: two lost in a row.
USUAL_DISTANCES = 3.0

#: And from this on, in ms: less is jitter of networks (an 802.16 frame is up to 20 ms, a request takes several).
SHORTEST_MS = 50.0

#: Frames before and after an outage whose delay and path are told: those of this time, and at most so many.
_BESIDE_NS, _MOST_BESIDE = 1_000_000_000, 50

#: Frames that leave within this time of each other after a pause were held by their host (its wire was unplugged, a neighbour did
#: not answer), when they are at least so many and clearly more than usual.
_BURST_NS, _LEAST_BURST = 5_000_000, 3

#: Delays this far apart differ by more than jitter and the clocks of frames.
_SAME_DELAY_MS = 1.0

#: More of a flow are no outages but a bad link; they are counted.
_MOST_TOLD = 100


def outages(rows: pl.DataFrame, protocol: str, paths: Sequence[FlowPath], began_ns: int) -> Outages | None:
    """The entry `outages` of a flow: threshold, count, sum, the longest, and `list`; None for a flow with too few frames.

    `rows` are the flow's, `paths` those of its frames (results.frames.follow).
    """
    sent = rows.sort("sent_ns")
    if sent.height < 3 or sent["received_ns"].is_not_null().sum() < 2:
        return None
    distances = np.diff(sent["sent_ns"].to_numpy()) / 1e6
    # Not the median: pictures are sent as bursts, whose frames are close together.
    usual_ms = float(np.percentile(distances, 99, method="inverted_cdf")) if protocol == "udp" else float(np.median(distances))
    threshold_ms = max(SHORTEST_MS, USUAL_DISTANCES * usual_ms)
    pauses = [pause for pause in _pauses(sent, protocol, threshold_ms) if pause.duration_ms > threshold_ms]
    durations = [pause.duration_ms for pause in pauses]
    return {
        "threshold_ms": threshold_ms,
        "count": len(pauses),
        "total_ms": sum(durations),
        "longest_ms": max(durations, default=0.0),
        "list": _described(pauses[:_MOST_TOLD], sent, paths, began_ns),
    }


@dataclass(frozen=True)
class _Pause:
    """A time without arrivals, in ns of the clock. Its frames are those from `first` on, before `last`."""

    first: int
    last: int
    begin_ns: int
    end_ns: int
    #: Without what the sender kept silent.
    duration_ms: float
    lost: int
    #: Frames arrived again.
    ended: bool


def _pauses(sent: pl.DataFrame, protocol: str, threshold_ms: float) -> Iterator[_Pause]:
    """Times without arrivals that could be outages.

    A TCP sender keeps silent because nothing arrives, so there a pause counts when frames were lost in it.
    """
    times = sent["sent_ns"].to_numpy()
    arrived = sent.with_row_index("at").filter(pl.col("received_ns").is_not_null()).sort("received_ns")
    order, arrivals = arrived["at"].to_numpy().astype(int), arrived["received_ns"].to_numpy()
    lost = np.concatenate([[0], np.cumsum(sent["received_ns"].is_null().to_numpy())])
    delay_ns = int(np.median(arrivals - times[order]))
    least_ns = threshold_ms * 1e6

    silent = _silences(times, least_ns) if protocol == "udp" else np.zeros(times.size)

    def pause(first: int, last: int, begin_ns: int, end_ns: int, ended: bool) -> _Pause:
        frames_lost = int(lost[last] - lost[first])
        counts = protocol == "udp" or frames_lost > 0
        duration_ns = end_ns - begin_ns - float(silent[max(first, 1) : last + 1].sum()) if counts else 0.0
        return _Pause(first, last, begin_ns, end_ns, duration_ns / 1e6, frames_lost, ended)

    if lost[order.min()] > 0:
        yield pause(0, int(order.min()), int(times[0]) + delay_ns, int(arrivals[0]), True)
    for before in np.flatnonzero(np.diff(arrivals) > least_ns):
        first, last = sorted((int(order[before]) + 1, int(order[before + 1])))
        yield pause(first, last, int(arrivals[before]), int(arrivals[before + 1]), True)
    if (final := int(order.max())) < sent.height - 1:
        yield pause(final + 1, sent.height, int(arrivals[-1]), int(times[-1]) + delay_ns, False)


def _silences(times: NDArray[np.int64], least_ns: float) -> Values:
    """For each frame how long its sender had kept silent before it, in ns; 0 where it did not, or where its host held frames."""
    before = np.concatenate([[0], np.diff(times)]).astype(float)
    burst = np.searchsorted(times, times + _BURST_NS, side="right") - np.arange(times.size)
    held = burst >= max(_LEAST_BURST, 2.5 * float(np.median(burst)))
    return np.where((before > least_ns) & ~held, before, 0.0)


def _described(pauses: Sequence[_Pause], sent: pl.DataFrame, paths: Sequence[FlowPath], began_ns: int) -> list[Outage]:
    frames = _Frames(
        sent["sent_ns"].to_numpy(),
        sent["received_ns"].is_not_null().to_numpy(),
        sent["received_ns"].fill_null(0).to_numpy(),
        sent["path"].fill_null(-1).to_numpy(),
    )
    told: list[Outage] = []
    for pause in pauses:
        before = frames.side(slice(max(0, pause.first - _MOST_BESIDE), pause.first), paths, end=True)
        after = frames.side(slice(pause.last, pause.last + _MOST_BESIDE), paths, end=False) if pause.ended else None
        told.append(
            {
                "begin_s": (pause.begin_ns - began_ns) / 1e9,
                "duration_ms": pause.duration_ms,
                "lost": pause.lost,
                "ended": pause.ended,
                "way_changed": bool(before and after and before["via"] != after["via"]),
                "delay_changed": bool(before and after and _apart_ms(before, after) > _SAME_DELAY_MS),
                "before": before,
                "after": after,
            }
        )
    return told


@dataclass(frozen=True)
class _Frames:
    """Columns of a flow's frames, in the order in which they were sent.

    There may be a hundred outages, and queries of tables take longer than all of this.
    """

    sent_ns: NDArray[np.int64]
    arrived: NDArray[np.bool_]
    #: Of those that arrived.
    received_ns: NDArray[np.int64]
    path: NDArray[np.int64]

    def side(self, beside: slice, paths: Sequence[FlowPath], end: bool) -> Side | None:
        """Delay of the frames on one side of an outage, and the path that most of them took; None where none arrived."""
        arrived = self.arrived[beside]
        sent_ns = self.sent_ns[beside][arrived]
        if not sent_ns.size:
            return None
        near = np.abs(sent_ns - sent_ns[-1 if end else 0]) <= _BESIDE_NS
        delays: Values = (self.received_ns[beside][arrived] - sent_ns)[near] / 1e6
        low, middle, high = np.percentile(delays, [10, 50, 90], method="inverted_cdf")
        # Of several that as many took, the one that was taken first.
        taken = Counter(self.path[beside][arrived][near].tolist())
        return {
            "delay_ms": float(middle),
            "delay_p10_ms": float(low),
            "delay_p90_ms": float(high),
            "via": list(paths[taken.most_common(1)[0][0]].netboxes),
        }


def _apart_ms(before: Side, after: Side) -> float:
    """How far apart are nine tenths of the delays on one side and nine tenths on the other; negative when they overlap."""
    return float(max(after["delay_p10_ms"] - before["delay_p90_ms"], before["delay_p10_ms"] - after["delay_p90_ms"]))
