# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a capture goes: a file, a ring of files of which the oldest are removed, or a pipe to a program that shows it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from contracts.errors import NetBoxITError
from contracts.quantities import SIZE
from results.pcapng import Packet, Point, Writer
from system.user_privileges import as_user
from testbed.observation.capture_sources import CaptureFailed

_RING: Final = re.compile(r"(?P<size>.+?)\s*[x×*]\s*(?P<count>\d+)")
_SMALLEST_BYTES: Final = 10_000
_BUFFER: Final = 1 << 20


class BadRing(NetBoxITError):
    """A ring of files is not written as its size and its number."""

    exit_status = 2


@dataclass(frozen=True)
class Counts:
    """Of one point, in its order."""

    received: int
    dropped: int


@dataclass(frozen=True)
class Ring:
    """At most `count` files, of at most `size` bytes each but for one packet."""

    size: int
    count: int

    @staticmethod
    def read(text: str) -> Ring:
        """ "10 MB x 5". Raises BadRing."""
        found = _RING.fullmatch(text.strip())
        try:
            if found is None:
                raise ValueError(f"{text!r} is not SIZExCOUNT")
            ring = Ring(int(SIZE.parse(found["size"])), int(found["count"]))
        except ValueError as error:
            raise BadRing(f"--ring: {error}; write the size of a file and how many to keep, say '10 MB x 5'") from error
        if ring.size < _SMALLEST_BYTES or ring.count < 1:
            raise BadRing(f"--ring: {text}: at least one file of at least {SIZE.write(_SMALLEST_BYTES)}")
        return ring


class Sink(Protocol):
    """Packets in their order, each wholly; `close` also writes what each point counted, which is known at the end only."""

    def write(self, packet: Packet) -> None: ...
    def flush(self) -> None: ...
    def close(self, counts: Sequence[Counts], time_ns: int) -> None: ...
    def files(self) -> list[Path]: ...


class CaptureFile:
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
            self._file.close()
            self._next()
        self._writer.write(packet)

    def flush(self) -> None:
        self._file.flush()

    def close(self, counts: Sequence[Counts], time_ns: int) -> None:
        with self._file:
            _count(self._writer, counts, time_ns)

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
                self._file = path.open("xb", buffering=_BUFFER)
        except OSError as error:
            raise CaptureFailed(f"{path} cannot be written: {error.strerror}") from error
        self._kept.append(path)
        self._writer = Writer(self._file, self._points)

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


class LivePipe:
    """A stream that somebody reads: what is captured is there at once."""

    def __init__(self, stream: BinaryIO, points: Sequence[Point]) -> None:
        self._stream = stream
        self._writer = Writer(stream, points)
        stream.flush()

    def write(self, packet: Packet) -> None:
        self._writer.write(packet)

    def flush(self) -> None:
        self._stream.flush()

    def close(self, counts: Sequence[Counts], time_ns: int) -> None:
        _count(self._writer, counts, time_ns)
        self._stream.flush()

    def files(self) -> list[Path]:
        return []


def _count(writer: Writer, counts: Sequence[Counts], time_ns: int) -> None:
    for number, one in enumerate(counts):
        writer.count(number, time_ns, one.received, one.dropped)
