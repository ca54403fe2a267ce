# SPDX-License-Identifier: GPL-2.0-or-later
"""The cell of topologies/wimax-thesis.yaml: at both distances, and in the four stages of Table 6.2.

Its capacities are regressions: they follow from parameters that were chosen to come near the thesis's (README.md).
"""

from __future__ import annotations

from typing import Any

import pytest

from netboxes.engine.virtual import TimedFrame
from netboxes.wimax.cell_under_test import (
    DATA,
    VIDEO,
    VOICE,
    arrived,
    delays_ms,
    goodput_bps,
    run,
    stream,
    thesis_cell,
)


def _flow(ip_bytes: int, rate_bps: float, dscp: int, port: int) -> list[TimedFrame]:
    return stream(1, 0, ip_bytes=ip_bytes, rate_bps=rate_bps, seconds=15.0, dscp=dscp, port=port)


def _stage(voice: int, video: int, data: int, **changes: Any) -> Any:
    """So many flows of each kind of Table 6.2."""
    frames = [frame for n in range(voice) for frame in _flow(102, 48e3, VOICE, 6000 + n)]
    frames += [frame for n in range(video) for frame in _flow(284, 401e3, VIDEO, 6100 + n)]
    frames += [frame for n in range(data) for frame in _flow(284, 305e3 / 8, DATA, 6200 + n)]
    return run(thesis_cell(**changes), {"ss1": sorted(frames)})


def test_capacity_at_two_and_a_half_kilometres() -> None:
    """At IP, as the thesis's just under 2 Mbit/s are: ours is above."""
    result = run(thesis_cell(), {"ss1": stream(1, 0, ip_bytes=528, rate_bps=4e6, seconds=6.0)})
    assert goodput_bps(arrived(result, 1, 0), 2.0, 6.0) == pytest.approx(2.086e6, rel=0.01)


def test_four_stages_of_table_6_2() -> None:
    """Video untouched in all of them, voice worse by steps, data worst."""
    alone = {VIDEO: _stage(0, 1, 0), VOICE: _stage(1, 0, 0), DATA: _stage(0, 0, 8)}
    stages = [_stage(1, 1, 0), _stage(1, 1, 8), _stage(2, 1, 8, distance="7.5 km")]

    def mean(result: Any, dscp: int) -> float:
        return float(delays_ms(arrived(result, 1, 0, dscp)).mean())

    video = [mean(result, VIDEO) for result in (alone[VIDEO], *stages)]
    voice = [mean(result, VOICE) for result in (alone[VOICE], *stages)]
    data = [mean(result, DATA) for result in (alone[DATA], *stages[1:])]
    sent = len(_flow(284, 401e3, VIDEO, 6100))
    # At 7.5 km BPSK 1/2 is 0.1 dB above its threshold: less than 0.1 % are lost on the air, of every class.
    assert all(len(arrived(result, 1, 0, VIDEO)) > 0.998 * sent for result in (alone[VIDEO], *stages))
    # A BPSK symbol has a third of the bits, so at 7.5 km what was sent takes a little longer itself.
    assert video[:3] == pytest.approx([video[0]] * 3, abs=0.1)
    assert video[3] == pytest.approx(video[0], abs=0.8)
    # Polled every 10 ms; behind the video's share in the burst; at 7.5 km behind three times as many symbols.
    assert voice[0] == pytest.approx(15.2, abs=0.3)
    assert voice[0] + 0.3 < voice[1] <= voice[2] + 0.1 < voice[3] - 0.5
    assert data[0] < data[1] < 30.0
    assert data[2] > 300.0
    assert goodput_bps(arrived(stages[-1], 1, 0), 4.0, 15.0) == pytest.approx(775e3, rel=0.01)
