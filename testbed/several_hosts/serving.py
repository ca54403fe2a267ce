# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent of a connection: answers requests, each in a thread of its own, until the controller is gone."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

from contracts.errors import NetBoxITError
from testbed.several_hosts.messages import (
    LONGEST_FROM_AGENT,
    LONGEST_FROM_CONTROLLER,
    SILENCE_S,
    FromAgent,
    LineTooLong,
    LineWriter,
    Request,
    message,
    read_lines,
)
from testbed.several_hosts.version import version

#: Requests of which answers wait for the system, not for a core.
_AT_A_TIME: Final = 64

#: What a request is answered by: JSON values for JSON values.
Method = Callable[..., Any]


class Server:
    """`say` tells the controller something that it did not ask for; when it is gone, the message is dropped."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writer = reading, LineWriter(writing, LONGEST_FROM_AGENT)
        self._workers = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="request")

    def serve(self, methods: Mapping[str, Method], over: threading.Event) -> None:
        """Serves until the controller is gone, is silent for SILENCE_S, or `over` is set. Requests may still be going on then."""
        self.say({"netboxit": version()})
        threading.Thread(target=self._listen, args=(methods, over), name="listener", daemon=True).start()
        over.wait()  # the listener sets it, at the latest when it has received nothing for SILENCE_S

    def close(self) -> None:
        """Returns when no request is going on any more: each has a deadline of its own, and so has writing its answer."""
        self._workers.shutdown(cancel_futures=True)

    def say(self, message: FromAgent) -> None:
        with suppress(OSError):
            self._writer.write(message)

    def _listen(self, methods: Mapping[str, Method], over: threading.Event) -> None:
        # RuntimeError: it was closed meanwhile. No controller of ours writes a longer line than LONGEST_FROM_CONTROLLER.
        with suppress(RuntimeError, LineTooLong):
            for line in read_lines(self._reading, LONGEST_FROM_CONTROLLER, SILENCE_S):
                if (request := message(line, Request)) is not None:
                    self._workers.submit(self._answer, methods, request)
        over.set()

    def _answer(self, methods: Mapping[str, Method], request: Request) -> None:
        try:
            self.say({"id": request["id"], "result": methods[request["method"]](**request["parameters"])})
        except LineTooLong as error:
            self._refuse(
                request, error, f"what {request['method']} answers cannot be sent: {error}; use a lab with fewer nodes and files"
            )
        except NetBoxITError as error:
            self._refuse(request, error, str(error))
        except Exception as error:  # whatever it is, it is told where the user sits
            self._refuse(request, error, "".join(traceback.format_exception(error)))

    def _refuse(self, request: Request, error: Exception, message: str) -> None:
        self.say({"id": request["id"], "error": {"message": message, "exit_status": getattr(error, "exit_status", 1)}})


def standard_streams() -> tuple[int, int]:
    """The connection, which is this program's standard input and output; nothing that it starts or prints gets in between."""
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing
