# SPDX-License-Identifier: GPL-2.0-or-later
"""Satellites that rise and set, as said in YAML, and the geometry by which path_delay.cc moves them."""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts.nature import EARTH_GRAVITATION, EARTH_RADIUS, EARTH_ROTATION
from contracts.quantities import LENGTH, TIME, Quantity


def central_angle(elevation: float, radius: float) -> float:
    """Radians at the earth's centre between a station and the point below a satellite that it sees at `elevation` (degrees)."""
    angle = math.radians(elevation)
    return math.acos(EARTH_RADIUS * math.cos(angle) / radius) - angle


def slant_range(elevation: float, altitude: float) -> float:
    """m from a station to a satellite at `altitude` (m) and `elevation` (degrees)."""
    sine = math.sin(math.radians(elevation))
    return math.sqrt((EARTH_RADIUS * sine) ** 2 + 2 * EARTH_RADIUS * altitude + altitude**2) - EARTH_RADIUS * sine


class Orbit(BaseModel):
    """Satellites on one circular orbit, each serving while it is high enough, then the next."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    altitude: Annotated[float, Quantity(LENGTH, 160e3, 20000e3)] = Field(
        description="160 to 2000 km is LEO, to 20 000 km MEO; O3b: 8063 km."
    )
    minimum_elevation: float = Field(10.0, ge=0.0, le=60.0, description="Below, a satellite is not used, degrees, 0 to 60.")
    highest_elevation: float = Field(90.0, ge=1.0, le=90.0, description="Of each pass, degrees; 90: over the station.")
    inclination: float = Field(
        90.0, ge=0.0, le=180.0, description="Of the orbit, degrees; 0: along the equator as O3b, 90: polar."
    )
    every: Annotated[float, Quantity(TIME, 10.0, 86400.0)] | None = Field(
        None,
        description="From one satellite to the next; default: one rises as the other sets. Longer: nobody serves in between.",
    )
    gap: Annotated[float, Quantity(TIME, 0.0, 60.0)] = Field(
        0.0, description="Interruption by a handover, at the end of each satellite's time; 0 s: the new one is acquired before."
    )

    @model_validator(mode="after")
    def _check_pass(self) -> Self:
        if self.highest_elevation <= self.minimum_elevation:
            raise ValueError(
                f"`highest_elevation` is {self.highest_elevation:g}°; "
                f"it must be above `minimum_elevation` ({self.minimum_elevation:g}°)"
            )
        if self.pass_time() < 5.0:
            raise ValueError(f"a pass of {self.pass_time():.1f} s is too short to be used; lower `minimum_elevation`")
        if self.gap >= self.period():
            raise ValueError(f"`gap` must be shorter than a satellite's time of {self.period():.0f} s")
        return self

    def angular_speed(self) -> float:
        """rad/s, as seen from the turning earth."""
        own = math.sqrt(EARTH_GRAVITATION / (EARTH_RADIUS + self.altitude) ** 3)
        return own - EARTH_ROTATION * math.cos(math.radians(self.inclination))

    def pass_time(self) -> float:
        """s above the minimum elevation."""
        radius = EARTH_RADIUS + self.altitude
        farthest, nearest = central_angle(self.minimum_elevation, radius), central_angle(self.highest_elevation, radius)
        return 2 * math.acos(math.cos(farthest) / math.cos(nearest)) / self.angular_speed()

    def period(self) -> float:
        """s from one satellite to the next."""
        return self.pass_time() if self.every is None else self.every
