# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine can do with netboxes: `bench`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from contracts.statistics import LatenessCountersByKind
from results.metrics_document import LatenessOfNetbox, VerdictTold


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


class Trial(TypedDict):
    """A rate that a contestant was offered, in frames a second."""

    asked: float
    #: The rate that the generator really made.
    kept: float
    #: The share of frames.
    loss: float
    delay_p50_us: float
    delay_p99_us: float
    #: "short": all that was offered was carried well, but that was less than asked.
    verdict: Literal["good", "lossy", "late", "short"]


class Searches(TypedDict):
    """The searches of a contestant for the highest rate that it carries."""

    trials: list[Trial]
    #: A search ended where the generator could do no more.
    held_back_by_generator: bool


class SetupA(Searches):
    #: Frames a second, by turn.
    loss_free: list[float]
    #: As a multiple of that.
    overload_offered: float


class Chain(TypedDict):
    #: Loss-free frames a second by number of netboxes and contestant.
    by_length: dict[str, dict[str, float]]
    #: By contestant.
    searches: dict[str, Searches]


class Crossing(TypedDict):
    """How long frames took to cross a wire, in microseconds."""

    count: int
    #: The kind of port.
    port: str
    p50: float
    p90: float
    p99: float
    p99_9: float


class FidelityOfDirection(TypedDict):
    """One direction of a segment. Differences are real minus virtual time."""

    sender: str
    frames: int
    mean_real_us: float
    mean_virtual_us: float
    difference_us: float
    #: Of the difference's size, frame by frame.
    frame_p50_us: float
    frame_p90_us: float
    frame_p99_us: float
    frame_max_us: float
    #: Frames that only one of the two delivered.
    fates_differ: int
    #: Of the tolerance, that the difference of the means takes.
    share: float


class FidelityOfSegment(TypedDict):
    worst: float
    directions: list[FidelityOfDirection]
    lateness_us: LatenessCountersByKind


class Fidelity(TypedDict):
    #: The largest share of the tolerance.
    worst: float
    segments: dict[str, FidelityOfSegment]


class UpAndDown(TypedDict):
    """How long the commands took."""

    up_s: float
    down_s: float


class Idle(TypedDict):
    """What a netbox takes that has nothing to carry."""

    technology: str
    #: Share of a core.
    cpu: float
    #: Memory.
    pss_bytes: int


class Satellites(TypedDict):
    """So many satellite netboxes with a call each."""

    netboxes: int
    worst_p99_us: float
    #: Of one of them, share of a core.
    cpu: float
    valid: bool


class Load(TypedDict):
    """Frames a second, and what a netbox took for them: shares of a core."""

    offered: float
    delivered: float
    cpu: float
    #: Of it, spent watching the clock.
    spin: float


class Services(TypedDict):
    """Frames that a netbox with a link layer was offered in a second, and what came of them."""

    offered: float
    #: The share that arrived.
    carried: float
    #: 99 in 100 events and departing frames were no later.
    late_p99_us: float
    #: Of frames, one way.
    delay_p99_us: float
    #: Share of a core.
    cpu: float
    kept_up: bool


class Figures(TypedDict, total=False):
    """Those of the benchmarks that were run. Rates are loss-free frames a second."""

    #: By contestant.
    setup_a: dict[str, SetupA]
    chain: Chain
    #: By wire and percentile, the median of the turns.
    crossing_us: dict[str, dict[str, float]]
    #: By wire, each turn.
    crossing: dict[str, list[Crossing]]
    #: By netbox.
    lateness_us: dict[str, LatenessOfNetbox]
    lateness_verdict: VerdictTold
    #: By percentile.
    lateness_of_a_bare_timer_us: dict[str, float]
    fidelity: Fidelity
    lab_up_s: float
    lab_down_s: float
    #: By number of hosts.
    lab_by_size: dict[str, UpAndDown]
    #: By netbox.
    idle_cpu: dict[str, float]
    idle: dict[str, Idle]
    #: By change.
    apply_s: dict[str, float]
    apply_link_s: float
    #: Datagrams of other flows, by change.
    apply_lost: dict[str, int]
    #: By place and length of frames.
    generation: dict[str, float]
    #: By number of netboxes, of each.
    generation_by_netboxes: dict[str, list[float]]
    #: By contestant and turn.
    forwarding: dict[str, list[float]]
    switching: dict[str, list[float]]
    switch_round_trip_ms: dict[str, list[float]]
    #: By technology.
    load: dict[str, list[Load]]
    #: By scheme.
    services: dict[str, list[Services]]
    #: The most netboxes that were in time.
    satellites_valid: int
    satellites: list[Satellites]
    #: By contestant and turn, frames that links carry in a second of processor time.
    virtual_chain: dict[str, list[float]]


class Bench(TypedDict):
    command: str
    machine: Machine
    settings: Settings
    ratios: dict[str, RatioOfPairs]
    figures: Figures
    to_reach: list[Target]
    #: Benchmarks that failed, and why.
    failures: dict[str, str]
