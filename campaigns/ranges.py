# SPDX-License-Identifier: GPL-2.0-or-later
"""A range of values between two ends that a file says: numbers, or quantities, whose unit is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from contracts.quantities import DIMENSIONS, Dimension

Scale = Literal["linear", "log"]
#: A value of a parameter, as a topology file may have it.
Scalar = str | int | float | bool

#: Digits of a value that is computed. A person reads them, and no network is set more finely.
_DIGITS: Final = 6


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, both in `unit`, which is that of its low end; "" without one.

    Where both ends are whole numbers without a unit, so are all values.
    """

    low: float
    high: float
    unit: str
    whole: bool
    scale: Scale

    @classmethod
    def between(cls, low: object, high: object, scale: Scale) -> Range:
        """Raises BadEnd, with the end that is wrong."""
        (first, unit), (last, other) = _quantity(low, "from"), _quantity(high, "to")
        dimension, others = _dimension(unit), _dimension(other)
        if dimension is not others:
            is_of = f"is a {others.name}" if others else "has no unit"
            raise BadEnd("to", f"{high!r} {is_of}, and from is {low!r}; write both in the same kind of unit")
        if dimension is not None and others is not None:
            last = float(f"{last * others.units[other] / dimension.units[unit]:.15g}")
        if first >= last:
            raise BadEnd("from", f"{low!r} is not less than {high!r}; write the smaller end at from and the larger one at to")
        if scale == "log" and dimension is not None and dimension.name in ("power", "gain"):
            raise BadEnd("scale", f"{unit} is logarithmic itself; use linear")
        if scale == "log" and first <= 0:
            raise BadEnd("from", f"{low!r} has no logarithm; use more than 0, or scale: linear")
        return cls(first, last, unit, isinstance(low, int) and isinstance(high, int), scale)

    def steps(self, count: int) -> list[Scalar]:
        """So many values, from end to end."""
        return [self._written(self._at(number / (count - 1))) for number in range(count)]

    def quantile(self, share: float) -> Scalar:
        """The value below which this share of the range is, from 0 to less than 1."""
        if self.whole and self.scale == "linear":
            return math.floor(self.low + share * (self.high - self.low + 1))
        return self._written(self._at(share))

    def _at(self, share: float) -> float:
        if self.scale == "log":
            return self.low * math.pow(self.high / self.low, share)
        return self.low + share * (self.high - self.low)

    def _written(self, number: float) -> Scalar:
        rounded = min(max(float(f"{number:.{_DIGITS}g}"), self.low), self.high)
        if self.unit:
            return f"{rounded:.15g} {self.unit}"
        return round(number) if self.whole else rounded


class BadEnd(ValueError):
    """What is wrong with a range, and at which of its keys."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def _quantity(end: object, key: str) -> tuple[float, str]:
    """Number and unit, "" where it has none."""
    if isinstance(end, int | float) and not isinstance(end, bool):
        number, unit = float(end), ""
    else:
        text = str(end).split()
        try:
            number, unit = float(text[0]), " ".join(text[1:])
        except (ValueError, IndexError):
            raise BadEnd(key, f"{end!r} is neither a number nor a number with a unit; write one like 10 or 5 km") from None
        if _dimension(unit) is None:
            units = ", ".join(name for dimension in DIMENSIONS for name in dimension.units)
            raise BadEnd(key, f"{unit!r} is not a unit; use one of {units}" if unit else f"{end!r} is text; leave the quotes out")
    if not math.isfinite(number):
        raise BadEnd(key, f"{end!r} is not finite; write a number")
    return number, unit


def _dimension(unit: str) -> Dimension | None:
    return next((dimension for dimension in DIMENSIONS if unit in dimension.units), None)
