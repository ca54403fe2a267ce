# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine can do with netboxes: `bench`."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class Pair(TypedDict):
    """Two contestants, one after the other."""

    above: float
    below: float
    ratio: float


class RatioOfPairs(TypedDict):
    median: float
    min: float
    max: float
    pairs: list[Pair]


class Target(TypedDict):
    """A figure that was measured, and whether it is what is to be reached."""

    figure: str
    target: str
    measured: float
    unit: str
    reached: bool


class Bench(TypedDict):
    command: str
    #: What it was measured on: processor, kernel, and what others took meanwhile.
    machine: dict[str, Any]
    settings: dict[str, Any]
    ratios: dict[str, RatioOfPairs]
    #: Each benchmark's own, in base units or with the unit in the name.
    figures: dict[str, Any]
    to_reach: list[Target]
    #: Benchmarks that failed, and why.
    failures: dict[str, str]
