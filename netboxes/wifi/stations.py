# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands in a Wi-Fi cell: its stations and buildings."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts.quantities import GAIN, LENGTH, POWER, Quantity
from netboxes.mobility.stations import MobileStation, Position

#: As far as any coverage class reaches (`longest_range`).
Distance = Annotated[float, Quantity(LENGTH, 1.0, 15.1e3)]
TxPower = Annotated[float, Quantity(POWER, -20.0, 36.0)]
AntennaGain = Annotated[float, Quantity(GAIN, -20.0, 40.0)]
Fade = Annotated[float, Quantity(GAIN, 0.0, 100.0)]

#: What stations may be in each mode.
ROLES = {"infrastructure": ("access-point", "station"), "ad-hoc": ("peer",), "mesh": ("mesh-point",)}


class Station(MobileStation):
    """One station of the cell."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"position", "distance", "tx_power", "fade"})

    role: Literal["access-point", "station", "peer", "mesh-point"] = Field(
        description="infrastructure: one access-point, with which the others, each a station, associate; ad-hoc: all peer; "
        "mesh: all mesh-point."
    )
    distance: Distance | None = Field(None, description="Of a station from the access point; default: the cell's `distance`.")
    tx_power: TxPower | None = Field(None, description="Default: the cell's `tx_power`.")
    antenna_gain: AntennaGain | None = Field(None, description="Default: the cell's `antenna_gain`.")
    fade: Fade = Field(0.0, description="Loss of its links besides, beside the cell's `fade`, 0 to 100 dB: a cellar, a tunnel.")


class Building(BaseModel):
    """A box with walls. Its sides are parallel to the axes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    corners: tuple[Position, Position] = Field(
        description="Two opposite corners, the one with the smaller coordinates first, both with their heights."
    )
    walls: Literal["wood", "concrete-with-windows", "concrete-without-windows", "stone"] = Field(
        "concrete-with-windows", description="Loss of each outer wall: 4, 7, 15, 12 dB (ns-3's `buildings`)."
    )
    use: Literal["residential", "office", "commercial"] = Field(
        "residential",
        description="Loss inside by ITU-R P.1238: N = 28, 30, 22; first floor 4, 15, 6 dB, each further one 4, 4, 3 dB.",
    )
    floors: int = Field(1, ge=1, le=200, description="Of equal height.")

    @model_validator(mode="after")
    def _check_corners(self) -> Self:
        if not all(low < high for low, high in zip(*self.corners, strict=True)):
            raise ValueError(
                "`corners` are two opposite ones of a box that has a height, the smaller coordinates first: "
                "write [[0 m, 0 m, 0 m], [20 m, 10 m, 3 m]]"
            )
        return self
