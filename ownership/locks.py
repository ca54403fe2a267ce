# SPDX-License-Identifier: GPL-2.0-or-later
"""Locks between commands (flock(2)), and the folders that have them: each wait ends, and an error names who holds a lock.

Whoever can open a file can lock it, also for reading only, and would keep every lab waiting. So what is locked is in folders on
which users of the machine can do nothing: they can neither read and lock them, nor reach what is below, as what labs are and how
other machines are reached.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path
from typing import Final

from contracts.errors import printable

#: The host's number of a node's user and group 0. Those from 1879048192 on are nobody's: Linux distributions and container
#: managers keep to smaller ones (systemd, "Users, Groups, UIDs and GIDs on systemd Systems").
NODES: Final = 1_879_048_192

#: For root; of the group one can pass to what one has the name and a right of.
_PASSED: Final = 0o710
_ROOTS: Final = 0o700
#: Between two attempts at a lock.
_PAUSE_S: Final = 0.01
#: Characters of a command: as many as tell it from others.
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
    for line in Path("/proc/locks").read_text().splitlines():
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


def close_to_users(folder: Path) -> None:
    """Root's; the nodes of labs may pass through it to their own files. An older NetBoxIT let everybody read it.

    Where this process is not root's, the folder is its user's own.
    """
    status = folder.stat()
    if os.geteuid() == 0 and status.st_gid != NODES:
        try:
            os.chown(folder, -1, NODES)
        except OSError as error:
            # EINVAL: root of a user namespace without that number. Nodes can have none of their own here, and are this root's.
            if error.errno != errno.EINVAL:
                raise
    if status.st_mode & 0o777 != _PASSED:
        folder.chmod(_PASSED)


def make_closed(folder: Path) -> None:
    """Makes a folder that only root can enter, or closes one that is there."""
    folder.mkdir(mode=_ROOTS, exist_ok=True)
    if folder.stat().st_mode & 0o777 != _ROOTS:
        folder.chmod(_ROOTS)
