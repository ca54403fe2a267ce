# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes for a few system calls that only a process with one thread, or only another process, may make.

They wait for no other process. A child that does not end is stuck in the kernel, so each wait for a child has a deadline.
"""

from __future__ import annotations

import errno
import os
import select
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from contracts.errors import NetBoxITError
from system import kernel

#: Thousands of times what such calls take on a busy machine.
_DEADLINE_S: Final = 30.0


class ChildHangs(NetBoxITError):
    """A child did not end in time, and was killed."""


def call(function: Callable[[], object], purpose: str) -> int:
    """Has a child call the function: the number of the OSError that this raised, 0 when it went well. Raises ChildHangs."""
    child = os.fork()
    if child == 0:
        number = errno.EINTR
        try:
            number = _error_of(function)
        finally:
            os._exit(number)
    return status(child, purpose)


@contextmanager
def asked(functions: Iterable[Callable[[], object]], purpose: str) -> Iterator[tuple[int, Callable[[str], int]]]:
    """A child that calls the next one of these functions whenever it is asked to. It ends with the block.

    The block gets its number, and what asks it: a function that takes the purpose of the call, and returns its error number, 0
    when it went well.
    """
    orders, order = os.pipe()
    answers, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(order)
            calls = iter(functions)
            while os.read(orders, 1):
                os.write(tell, bytes([_error_of(next(calls))]))
        finally:
            os._exit(0)
    os.close(orders)
    os.close(tell)

    def ask(purpose: str) -> int:
        os.write(order, b"1")
        return answer(answers, child, purpose)

    try:
        yield child, ask
    finally:
        os.close(order)
        os.close(answers)
        status(child, purpose)


def check(number: int) -> None:
    """Raises OSError for the error number of a child's call that did not go well."""
    if number:
        raise OSError(number, os.strerror(number))


def _error_of(function: Callable[[], object]) -> int:
    try:
        function()
    except OSError as error:
        return error.errno or 255
    return 0


def status(child: int, purpose: str) -> int:
    """The exit status of a child that was forked to do this, or minus the number of the signal that ended it.

    Raises ChildHangs.
    """
    with kernel.closing(os.pidfd_open(child)) as end:
        if not _readable(end):
            signal.pidfd_send_signal(end, signal.SIGKILL)
            raise _hangs(child, purpose)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def answer(pipe: int, child: int, purpose: str) -> int:
    """The error number that a child writes into a pipe as one byte, ECHILD when it has ended without. Raises ChildHangs."""
    if not _readable(pipe):
        raise _hangs(child, purpose)
    return (os.read(pipe, 1) or bytes([errno.ECHILD]))[0]


def _readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(_DEADLINE_S * 1e3))


def _hangs(child: int, purpose: str) -> ChildHangs:
    return ChildHangs(
        f"process {child}, which is to {purpose}, is not through after {_DEADLINE_S:g} s; the kernel holds it: "
        f"`cat /proc/{child}/stack` and `dmesg` say where; when it has ended, repeat the command"
    )
