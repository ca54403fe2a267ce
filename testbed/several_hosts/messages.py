# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between a controller and an agent: JSON objects, one a line."""

from __future__ import annotations

import errno
import json
import os
import select
import threading
from collections.abc import Iterator
from typing import Final, Literal, TypeVar, cast, final

from typing_extensions import TypedDict

from contracts.errors import NetBoxITError
from contracts.shapes import OtherShape, parsed

#: How often the controller writes at least.
ALIVE_S: Final = 5.0
#: A side that has received nothing for so long, or whose lines are not read, assumes that the other side is gone.
SILENCE_S: Final = 30.0
#: Bytes of a file that one message has; longer ones go in several.
PIECE: Final = 1 << 19
#: Bytes of a line from an agent. The longest one lists the files of a run: 10,000 of each node at the most
#: (`system.node_files.MOST_FILES`), which are about 1 MB; so there is room for some 60 nodes on one machine.
LONGEST_FROM_AGENT: Final = 64 << 20
#: Bytes of a line from the controller. The longest one is a plan, which has the rows of the CSV files that the topology names:
#: 1,000,000 of a file at the most (`contracts.csv_file.MOST_ROWS`), which are about 100 MB; so there is room for ten such files.
LONGEST_FROM_CONTROLLER: Final = 1 << 30
_CHUNK: Final = 1 << 16

T = TypeVar("T")


class LineTooLong(NetBoxITError):
    """A line of the other side, or one to be written, is longer than the protocol permits."""


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
    #: Read by the method.
    parameters: dict[str, object]


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
    #: Read by whoever asked, who knows the shape that belongs to the method (`connection.Answer`).
    result: object


class Failure(TypedDict):
    """What was raised at the agent."""

    message: str
    exit_status: int


@final
class Refusal(TypedDict):
    """The answer to a request that failed."""

    id: int
    error: Failure


@final
class Output(TypedDict):
    """Of a program that the agent started: mostly ASCII, but any byte may come, so one character is one byte (latin-1)."""

    program: int
    output: str


@final
class Ended(TypedDict):
    """The exit status of such a program; null: the connection was lost, and with it the program."""

    program: int
    exit: int | None


FromAgent = Greeting | Result | Refusal | Output | Ended
FROM_AGENT: Final = cast("type[FromAgent]", FromAgent)


def message(line: str, shape: type[T]) -> T | None:
    """None: the line is no message of this shape, say a word of ssh's, or of the shell that it starts."""
    try:
        return parsed(line, shape)
    except OtherShape:
        return None


class LineWriter:
    """Writes whole lines, of at most `longest` bytes; many threads may."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor, self._longest, self._lock = descriptor, longest, threading.Lock()
        self._timed_out, self._writable = False, select.poll()
        self._writable.register(descriptor, select.POLLOUT)

    def write(self, message: FromAgent | Request | Alive) -> None:
        """Raises OSError when the other side has ended, or has read nothing for SILENCE_S; LineTooLong before it writes."""
        line = memoryview(json.dumps(message).encode() + b"\n")
        if len(line) > self._longest:
            raise LineTooLong(f"the message has {len(line) / 1e6:,.0f} MB, and {self._longest >> 20} MiB is the most")
        with self._lock:
            while line:
                # No line may follow an incomplete one, and later callers need not wait again.
                self._timed_out = self._timed_out or not self._writable.poll(SILENCE_S * 1e3)
                if self._timed_out:
                    raise TimeoutError(errno.ETIMEDOUT, f"the other side has read nothing for {SILENCE_S:g} s")
                # poll(2) promises room for PIPE_BUF bytes; a longer write would block.
                line = line[os.write(self._descriptor, line[: select.PIPE_BUF]) :]


def read_lines(descriptor: int, longest: int, silence_s: float | None = None) -> Iterator[str]:
    """Lines until the end of the stream, or until nothing has arrived for `silence_s`. An incomplete last line is ignored.

    Raises LineTooLong as soon as a line has more than `longest` bytes: so much is held in memory at the most.
    """
    line = bytearray()
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
            yield (line + end).decode(errors="replace")
            line.clear()
        line += rest
        if len(line) > longest:
            raise LineTooLong(f"a line of more than {longest >> 20} MiB")
