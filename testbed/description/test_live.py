# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from netboxes.mobility.stations import MobileStation
from netboxes.technology import Technology
from testbed.description.live import BadChange, parse, written
from testbed.quantities import LENGTH, SPEED, Quantity


class Radio(Technology):
    LIVE: ClassVar[frozenset[str]] = frozenset({"distance", "outage", "mode"})

    distance: Annotated[float, Quantity(LENGTH, 1.0, 10e3)]
    outage: bool = False
    mode: str = "plain"
    stations: int = 2


class Car(MobileStation):
    LIVE: ClassVar[frozenset[str]] = MobileStation.LIVE | {"speed"}

    speed: Annotated[float, Quantity(SPEED, 0.0, 100.0)] = 0.0
    role: str = "subscriber"


class Cell(Technology):
    stations: dict[str, Car]


@pytest.mark.parametrize(
    ("change", "parameter", "value"),
    [
        ("distance=7.5 km", "distance", 7500.0),
        ("distance = 80 m", "distance", 80.0),
        ("outage=true", "outage", True),
        ("mode=a=b", "mode", "a=b"),
    ],
)
def test_a_change_is_read_as_in_the_topology_file_and_handed_on_in_base_units(change: str, parameter: str, value: object) -> None:
    assert parse(Radio, change) == (parameter, value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("distance=80", "has no unit"),
        ("distance=80 km", "outside 1 m … 10 km"),
        ("distance", "PARAMETER=VALUE"),
        ("distanc=80 m", 'did you mean "distance"'),
        ("stations=3", "not a parameter that can change while the netbox runs.*distance, mode, outage"),
        ("mode=[", "not a value as in YAML"),
    ],
)
def test_a_wrong_change_is_refused_with_what_to_write_instead(change: str, told: str) -> None:
    with pytest.raises(BadChange, match=told) as raised:
        parse(Radio, change)
    assert raised.value.exit_status == 2


@pytest.mark.parametrize(
    ("parameter", "value", "text"), [("distance", 7500.0, "7.5 km"), ("outage", True, "true"), ("mode", "plain", "plain")]
)
def test_what_the_netbox_took_is_written_with_its_unit(parameter: str, value: object, text: str) -> None:
    assert written(Radio, parameter, value) == text


def test_a_change_of_one_station_is_named_with_it() -> None:
    assert parse(Cell, "car.position=[10 m, 2 km]") == ("car.position", [10.0, 2000.0, 0.0])
    assert written(Cell, "car.speed", 30.0) == "30 m/s"
    assert written(Cell, "car.position", [10.0, 2000.0, 0.0]) == "[10 m, 2 km, 0 m]"


def test_what_a_station_cannot_change_is_refused_with_what_it_can() -> None:
    with pytest.raises(BadChange, match=r"car.role is not a parameter.*position, speed"):
        parse(Cell, "car.role=base")
    with pytest.raises(BadChange, match='did you mean "speed"'):
        parse(Cell, "car.sped=1 m/s")
    with pytest.raises(BadChange, match="x and y"):
        parse(Cell, "car.position=[10 m]")
