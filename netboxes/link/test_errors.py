# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of errors on a link in virtual time, where the times of frames are known to the nanosecond."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netboxes.engine.virtual import Change, TimedFrame, emulate, udp
from results.records import Fate

FOLDER = Path(__file__).parents[1] / "errors"
LEFT, RIGHT = 0, 1
IP_UDP = 28
#: Xylomenos (1999, table 3.2), level 4.
PCS = {"model": "two-state", "good": "10 s", "bad": "1 s", "bit_error_rate_in_good": 1e-6, "bit_error_rate_in_bad": 1e-2}
#: Everything is lost in bad times: what is lost tells the times.
FADES = {"model": "gilbert-elliott-in-time", "good": "4 s", "bad": "1 s"}


def frames(times: NDArray[Any], source: int = LEFT, payload: int = 223) -> list[TimedFrame]:
    return [(at, udp(source, RIGHT - source, payload, identification=n)) for n, at in enumerate(times)]


def lost_by_time(
    loss: Any, left: Sequence[TimedFrame], right: Sequence[TimedFrame] = (), *, station: int = RIGHT, **options: Any
) -> dict[int, bool]:
    """For each frame to a station, by the ns at which it came in: whether it was lost on air."""
    link = {"stations": {"left": {}, "right": {}}, "rate": "64 kbit/s", "overhead": "0 B", "delay": "50 ms", "loss": loss}
    ran = emulate("link", link, {"left": left, "right": right}, **options)
    records = ran.records[ran.records["station_out"] == station]
    return dict(zip(records["in_ns"].tolist(), (records["fate"] == Fate.ON_AIR).tolist(), strict=True))


def share(lost: dict[int, bool]) -> float:
    return float(np.mean(list(lost.values())))


@pytest.mark.parametrize(
    ("loss", "payload", "expected"),
    [
        # The spec's tables for PCS, 251 and 41 bytes; and 1 - exp(-S / mean) of byte intervals.
        (PCS, 251 - IP_UDP, 0.09529),
        (PCS, 41 - IP_UDP, 0.08805),
        ({"model": "byte-intervals", "interval": "16384 B"}, 1001 - IP_UDP, 1 - exp(-1001 / 16384)),
        (0.05, 251 - IP_UDP, 0.05),
    ],
)
def test_so_many_frames_of_a_size_are_lost(loss: Any, payload: int, expected: float) -> None:
    """20 s from frame to frame: the channel has forgotten its state."""
    count = 20_000
    measured = share(lost_by_time(loss, frames(1 + 20 * np.arange(count), payload=payload)))
    assert measured == pytest.approx(expected, abs=3 * sqrt(expected * (1 - expected) / count))


def test_a_fade_passes_while_the_link_idles() -> None:
    """Who sends seldom meets the same fades as who sends all the time, and as who sends frames of another length."""
    seconds = np.arange(1, 2000)
    often = lost_by_time(FADES, frames(np.arange(1, 2000, 0.1)))
    seldom = lost_by_time(FADES, frames(seconds))
    short = lost_by_time(FADES, frames(seconds, payload=0))
    assert 0.1 < share(seldom) < 0.3
    assert seldom == short == {at: often[at] for at in seldom}


def test_directions_fade_independently() -> None:
    """With one fade for both the product of the shares would be off by p (1 - p)."""
    times = np.arange(1, 8000, 2)
    there = lost_by_time(FADES, frames(times), frames(times, RIGHT))
    back = lost_by_time(FADES, frames(times), frames(times, RIGHT), station=LEFT)
    both: NDArray[np.bool_] = np.array(list(there.values())) & np.array(list(back.values()))
    # Products of two channels that remember exp(-1.25 t) each.
    memory = exp(-2.5) ** 2
    deviation = sqrt(0.04 * 0.96 / len(times) * (1 + memory) / (1 - memory))
    assert both.mean() == pytest.approx(share(there) * share(back), abs=4 * deviation)
    assert there != back


def test_the_seed_decides_the_fades() -> None:
    times = np.arange(1, 500)
    first, again, other = (lost_by_time(FADES, frames(times), seed=seed) for seed in (3, 3, 4))
    assert first == again != other


@pytest.mark.parametrize(
    ("file", "every"),
    [("test-frames.csv", {1, 2}), ("test-periods.csv", {2, 3, 9})],
)
def test_a_trace_loses_what_it_lost(file: str, every: set[int]) -> None:
    """Frames at 0, 0.25, 0.5 s … of the network's time; each takes 31 ms. A round is of 4 frames, or of 4 s."""
    lost = lost_by_time({"model": "trace", "file": str(FOLDER / file)}, frames(5 + 0.25 * np.arange(64)))
    period = 4 if file == "test-frames.csv" else 16
    assert [n for n, gone in enumerate(lost.values()) if gone] == [n for n in range(64) if n % period in every]


def test_models_change_while_it_runs_and_by_direction() -> None:
    events: list[Change] = [
        (100.0, "loss", {"model": "independent", "probability": 1.0}),
        (200.0, "right.loss", {"model": "lost-periods", "periods": [[10, 50]], "repeat": False}),
    ]
    times = np.arange(1, 300) + 0.5
    there = lost_by_time(0.0, frames(times), frames(times, RIGHT), events=events)
    back = lost_by_time(0.0, frames(times), frames(times, RIGHT), station=LEFT, events=events)
    assert [at // 10**9 for at, gone in there.items() if gone] == list(range(100, 300))
    assert [at // 10**9 for at, gone in back.items() if gone] == [*range(100, 200), *range(210, 250)]


def test_another_rate_leaves_the_fades_alone() -> None:
    times = np.arange(1, 500)
    assert lost_by_time(FADES, frames(times)) == lost_by_time(FADES, frames(times), events=[(100.1, "rate", 1e6)])
