# SPDX-License-Identifier: GPL-2.0-or-later
"""A warm-up is cut off from the figures of a run: what is told is what would be told of the later frames alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from applications.registry import analyses
from contracts.run_files import DamagedRun
from results import records
from results.analyse import analyse
from results.conftest import CENTRE, FIELD, MS, START_NS, Journey, SyntheticRun, frame, rtp

GAPS = (2_000, 30_000, 3_000)


def a_call(run: SyntheticRun, lost: tuple[int, ...] = ()) -> SyntheticRun:
    """Of 10 s: in the first 5 s it takes 100 ms more. The frames of these numbers are lost in the cell."""
    for number in range(500):
        inside = (5 * MS, 250 * MS) if number >= 250 else (105 * MS, 250 * MS)
        data = frame(FIELD, CENTRE, number, rtp(number, number * 160))
        fate = ("cell", records.Fate.ON_AIR) if number in lost else None
        run.journeys["return"].append(Journey(data, START_NS + number * 20 * MS, GAPS, inside, fate))
        data = frame(CENTRE, FIELD, number, rtp(number, number * 160))
        run.journeys["forward"].append(Journey(data, START_NS + number * 20 * MS, GAPS, (250 * MS, 5 * MS)))
    return run


def analysed(folder: Path, warm_up_s: float | None = None) -> Any:
    """With a warm-up in its plan, or without any word of one, as an earlier NetBoxIT wrote it."""
    plan = json.loads((folder / "plan.json").read_text())
    del plan["warm_up_s"]
    (folder / "plan.json").write_text(json.dumps(plan if warm_up_s is None else plan | {"warm_up_s": warm_up_s}))
    return analyse(folder, analyses())


def test_figures_are_of_frames_that_were_sent_after_it(synthetic: SyntheticRun) -> None:
    told = analysed(a_call(synthetic, lost=(100, 101, 102, 103, 300)).write(), 5.0)
    (back, _) = told["flows"]
    assert (told["warm_up_s"], back["packets"], back["warm_up_packets"], back["received"]) == (5.0, 250, 250, 249)
    assert back["loss_ratio"] == pytest.approx(1 / 250)
    assert back["losses"] == [{"at": "cell", "why": "on the air", "frames": 1}]
    assert (back["one_way_delay_ms"]["max"], back["outages"]["count"]) == (pytest.approx(255.035), 0)
    assert back["paths"][0]["received"] == 249 and back["paths"][0]["first_s"] == 5.0
    (cell,) = [one for one in told["segments"] if (one["netbox"], one["direction"]) == ("cell", "return")]
    assert (cell["packets"], cell["lost"], cell["one_way_delay_ms"]["max"]) == (250, 1, 5.0)
    assert all(gap["us"]["count"] <= 250 for gap in told["gaps"])
    assert told["overhead_us"]["count"] == 499
    (voice, _) = told["voice"]
    assert voice["mouth_to_ear_ms"] == pytest.approx(255.035 + 20 + 60)
    assert told["verdict"]["status"] == "valid"


def test_series_and_frames_have_all_of_the_run(synthetic: SyntheticRun) -> None:
    folder = a_call(synthetic).write()
    told = analysed(folder, 5.0)
    seconds = told["flows"][0]["seconds"]
    assert seconds["second"] == list(range(11)) and sum(seconds["sent"]) == 500
    frames = pl.read_parquet(folder / "frames.parquet")
    assert frames.group_by("warm_up").len().sort("warm_up").rows() == [(False, 500), (True, 500)]
    later = frames["sent_ns"] >= START_NS + 5_000 * MS
    assert frames["warm_up"].to_list() == (~later).to_list()
    report = (folder / "report.html").read_text()
    assert "of the run are its warm-up" in report


def test_a_run_without_one_is_told_as_ever_to_the_bit(tmp_path: Path) -> None:
    """An older plan, one that says 0, and what is after the warm-up of a run that began earlier."""
    older, none = (a_call(SyntheticRun(tmp_path / name), lost=(7,)).write() for name in ("older", "none"))
    assert analysed(older) == analysed(none, 0.0)
    for table in ("frames.parquet", "flows.parquet", "measures.parquet"):
        assert (older / table).read_bytes() == (none / table).read_bytes()
    assert "warm_up" not in pl.read_parquet_schema(older / "frames.parquet")
    assert "warm-up" not in (older / "report.html").read_text()


def test_a_flow_that_sent_only_in_it_is_told_and_not_invalid(synthetic: SyntheticRun) -> None:
    told = analysed(a_call(synthetic).write(), 11.0)
    (back, _) = told["flows"]
    assert (back["packets"], back["loss_ratio"], back["one_way_delay_ms"]) == (0, None, None)
    assert back["reason"] == "no frame of this flow was sent after the warm-up"
    assert told["voice"][0]["reason"] == "no packet arrived"
    assert told["verdict"]["status"] == "valid"
    assert [
        note for note in told["verdict"]["notes"] if "call.voice (return): all of its 500 frames were sent in the warm-up" in note
    ]


def test_a_flow_that_never_sent_is_invalid_whatever_the_warm_up(synthetic: SyntheticRun) -> None:
    told = analysed(synthetic.write(), 5.0)
    assert told["verdict"]["reasons"] == [f"flow call.voice ({way}): not one frame was sent" for way in ("return", "forward")]


def test_the_verdict_is_of_the_whole_run(synthetic: SyntheticRun) -> None:
    """What a netbox missed cannot be cut: it might have been in the time that counts."""
    synthetic.missed = 3
    assert analysed(a_call(synthetic).write(), 9.0)["verdict"]["status"] == "degraded"


@pytest.mark.parametrize("value", [-1.0, 1e9, 1e300, float("nan"), float("inf"), "soon", [5.0], None])
def test_a_plan_with_nonsense_in_its_place_is_damaged(synthetic: SyntheticRun, value: object) -> None:
    folder = a_call(synthetic).write()
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(plan | {"warm_up_s": value}))
    with pytest.raises(DamagedRun, match="warm_up_s"):
        analyse(folder, analyses())
