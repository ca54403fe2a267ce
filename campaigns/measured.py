# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign asks of its runs: a measure of a flow or of something else in the network, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import polars as pl

from contracts.run_folder import FLOWS_TABLE

DIRECTIONS: Final = ("forward", "return")


@dataclass(frozen=True)
class Asked:
    """`call.mos`, or `call.forward.mos` of one direction: without one it is the mean of both."""

    name: str
    subject: str
    direction: str | None
    measure: str

    @classmethod
    def parse(cls, name: str) -> Asked:
        """Raises ValueError."""
        *subject, measure = name.split(".")
        direction = subject.pop() if len(subject) > 1 and subject[-1] in DIRECTIONS else None
        if not subject or not all((*subject, measure)):
            raise ValueError(f'"{name}" is not a measure; write FLOW.MEASURE or FLOW.DIRECTION.MEASURE, as call.mos')
        return cls(name, ".".join(subject), direction, measure)

    @staticmethod
    def values(asked: Iterable[Asked], run: Path) -> Iterator[float | None]:
        """What the run measured; None where it measured nothing."""
        table = pl.read_parquet(run / FLOWS_TABLE)
        for one in asked:
            rows = table.filter(pl.col("flow") == one.subject)
            if one.direction is not None:
                rows = rows.filter(pl.col("direction") == one.direction)
            values: list[float] = rows[one.measure].drop_nulls().to_list() if one.measure in rows.columns else []
            yield fmean(values) if values else None
