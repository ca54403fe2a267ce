# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox that was rebooted in a run: what it counted since each start, combined as if it had started once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from contracts.statistics import Count, CpuUsage, Lateness, Miss, NetboxFrames, NetboxPort, NetboxStatistics

#: Counters are added. Of percentiles the largest is taken, which is no less than that of all samples.
_WORST: Final[tuple[Literal["p50", "p90", "p99", "p99_9", "max"], ...]] = ("p50", "p90", "p99", "p99_9", "max")
#: Frames that were inside when the power went.
POWER: Final = "power"


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
    found: NetboxStatistics = {
        "epoch_ns": first["epoch_ns"],
        "ports": [_port(port["name"], starts) for port in last["ports"]],
        "frames": _frames(starts),
        "lateness_us": {
            "event": _lateness([start["lateness_us"]["event"] for start in starts]),
            "frame": _lateness([start["lateness_us"]["frame"] for start in starts]),
        },
        "missed": sum(start["missed"] for start in starts),
        "misses": [_moved(one, start, first) for start in starts for one in start.get("misses", ())],
        "segment": last["segment"],
    }
    if records := [start["records"] for start in starts if "records" in start]:
        found["records"] = {
            "written": sum(one["written"] for one in records),
            "dropped": sum(one["dropped"] for one in records),
        }
    if journals := [start["journal"] for start in starts if "journal" in start]:
        found["journal"] = {"dropped": sum(one["dropped"] for one in journals)}
    if schedulers := [start["scheduler"] for start in starts if "scheduler" in start]:
        found["scheduler"] = _cpu(schedulers)
    return found


def _port(name: str, starts: Sequence[NetboxStatistics]) -> NetboxPort:
    all_starts = [port for start in starts for port in start["ports"] if port["name"] == name]
    return {
        "name": name,
        "received": sum(port["received"] for port in all_starts),
        "sent": sum(port["sent"] for port in all_starts),
        "overload_drops": sum(port["overload_drops"] for port in all_starts),
        "oversize_drops": sum(port["oversize_drops"] for port in all_starts),
        "malformed": sum(port["malformed"] for port in all_starts),
        "send_drops": sum(port["send_drops"] for port in all_starts),
    }


def _frames(starts: Sequence[NetboxStatistics]) -> NetboxFrames:
    frames = [start["frames"] for start in starts]
    reasons = dict.fromkeys(reason for one in frames for reason in one["lost"])
    lost: dict[str, Count] = {reason: sum(one["lost"].get(reason, 0) for one in frames) for reason in reasons}
    lost[POWER] = sum(one.get("inside", 0) for one in frames[:-1])
    return {
        "delivered": sum(one["delivered"] for one in frames),
        "lost": lost,
        "inside": frames[-1].get("inside", 0),
        "emitted": sum(one.get("emitted", 0) for one in frames),
        "absorbed": sum(one.get("absorbed", 0) for one in frames),
    }


def _moved(miss: Miss, start: NetboxStatistics, first: NetboxStatistics) -> Miss:
    """With its time in the first start's."""
    return {**miss, "at_s": miss["at_s"] + (start["epoch_ns"] - first["epoch_ns"]) / 1e9}


def _lateness(starts: Sequence[Lateness]) -> Lateness:
    """Without the histogram."""
    found: Lateness = {"count": sum(start["count"] for start in starts)}
    for key in _WORST:
        if values := [start[key] for start in starts if key in start]:
            found[key] = max(values)
    return found


def _cpu(starts: Sequence[CpuUsage]) -> CpuUsage:
    found: CpuUsage = {}
    if cpu_s := [start["cpu_s"] for start in starts if "cpu_s" in start]:
        found["cpu_s"] = sum(cpu_s)
    if spin_s := [start["spin_s"] for start in starts if "spin_s" in start]:
        found["spin_s"] = sum(spin_s)
    if stepped_back := [start["stepped_back"] for start in starts if "stepped_back" in start]:
        found["stepped_back"] = sum(stepped_back)
    return found
