# SPDX-License-Identifier: GPL-2.0-or-later
"""How streams of TCP shared what they had to share: Jain's index, over the run and in each second of it.

The index is that of Jain, Chiu and Hawe ("A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared
Computer Systems", DEC-TR-301, 1984): 1 where all have the same, 1 / n where one of n has all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from results.metrics_document import FairnessOverTime
from results.statistics import Values
from results.tcp import Flags, Numbers, Stream

INTERVAL_NS: Final = 1_000_000_000
#: Eleven days. Times further apart are of no run.
_MOST_INTERVALS: Final = 1_000_000


def jain(values: Sequence[float]) -> float | None:
    """None where all are 0."""
    squares = sum(value**2 for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def over_time(streams: Sequence[Stream], began_ns: int) -> FairnessOverTime | None:
    """The index of the bytes that arrived in each second since `began_ns`; None where no two streams were active in one.

    A stream is active in a second when it began before and sent or received data afterwards, and had data in flight meanwhile. So
    one that delivers nothing although it has something to send counts with 0, and one that has nothing to send does not count.
    """
    known = [stream for stream in streams if stream.sender is not None and stream.delivered is not None]
    if len(known) < 2:
        return None
    spans = [_span_ns(stream) for stream in known]
    first, behind = (min(first for first, _ in spans) - began_ns) // INTERVAL_NS, max(last for _, last in spans) - began_ns
    if behind // INTERVAL_NS - first > _MOST_INTERVALS:
        return None
    edges = began_ns + np.arange(first, behind // INTERVAL_NS + 2, dtype=np.int64) * INTERVAL_NS
    active = np.array([_active(stream, span, edges) for stream, span in zip(known, spans, strict=True)])
    arrived = np.array([_arrived(stream, edges) for stream in known]) * active
    count, squares = active.sum(axis=0), (arrived**2).sum(axis=0)
    told = np.flatnonzero((count >= 2) & (squares > 0))
    if not told.size:
        return None
    index = arrived.sum(axis=0)[told] ** 2 / (count[told] * squares[told])
    worst = int(index.argmin())
    return {
        "interval_s": INTERVAL_NS / 1e9,
        "count": int(told.size),
        "mean": float(index.mean()),
        "worst": float(index[worst]),
        "worst_s": float(edges[told[worst]] - began_ns) / 1e9,
    }


def _span_ns(stream: Stream) -> tuple[int, int]:
    """From the first byte's sending, or since the warm-up, to the last that is known of its data."""
    assert stream.sender is not None
    assert stream.delivered is not None
    arrivals = stream.delivered.times_ns
    return stream.sender.since_ns, max(stream.sender.last_ns, int(arrivals[-1]) if arrivals.size else 0)


def _active(stream: Stream, span: tuple[int, int], edges: Numbers) -> Flags:
    assert stream.sender is not None
    times_ns = np.concatenate([[0], np.cumsum(stream.sender.in_flight_ns)])
    busy_ns = np.concatenate([[0], np.cumsum(np.where(stream.sender.in_flight > 0, stream.sender.in_flight_ns, 0))])
    in_flight = np.diff(np.interp(edges - span[0], times_ns, busy_ns)) > 0
    return np.asarray((edges[:-1] >= span[0]) & (edges[1:] <= span[1]) & in_flight)


def _arrived(stream: Stream, edges: Numbers) -> Values:
    """Bytes in each interval."""
    assert stream.delivered is not None
    until = np.concatenate([[0], stream.delivered.bytes])
    return np.diff(until[np.searchsorted(stream.delivered.times_ns, edges)]).astype(float)
