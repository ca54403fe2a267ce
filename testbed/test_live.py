# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from netboxes.technology import Technology
from testbed.live import BadChange, parse, written
from testbed.quantities import LENGTH, Quantity


class Radio(Technology):
    LIVE: ClassVar[frozenset[str]] = frozenset({"distance", "outage", "mode"})

    distance: Annotated[float, Quantity(LENGTH, 1.0, 10e3)]
    outage: bool = False
    mode: str = "plain"
    stations: int = 2


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
        ("distanc=80 m", "did you mean distance"),
        ("stations=3", "not a parameter that can change while the netbox runs.*distance, mode, outage"),
        ("mode=[", "not a value as in YAML"),
    ],
)
def test_a_wrong_change_is_refused_with_what_to_write_instead(change: str, told: str) -> None:
    with pytest.raises(BadChange, match=told) as raised:
        parse(Radio, change)
    assert raised.value.exit_status == 2


@pytest.mark.parametrize(
    ("parameter", "value", "text"), [("distance", 7500.0, "7.5 km"), ("outage", True, "True"), ("mode", "plain", "plain")]
)
def test_what_the_netbox_took_is_written_with_its_unit(parameter: str, value: object, text: str) -> None:
    assert written(Radio, parameter, value) == text
