# SPDX-License-Identifier: GPL-2.0-or-later
"""How windows grow between losses, against closed forms. The window is what is on its way, read from the sender's capture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import bulk, pair
from results import pcapng

RATE, DATA, FRAME = 10e6, 1448, 1514
#: The bottleneck's time for a segment.
SEGMENT_S = FRAME * 8 / RATE


def window(
    folder: Path, variant: str, *, delay_s: float, duration_s: float, ack_every: int = 1
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Times, s, and segments on their way just after each new segment, and when losses were found, those of a second together;
    the queue holds what is on its way without one."""
    queue = RATE / 8 * 2 * delay_s
    sends = bulk("sender", until_s=duration_s, tcp={"variant": variant})
    receives = bulk("receiver", tcp={"ack_every": ack_every})
    pair(folder, [sends], [receives], delay_s=delay_s, queue=queue, duration_s=duration_s)
    acknowledged = highest = 0
    times, segments, losses = [], [], [0.0]
    for packet in pcapng.read(folder / "pair.pcapng"):
        frame = packet.data
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        number, answer = int.from_bytes(frame[38:42]), int.from_bytes(frame[42:46])
        length = int.from_bytes(frame[16:18]) - 20 - 4 * (frame[46] >> 4)
        if frame[34:36] == (5001).to_bytes(2):
            acknowledged = max(acknowledged, answer)
        elif length and number >= highest:
            highest = number + length
            times.append(packet.time_ns / 1e9)
            segments.append((highest - acknowledged) / DATA)
        elif length and packet.time_ns / 1e9 > losses[-1] + 1:
            losses.append(packet.time_ns / 1e9)
    return np.array(times), np.array(segments), losses[1:]


def growth(times: np.ndarray, segments: np.ndarray, begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Between two windows of the last growth that passes both: times from the first of them on, and windows."""
    last = np.flatnonzero((segments[1:] >= end) & (segments[:-1] < end))[-1] + 1
    first = np.flatnonzero(segments[:last] <= begin)[-1]
    return times[first:last] - times[first], segments[first:last]


def test_linux_reno_is_a_sawtooth_of_a_half(tmp_path: Path) -> None:
    """RFC 5681: half of the window at a loss, then a segment each round trip. The queue is never empty then, so a round trip is
    the window's time on the bottleneck: dW/dt = 1/(W s), W(t) = sqrt(W0² + 2 t/s)."""
    times, segments, _ = window(tmp_path, "linux-reno", delay_s=0.05, duration_s=40.0)
    full = 2 * 0.1 / SEGMENT_S
    settled = segments[times > times[0] + 15]
    assert settled.min() == pytest.approx(full / 2, rel=0.03)
    at, grown = growth(times, segments, 90, 160)
    assert grown == pytest.approx(np.sqrt(grown[0] ** 2 + 2 * at / SEGMENT_S), rel=0.02)


def test_cubic_is_a_cubic_function_of_time_with_fast_convergence(tmp_path: Path) -> None:
    """RFC 9438, 4.2, 4.6 and 4.7: after a loss at W a window of 0.7 W, then C (t - K)³ + Wmax with C = 0.4 and
    K = cbrt((Wmax - 0.7 W) / C); Wmax is W, or 0.85 W when W was less than the Wmax before. The window follows its target a
    round trip later, and is below it by as much as the function grows meanwhile."""
    times, segments, losses = window(tmp_path, "cubic", delay_s=0.05, duration_s=40.0)
    most, tried = 0.0, 0
    for begin, end in zip(losses, [*losses[1:], times[-1]], strict=True):
        lost_at = segments[times < begin][-1]
        most = 0.85 * lost_at if lost_at < most else lost_at
        k = np.cbrt((most - 0.7 * lost_at) / 0.4)
        # Recovery takes a round trip, of 0.2 s here; a second one later all that is on its way has been sent by the new window.
        grows = (times > begin + 0.5) & (times < end)
        assert segments[grows] == pytest.approx(0.4 * (times[grows] - begin - 0.2 - k) ** 3 + most, rel=0.06)
        tried += end > begin + 3
    assert tried >= 4


def test_cubic_grows_on_short_paths_as_reno_would(tmp_path: Path) -> None:
    """RFC 9438, 4.3: 3 (1 - 0.7)/(1 + 0.7) segments each round trip, which by the cubic function would take K = 2.9 s."""
    times, segments, _ = window(tmp_path, "cubic", delay_s=0.01, duration_s=20.0)
    later = times > times[0] + 5
    at, grown = growth(times[later], segments[later], 25, 31)
    assert grown == pytest.approx(np.sqrt(grown[0] ** 2 + 2 * 0.529 * at / SEGMENT_S), rel=0.1)


def test_cubic_leaves_slow_start_before_its_queue_is_full(tmp_path: Path) -> None:
    """Linux's hystart_update(): slow start ends when acknowledgements come as one train for half of the least round trip, or a
    round trip is longer by an eighth, at least 4 ms: before the window is an eighth more than the path holds, without loss."""
    times, segments, losses = window(tmp_path, "cubic", delay_s=0.05, duration_s=5.0)
    product = 0.1 / SEGMENT_S
    assert losses[0] > times[0] + 2
    assert product / 2 < segments[times < times[0] + 0.8].max() < 1.125 * product + 2
