# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that a controller has started in nodes of this machine: it gets what they write, and they end with the connection."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from system.processes import Process
from testbed.labs.lab import Lab
from testbed.several_hosts.messages import FromAgent

_CHUNK: Final = 1 << 15
#: The controller gets a program's output before its exit status. Programs that it has started may hold the output open for
#: longer, and are not waited for.
_LAST_WORDS_S: Final = 0.5


class AgentPrograms:
    """Programs by the numbers that the controller gave them."""

    def __init__(self, say: Callable[[FromAgent], None]) -> None:
        self._say = say
        self._running: dict[int, Process] = {}
        self._lock = threading.Lock()

    def start(self, lab: Lab, number: int, node: str, argv: Sequence[str], env: Mapping[str, str] | None, held: bool) -> int:
        """Returns its process number. The controller gets its output as it comes, and then its exit status."""
        reading, writing = os.pipe()
        try:
            with os.fdopen(writing, "wb", buffering=0) as output:
                program = lab.start(node, argv, log=output, env=env, held=held)
        except BaseException:
            os.close(reading)
            raise
        with self._lock:
            self._running[number] = program
        reader = threading.Thread(target=self._tell_output, args=(number, reading), name=f"output of {argv[0]}", daemon=True)
        reader.start()
        threading.Thread(target=self._tell_end, args=(number, program, reader), name=f"end of {argv[0]}", daemon=True).start()
        return program.pid

    def signal(self, number: int, how: str) -> None:
        """`how`: release, interrupt, terminate or kill. Nothing happens to a program that has ended."""
        with self._lock:
            program = self._running.get(number)
        if program is not None:
            signals = (program.release, program.interrupt, program.terminate, program.kill)
            {signal.__name__: signal for signal in signals}[how]()

    def kill_all(self) -> None:
        with self._lock:
            running = list(self._running.values())
        for program in running:
            program.kill()

    def _tell_output(self, number: int, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as output:
            while piece := output.read(_CHUNK):
                self._say({"program": number, "output": piece.decode("latin-1")})

    def _tell_end(self, number: int, program: Process, reader: threading.Thread) -> None:
        status = program.wait()  # a thread of its own, for as long as the program runs: it ends with the connection
        reader.join(_LAST_WORDS_S)
        self._say({"program": number, "exit": status})
        with self._lock:
            self._running.pop(number, None)
