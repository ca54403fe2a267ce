# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in a node's own folder, written from the host.

What runs in the node can write there too, and may have put anything there: nothing is followed, or taken for what it is not.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from testbed.errors import NetBoxITError


class NodeFileInTheWay(NetBoxITError):
    """A node has something else where a file of its own belongs."""


def write(file: Path, text: str) -> None:
    """A new file in the place of what is there, whole from the beginning."""
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as new:
            new.write(text)
        beside.replace(file)
    except OSError as error:
        raise NodeFileInTheWay(f"{file} cannot be written: {error.strerror}; see what the node has put there") from error


def appended(file: Path) -> IO[bytes]:
    """An ordinary file, to be written at its end. Raises NodeFileInTheWay."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(file, flags, 0o644)
    except OSError as error:
        raise NodeFileInTheWay(f"{file} cannot be written: {error.strerror}; see what the node has put there") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NodeFileInTheWay(f"{file} is no ordinary file; see what the node has put there")
    return os.fdopen(descriptor, "ab")
