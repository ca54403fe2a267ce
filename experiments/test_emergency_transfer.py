# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from dataclasses import replace

from experiments.emergency_transfer import REPETITIONS, VARIANTS, Series, Transfer, lacking, table, topology

TRANSFER = Transfer("cubic", 0, 2000.0, {"call.voice, return": 270.0}, 0.01, "valid", 0)


def several(*goodputs_kbps: float, delays_ms: tuple[float, ...] = (269.0, 270.0, 271.0)) -> list[Transfer]:
    pairs = zip(goodputs_kbps, delays_ms, strict=True)
    return [
        replace(TRANSFER, repetition=at, goodput_kbps=goodput, delays_ms={"call.voice, return": delay})
        for at, (goodput, delay) in enumerate(pairs)
    ]


def test_runs_that_are_there_are_not_made_again() -> None:
    wanted = lacking([TRANSFER])
    assert len(wanted) == len(VARIANTS) * REPETITIONS - 1
    assert Series("cubic", 0) not in wanted


def test_the_transfer_goes_beside_call_and_camera_and_each_repetition_has_its_seed() -> None:
    first, second = (topology(Series("cubic", repetition)) for repetition in (0, 1))
    assert list(first["traffic"]) == ["call", "camera", "transfer"]
    assert {entry["duration"] for entry in first["traffic"].values()} == {"60 s"}
    assert first["seed"] != second["seed"]


def test_goodput_agrees_within_5_percent_and_delays_within_lateness_and_5_percent() -> None:
    """270 ms may differ by 18.5 ms, 2 Mbit/s by 0.1 Mbit/s."""
    real = several(1990.0, 2000.0, 2010.0)
    for virtual, expected in (
        (several(2080.0, 2090.0, 2100.0, delays_ms=(287.0, 288.0, 289.0)), ("agrees", "agrees")),
        (several(2100.0, 2110.0, 2120.0, delays_ms=(288.0, 289.0, 290.0)), ("too far", "too far")),
        (several(1700.0, 2000.0, 2300.0, delays_ms=(240.0, 270.0, 300.0)), ("not shown", "not shown")),
    ):
        rows = table(real, virtual).rows
        assert tuple(row[4].rpartition(", ")[2] for row in rows) == expected
