# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox that was rebooted in a run: what it counted since each start, combined as if it had started once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeVar, cast

from contracts.statistics import Count, FrameCounters, LatenessCounters, NetboxStatistics

#: Counters are added. Of percentiles the largest is taken, which is no less than that of all samples.
_WORST: Final[tuple[Literal["p50", "p90", "p99", "p99_9", "max"], ...]] = ("p50", "p90", "p99", "p99_9", "max")
#: Frames that were inside when the power went.
POWER: Final = "power"

#: A TypedDict of counters.
Counters = TypeVar("Counters", bound=Mapping[str, object])


def combined(starts: Sequence[NetboxStatistics | None]) -> NetboxStatistics | None:
    """The statistics of a netbox (docs/architecture.md, "Control") over all its starts; None when it left none of one of them.

    Times are those of its first start. Of the segment's own numbers there are those of the last one.
    """
    if len(starts) == 1:
        return starts[0]
    there = [start for start in starts if start is not None]
    return None if len(there) < len(starts) else _combined(there)


def _combined(starts: Sequence[NetboxStatistics]) -> NetboxStatistics:
    first, last = starts[0], starts[-1]
    totals: NetboxStatistics = {
        "epoch_ns": first["epoch_ns"],
        "ports": [
            _added([port for start in starts for port in start["ports"] if port["name"] == own["name"]]) for own in last["ports"]
        ],
        "frames": _frames([start["frames"] for start in starts]),
        "lateness_us": {
            "event": _lateness([start["lateness_us"]["event"] for start in starts]),
            "frame": _lateness([start["lateness_us"]["frame"] for start in starts]),
        },
        "missed": sum(start["missed"] for start in starts),
        "misses": [
            {**miss, "at_s": miss["at_s"] + (start["epoch_ns"] - first["epoch_ns"]) / 1e9}
            for start in starts
            for miss in start["misses"]
        ],
        "records": _added([start["records"] for start in starts]),
        "journal": _added([start["journal"] for start in starts]),
        "segment": last["segment"],
    }
    usages = [start["scheduler"] for start in starts if "scheduler" in start]
    return {**totals, "scheduler": _added(usages)} if usages else totals


def _added(counted: Sequence[Counters]) -> Counters:
    """The sum of each counter; what is no number, as a port's name, is the same in all of them."""
    numbers = cast("Sequence[Mapping[str, float]]", counted)
    sums = {
        key: value if isinstance(value, str) else sum(counters[key] for counters in numbers) for key, value in counted[-1].items()
    }
    return cast("Counters", sums)


def _frames(counted: Sequence[FrameCounters]) -> FrameCounters:
    lost: dict[str, Count] = {
        reason: sum(counters["lost"].get(reason, 0) for counters in counted)
        for reason in dict.fromkeys(reason for counters in counted for reason in counters["lost"])
    }
    return {
        "delivered": sum(counters["delivered"] for counters in counted),
        "lost": lost | {POWER: sum(counters["inside"] for counters in counted[:-1])},
        "inside": counted[-1]["inside"],
        "emitted": sum(counters.get("emitted", 0) for counters in counted),
        "absorbed": sum(counters["absorbed"] for counters in counted),
    }


def _lateness(measured: Sequence[LatenessCounters]) -> LatenessCounters:
    """Without the histogram."""
    combined: LatenessCounters = {
        "count": sum(lateness["count"] for lateness in measured),
        "missed": sum(lateness["missed"] for lateness in measured),
        "sum": sum(lateness["sum"] for lateness in measured),
        "up_to": [],
    }
    for key in _WORST:
        if figures := [lateness[key] for lateness in measured if key in lateness]:
            combined[key] = max(figures)
    return combined
