# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between a controller and an agent: JSON objects, one a line.

controller → agent    {"id": 3, "method": "run", "parameters": {…}}    a request
                      {"method": "alive"}                              at least every ALIVE_S
agent → controller    {"netboxit": version}                            the first line
                      {"id": 3, "result": …}                           the answer to a request
                      {"id": 3, "error": {"message", "kind", "exit_status"}}
                      {"program": 7, "output": "…"}                    each character is one byte
                      {"program": 7, "exit": 0}
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

#: How often the controller writes at least.
ALIVE_S: Final = 5.0
#: A side that has received nothing for so long, or whose lines are not read, assumes that the other side is gone.
SILENCE_S: Final = 30.0
_CHUNK: Final = 1 << 16


class LineWriter:
    """Writes whole lines; many threads may."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lock = descriptor, threading.Lock()
        self._timed_out, self._writable = False, select.poll()
        self._writable.register(descriptor, select.POLLOUT)

    def write(self, message: dict[str, Any]) -> None:
        """Raises OSError when the other side has ended, or has read nothing for SILENCE_S."""
        line = memoryview(json.dumps(message).encode() + b"\n")
        with self._lock:
            while line:
                # No line may follow an incomplete one, and later callers need not wait again.
                self._timed_out = self._timed_out or not self._writable.poll(SILENCE_S * 1e3)
                if self._timed_out:
                    raise TimeoutError(errno.ETIMEDOUT, f"the other side has read nothing for {SILENCE_S:g} s")
                # poll(2) promises room for PIPE_BUF bytes; a longer write would block.
                line = line[os.write(self._descriptor, line[: select.PIPE_BUF]) :]


def read_lines(descriptor: int, silence_s: float | None = None) -> Iterator[str]:
    """Lines until the end of the stream, or until nothing has arrived for `silence_s`. An incomplete last line is ignored."""
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
