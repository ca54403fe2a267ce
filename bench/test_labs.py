# SPDX-License-Identifier: GPL-2.0-or-later
"""Real labs of the benchmarks: ours and stock ns-3 carry what the generator offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import crossing, setup_a
from bench.ends import Ends
from bench.labs import up
from bench.settings import Surroundings, quick
from system.cores import available_cores

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.skipif(len(available_cores()) < 2, reason="benchmarks need two cores"),
]


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(quick(1), available_cores(), tmp_path)


@pytest.mark.parametrize("contestant", ["memory", "veth", "stock", "stock_bridges"])
def test_every_frame_of_a_gentle_load_arrives(contestant: str, around: Surroundings) -> None:
    with up(setup_a._plan(contestant, around), around) as lab, Ends.of(lab) as ends:
        ends.open_path()
        trial = ends.offer(1000, 0.3)
    assert trial.sent == trial.received == 300


def test_frames_cross_a_wire_that_is_awake_at_both_ends(around: Surroundings) -> None:
    outcome = crossing.measure(around)
    assert all(turn["count"] >= 1980 for turns in outcome.figures["crossing"].values() for turn in turns)
