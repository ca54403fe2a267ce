# SPDX-License-Identifier: GPL-2.0-or-later
"""Rain over a station, as said in YAML; rain_series.cc makes the series."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, computed_field, model_validator

from contracts.quantities import FREQUENCY, GAIN, LENGTH, Quantity
from netboxes.satellite import rain


class Rain(BaseModel):
    """Rain over one station, as a series over time (ITU-R P.618, P.1853)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rain_rate: float = Field(
        ge=1.0,
        le=200.0,
        description="Exceeded for 0.01 % of a year (R0.01 of P.837), mm/h, 1 to 200; middle Europe has 30 to 40.",
    )
    latitude: float = Field(ge=-90.0, le=90.0, description="Of the station, degrees, -90 to 90, north positive.")
    elevation: float = Field(ge=5.0, le=90.0, description="Of the satellite, degrees, 5 to 90.")
    uplink_frequency: Annotated[float, Quantity(FREQUENCY, 1e9, 55e9)] = Field(
        description="Carrier of the station's transmissions, 1 to 55 GHz: P.618's range."
    )
    downlink_frequency: Annotated[float, Quantity(FREQUENCY, 1e9, 55e9)] = Field(
        description="Carrier of what it receives, 1 to 55 GHz: P.618's range."
    )
    polarisation: float = Field(45.0, ge=0.0, le=90.0, description="Tilt from the horizontal, degrees, 0 to 90; 45 for circular.")
    height: Annotated[float, Quantity(LENGTH, 0.0, 4000.0)] = Field(0.0, description="Of the station above the sea, 0 to 4 km.")
    rain_height: Annotated[float, Quantity(LENGTH, 100.0, 8000.0)] | None = Field(
        None, description="Of the rain above the sea (P.839); default: by the latitude, as P.839-2 has it."
    )
    probability: float = Field(
        5.0, ge=0.1, le=10.0, description="Share of the time in which it rains on the path, %, 0.1 to 10 (P0 of P.837)."
    )
    speed_up: float = Field(1.0, ge=1.0, le=10000.0, description="Seconds of weather in a second, 1 to 10 000.")
    begins_with: Annotated[float, Quantity(GAIN, 0.0, 100.0)] | None = Field(
        None, description="Attenuation of the uplink when time begins; default: whatever the seed gives, mostly none."
    )

    @model_validator(mode="after")
    def _rains(self) -> Self:
        if self.height >= 1000.0 * self._rain_height():
            raise ValueError(
                f"no rain reaches a station at {self.height:g} m: it is at {1000 * self._rain_height():.0f} m there; "
                "set `rain_height`, or leave `rain` out"
            )
        weakest = rain.attenuation(self.path(self.downlink_frequency), self.probability)
        if weakest < 1e-6 or self.link(self.uplink_frequency).deviation <= 0 or self.link(self.downlink_frequency).deviation <= 0:
            raise ValueError("such rain attenuates by nothing that could be told; leave `rain` out")
        return self

    def _rain_height(self) -> float:
        return rain.rain_height(self.latitude) if self.rain_height is None else self.rain_height / 1000.0

    def path(self, frequency: float) -> rain.Path:
        return rain.Path(
            frequency, self.rain_rate, self.latitude, self.elevation, self.polarisation, self.height / 1000.0, self._rain_height()
        )

    def link(self, frequency: float) -> rain.LogNormal:
        return rain.fit_log_normal(self.path(frequency), self.probability)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def uplink(self) -> dict[str, float]:
        return asdict(self.link(self.uplink_frequency))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def downlink(self) -> dict[str, float]:
        return asdict(self.link(self.downlink_frequency))
