# SPDX-License-Identifier: GPL-2.0-or-later
"""The lives of a netbox that was rebooted in a run: what it counted in each of them, as if it were one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

#: What the lives have together is their sum; of percentiles and the like the worst is told, which is no less than that of all.
_WORST: Final = ("p50", "p90", "p99", "p99_9", "max")
_SUMMED: Final = ("frames", "records", "journal", "missed")
_SUMMED_OF_SCHEDULER: Final = ("cpu_s", "spin_s", "stepped_back")
#: Frames that were inside when the power went.
POWER: Final = "power"


def together(lives: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """The statistics of a netbox (docs/architecture.md, "Control") over all its lives; None when it left none of one of them.

    Times are those of its first life. Of the segment's own numbers there are those of the last one.
    """
    if len(lives) == 1:
        return lives[0]
    there = [life for life in lives if life is not None]
    if len(there) < len(lives):
        return None
    try:
        return _together(there)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # what is wrong with which file is told elsewhere (`results.damage`)


def _together(lives: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first, last = lives[0], lives[-1]
    found = dict(last) | {"epoch_ns": first["epoch_ns"]}
    for key in _SUMMED:
        if key in last:
            found[key] = _sum([life[key] for life in lives])
    if "scheduler" in last:
        of_all = [{key: life["scheduler"][key] for key in _SUMMED_OF_SCHEDULER if key in life["scheduler"]} for life in lives]
        found["scheduler"] = {**last["scheduler"], **_sum(of_all)}
    found["frames"]["lost"][POWER] = sum(life["frames"].get("inside", 0) for life in lives[:-1])
    found["frames"]["inside"] = last["frames"].get("inside", 0)
    for key in ("misses", "events"):
        found[key] = [_moved(one, life, first) for life in lives for one in life.get(key, ())]
    found["lateness_us"] = {kind: _lateness([life["lateness_us"][kind] for life in lives]) for kind in last["lateness_us"]}
    found["ports"] = [
        port | _sum([one for life in lives for one in life["ports"] if one["name"] == port["name"]]) for port in last["ports"]
    ]
    return found


def _moved(one: Mapping[str, Any], life: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """With its time in the first life's."""
    return {**one, "at_s": one["at_s"] + (life["epoch_ns"] - first["epoch_ns"]) / 1e9}


def _lateness(lives: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    worst = {key: max(life[key] for life in lives) for key in _WORST if key in lives[-1]}
    found = _sum([{key: value for key, value in life.items() if key != "up_to"} for life in lives]) | worst
    if "up_to" in lives[-1]:
        found["up_to"] = [[bound, sum(n)] for bound, n in _bounds(lives)]
    return dict(found)


def _bounds(lives: Sequence[Mapping[str, Any]]) -> list[tuple[float, list[int]]]:
    counts = [dict(map(tuple, life["up_to"])) for life in lives]
    return [(bound, [one.get(bound, 0) for one in counts]) for bound in counts[-1]]


def _sum(parts: Sequence[Any]) -> Any:
    """Of numbers, and of numbers in mappings of the same shape; of all else the last."""
    if all(isinstance(part, Mapping) for part in parts):
        keys = dict.fromkeys(key for part in parts for key in part)
        return {key: _sum([part[key] for part in parts if key in part]) for key in keys}
    numbers = all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts)
    return sum(parts) if numbers else parts[-1]
