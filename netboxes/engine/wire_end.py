# SPDX-License-Identifier: GPL-2.0-or-later
"""One end of a memory wire in Python, for tests: what a netbox or a router at the far end sees is a process like itself."""

from __future__ import annotations

import mmap
import os
import random
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: Bytes before a ring's frames, and where in them its words are (docs/architecture.md, "Memory wires").
_HEADER_BYTES: Final = 4096
_HEAD, _DROPS, _TAIL, _SLEEPING = 128, 136, 256, 384
_SKIP: Final = 0xFFFFFFFF
_PAUSE_S: Final = 0.0005
DEADLINE_S: Final = 10.0


class WireEnd:
    """Never sleeps on its bell: it looks now and then, as long as a test waits for frames."""

    def __init__(self, folder: Path, end: str) -> None:
        far = {"left": "right", "right": "left"}[end]
        self._out = _map(folder / f"{end}-to-{far}.ring")
        self._in = _map(folder / f"{far}-to-{end}.ring")
        self._capacity = len(self._in) - _HEADER_BYTES
        self._bell = os.open(folder / f"{far}.bell", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        _write(self._in, _TAIL, _read(self._in, _HEAD))

    def close(self) -> None:
        self._out.close()
        self._in.close()
        os.close(self._bell)

    def send(self, *frames: bytes, stamp_ns: int | None = None) -> int:
        """Hands frames over; returns how many found room."""
        stamp = time.time_ns() if stamp_ns is None else stamp_ns
        head, taken = _read(self._out, _HEAD) // 16 * 16, 0
        for frame in frames:
            record = (struct.pack("<IIq", len(frame), 0, stamp) + frame).ljust(16 + (len(frame) + 15) // 16 * 16, b"\0")
            left = self._capacity - head % self._capacity
            skipped = left if left < len(record) else 0
            if self._capacity - (head - _read(self._out, _TAIL)) < skipped + len(record):
                _write(self._out, _DROPS, _read(self._out, _DROPS) + 1)
                continue
            if skipped:
                self._put(head, struct.pack("<IIq", _SKIP, 0, 0))
            self._put(head + skipped, record)
            head += skipped + len(record)
            taken += 1
        _write(self._out, _HEAD, head)
        self._ring()
        return taken

    def spoil(self, chance: random.Random) -> None:
        """Does what no end may do: noise among the records, and a head that nothing was produced for."""
        for _ in range(20):
            self._put(chance.randrange(self._capacity // 16) * 16, chance.randbytes(chance.choice((4, 8, 16))))
        _write(self._out, _HEAD, (_read(self._out, _HEAD) + chance.randrange(2 ** chance.randrange(1, 64))) % 2**64)
        self._ring()

    def _ring(self) -> None:
        if self._out[_SLEEPING]:
            self._out[_SLEEPING] = 0
            os.write(self._bell, b"\0")

    def _put(self, place: int, record: bytes) -> None:
        at = _HEADER_BYTES + place % self._capacity
        self._out[at : at + len(record)] = record

    def unread(self) -> int:
        """Bytes that the far end has not taken yet."""
        return _read(self._out, _HEAD) - _read(self._out, _TAIL)

    def received(self) -> list[tuple[int, bytes]]:
        """Frames that are here now, with the times when they were handed over, in ns since 1970."""
        head, tail, frames = _read(self._in, _HEAD), _read(self._in, _TAIL), []
        while tail != head:
            at = _HEADER_BYTES + tail % self._capacity
            length, zero, stamp = struct.unpack_from("<IIq", self._in, at)
            assert zero == 0
            if length == _SKIP:
                tail += self._capacity - tail % self._capacity
                continue
            frames.append((stamp, self._in[at + 16 : at + 16 + length]))
            tail += 16 + (length + 15) // 16 * 16
        _write(self._in, _TAIL, tail)
        return frames

    def expect(self, count: int) -> list[bytes]:
        """The next `count` frames, or as many as come in time."""
        frames: list[bytes] = []
        deadline = time.monotonic() + DEADLINE_S
        while len(frames) < count and time.monotonic() < deadline:
            frames += [frame for _, frame in self.received()]
            time.sleep(_PAUSE_S)
        return frames


@contextmanager
def wire_ends(*ends: tuple[Path, str]) -> Iterator[Sequence[WireEnd]]:
    """These ends of these wires (folder, "left" or "right")."""
    opened = [WireEnd(*end) for end in ends]
    try:
        yield opened
    finally:
        for end in opened:
            end.close()


def _map(file: Path) -> mmap.mmap:
    with file.open("r+b") as opened:
        return mmap.mmap(opened.fileno(), 0)


# Native numbers, which are read and written whole ("<Q" goes byte by byte).
def _read(memory: mmap.mmap, place: int) -> int:
    number: int = struct.unpack_from("Q", memory, place)[0]
    return number


def _write(memory: mmap.mmap, place: int, number: int) -> None:
    struct.pack_into("Q", memory, place, number)
