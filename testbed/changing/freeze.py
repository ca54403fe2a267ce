# SPDX-License-Identifier: GPL-2.0-or-later
"""Freezes a program for a while, as a host that has no time for it does.

By ptrace(2): the kernel itself releases the threads that a program holds by it as soon as that program is gone. However this
program ends, nothing stays frozen. A stopped process (SIGSTOP) or a frozen control group would stay.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError

# sys/ptrace.h
_SEIZE: Final = 0x4206
_INTERRUPT: Final = 0x4207
_DETACH: Final = 17
#: Threads of a process that are not children of their own are waited for, too (waitpid(2)).
_WALL: Final = 0x40000000
#: A thread that runs stops within microseconds, and on a busy machine when it is its turn.
_STANDS_WITHIN_S: Final = 5.0

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long


class FreezeFailed(NetBoxITError):
    """A program could not be frozen."""


class Freeze:
    """Holds all threads of a program for so many seconds; `start` returns when they stand still, `join` when they go on."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        self._stands, self._over = threading.Event(), threading.Event()
        self._failure: FreezeFailed | None = None
        # Only the thread that holds a program can let it go.
        self._thread = threading.Thread(target=self._hold, name=f"freeze of {pid}", daemon=True)

    def start(self) -> None:
        """Raises FreezeFailed."""
        self._thread.start()
        self._stands.wait()  # set by the thread however it ends, within _STANDS_WITHIN_S
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        """Ends it before its time, and returns when the program goes on."""
        self._over.set()
        self._thread.join()

    def join(self) -> None:
        """Returns when its time is over."""
        self._thread.join()

    def _hold(self) -> None:
        held: list[int] = []
        try:
            for thread in sorted(int(entry.name) for entry in Path(f"/proc/{self._pid}/task").iterdir()):
                _ptrace(_SEIZE, thread)
                held.append(thread)
            for thread in held:
                _ptrace(_INTERRUPT, thread)
            deadline = time.monotonic() + _STANDS_WITHIN_S
            for thread in held:
                _wait_stopped(thread, deadline)
            self._stands.set()
            self._over.wait(self._seconds)
        except TimeoutError:
            self._failure = FreezeFailed(
                f"process {self._pid} could not be frozen: a thread of it has not stopped in {_STANDS_WITHIN_S:g} s; it waits "
                "in the kernel, say for a program that it starts (vfork(2)); repeat when that is through"
            )
        except OSError as error:
            self._failure = FreezeFailed(
                f"process {self._pid} could not be frozen: {error.strerror}; freezing needs the right to trace it "
                "(root, and kernel.yama.ptrace_scope below 3)"
            )
        finally:
            for thread in held:
                with suppress(OSError):
                    _ptrace(_DETACH, thread)
            self._stands.set()


def _wait_stopped(thread: int, deadline: float) -> None:
    """Raises TimeoutError. A thread that waits for its vfork(2)'s child does not stop before that has become another program."""
    while os.waitpid(thread, _WALL | os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.0002)


def _ptrace(request: int, thread: int) -> None:
    if _libc.ptrace(request, thread, None, None) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
