# SPDX-License-Identifier: GPL-2.0-or-later
"""What stages tell (netboxes/stages): those of a netbox's stations, and of a Click router's interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.statistics import Details
from netboxes.stages.stage import LEVELS, MOST_STAGES
from testbed.documents.watch import StageFigures

#: A node may tell anything. A larger number is no measurement.
_LARGEST: Final = 1e100


@dataclass(frozen=True)
class StageReading:
    """One stage: its kind, and the numbers that it tells, by their words."""

    kind: str
    numbers: Mapping[str, float]


#: Of each station or interface that has any, in their order.
Stages = Mapping[str, Sequence[StageReading]]


def stages(told: Mapping[str, Sequence[Details]], ports: Iterable[str]) -> dict[str, list[StageReading]]:
    """What a node with these ports tells, without all that no stage tells."""
    return {port: list(map(_stage, told[port][:MOST_STAGES])) for port in ports if port in told}


def _stage(told: Details) -> StageReading:
    numbers = {what: number for what, number in told.items() if isinstance(number, int | float) and not isinstance(number, bool)}
    return StageReading(str(told.get("stage", "")), {what: n for what, n in numbers.items() if abs(n) <= _LARGEST})


def figures(before: Stages, now: Stages) -> list[StageFigures]:
    """Those of an interval; nothing of a stage that was not there before, or was another one."""
    return [
        _figures(port, place, earlier.numbers, later)
        for port, own in now.items()
        for place, (earlier, later) in enumerate(zip(before.get(port, ()), own, strict=False))
        if earlier.kind == later.kind
    ]


def _figures(port: str, place: int, before: Mapping[str, float], now: StageReading) -> StageFigures:
    counts = {what: number for what, number in now.numbers.items() if what not in LEVELS}
    if any(number < before.get(what, 0) for what, number in counts.items()):
        before = {}  # it counts anew
    grown = {what: number - before.get(what, 0) for what, number in counts.items()}
    return {
        "port": port,
        "place": place,
        "stage": now.kind,
        "levels": {what: number for what, number in now.numbers.items() if what in LEVELS},
        "counts": {what: number for what, number in grown.items() if number},
    }
