# SPDX-License-Identifier: GPL-2.0-or-later
"""Physical quantities as people write them in YAML: "80 m", "16 dBm", "2 Mbit/s", "254 ms".

A field annotated with one of the types below takes such a text and holds a float in the base unit; a bare number is refused,
because it would not say its unit. `Ratio` and counts have no unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_TEXT = re.compile(r"\s*([+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\s\d.].*?)?\s*", re.ASCII)
#: How else people write a unit, without an "s" at its end. What only looks similar (mm, MB/s) is no proposal: it is another size.
_SPELLINGS = {
    **{"bp": "bit/s", "kbp": "kbit/s", "mbp": "Mbit/s", "gbp": "Gbit/s"},
    **{"bit": "bit/s", "kbit": "kbit/s", "mbit": "Mbit/s", "gbit": "Gbit/s"},
    **{"sec": "s", "second": "s", "msec": "ms", "millisecond": "ms", "usec": "us", "microsecond": "us", "minute": "min"},
    **{"min": "min", "hr": "h", "hour": "h", "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km"},
    **{"byte": "B", "kbyte": "kB", "mbyte": "MB", "gbyte": "GB", "kmh": "km/h", "kph": "km/h", "mp": "m/s"},
    **{"hertz": "Hz", "packet/": "pps", "pp": "pps"},
}
#: The micro sign and the Greek letter, as keyboards have them.
_MICRO = {0xB5: "u", 0x3BC: "u"}


@dataclass(frozen=True, eq=False)
class Dimension:
    """One kind of quantity: its units, each with the factor to the base unit (the one with factor 1)."""

    name: str
    units: Mapping[str, float]

    @property
    def base(self) -> str:
        return next(unit for unit, factor in self.units.items() if factor == 1.0)

    def parse(self, text: object) -> float:
        """Returns the value in the base unit. Raises ValueError naming the units that can be used."""
        if isinstance(text, bool) or not isinstance(text, (str, int, float)):
            raise ValueError(f"a {self.name} is written as a number and a unit, like {self._example()}")
        match = _TEXT.fullmatch(str(text))
        if match is None:
            raise ValueError(f"{text!r} is not a {self.name}; write a number and a unit, like {self._example()}")
        number = float(match[1])
        unit = match[2].translate(_MICRO) if match[2] else None
        if unit is None:
            if number == 0.0 and self.base not in ("dBm", "dB"):
                return 0.0
            raise ValueError(f"{text!r} has no unit; a {self.name} needs one of {', '.join(self.units)}")
        if unit not in self.units:
            near = [candidate for candidate in self.units if candidate.casefold() == unit.casefold()]
            near += [candidate for candidate in self.units if candidate == _SPELLINGS.get(unit.casefold().removesuffix("s"))]
            hint = f"did you mean {match[1]} {near[0]}?" if near else f"use one of {', '.join(self.units)}"
            raise ValueError(f"{unit!r} is not a unit of {self.name}; {hint}")
        return float(f"{number * self.units[unit]:.15g}")  # 5 us is 5e-06, not 4.9999999999999996e-06

    def write(self, value: float) -> str:
        """The value as a person would write it: in the unit of at most its size that makes the shortest number."""
        fitting = [unit for unit, factor in self.units.items() if abs(value) >= factor] if value else []
        texts = {unit: f"{value / self.units[unit]:.12g}" for unit in fitting or [self.base]}
        unit = min(texts, key=lambda unit: (len(texts[unit]), -self.units[unit]))
        return f"{texts[unit]} {unit}"

    def _example(self) -> str:
        return f'"10 {next(iter(self.units))}"'


LENGTH = Dimension("length", {"m": 1.0, "km": 1e3, "cm": 1e-2})
TIME = Dimension("time", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0})
#: Packets a second.
PACKET_RATE = Dimension("packet rate", {"pps": 1.0, "kpps": 1e3, "Mpps": 1e6})
RATE = Dimension("rate", {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9})
FREQUENCY = Dimension("frequency", {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9})
SIZE = Dimension(
    "size",
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3, "TiB": 1024.0**4},
)
POWER = Dimension("power", {"dBm": 1.0})
GAIN = Dimension("gain", {"dB": 1.0, "dBi": 1.0})
SPEED = Dimension("speed", {"m/s": 1.0, "km/h": 1 / 3.6})

#: No unit is of two of them.
DIMENSIONS = (LENGTH, TIME, PACKET_RATE, RATE, FREQUENCY, SIZE, POWER, GAIN, SPEED)


@dataclass(frozen=True)
class Quantity:
    """What a field may hold, as in `distance: Annotated[float, Quantity(LENGTH, 1.0, 50e3)]`: base unit, limits inclusive.

    Such a field takes text with a unit; the documentation reads its limits from the annotation.
    """

    dimension: Dimension
    minimum: float
    maximum: float

    def __str__(self) -> str:
        return f"{self.dimension.name}, {self.dimension.write(self.minimum)} … {self.dimension.write(self.maximum)}"

    def parse(self, text: object) -> float:
        """Returns the value in the base unit. Raises ValueError naming the units or the limits."""
        value = self.dimension.parse(text)
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"{text} is outside {self.dimension.write(self.minimum)} … {self.dimension.write(self.maximum)}")
        return value

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema  # commands that read no file of the user's do without its 40 ms

        return core_schema.no_info_before_validator_function(
            self.parse, handler(source), serialization=core_schema.plain_serializer_function_ser_schema(float)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        units = "|".join(map(re.escape, self.dimension.units))
        pattern = rf"^\s*[+-]?[0-9.][0-9._]*([eE][+-]?[0-9]+)?\s*({units})\s*$"
        return {"type": "string", "pattern": pattern, "description": str(self)}
