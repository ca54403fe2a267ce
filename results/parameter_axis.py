# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of a parameter as they stand on an axis: numbers and quantities by their size, all others as names."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from contracts.errors import printable
from contracts.quantities import DIMENSIONS, GAIN, POWER, Dimension

#: Equal steps are equal ratios where the largest value is so many times the smallest one, and half of the way between these has
#: no value: the others would stand on each other.
_WIDE: Final = 30.0
#: What a run has that does not have the parameter: one of another campaign.
_NONE: Final = "–"


@dataclass(frozen=True)
class Axis:
    """A parameter with several values."""

    #: In tables.
    column: str
    #: For people.
    name: str
    #: As the campaign's file writes them: numbers by their size, names in the file's order.
    values: tuple[Any, ...]
    #: The same in `unit`; none where they are names.
    numbers: tuple[float, ...]
    unit: str
    log: bool

    @classmethod
    def of(cls, column: str, name: str, values: Iterable[Any], *, log: bool = False) -> Axis:
        """`values` may be there several times. `log` is what the campaign's file says."""
        different = list(dict.fromkeys(values))
        if any(value is None or isinstance(value, bool) for value in different):
            return cls(column, name, tuple(different), (), "", log=False)
        if all(isinstance(value, int | float) for value in different):
            return cls._numeric(column, name, {value: float(value) for value in different}, None, log)
        for dimension in DIMENSIONS:
            try:
                return cls._numeric(column, name, {value: dimension.parse(value) for value in different}, dimension, log)
            except ValueError:
                continue
        return cls(column, name, tuple(different), (), "", log=False)

    @classmethod
    def _numeric(cls, column: str, name: str, sizes: dict[Any, float], dimension: Dimension | None, log: bool) -> Axis:
        ordered = sorted(sizes, key=sizes.__getitem__)
        unit = dimension.write(statistics.median_high(sizes.values())).partition(" ")[2] if dimension else ""
        factor = dimension.units[unit] if dimension else 1.0
        numbers = tuple(float(f"{sizes[value] / factor:.12g}") for value in ordered)
        if not all(map(math.isfinite, numbers)):
            return cls(column, name, tuple(sizes), (), "", log=False)
        has_logarithm = numbers[0] > 0 and dimension not in (POWER, GAIN)
        gap = max((high - low for low, high in pairwise(numbers)), default=0.0)
        is_wide = len(numbers) > 2 and numbers[-1] >= _WIDE * numbers[0] and gap >= (numbers[-1] - numbers[0]) / 2
        return cls(column, name, tuple(ordered), numbers, unit, log=has_logarithm and (log or is_wide))

    @property
    def is_numeric(self) -> bool:
        return bool(self.numbers)

    @property
    def title(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def position(self, value: Any) -> float:
        """Where a value stands: its number, or its place among the names."""
        place = self.values.index(value)
        return self.numbers[place] if self.numbers else float(place)

    def some(self, most: int) -> Sequence[Any]:
        """At most so many values: of more, spread evenly over all, with the first and the last."""
        count = len(self.values)
        if count <= most:
            return self.values
        return [self.values[round(at * (count - 1) / max(most - 1, 1))] for at in range(most)]


def words(value: Any) -> str:
    """A value for people."""
    return _NONE if value is None else str(value).lower() if isinstance(value, bool) else printable(str(value))
