# SPDX-License-Identifier: GPL-2.0-or-later
"""Where stations are and how they move, as said in YAML; motion.cc moves them."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from contracts.csv_file import read_rows
from contracts.quantities import LENGTH, SPEED, TIME, Quantity
from netboxes.technology import StationParameters

_Coordinate = Annotated[float, Quantity(LENGTH, -1000e3, 1000e3)]


def _with_height(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) not in (2, 3):
        raise ValueError("a position is x and y, and perhaps z, the height; write [10 m, 20 m] or [10 m, 20 m, 1.5 m]")
    return [*value, "0 m"][:3]


#: x, y and z in m; z is 0 when it is left out.
Position = Annotated[
    tuple[_Coordinate, _Coordinate, _Coordinate],
    BeforeValidator(
        _with_height,
        json_schema_input_type=tuple[_Coordinate, _Coordinate] | tuple[_Coordinate, _Coordinate, _Coordinate],
    ),
]


class Waypoint(BaseModel):
    """Where a station is at a time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Annotated[float, Quantity(TIME, 0.0, 86400.0 * 365)] = Field(description="Since the network's time began.")
    position: Position = Field(description="There it is then; in between it moves in a straight line.")


def _waypoints(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str):
        return value
    rows = read_rows(value, info.context, ("time_s", "x_m", "y_m"), ("z_m",))
    return [{"at": f"{t} s", "position": [f"{x} m", f"{y} m", f"{z or 0} m"]} for t, x, y, z in rows]


def _at_rising_times(path: list[Waypoint]) -> list[Waypoint]:
    for earlier, later in pairwise(path):
        if later.at <= earlier.at:
            raise ValueError(
                f"the waypoint at {TIME.write(later.at)} follows that at {TIME.write(earlier.at)}; put them in order"
            )
    return path


Path = Annotated[
    list[Waypoint],
    Field(min_length=1),
    BeforeValidator(_waypoints, json_schema_input_type=str | list[Waypoint]),
    AfterValidator(_at_rising_times),
]


class Wander(BaseModel):
    """Random waypoint model (Johnson and Maltz 1996): on in a straight line to a random place, a rest, and so on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    area: tuple[Position, Position] = Field(description="Two opposite corners of where it goes.")
    speed: tuple[Annotated[float, Quantity(SPEED, 0.01, 1000.0)], Annotated[float, Quantity(SPEED, 0.01, 1000.0)]] = Field(
        description="Slowest and fastest; each way has one in between. Not 0, with which stations would end up standing still."
    )
    pause: Annotated[float, Quantity(TIME, 0.0, 86400.0)] = Field(0.0, description="Rest at each place.")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.speed[0] > self.speed[1]:
            raise ValueError("`speed` has the slowest first: write [1 m/s, 2 m/s]")
        if any(low > high for low, high in zip(*self.area, strict=True)):
            raise ValueError("`area` has the corner with the smaller coordinates first: write [[0 m, 0 m], [100 m, 50 m]]")
        return self


class MobileStation(StationParameters):
    """A station that may have a place of its own. Technologies add `distance`, the short way to say it."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"position"})

    position: Position | None = Field(None, description="Where it stands: [x, y] or [x, y, z]; with `wander`, where it begins.")
    path: Path | None = Field(
        None,
        description="Waypoints [{at, position}, …], or a CSV file with the columns time_s, x_m, y_m and perhaps z_m.",
    )
    wander: Wander | None = Field(None, description="Random waypoints in an area.")

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        places = [key for key in ("distance", "position", "path", "wander") if getattr(self, key, None) is not None]
        if len(places) > 1 and places != ["position", "wander"]:
            raise ValueError(f"{' and '.join(places)} say where the station is, each in its way; keep one")
        return self

    def place(self) -> tuple[float, float, float] | None:
        """Where it is at first, if it says so itself and not by a distance; m."""
        if self.position is not None:
            return self.position
        if self.path:
            return self.path[0].position
        if self.wander:
            low, high = self.wander.area
            return ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2)
        return None
