# SPDX-License-Identifier: GPL-2.0-or-later
"""A part of a lab on another machine, as the controller has it: the same as a lab of this machine offers."""

from __future__ import annotations

import os
import threading
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from subprocess import CompletedProcess
from typing import IO

from contracts.errors import NetBoxITError
from system.node_files import LONGEST_COPY
from system.processes import ProgramFailed
from testbed.several_hosts.connection import Answer, Connection, NotConnected
from testbed.several_hosts.messages import PIECE, Ended, OfferedFile, Output, Ran

#: What a part may take to come up: containers have 20 s each, switches and netboxes are started together.
UP_PATIENCE_S = 180.0
#: What an answer may take beyond the time that the other machine was given for the work.
MORE_S = 15.0
#: The exit status of ssh when its connection fails.
_LOST = 255


class StrangeFile(NetBoxITError):
    """Another machine offered a file for a place outside of the run's folder."""


class RemotePart:
    """Brought up through its connection, and ended with that unless it is kept."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def ask(self, method: str, **parameters: object) -> Answer:
        return self.connection.begin(method, **parameters)

    def run(
        self, node: str, argv: Sequence[str], *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None
    ) -> CompletedProcess[str]:
        """Runs a program inside a node to its end, with its output as text."""
        answer = self.ask("run", node=node, argv=list(argv), timeout_s=timeout_s, env=dict(env) if env else None)
        done = answer.result(Ran, timeout_s + MORE_S)
        return CompletedProcess(list(argv), done["status"], done["output"], done["errors"])

    def start(
        self, node: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, held: bool = False
    ) -> RemoteProgram:
        """Starts a program inside a node; its output is appended to `log` on this machine as it comes."""
        return RemoteProgram(self.connection, node, argv, log.open("ab", buffering=0), env, held)

    def own_files(self, node: str, name: str) -> RemoteFiles:
        return RemoteFiles(self.connection, node, name)


class RemoteProgram:
    """A program on another machine (`system.processes.Process`)."""

    def __init__(
        self,
        connection: Connection,
        node: str,
        argv: Sequence[str],
        log: IO[bytes],
        env: Mapping[str, str] | None,
        held: bool,
    ) -> None:
        """Starts it."""
        self._connection, self.argv, self._log = connection, tuple(argv), log
        self._ended = threading.Event()
        self._status: int | None = None
        self._number = connection.listen(self._receive)
        try:
            self.pid = connection.request(
                "start", int, number=self._number, node=node, argv=list(argv), env=dict(env) if env else None, held=held
            )
        except BaseException:
            self._log.close()
            raise

    def poll(self) -> int | None:
        """The exit status, 255 as ssh's when the connection was lost and ended it, or None while it runs."""
        return self._status if self._ended.is_set() else None

    def wait(self, timeout_s: float | None = None) -> int:
        """The exit status. Raises ProgramFailed when the program still runs after the time given."""
        if not self._ended.wait(timeout_s):
            raise ProgramFailed(f"{' '.join(self.argv)}: still running on {self._connection.name} after {timeout_s:g} s")
        assert self._status is not None
        return self._status

    def release(self) -> None:
        """Does not wait for the answer, so that several programs are released at a time."""
        self._signal("release", wait=False)

    def interrupt(self) -> None:
        self._signal("interrupt")

    def terminate(self) -> None:
        self._signal("terminate")

    def kill(self) -> None:
        self._signal("kill")

    def _signal(self, how: str, wait: bool = True) -> None:
        with suppress(NotConnected):  # which ends it, too
            if not self._ended.is_set():
                answer = self._connection.begin("signal", number=self._number, how=how)
                if wait:
                    answer.done()

    def _receive(self, message: Output | Ended) -> None:
        if "output" in message:
            self._log.write(message["output"].encode("latin-1"))
            return
        self._status = message["exit"]
        if self._status is None:
            self._status = _LOST
            self._log.write(f"netboxit: the connection to {self._connection.name} was lost, and with it this program\n".encode())
        self._log.close()
        self._ended.set()


class RemoteFiles:
    """Files of an application in a node of another machine (`system.node_files`)."""

    def __init__(self, connection: Connection, node: str, own: str) -> None:
        self._connection, self._which = connection, {"node": node, "own": own}

    def write(self, name: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        for start in range(0, len(data) or 1, PIECE):
            piece = b64encode(data[start : start + PIECE]).decode()
            self._ask("write", name=name, offset=start, piece=piece, last=start + PIECE >= len(data)).done()

    def exists(self, name: str) -> bool:
        return self._ask("exists", name=name).result(bool)

    def take(self, name: str, to: Path) -> bool:
        offered = self._ask("take", name=name).result_if_any(OfferedFile)
        if offered is None:
            return False
        fetch(self._connection, offered, to)
        self._connection.begin("discard", file=offered["file"]).done()
        return True

    def remove(self, name: str) -> None:
        self._ask("remove", name=name).done()

    def _ask(self, method: str, **parameters: str | int) -> Answer:
        return self._connection.begin(method, **self._which, **parameters)


def fetch(connection: Connection, offered: OfferedFile, to: Path) -> None:
    """A file of the other machine, as long as it said that it is. Pieces of zeros become holes. Raises StrangeFile."""
    if offered["bytes"] > LONGEST_COPY:
        raise StrangeFile(f"{connection.name}: {offered['file']} is longer than {LONGEST_COPY >> 30} GiB, and is not fetched")
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("wb") as file:
        while file.tell() < offered["bytes"]:
            piece = b64decode(connection.request("fetch", str, file=offered["file"], offset=file.tell()))
            if not piece:
                raise StrangeFile(f"{connection.name}: {offered['file']} became shorter while it was fetched")
            if any(piece):
                file.write(piece)
            else:
                file.seek(len(piece), os.SEEK_CUR)
        file.truncate()


def below(folder: Path, file: str) -> Path:
    """The place of another machine's file in a folder of this one. Raises StrangeFile for one that leads out of it."""
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts:
        raise StrangeFile(f"another machine offered {file!r}, which is no place in the run's folder")
    return folder / path
