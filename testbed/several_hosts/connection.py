# SPDX-License-Identifier: GPL-2.0-or-later
"""The connection to another machine, as the controller has it: one ssh process, whose other end is `netboxit part` there.

A connection lasts for one command. What was started through it ends with it, so that it leaves nothing on the other machine.
"""

from __future__ import annotations

import itertools
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import NoneType
from typing import IO, Self, TypeVar, cast

from contracts.errors import NetBoxITError, WrongInput
from contracts.shapes import OtherShape, check
from ownership.operators import NoPrivilege, operator
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.messages import (
    ALIVE_S,
    FROM_AGENT,
    LONGEST_FROM_AGENT,
    LONGEST_FROM_CONTROLLER,
    Ended,
    LineTooLong,
    LineWriter,
    Output,
    Refusal,
    Result,
    message,
    read_lines,
)
from testbed.several_hosts.version import version

#: What ssh may take until the greeting arrives: it starts Python on the other machine.
_GREETING_S = 30.0
#: What one request may take, unless the caller says otherwise.
_PATIENCE_S = 60.0
#: What the agent may take to end its programs and to take down what is left.
_FAREWELL_S = 60.0
#: What the kernel may take to end ssh.
_KILLED_WITHIN_S = 5.0
_LINES_KEPT = 8
#: Characters that are kept of a line that is no message: it is shown to people.
_LONGEST_LINE_KEPT = 500

M = TypeVar("M")
T = TypeVar("T")


class NotConnected(NetBoxITError):
    """A machine cannot be reached, or no longer. The message names the machine, what ssh said, and the remedy."""


class FailedThere(NetBoxITError):
    """Another machine could not do what it was asked for. The message is the machine's own, after the machine's name."""


class RefusedThere(FailedThere):
    """The same, of bad input."""

    exit_status = 2


class DamagedAnswer(NetBoxITError):
    """Another machine's answer has not the shape that belongs to the request."""


class OtherVersion(WrongInput):
    """The other machine has another NetBoxIT."""


class Connection:
    """Requests may be made from many threads at a time, and are answered as they are done."""

    def __init__(self, machine: Machine, argv: list[str] | None = None) -> None:
        """Raises NotConnected, OtherVersion, NoPrivilege. `argv` is run in place of ssh."""
        if operator() is not None:
            # ssh would have root's rights, and an inventory of theirs says what programs it starts.
            raise NoPrivilege("labs on several machines are for root: call this as root, with an inventory of root's")
        self.machine, self.name = machine, machine.name
        self._argv = argv or machine.netboxit(["part"])
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[object]] = {}
        self._listeners: dict[int, Callable[[Output | Ended], None]] = {}
        self._lock = threading.Lock()
        self._greeting: Future[str] = Future()
        self._over = threading.Event()
        #: The latest lines that are no messages: ssh's own, and what a shell of the machine prints.
        self._words: deque[str] = deque(maxlen=_LINES_KEPT)
        #: Why the connection was ended here, if it was.
        self._fault = ""
        self._ssh = self._start()
        assert self._ssh.stdin is not None and self._ssh.stdout is not None and self._ssh.stderr is not None
        self._writer = LineWriter(self._ssh.stdin.fileno(), LONGEST_FROM_CONTROLLER)
        self._threads = [
            threading.Thread(target=target, name=f"{machine.name} {target.__name__}", daemon=True)
            for target in (self._listen_for_errors, self._keep_alive, self._listen)
        ]
        for thread in self._threads:
            thread.start()
        self._greet()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def request(self, method: str, shape: type[T], *, patience_s: float = _PATIENCE_S, **parameters: object) -> T:
        """The result, which is of this shape. Raises as `Answer.result`."""
        return self.begin(method, **parameters).result(shape, patience_s)

    def begin(self, method: str, **parameters: object) -> Answer:
        """Sends a request and does not wait for its answer. Raises NotConnected, LineTooLong."""
        number, answer = next(self._numbers), Future[object]()
        with self._lock:
            self._waiting[number] = answer
        if self._over.is_set():
            raise self._lost()
        try:
            self._writer.write({"id": number, "method": method, "parameters": parameters})
        except OSError:
            raise self._lost() from None
        except LineTooLong as error:
            remedy = "give the CSV files that the topology names fewer rows"
            raise LineTooLong(f"{self.name}: it cannot be asked to {method}: {error}; {remedy}") from None
        return Answer(self, method, answer)

    def listen(self, listener: Callable[[Output | Ended], None]) -> int:
        """Returns the number of a new program. The listener gets its output and exit status: null when the connection is lost."""
        number = next(self._numbers)
        with self._lock:
            self._listeners[number] = listener
        return number

    def close(self) -> bool:
        """Ends the connection: the agent then ends what it started, and takes down a part that it was not told to keep.

        Returns whether the agent reported that it has done so.
        """
        assert self._ssh.stdin is not None
        with suppress(OSError):
            self._ssh.stdin.close()
        try:
            status = self._ssh.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            with suppress(subprocess.TimeoutExpired):  # the kernel holds it, and ends it when it can
                self._ssh.wait(_KILLED_WITHIN_S)
            status = None
        for thread in self._threads:
            thread.join(1.0)
        for stream in (self._ssh.stdout, self._ssh.stderr):
            if stream is not None:
                stream.close()
        return status == 0

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            # In a session of its own: Ctrl-C is for this program, which then ends the connection.
            return subprocess.Popen(self._argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True)
        except OSError as error:
            raise NotConnected(f"{self.name}: {self._argv[0]}: {error.strerror}; install the package openssh-client") from error

    def _greet(self) -> None:
        try:
            there = self._greeting.result(_GREETING_S)
        except BaseException as error:
            self._ssh.kill()
            self.close()
            if isinstance(error, TimeoutError):
                raise self._lost() from None
            raise
        if there != version():
            self.close()
            raise OtherVersion(
                f"{self.name} has another NetBoxIT ({there}) than this machine ({version()}); bring {self.machine.folder} there "
                "to the same state (the playbook of ansible/ does)"
            )

    def _listen(self) -> None:
        self._read(self._ssh.stdout, self._take)
        self._end()

    def _listen_for_errors(self) -> None:
        self._read(self._ssh.stderr, self._keep)

    def _read(self, stream: IO[bytes] | None, take: Callable[[str], None]) -> None:
        """Reads until the stream ends. A machine that never ends its line is disconnected, so that it fills no memory here."""
        assert stream is not None
        try:
            for line in read_lines(stream.fileno(), LONGEST_FROM_AGENT):
                take(line)
        except LineTooLong as error:
            self._fault = f"it sent {error}, which no NetBoxIT does, so it was disconnected"
            self._ssh.kill()

    def _keep(self, line: str) -> None:
        self._words.append(line[:_LONGEST_LINE_KEPT])

    def _take(self, line: str) -> None:
        received = message(line, FROM_AGENT)
        if received is None:
            self._keep(line)
        elif "program" in received:
            with self._lock:
                number = received["program"]
                listener = self._listeners.pop(number, None) if "exit" in received else self._listeners.get(number)
            if listener is not None:
                listener(received)
        elif "id" in received:
            self._answer(received)
        elif not self._greeting.done():
            self._greeting.set_result(received["netboxit"])

    def _answer(self, received: Result | Refusal) -> None:
        with self._lock:
            answer = self._waiting.pop(received["id"], None)
        if answer is None:
            return
        if "error" in received:
            kind = RefusedThere if received["error"]["exit_status"] == 2 else FailedThere
            answer.set_exception(kind(f"{self.name}: {received['error']['message']}"))
        else:
            answer.set_result(received["result"])

    def _end(self) -> None:
        """The agent will send nothing more: everybody who waits for it is told."""
        with suppress(subprocess.TimeoutExpired):
            self._ssh.wait(1.0)
        self._threads[0].join(1.0)
        self._over.set()
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            listeners = dict(self._listeners)
        lost = self._lost()
        if not self._greeting.done():
            self._greeting.set_exception(lost)
        for answer in waiting.values():
            answer.set_exception(lost)
        for number, listener in listeners.items():
            listener({"program": number, "exit": None})

    def _keep_alive(self) -> None:
        while not self._over.wait(ALIVE_S):
            try:
                self._writer.write({"method": "alive"})
            except (OSError, ValueError):
                return

    def _lost(self) -> NotConnected:
        words = "; ".join(line.strip() for line in self._words if line.strip()) or "nothing"
        cause = self._fault or f"ssh said: {words}"
        if self._greeting.done() and self._greeting.exception() is None:
            remedy = "look after the machine and its network, then `netboxit down` takes down what is left there"
            return NotConnected(f"{self.name}: the connection is lost; {cause}; {remedy}")
        tried = " ".join(self._argv[:-1])
        remedy = f"`{tried} true` must work without a question, and {self.machine.folder}/netboxit.py be there with its .venv"
        return NotConnected(f"{self.name} cannot be reached; {cause}; {remedy}")


