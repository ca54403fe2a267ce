# SPDX-License-Identifier: GPL-2.0-or-later
"""Locks between commands (flock(2)): each wait ends, and who holds a lock is told.

Whoever can open a file can lock it, also for reading only. So what is locked is what only root can open.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final

from contracts.errors import printable

_LOCKS: Final = Path("/proc/locks")
#: Between two attempts.
_PAUSE_S: Final = 0.01
#: Of a command, as much as tells it from others.
_SHOWN: Final = 100


def taken(descriptor: int, patience_s: float) -> bool:
    """Takes the lock of an open file for the caller alone; False when nobody released it in that time."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True


def holder(descriptor: int) -> str:
    """Who has the lock of an open file, in words, as far as the kernel tells (proc_locks(5))."""
    status = os.fstat(descriptor)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in _LOCKS.read_text().splitlines():
        words = line.split()
        if len(words) > 5 and (words[1], words[5]) == ("FLOCK", place):  # a line with "->" is of one who waits
            return _process(int(words[4]))
    # In a container the kernel leaves out locks of other containers, and those that a process took which has ended.
    return "the kernel does not tell which process holds its lock: one in another container, or started by one that has ended"


def _process(pid: int) -> str:
    """The process that took a lock; programs that it started have the lock, too, until they are ready."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="backslashreplace")
    except OSError:
        return f"process {pid} took its lock and has ended, and what it started holds it"
    return f"process {pid} holds its lock ({printable(command[:_SHOWN])})"
