# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from contracts.quantities import LENGTH, SPEED, Quantity
from netboxes.mobility.stations import MobileStation
from netboxes.technology import Technology, technologies
from testbed.description.live import BadChange, parsed, read_value, shown, written


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


def read(technology: type[Technology], change: str) -> tuple[str, object]:
    """The parameter, and its value in the base unit."""
    parameter, said = parsed(change)
    return parameter, read_value(technology, parameter, said)


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
    assert read(Radio, change) == (parameter, value)


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
    with pytest.raises((BadChange, ValueError), match=told):
        read(Radio, change)


@pytest.mark.parametrize(
    ("parameter", "value", "text"), [("distance", 7500.0, "7.5 km"), ("outage", True, "true"), ("mode", "plain", "plain")]
)
def test_what_the_netbox_took_is_written_with_its_unit(parameter: str, value: object, text: str) -> None:
    assert written(Radio, parameter, value) == text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("loss=0.05", "0.05"),
        ("jitter=5 ms", "5 ms"),
        ("queue={discipline: codel, packets: 20}", "{discipline: codel, packets: 20}"),
        ("reordering={gap: 5, by: 3 ms}", "{gap: 5, by: 3 ms}"),
        ("up=no longer", None),
        ("outage=null", "null"),
        ("up=true", "true"),
    ],
)
def test_a_change_is_shown_as_it_was_said_and_never_as_python_has_it(change: str, text: str | None) -> None:
    link = technologies()["link"]
    parameter, said = parsed(change)
    if text is None:
        with pytest.raises(ValueError, match="true or false"):
            read_value(link, parameter, said)
        return
    assert shown(link, parameter, read_value(link, parameter, said), said) == text


def test_a_mapping_that_a_netbox_has_is_written_as_in_yaml_with_its_units() -> None:
    link = technologies()["link"]
    value = {"discipline": "codel", "packets": 20, "bytes": 2e9, "time": None, "target": 0.005, "flows": [1, 2, 3, 4, 5]}
    assert written(link, "queue", value) == (
        "{discipline: codel, packets: 20, bytes: 2 GB, time: null, target: 5 ms, flows: [1, 2, 3, 4, …]}"
    )


def test_stages_of_a_station_are_changed_together() -> None:
    link = technologies()["link"]
    parameter, said = parsed("left.stages=[{stage: pink, rate: 5 Mbit/s}]")
    value = read_value(link, parameter, said)
    assert [(stage["stage"], stage["rate"], stage["exploitation"]) for stage in value] == [("pink", 5e6, 0.95)]
    assert shown(link, parameter, value, said) == "[{stage: pink, rate: 5 Mbit/s}]"
    with pytest.raises(ValueError, match="needs rate"):
        read_value(link, *parsed("left.stages=[{stage: pink}]"))
    with pytest.raises(ValueError, match=r"left.stages\[1\].rate: 5 has no unit"):
        read_value(link, *parsed("left.stages=[{stage: mark, dscp: ef}, {stage: pink, rate: 5}]"))
    assert written(link, "left.stages", [{"stage": "qrm", "rate": 5e6, "rtt": 0.1, "nodes": 7, "idle": None}]) == (
        "[{stage: qrm, rate: 5 Mbit/s, rtt: 100 ms, nodes: 7, idle: null}]"
    )


def test_percent_is_told_as_the_ratio_that_it_is() -> None:
    with pytest.raises(ValueError, match=r"loss: '5%' .*; a ratio has no unit: write 0\.05 \(A number alone is a probability"):
        read_value(technologies()["link"], "loss", "5%")


def test_a_change_of_one_station_is_named_with_it() -> None:
    assert read(Cell, "car.position=[10 m, 2 km]") == ("car.position", [10.0, 2000.0, 0.0])
    assert written(Cell, "car.speed", 30.0) == "30 m/s"
    assert written(Cell, "car.position", [10.0, 2000.0, 0.0]) == "[10 m, 2 km, 0 m]"


def test_what_a_station_cannot_change_is_refused_with_what_it_can() -> None:
    with pytest.raises(ValueError, match=r"car.role is not a parameter.*position, speed"):
        read(Cell, "car.role=base")
    with pytest.raises(ValueError, match='did you mean "speed"'):
        read(Cell, "car.sped=1 m/s")
    with pytest.raises(ValueError, match="x and y"):
        read(Cell, "car.position=[10 m]")
