# SPDX-License-Identifier: GPL-2.0-or-later
"""The highest rate at which a contestant is good, by bisection of rates that it is offered in turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

#: What is tried lies between these (frames a second).
FLOOR = 10.0
CEILING = 20e6


class NothingGood(Exception):
    """A contestant was not good at any rate that was tried."""


@dataclass(frozen=True)
class Search:
    """How a rate is sought: the first steps are `step` wide, the answer is within `resolution`.

    A rate at which a contestant fails is tried again, up to `attempts` times: a host that stops the whole machine for some
    milliseconds makes it fail once. No rate is found too high by that, since a rate beyond the capacity fails every time.
    """

    resolution: float = 0.03
    step: float = 1.5
    attempts: int = 2

    def with_step(self, step: float) -> Search:
        """The same from a start that is near the answer already."""
        return replace(self, step=step)


@dataclass
class Found:
    """The highest good rate, and what was tried on the way: rate and whether it was good."""

    rate: float
    tried: list[tuple[float, bool]] = field(default_factory=list)


def highest_good_rate(is_good: Callable[[float], bool], *, start: float, search: Search) -> Found:
    """Brackets the rate from `start` on, then halves the bracket (geometrically). Raises NothingGood."""
    tried: list[tuple[float, bool]] = []

    def attempt(rate: float) -> bool:
        for _ in range(search.attempts):
            good = is_good(rate)
            tried.append((rate, good))
            if good:
                return True
        return False

    low, high = _bracket(attempt, min(max(start, FLOOR), CEILING), search.step)
    while high / low > 1 + search.resolution:
        middle = math.sqrt(low * high)
        if attempt(middle):
            low = middle
        else:
            high = middle
    return Found(low, tried)


def _bracket(attempt: Callable[[float], bool], start: float, step: float) -> tuple[float, float]:
    """A good rate and the next one above that is not; steps grow while they lead nowhere."""
    rate, factor = start, step
    if attempt(rate):
        while rate < CEILING:
            above = min(rate * factor, CEILING)
            if not attempt(above):
                return rate, above
            rate, factor = above, factor * math.sqrt(step)
        return CEILING, CEILING
    while rate > FLOOR:
        below = max(rate / factor, FLOOR)
        if attempt(below):
            return below, rate
        rate, factor = below, factor * math.sqrt(step)
    raise NothingGood(f"not even {FLOOR:g} frames/s are carried without loss and in time")
