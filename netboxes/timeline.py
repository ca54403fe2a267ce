# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers that change with time, as said in YAML: [[0 s, 0 dB], [20 s, 15 dB]], or a CSV file. engine/timeline.h reads them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from contracts.csv_file import read_rows
from contracts.quantities import TIME, Quantity

_TIME = Quantity(TIME, 0.0, 86400.0 * 365)


@dataclass(frozen=True)
class TimeSeries:
    """What a field may hold that changes with time: pairs of a time, since the network's time began, and a value.

    As in `fade: Annotated[list[tuple[float, float]], TimeSeries(Quantity(GAIN, 0.0, 100.0), "attenuation_db")]`. Such a field
    takes pairs, or the name of a CSV file with the columns time_s and `column`; it holds seconds and base units, times rising.
    """

    value: Quantity
    column: str

    def __str__(self) -> str:
        return f"pairs of a time and a {self.value}, or a CSV file with the columns time_s, {self.column}"

    def parse(self, source: object, info: ValidationInfo) -> list[tuple[float, float]]:
        if isinstance(source, str):
            unit = self.value.dimension.base
            rows = read_rows(source, info.context, ("time_s", self.column))
            points = [(_TIME.parse(f"{time!r} s"), self.value.parse(f"{value!r} {unit}")) for time, value in rows]
        else:
            if (
                not isinstance(source, list)
                or not source
                or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in source)
            ):
                example = self.value.dimension.write(self.value.maximum)
                raise ValueError(f"write pairs of a time and a value, like [[0 s, {example}], …], or the name of a CSV file")
            points = [(_TIME.parse(time), self.value.parse(value)) for time, value in source]
        for (earlier, _), (later, _) in pairwise(points):
            if later <= earlier:
                raise ValueError(f"the value at {TIME.write(later)} follows that at {TIME.write(earlier)}; put them in order")
        return points

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_before_validator_function(self.parse, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        pair: Any = {"type": "array", "minItems": 2, "maxItems": 2}
        return {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": pair}], "description": str(self)}
