# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.mobility.stations import MobileStation


def read(**parameters: Any) -> MobileStation:
    return MobileStation.model_validate(parameters)


def test_a_position_has_a_height_or_stands_on_the_ground() -> None:
    assert read(position=["10 m", "0.2 km"]).place() == (10.0, 200.0, 0.0)
    assert read(position=["10 m", "2 m", "1.5 m"]).place() == (10.0, 2.0, 1.5)


def test_a_path_is_written_as_waypoints_or_as_a_file(tmp_path: Path) -> None:
    station = read(path=[{"at": "0 s", "position": ["1 m", "2 m"]}, {"at": "10 s", "position": ["3 m", "4 m"]}])
    (tmp_path / "walk.csv").write_text("time_s,x_m,y_m\n0,1,2\n10,3,4\n")
    filed = MobileStation.model_validate({"path": "walk.csv"}, context={"folder": tmp_path})
    assert filed == station
    assert station.place() == (1.0, 2.0, 0.0)


def test_who_wanders_begins_where_it_is_put_or_in_the_middle() -> None:
    wander = {"area": [["0 m", "0 m"], ["10 m", "20 m"]], "speed": ["1 m/s", "2 m/s"]}
    assert read(wander=wander).place() == (5.0, 10.0, 0.0)
    assert read(wander=wander, position=["1 m", "1 m"]).place() == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"position": "10 m"}, "a position is x and y"),
        ({"path": []}, "at least 1 item"),
        ({"position": ["1 m", "1 m"], "path": [{"at": "0 s", "position": ["1 m", "2 m"]}]}, "position and path say where"),
        ({"path": [{"at": "5 s", "position": ["1 m", "2 m"]}] * 2}, "put them in order"),
        ({"wander": {"area": [["0 m", "0 m"], ["1 m", "1 m"]], "speed": ["2 m/s", "1 m/s"]}}, "the slowest first"),
        ({"wander": {"area": [["9 m", "0 m"], ["1 m", "1 m"]], "speed": ["1 m/s", "1 m/s"]}}, "the smaller coordinates first"),
    ],
)
def test_what_is_no_place_is_refused_with_what_to_write(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        read(**parameters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column time_s, x_m, y_m"),
        ("time_s,x_m,y_m\n", "no rows"),
        ("time_s,x_m,y_m,colour\n", "unknown column colour"),
        ("time_s,x_m,y_m\n0,1,2\n1,a,2\n", "line 3: 'a' is not a number"),
        ("time_s,x_m,y_m\n0,1,inf\n", "line 2: 'inf' is not a number"),
        ("time_s,x_m,y_m\n0,1\n", "line 2: 2 cells instead of 3"),
    ],
)
def test_a_file_that_is_not_a_path_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "walk.csv").write_text(text)
    with pytest.raises(ValidationError, match=message):
        MobileStation.model_validate({"path": "walk.csv"}, context={"folder": tmp_path})


def test_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="keep the file beside"):
        MobileStation.model_validate({"path": "../walk.csv"}, context={"folder": tmp_path / "here"})
