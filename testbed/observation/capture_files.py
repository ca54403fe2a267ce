# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a capture goes: a file, a ring of files of which the oldest are removed, or a pipe to a program that shows it.

`target` reads which of them a user wants from the words and options of the command line.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from contracts.errors import WrongInput
from contracts.quantities import SIZE
from results.pcapng import Packet, Point, Writer
from system.user_privileges import as_user, check_new
from testbed.observation.capture_points import CapturedPoint
from testbed.observation.capture_sources import CaptureFailed

_RING: Final = re.compile(r"(?P<size>.+?)\s*[x×*]\s*(?P<count>\d+)")
_SMALLEST_BYTES: Final = 10_000
_BUFFER: Final = 1 << 20


class BadTarget(WrongInput):
    """A capture cannot go where the user says."""


class BadRing(BadTarget):
    """A ring of files is not written as its size and its number."""


@dataclass(frozen=True)
class Ring:
    """At most `count` files, of at most `size` bytes each but for one packet."""

    size: int
    count: int

    @staticmethod
    def read(text: str) -> Ring:
        """ "10 MB x 5". Raises BadRing."""
        parts = _RING.fullmatch(text.strip())
        try:
            if parts is None:
                raise ValueError(f"{text!r} is not SIZExCOUNT")
            ring = Ring(int(SIZE.parse(parts["size"])), int(parts["count"]))
        except ValueError as error:
            raise BadRing(f"--ring: {error}; write the size of a file and how many to keep, say '10 MB x 5'") from error
        if ring.size < _SMALLEST_BYTES or ring.count < 1:
            raise BadRing(f"--ring: {text}: at least one file of at least {SIZE.write(_SMALLEST_BYTES)}")
        return ring


def target(
    words: Sequence[str], *, ring: str | None, live: bool, json: bool, overwrite: bool = False
) -> tuple[Sequence[str], Callable[[Sequence[Point]], Sink]]:
    """The words that name points, and what opens the sink. Raises BadTarget, BadRing, FileThere."""
    if live:
        if ring or json:
            raise BadTarget(f"--live writes the frames to standard output, where {'--ring' if ring else '--json'} has no place")
        if sys.stdout.isatty():
            raise BadTarget("--live writes a pcapng stream, which is nothing for a terminal: add `| wireshark -k -i -`")
        return words, lambda points: Sink(sys.stdout.buffer, points)
    if len(words) < 2:
        raise BadTarget(f"name at least one point, and then the file: netboxit capture {words[0]} {words[0]}.pcapng")
    *names, file = words
    path, kept = Path(file).absolute(), None if ring is None else Ring.read(ring)
    try:
        wrong = _unsuitable(path)
    except OSError as error:
        wrong = error.strerror
    if wrong is not None:
        raise BadTarget(f"{path} cannot be written: {wrong}")
    if not overwrite:
        check_new(of_ring(path) if kept else [path])
    return names, lambda points: CaptureFile(path, points, kept, overwrite=overwrite)


@as_user()
def _unsuitable(path: Path) -> str | None:
    """Why a capture cannot be written there; opening a pipe would wait for its reader."""
    if not path.parent.is_dir():
        return f"{path.parent} is no folder"
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.is_file():
        return "it is a pipe or a device; with --live a capture goes to standard output, and from there to a pipe"
    return None


class Sink:
    """Packets in their order, each wholly, into a stream that somebody reads: what is captured is there at once."""

    def __init__(self, stream: BinaryIO, points: Sequence[Point]) -> None:
        self._open(stream, points)
        self.flush()

    def write(self, packet: Packet) -> None:
        self._writer.write(packet)

    def flush(self) -> None:
        self._stream.flush()

    def close(self, points: Sequence[CapturedPoint], time_ns: int) -> None:
        """Also writes what each point counted, which is known at the end only."""
        for number, point in enumerate(points):
            self._writer.count(number, time_ns, point.frames, point.dropped)
        self.flush()

    def files(self) -> list[Path]:
        return []

    def _open(self, stream: BinaryIO, points: Sequence[Point]) -> None:
        self._stream, self._writer = stream, Writer(stream, points)


class CaptureFile(Sink):
    """One file; with a ring NAME-00001.pcapng, NAME-00002.pcapng and so on, each complete in itself.

    Files that are there already are an error, or with `overwrite` removed: all of an earlier ring.
    """

    def __init__(self, path: Path, points: Sequence[Point], ring: Ring | None = None, *, overwrite: bool = False) -> None:
        self._path, self._points, self._ring = path, points, ring
        if overwrite:
            self._remove_earlier()
        self._number = 0
        self._kept: deque[Path] = deque()
        self._next()

    def write(self, packet: Packet) -> None:
        if self._ring is not None and self._writer.bytes >= self._ring.size:
            self._stream.close()
            self._next()
        super().write(packet)

    def close(self, points: Sequence[CapturedPoint], time_ns: int) -> None:
        with self._stream:
            super().close(points, time_ns)

    def files(self) -> list[Path]:
        return list(self._kept)

    def _next(self) -> None:
        self._number += 1
        path = self._path
        if self._ring is not None:
            path = path.with_stem(f"{path.stem}-{self._number:05}")
        try:
            with as_user():
                while self._ring is not None and len(self._kept) >= self._ring.count:
                    self._kept.popleft().unlink(missing_ok=True)
                file = path.open("xb", buffering=_BUFFER)
        except OSError as error:
            raise CaptureFailed(f"{path} cannot be written: {error.strerror}") from error
        self._kept.append(path)
        self._open(file, self._points)

    def _remove_earlier(self) -> None:
        try:
            with as_user():
                for file in [self._path] if self._ring is None else of_ring(self._path):
                    file.unlink(missing_ok=True)
        except OSError as error:
            raise CaptureFailed(f"{error.filename} cannot be removed: {error.strerror}") from error


def of_ring(path: Path) -> list[Path]:
    """The files that a ring of that name has left."""
    numbered = re.compile(re.escape(path.stem) + r"-\d{5,}" + re.escape(path.suffix))
    return sorted(file for file in path.parent.iterdir() if numbered.fullmatch(file.name))
