# SPDX-License-Identifier: GPL-2.0-or-later
"""Children that this process forks for a few system calls, which only a process of one thread, or another process, may make.

They wait for nobody else. One that does not come to its end waits in the kernel, so that each wait for one has a deadline.
"""

from __future__ import annotations

import errno
import os
import select
import signal
from typing import Final

from contracts.errors import NetBoxITError

#: Thousands of times what such calls take on a busy machine.
_DEADLINE_S: Final = 30.0


class ChildHangs(NetBoxITError):
    """A child did not come to its end; it is killed."""


def status(child: int, purpose: str) -> int:
    """The exit status of a child that was forked to do this, or minus the number of the signal that ended it.

    Raises ChildHangs.
    """
    end = os.pidfd_open(child)
    try:
        if not _readable(end):
            signal.pidfd_send_signal(end, signal.SIGKILL)
            raise _hangs(child, purpose)
    finally:
        os.close(end)
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
