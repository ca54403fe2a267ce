# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign file comes to: `campaign --dry-run`, and `campaign` itself."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Count(TypedDict):
    """They are different where runs are repeated until an interval is narrow enough."""

    least: int
    most: int


class Amount(TypedDict):
    """Null: not known."""

    least: float | None
    most: float | None


class Instant(TypedDict):
    """UTC, ISO 8601. Null: not known."""

    least: str | None
    most: str | None


class CampaignParameter(TypedDict):
    name: str
    #: In the topology; of the parameter `topology` none.
    paths: list[str]
    values: list[str | int | float | bool]


class CampaignPoint(TypedDict):
    #: From 0.
    point: int
    parameters: dict[str, str | int | float | bool]


class CampaignWorker(TypedDict):
    """A worker process of a cluster."""

    address: str
    #: Why it may make no run; null: it may.
    refused: str | None


class CampaignCluster(TypedDict):
    """Who would make the runs, as the scheduler knew it when it was asked."""

    scheduler: str
    workers: list[CampaignWorker]


class CampaignDryRun(TypedDict):
    """A campaign file that is sound, and what its runs would take."""

    file: str
    campaign: str
    clock: Literal["real", "virtual"]
    parameters: list[CampaignParameter]
    points: list[CampaignPoint]
    #: Of each point.
    repetitions: Count
    runs: Count
    #: Runs that the campaign's folder has already, of these points.
    finished: int
    #: Of a run, in the network's time.
    length_s: Amount
    #: How many runs are made at the same time.
    workers: int
    #: Null: this machine makes the runs.
    cluster: CampaignCluster | None
    #: Of the runs that are not finished, by the machine's clock.
    takes_s: Amount
    #: When the last of them is over, if they begin now.
    ends: Instant
    #: The same runs' folders.
    disk_bytes: Amount
    disk_free_bytes: int
    #: What the estimates come from, and what is not known.
    notes: list[str]


class CampaignStanding(TypedDict):
    """How far a campaign is."""

    #: Runs that are over.
    over: int
    #: Of those, how many the folder had already.
    found: int
    #: How many there will be.
    runs: Count
    #: Until the last one is over. Null before the first run of this command is.
    left_s: Amount
    #: In words the relatively widest interval of a measure that the campaign asks for; empty before there is one.
    widest: str


class RunCounts(TypedDict):
    """Runs by verdict."""

    valid: int
    degraded: int
    invalid: int


class CampaignOutcome(TypedDict):
    """A campaign all of whose runs are over."""

    campaign: str
    folder: str
    runs: RunCounts
    #: Of them, by this command.
    made: int
    #: The page that tells what they say; null where no run has figures.
    report: str | None
    notes: list[str]


class ComparedRuns(RunCounts):
    """Runs by verdict; the invalid ones are left out of all figures."""

    #: They are left out, too.
    unreadable: int


class ComparedParameter(TypedDict):
    """A parameter with several values."""

    name: str
    #: Sorted: numbers by their size, others as the campaign's file has them.
    values: list[str | int | float | bool | None]
    #: In which `numbers` are; empty without one.
    unit: str
    #: The values as numbers; empty where they are names.
    numbers: list[float]


class ComparedPoint(TypedDict):
    #: From 0, in the order of the parameters' values.
    point: int
    parameters: dict[str, str | int | float | bool | None]
    runs: int


class ComparedMean(TypedDict):
    """Of a measure at a point."""

    point: int
    #: With what it is of, as call.return.mos_e_model.
    measure: str
    #: Values, one of each run that has one.
    count: int
    mean: float
    #: Of the values; null of one.
    deviation: float | None
    #: The 95 % confidence interval of the mean; null of one value.
    low: float | None
    high: float | None
    method: Literal["student", "bootstrap"] | None


class ComparedDifference(TypedDict):
    """Of two points that differ in one parameter only."""

    measure: str
    parameter: str
    #: Points.
    base: int
    point: int
    #: Of runs with the same seed; 0: the points have no seed in common, and their means are compared.
    pairs: int
    #: Of `point` less `base`.
    difference: float
    #: Its 95 % confidence interval; null of one pair.
    low: float | None
    high: float | None
    p: float | None
    #: By Holm, for all comparisons of the measure.
    p_corrected: float | None
    #: No difference: the interval includes zero. Null: there is no interval.
    verdict: Literal["higher", "lower", "no difference"] | None


class ComparedOutlier(TypedDict):
    """A value that is far from the others of its point."""

    run: str
    point: int
    measure: str
    value: float
    #: Of the point.
    median: float


class Compare(TypedDict):
    """What many runs say."""

    report: str
    #: The report, figures and tables.
    files: list[str]
    runs: ComparedRuns
    parameters: list[ComparedParameter]
    points: list[ComparedPoint]
    means: list[ComparedMean]
    differences: list[ComparedDifference]
    outliers: list[ComparedOutlier]
    notes: list[str]
