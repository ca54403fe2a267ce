# SPDX-License-Identifier: GPL-2.0-or-later
"""What two machines say to each other: JSON objects, one a line.

controller → far side    {"id": 3, "method": "run", "parameters": {…}}     {"method": "alive"} says that somebody is there
far side → controller    {"netboxit": version}                              first of all
                         {"id": 3, "result": …}    {"id": 3, "error": {"message", "kind", "exit_status"}}
                         {"program": 7, "output": "…"}    {"program": 7, "exit": 0}    each character of output is one byte
"""

from __future__ import annotations

import base64
import errno
import json
import os
import select
import threading
from collections.abc import Iterator
from typing import Any, Final

#: The controller says that it is there; a side that hears nothing, or is not heard, for so long is alone.
ALIVE_S: Final = 5.0
SILENCE_S: Final = 30.0
_CHUNK: Final = 1 << 16


class Mouth:
    """Writes whole lines; many threads may."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lock = descriptor, threading.Lock()
        self._deaf, self._room = False, select.poll()
        self._room.register(descriptor, select.POLLOUT)

    def say(self, what: dict[str, Any]) -> None:
        """Raises OSError when nobody listens any more: the other side has ended, or has read nothing for SILENCE_S."""
        line = memoryview(json.dumps(what).encode() + b"\n")
        with self._lock:
            while line:
                # Another line must not follow half a one, nor each caller wait anew.
                self._deaf = self._deaf or not self._room.poll(SILENCE_S * 1e3)
                if self._deaf:
                    raise TimeoutError(errno.ETIMEDOUT, f"the other side has read nothing for {SILENCE_S:g} s")
                # A pipe that can be written to has room for so much; a longer write would wait for more.
                line = line[os.write(self._descriptor, line[: select.PIPE_BUF]) :]


def heard(descriptor: int, silence_s: float | None = None) -> Iterator[str]:
    """Lines until the end, or until nothing has come for so long. Half a line at the end is none."""
    pieces: list[bytes] = []
    while True:
        if silence_s is not None and not select.select([descriptor], [], [], silence_s)[0]:
            return
        try:
            piece = os.read(descriptor, _CHUNK)
        except OSError:
            return
        if not piece:
            return
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join((*pieces, end)).decode(errors="replace")
            pieces = []
        pieces.append(rest)


def packed(data: bytes) -> str:
    """Of a file."""
    return base64.b64encode(data).decode("ascii")


def unpacked(text: str) -> bytes:
    return base64.b64decode(text)


def written_output(data: bytes) -> str:
    """Of a program: mostly ASCII, but any byte may come."""
    return data.decode("latin-1")


def read_output(text: str) -> bytes:
    return text.encode("latin-1")