class Answer:
    """The answer to a request. It may still be on its way."""

    def __init__(self, connection: Connection, method: str, future: Future[object]) -> None:
        self._connection, self._method, self._future = connection, method, future

    def result(self, shape: type[T], patience_s: float = _PATIENCE_S) -> T:
        """What the machine answered, which is of this shape.

        Raises FailedThere or RefusedThere with what it said instead, DamagedAnswer, and NotConnected.
        """
        return cast("T", self._checked(shape, patience_s))

    def result_if_any(self, shape: type[T], patience_s: float = _PATIENCE_S) -> T | None:
        """The same for a method whose result may be null."""
        return cast("T | None", self._checked(cast("type[T]", shape | None), patience_s))

    def done(self, patience_s: float = _PATIENCE_S) -> None:
        """Returns when the machine has done it. Raises as `result`."""
        self._checked(NoneType, patience_s)

    def _checked(self, shape: type[object], patience_s: float) -> object:
        try:
            answer: object = self._future.result(patience_s)
        except TimeoutError:
            raise NotConnected(
                f"{self._connection.name}: no answer to {self._method} within {patience_s:g} s; see what the machine is busy with"
            ) from None
        try:
            if type(answer) is not shape:
                check(answer, shape)
        except OtherShape as error:
            raise DamagedAnswer(
                f"{self._connection.name}: its answer to {self._method} is damaged: {error}; that machine has the same NetBoxIT, "
                "so this is a defect of it: please tell its developers"
            ) from None
        return answer


def close(connections: Iterable[Connection]) -> list[str]:
    """Ends them at a time. Returns the machines that could not say that nothing is left there."""
    closing = list(connections)
    clean = at_a_time(Connection.close, closing)
    return [connection.name for connection, left_nothing in zip(closing, clean, strict=True) if not left_nothing]


def at_a_time(do: Callable[[M], T], machines: Sequence[M]) -> list[T]:
    """Does the same for each machine, in threads: what it waits for are other machines. Raises the first error."""
    with ThreadPoolExecutor(max(1, len(machines))) as workers:
        return list(workers.map(do, machines))
