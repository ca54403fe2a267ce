# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens to frames on their way over a link: how it is said in YAML, and the numbers that the C++ reads."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_serializer, model_validator

from contracts.csv_file import read_rows
from contracts.netbox_configuration import Limit
from contracts.quantities import TIME, Quantity
from netboxes.errors.loss import Probability
from netboxes.limits import limits_of


class Part(BaseModel):
    """A parameter that is a mapping."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Jitter(Part):
    """How much the delay of a frame differs from the link's: by 0 on the mean."""

    #: What each distribution has besides its deviation, which a table has not.
    _LARGEST_S: ClassVar[float] = 10.0

    distribution: Literal["constant", "uniform", "normal", "pareto", "pareto-normal", "table"] | None = Field(
        None, description="Default: normal where there is a deviation, or else constant. pareto-normal: 1/4 and 3/4, as in netem."
    )
    deviation: Annotated[float, Quantity(TIME, 0.0, 5.0)] = Field(
        0.0, description="Standard deviation. Uniform delays differ by up to 1.73 times as much."
    )
    shape: float = Field(
        3.0, ge=2.1, le=100.0, description="Of the Pareto distribution: the lower, the longer its tail; netem has 3."
    )
    correlation: float = Field(
        0.0,
        ge=0.0,
        le=0.999,
        description="With the frame before, of the normal numbers that delays are made from (Gaussian copula).",
    )
    reorder: bool = Field(False, description="True: a frame may overtake one that takes longer; false: it arrives behind it.")
    table: str | None = Field(None, description="CSV file with a column jitter_s: measured values, whose distribution it has.")
    _values: list[float] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Self:
        if (self.table is not None) != (self.distribution == "table"):
            raise ValueError("`distribution: table` and `table: FILE` belong together")
        if self.table is None:
            if self.distribution not in (None, "constant") and self.deviation == 0:
                raise ValueError(f"a {self.distribution} distribution needs a `deviation`, say 5 ms")
            if self.distribution == "constant" and self.deviation > 0:
                raise ValueError("constant delays have no deviation; name another `distribution`, or leave `deviation` out")
            return self
        if self.deviation:
            raise ValueError("a table has its own deviation; leave `deviation` out")
        values = [value for (value,) in read_rows(self.table, info.context, ("jitter_s",))]
        if bad := [value for value in values if abs(value) > self._LARGEST_S]:
            raise ValueError(f"{self.table}: {bad[0]} is outside -10 s … 10 s")
        self._values.extend(values)
        return self

    @model_serializer
    def _dump(self) -> dict[str, Any]:
        return {
            "distribution": self.distribution or ("normal" if self.deviation else "constant"),
            "deviation": self.deviation,
            "shape": self.shape,
            "correlation": self.correlation,
            "reorder": self.reorder,
            "table": self._values,
        }

    @classmethod
    def limit(cls) -> Limit:
        value: Limit = {"minimum": -cls._LARGEST_S, "maximum": cls._LARGEST_S, "unit": "s"}
        table: dict[str, Limit] = {"table": {"items": value, "fewest": 1}}
        return {
            "keys": limits_of(cls, "distribution", "deviation", "shape", "correlation", "reorder"),
            "cases": {"distribution": {"table": table}},
        }


class Reordering(Part):
    """Frames that are held back, each by the same time, while those behind them go on."""

    probability: Probability = Field(0.0, description="Probability that a candidate is held back.")
    gap: int = Field(1, ge=1, le=1_000_000, description="Of so many frames in a row one is a candidate.")
    by: Annotated[float, Quantity(TIME, 0.0, 5.0)] = Field(0.01, description="How long it is held back.")


class Corruption(Part):
    """Bit errors in layer-3 packets, independent of each other."""

    bit_error_rate: float = Field(
        0.0, ge=0.0, le=0.5, description="Probability that a bit is inverted; with 0.5 nothing is left."
    )
    frames: Literal["damaged", "dropped"] = Field(
        "damaged",
        description="What is hit arrives as it is, for checksums to find, or is dropped as by a frame check sequence.",
    )


class Outage(Part):
    """A link that is up and down in turn, up at first; times count from when the network's time begins."""

    up: Annotated[float, Quantity(TIME, 1e-3, 86400.0)] = Field(description="How long it is up.")
    down: Annotated[float, Quantity(TIME, 1e-3, 86400.0)] = Field(description="How long it is down.")
    distribution: Literal["fixed", "exponential"] = Field(
        "exponential", description="All times are as said, or exponentially distributed with these means."
    )
