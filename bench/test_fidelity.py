# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of real and virtual time: its recording, its arithmetic, and once in a real lab, whose timing is not judged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bench import fidelity
from bench.conversation import conversation
from bench.fidelity import Comparison, NotCarried, RealRun, compare
from netboxes.engine.virtual import Emulation
from results.identity import identity
from results.records import RECORD

STATIONS = [{"name": "a"}, {"name": "b"}]


def test_the_recording_is_the_same_each_time_small_and_without_two_equal_frames() -> None:
    traffic = conversation(10.0)
    assert traffic == conversation(10.0)
    frames = [frame for end in traffic for _, frame in end]
    assert len({identity(frame) for frame in frames}) == len(frames)
    assert sum(map(len, frames)) < 1_000_000
    assert all([time for time, _ in end] == sorted(time for time, _ in end) for end in traffic)
    assert len(traffic.right) == 500
    assert {len(frame) for _, frame in traffic.right} == {120}


def runs(real_us: list[float | None], virtual_us: list[float | None], sender: int = 0) -> tuple[RealRun, Emulation]:
    """Two runs in which frame n took so long; None: it was lost."""

    def found(delays: list[float | None]) -> np.ndarray:
        records = np.zeros(len(delays), RECORD)
        for number, delay in enumerate(delays):
            out_ns = 0 if delay is None else number + round(delay * 1e3)
            records[number] = (number, number, out_ns, 0, 64, sender, 1 - sender, 0, delay is None, b"")
        return records

    both_ways = [np.concatenate([found(side), _other_way(sender)]) for side in (real_us, virtual_us)]
    return RealRun({"stations": STATIONS}, both_ways[0], {}), Emulation({}, both_ways[1], {}, [])


def _other_way(sender: int) -> np.ndarray:
    return np.array([(99, 0, 1000, 0, 64, 1 - sender, sender, 0, 0, b"")], RECORD)


def test_delays_are_compared_frame_by_frame_and_by_direction() -> None:
    first, second = compare(*runs([100.0, 210.0, 300.0], [100.0, 200.0, 305.0]))
    assert (first.sender, first.frames, first.fates_differ) == ("a", 3, 0)
    assert first.difference_us == pytest.approx(5 / 3)
    assert (first.frame_p50_us, first.frame_max_us) == (5.0, 10.0)
    assert (second.sender, second.frames, second.difference_us) == ("b", 1, 0.0)


def test_a_frame_that_one_run_lost_is_told_and_left_out_of_the_mean() -> None:
    first, _ = compare(*runs([100.0, None, 300.0], [100.0, 200.0, 300.0]))
    assert (first.frames, first.fates_differ, first.difference_us) == (2, 1, 0.0)


def test_a_direction_in_which_nothing_was_delivered_is_no_comparison() -> None:
    with pytest.raises(NotCarried, match="from a"):
        list(compare(*runs([None], [1.0])))


@pytest.mark.parametrize(
    ("mean_us", "difference_us", "good"), [(1e3, 50, True), (1e3, -51, False), (1e6, 9e3, True), (1e6, 2e4, False)]
)
def test_the_mean_may_differ_by_50_us_or_1_percent(mean_us: float, difference_us: float, good: bool) -> None:
    assert (Comparison("a", 1, 0.0, mean_us, difference_us, 0, 0, 0, 0, 0).share <= 1) is good


@pytest.fixture
def folder() -> Iterator[Path]:
    """In the checkout, since containers see no other."""
    folder = fidelity.FOLDER.parent / f"test-{os.getpid()}"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.lab
def test_a_segment_carries_the_recording_in_a_lab_and_again_in_virtual_time(folder: Path) -> None:
    measured = fidelity.measure(["ethernet"], duration_s=0.5, folder=folder, lab=f"fi{os.getpid()}")
    segment = measured["segments"]["ethernet"]
    assert [direction["sender"] for direction in segment["directions"]] == ["left", "right"]
    # A generator that a busy machine holds up passes frames over: what it sent is what is compared.
    for direction, offered in zip(segment["directions"], conversation(0.5), strict=True):
        assert 0 < direction["frames"] + direction["fates_differ"] <= len(offered)
    assert all(direction["mean_virtual_us"] > 0 for direction in segment["directions"])
    assert segment["lateness_us"]["frame"]["count"] >= sum(direction["frames"] for direction in segment["directions"])
