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


class Machine(TypedDict):
    """What a bench was run on. What is null is not known."""

    #: Of the processor.
    model: str | None
    cores: int | None
    #: Of frequencies.
    governor: str | None
    hypervisor: str | None
    #: Its release.
    kernel: str | None
    #: The distribution.
    system: str | None
    clock_source: str | None
    #: The commit.
    netboxit: str | None
    #: The version.
    ns3: str | None
    #: What real-time priority netboxes have, in words.
    realtime: str
    #: Of the last minute before.
    load_before: float
    #: The share of time that other guests took from all cores during the bench.
    steal_ratio: float | None


class Search(TypedDict):
    """How the highest rate is sought that is carried."""

    #: The answer is within this share.
    resolution: float
    #: Factor between the first rates.
    step: float
    #: How often a rate is tried that fails.
    attempts: int


class Criterion(TypedDict):
    """When a rate is carried."""

    delay_p99_us: float


class Settings(TypedDict):
    #: Of trials, for each ratio.
    pairs: int
    #: How long a trial is.
    trial_s: float
    search: Search
    criterion: Criterion
    #: To see that it works, not for figures.
    quick: bool


class Bench(TypedDict):
    command: str
    machine: Machine
    settings: Settings
    ratios: dict[str, RatioOfPairs]
    #: Each benchmark's own, in base units or with the unit in the name.
    figures: dict[str, Any]
    to_reach: list[Target]
    #: Benchmarks that failed, and why.
    failures: dict[str, str]
