# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that somebody else measured in the same network, to be set beside a run's own (`<topology>.reference.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from contracts.flow import Direction
from contracts.run_folder import PLAN_FILE, REFERENCE_FILE, TOPOLOGY_FILE
from results import metrics_document

#: Beside a topology file, and its name in a run folder.
SUFFIX = ".reference.yaml"


class Figures(BaseModel):
    """Of one flow: statistics (mean, max, min, …) of delay and jitter in ms, and why ours may be others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    direction: Direction
    one_way_delay_ms: dict[str, float] = {}
    jitter_ms: dict[str, float] = {}
    remark: str = ""


class Reference(BaseModel):
    """What a reference file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    source: str
    flows: tuple[Figures, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A figure of the reference, and the same of the run."""

    reference: float
    measured: float

    @property
    def difference(self) -> float:
        return self.measured - self.reference


def beside(topology: Path) -> Path:
    """Where the reference of a topology file would be; of that of a run folder, where the run has it."""
    if topology.name == TOPOLOGY_FILE and topology.with_name(PLAN_FILE).exists():
        return topology.with_name(REFERENCE_FILE)
    return topology.with_name(topology.stem + SUFFIX)


def load(path: Path) -> Reference | None:
    """The reference in a file, or None when there is no such file."""
    return Reference.model_validate(YAML(typ="safe").load(path)) if path.exists() else None


#: By direction and name of a flow, and by measure and statistic.
Comparisons = dict[tuple[tuple[Direction, str], tuple[str, str]], Comparison]


def compare(reference: Reference, flows: Sequence[metrics_document.Flow]) -> Comparisons:
    """Each figure of the reference for which the run has one: the first flow of that kind and direction."""
    table: Comparisons = {}
    for figures in reference.flows:
        flow = next(
            (
                candidate
                for candidate in flows
                if (candidate["kind"], candidate["direction"]) == (figures.kind, figures.direction)
            ),
            None,
        )
        if flow is None:
            continue
        for measure, values, summary in (
            ("one_way_delay_ms", figures.one_way_delay_ms, flow["one_way_delay_ms"]),
            ("jitter_ms", figures.jitter_ms, flow["jitter_ms"]),
        ):
            if summary is not None:
                measured = cast("Mapping[str, float]", summary)
                table |= {
                    ((figures.direction, flow["name"]), (measure, name)): Comparison(value, measured[name])
                    for name, value in values.items()
                }
    return table
