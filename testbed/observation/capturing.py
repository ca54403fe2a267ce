# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures at any number of points of a running lab, on one clock, into one stream of frames in the order of their times."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Final

from results.pcapng import BadCapture, Packet, Point
from system.interruption import ends_upon_signal
from testbed.labs.lab import Lab
from testbed.observation.capture_files import Sink
from testbed.observation.capture_points import CapturedPoint, CapturePoint
from testbed.observation.capture_sources import CaptureFailed, Source, source

#: A frame is written so long after it passed, when every point has delivered what passed before. A netbox delivers every 10 ms,
#: by a thread that may have to wait for a core.
HOLD_NS: Final = 400_000_000
_LOOK_S: Final = 0.05
#: Frames that may wait to be written. When there are more, points are not read: their own bounded queues then count losses.
_MOST_WAITING: Final = 200_000
_STOP_DEADLINE_S: Final = 30.0
_TIME: Final = attrgetter("time_ns")


@dataclass(frozen=True)
class Captured:
    """`late`: frames that came when later ones had been written already."""

    points: list[CapturedPoint]
    files: list[Path]
    late: int


class _Reader:
    """A point that is being captured, with the thread that reads it."""

    def __init__(self, number: int, point: CapturePoint, source: Source, merge: Merge, ending: threading.Event) -> None:
        self.point, self.source = point, source
        self.frames = 0
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._read, args=(number, merge, ending), daemon=True)

    def close(self) -> None:
        if not self.thread.is_alive():  # else it waits for a netbox that does not answer, and ends with this process
            self.source.close()

    def captured(self) -> CapturedPoint:
        return CapturedPoint(self.point, self.frames, self.source.dropped)

    def _read(self, number: int, merge: Merge, ending: threading.Event) -> None:
        try:
            for time_ns, data, _, direction in self.source.packets():
                self.frames += 1
                merge.put(Packet(time_ns, data, number, direction))
                while merge.waiting() > _MOST_WAITING and not ending.is_set():
                    time.sleep(_LOOK_S)
        except (OSError, BadCapture) as error:
            self.error = error


def capture(
    lab: Lab,
    points: Sequence[CapturePoint],
    open_sink: Callable[[Sequence[Point]], Sink],
    *,
    duration_s: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Captured:
    """Captures until the time is over, a signal comes, or whoever reads the sink has gone; what was captured is then whole.

    The sink is opened when all points are. Raises CaptureFailed, ControlFailed, ParameterRefused.
    """
    merge, ending = Merge(), threading.Event()
    with ExitStack() as stack, ends_upon_signal() as ended:
        readers = [_Reader(n, point, source(lab, point, n), merge, ending) for n, point in enumerate(points)]
        for reader in readers:
            stack.callback(reader.close)
            reader.source.open()
        sink = open_sink([Point(point.name, point.words()) for point in points])
        try:
            try:
                for reader in readers:
                    reader.thread.start()
                _go_on(merge, sink, readers, ended, duration_s, progress)
            finally:
                ending.set()
                _stop(readers)
            for packet in merge.take(None):
                sink.write(packet)
            sink.close([reader.captured() for reader in readers], time.time_ns())
        except BrokenPipeError:
            pass
        except OSError as error:
            raise CaptureFailed(f"the capture cannot be written: {error.strerror}") from error
    for reader in readers:
        if reader.error is not None:
            raise CaptureFailed(f"{reader.point.name}: {reader.error}; what was captured before is in the file")
    return Captured([reader.captured() for reader in readers], sink.files(), merge.late)


def _go_on(
    merge: Merge,
    sink: Sink,
    readers: Sequence[_Reader],
    ended: threading.Event,
    duration_s: float | None,
    progress: Callable[[str], None],
) -> None:
    until = None if duration_s is None else time.monotonic() + duration_s
    where = f"capturing at {len(readers)} {'point' if len(readers) == 1 else 'points'}"
    while any(reader.thread.is_alive() for reader in readers):
        left_s = _LOOK_S if until is None else until - time.monotonic()
        if left_s <= 0 or ended.wait(min(_LOOK_S, left_s)):
            return
        for packet in merge.take(time.time_ns() - HOLD_NS):
            sink.write(packet)
        sink.flush()
        frames = sum(reader.frames for reader in readers)
        progress(f"{where}, {frames} frames, " + ("Ctrl-C ends it" if until is None else f"{left_s:.0f} s left"))


def _stop(readers: Sequence[_Reader]) -> None:
    """Returns when everything that the points still had is here."""
    for reader in readers:
        reader.source.stop()
    deadline = time.monotonic() + _STOP_DEADLINE_S
    for reader in readers:
        if reader.thread.is_alive():
            reader.thread.join(max(0.0, deadline - time.monotonic()))


class Merge:
    """Many threads `put` frames, one thread `take`s them. A frame waits until no earlier one can be expected any more.

    A frame that comes even later is handed on at once, out of its order, and counted in `late`.
    """

    def __init__(self) -> None:
        self._coming: deque[Packet] = deque()
        self._held: list[Packet] = []
        self._last_ns = 0
        self.late = 0

    def put(self, packet: Packet) -> None:
        self._coming.append(packet)

    def waiting(self) -> int:
        return len(self._coming)

    def take(self, until_ns: int | None) -> Iterator[Packet]:
        """All frames that were captured until this time; None: all frames."""
        self._held.extend(self._coming.popleft() for _ in range(len(self._coming)))
        self._held.sort(key=_TIME)
        count = len(self._held) if until_ns is None else bisect_right(self._held, until_ns, key=_TIME)
        ready, self._held = self._held[:count], self._held[count:]
        for packet in ready:
            self.late += packet.time_ns < self._last_ns
            self._last_ns = max(self._last_ns, packet.time_ns)
            yield packet
