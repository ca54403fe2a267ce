# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ValidationError

from contracts.quantities import GAIN, Quantity
from netboxes.timeline import TimeSeries


class Sky(BaseModel):
    fade: Annotated[list[tuple[float, float]], TimeSeries(Quantity(GAIN, 0.0, 50.0), "attenuation_db")]


def test_a_timeline_is_written_as_pairs_or_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "rain.csv").write_text("time_s,attenuation_db\n0,0\n20,15.5\n")
    sky = Sky.model_validate({"fade": [["0 s", "0 dB"], ["20 s", "15.5 dB"]]})
    assert Sky.model_validate({"fade": "rain.csv"}, context={"folder": tmp_path}) == sky
    assert sky.fade == [(0.0, 0.0), (20.0, 15.5)]
    assert sky.model_dump(mode="json") == {"fade": [[0.0, 0.0], [20.0, 15.5]]}


@pytest.mark.parametrize(
    ("fade", "message"),
    [
        ([], "write pairs"),
        ([["0 s"]], "write pairs"),
        ([["0 s", "60 dB"]], "outside 0 dB … 50 dB"),
        ([["0 s", "1"]], "has no unit"),
        ([["5 s", "1 dB"], ["5 s", "2 dB"]], "put them in order"),
        ("nowhere.csv", "there is no file nowhere.csv"),
    ],
)
def test_what_is_no_timeline_is_refused_with_what_to_write(fade: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Sky.model_validate({"fade": fade})
