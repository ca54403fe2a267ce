# SPDX-License-Identifier: GPL-2.0-or-later
"""The lives of a netbox that was rebooted in a run: what it counted in each of them, as if it were one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from contracts.statistics import Count, CpuUsage, Lateness, Miss, NetboxFrames, NetboxPort, NetboxStatistics

#: What the lives have together is their sum; of percentiles and the like the worst is told, which is no less than that of all.
_WORST: Final[tuple[Literal["p50", "p90", "p99", "p99_9", "max"], ...]] = ("p50", "p90", "p99", "p99_9", "max")
#: Frames that were inside when the power went.
POWER: Final = "power"


def together(lives: Sequence[NetboxStatistics | None]) -> NetboxStatistics | None:
    """The statistics of a netbox (docs/architecture.md, "Control") over all its lives; None when it left none of one of them.

    Times are those of its first life. Of the segment's own numbers there are those of the last one.
    """
    if len(lives) == 1:
        return lives[0]
    there = [life for life in lives if life is not None]
    return None if len(there) < len(lives) else _together(there)


def _together(lives: Sequence[NetboxStatistics]) -> NetboxStatistics:
    first, last = lives[0], lives[-1]
    found: NetboxStatistics = {
        "epoch_ns": first["epoch_ns"],
        "ports": [_port(port["name"], lives) for port in last["ports"]],
        "frames": _frames(lives),
        "lateness_us": {
            "event": _lateness([life["lateness_us"]["event"] for life in lives]),
            "frame": _lateness([life["lateness_us"]["frame"] for life in lives]),
        },
        "missed": sum(life["missed"] for life in lives),
        "misses": [_moved(one, life, first) for life in lives for one in life.get("misses", ())],
        "segment": last["segment"],
    }
    if records := [life["records"] for life in lives if "records" in life]:
        found["records"] = {
            "written": sum(one["written"] for one in records),
            "dropped": sum(one["dropped"] for one in records),
        }
    if journals := [life["journal"] for life in lives if "journal" in life]:
        found["journal"] = {"dropped": sum(one["dropped"] for one in journals)}
    if schedulers := [life["scheduler"] for life in lives if "scheduler" in life]:
        found["scheduler"] = _cpu(schedulers)
    return found


def _port(name: str, lives: Sequence[NetboxStatistics]) -> NetboxPort:
    all_lives = [port for life in lives for port in life["ports"] if port["name"] == name]
    return {
        "name": name,
        "received": sum(port["received"] for port in all_lives),
        "sent": sum(port["sent"] for port in all_lives),
        "overload_drops": sum(port["overload_drops"] for port in all_lives),
        "oversize_drops": sum(port["oversize_drops"] for port in all_lives),
        "malformed": sum(port["malformed"] for port in all_lives),
        "send_drops": sum(port["send_drops"] for port in all_lives),
    }


def _frames(lives: Sequence[NetboxStatistics]) -> NetboxFrames:
    frames = [life["frames"] for life in lives]
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


def _moved(miss: Miss, life: NetboxStatistics, first: NetboxStatistics) -> Miss:
    """With its time in the first life's."""
    return {**miss, "at_s": miss["at_s"] + (life["epoch_ns"] - first["epoch_ns"]) / 1e9}


def _lateness(lives: Sequence[Lateness]) -> Lateness:
    """Without the histogram."""
    found: Lateness = {"count": sum(life["count"] for life in lives)}
    for key in _WORST:
        if values := [life[key] for life in lives if key in life]:
            found[key] = max(values)
    return found


def _cpu(lives: Sequence[CpuUsage]) -> CpuUsage:
    found: CpuUsage = {}
    if cpu_s := [life["cpu_s"] for life in lives if "cpu_s" in life]:
        found["cpu_s"] = sum(cpu_s)
    if spin_s := [life["spin_s"] for life in lives if "spin_s" in life]:
        found["spin_s"] = sum(spin_s)
    if stepped_back := [life["stepped_back"] for life in lives if "stepped_back" in life]:
        found["stepped_back"] = sum(stepped_back)
    return found
