# SPDX-License-Identifier: GPL-2.0-or-later
"""The play-out buffer: segments of 2 s, playback from 4 s on, again from 2 s on."""

from __future__ import annotations

import pytest

from applications.dash.play_buffer import PlayBuffer


@pytest.mark.parametrize(
    ("arrivals", "told", "level_at_20"),
    [
        ([], [], 0),
        ([1], [], 2),
        ([1, 3], [("playing", 3), ("stalled", 7)], 0),
        ([1, 3, 7, 9, 11, 13, 15, 17], [("playing", 3), ("stalled", 19)], 0),
        ([1, 3, 10], [("playing", 3), ("stalled", 7), ("playing", 10), ("stalled", 12)], 0),
        ([1, 3, *([19] * 3)], [("playing", 3), ("stalled", 7), ("playing", 19)], 5),
    ],
)
def test_it_plays_what_it_has(arrivals: list[float], told: list[tuple[str, float]], level_at_20: float) -> None:
    heard: list[tuple[str, float]] = []
    buffer = PlayBuffer(4.0, 2.0, lambda state, at: heard.append((state, at)))
    for at in arrivals:
        buffer.fill(at, 2.0)
    buffer.advance(20.0)
    assert (heard, buffer.level) == (told, level_at_20)
