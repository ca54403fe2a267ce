# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong on a satellite link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from contracts.changes import ParameterChange, Sequence, Step
from contracts.quantities import GAIN, TIME, Quantity
from netboxes.drill import NetboxDrill

#: A fade changes in steps of so many dB, but not more often than this: a modem measures its signal about as often.
_STEP_DB: Final = 0.5
_STEP_S: Final = 0.1
#: The limit of the parameter `fade`.
_DEEPEST_DB: Final = 100.0


class SatelliteFade(NetboxDrill):
    """Rain fades a satellite link: the signal sinks, stays low, and comes back."""

    NAME = "satellite-fade"

    depth: Annotated[float, Quantity(GAIN, 0.1, _DEEPEST_DB)] = Field(12.0, description="Of the fade, on the ways up and down.")
    ramp: Annotated[float, Quantity(TIME, 0.0, 3600.0)] = Field(10.0, description="From clear sky to the whole depth, and back.")
    hold: Annotated[float, Quantity(TIME, 0.05, 86_400.0)] = Field(10.0, description="At the whole depth.")

    def sequence(self, netbox: str, values: Mapping[str, Any]) -> Sequence:
        before = float(values["fade"])
        count = max(1, min(round(self.depth / _STEP_DB), int(self.ramp / _STEP_S)))
        rise = [(self.ramp * step / count, before + self.depth * step / count) for step in range(1, count + 1)]
        down = [(after + self.ramp + self.hold, before + self.depth - (value - before)) for after, value in rise]
        steps = [Step(after, _fade(netbox, min(value, _DEEPEST_DB))) for after, value in (*rise, *down)]
        return Sequence(tuple(steps), (_fade(netbox, before),))


def _fade(netbox: str, value: float) -> ParameterChange:
    rounded = round(value, 3)
    return ParameterChange(netbox, "fade", rounded, GAIN.write(rounded))
