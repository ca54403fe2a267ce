# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between a controller and an agent: JSON objects, one a line."""

from __future__ import annotations

import base64
import errno
import json
import os
import select
import threading
from collections.abc import Iterator
from typing import Any, Final, Literal, cast, final

from typing_extensions import TypedDict

from contracts.shapes import OtherShape, parsed

#: How often the controller writes at least.
ALIVE_S: Final = 5.0
#: A side that has received nothing for so long, or whose lines are not read, assumes that the other side is gone.
SILENCE_S: Final = 30.0
_CHUNK: Final = 1 << 16


class OfferedFile(TypedDict):
    """A file of the agent's run folder, or one that it took out of a node: `fetch` finds it by its path there."""

    file: str
    bytes: int


class Ran(TypedDict):
    """A program that ran to its end."""

    status: int
    output: str
    errors: str


class Collected(TypedDict):
    """What an agent has of a run: what is not whole, and the files that are to be fetched."""

    problems: list[str]
    files: list[OfferedFile]


class Request(TypedDict):
    """From the controller. Requests are answered as they are done, in any order."""

    id: int
    method: str
    parameters: dict[str, Any]


class Alive(TypedDict):
    """From the controller, at least every ALIVE_S."""

    method: Literal["alive"]


@final
class Greeting(TypedDict):
    """The agent's first line."""

    #: `testbed.several_hosts.version`
    netboxit: str


@final
class Result(TypedDict):
    """The answer to the request of this id."""

    id: int
    result: Any


class Failure(TypedDict):
    """What was raised at the agent. `kind` is the name of the exception."""

    message: str
    kind: str
    exit_status: int


@final
class Refusal(TypedDict):
    """The answer to a request that failed."""

    id: int
    error: Failure


@final
class Output(TypedDict):
    """Of a program that the agent started; one character is one byte."""

    program: int
    output: str


@final
class Ended(TypedDict):
    """The exit status of such a program; null: the connection was lost, and with it the program."""

    program: int
    exit: int | None


FromAgent = Greeting | Result | Refusal | Output | Ended


def from_agent(line: str) -> FromAgent | None:
    """None: the line is no message, say a word of ssh's, or of the shell that it starts."""
    try:
        return parsed(line, cast("type[FromAgent]", FromAgent))
    except OtherShape:
        return None


def request(line: str) -> Request | None:
    """None of what asks for nothing."""
    try:
        return parsed(line, Request)
    except OtherShape:
        return None


class LineWriter:
    """Writes whole lines; many threads may."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lock = descriptor, threading.Lock()
        self._timed_out, self._writable = False, select.poll()
        self._writable.register(descriptor, select.POLLOUT)

    def write(self, message: FromAgent | Request | Alive) -> None:
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
