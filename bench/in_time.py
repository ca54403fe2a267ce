# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether netboxes are in time, where the best of several attempts counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from testbed.labs.lab import Lab

Measured = TypeVar("Measured")

#: A netbox is in time while 99 in 100 events and departing frames are no later: a run's default limit.
LIMIT_US = 1000.0
#: What a host takes from a virtual machine must not count as the netboxes' load.
ATTEMPTS = 3


def late_us(lab: Lab, netbox: str) -> float:
    """What 99 in 100 of its events, and of its departing frames, did not exceed since its statistics were reset."""
    with lab.control(netbox) as control:
        lateness = control.statistics()["lateness_us"]
    return max(levels.get("p99", 0.0) for levels in (lateness["event"], lateness["frame"]))


def best_of_attempts(
    attempt: Callable[[], Measured], *, is_good: Callable[[Measured], bool], badness: Callable[[Measured], float]
) -> Measured:
    """The first good one; where none is good, the least bad one."""
    tried: list[Measured] = []
    for _ in range(ATTEMPTS):
        tried.append(attempt())
        if is_good(tried[-1]):
            return tried[-1]
    return min(tried, key=badness)
