# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in a node's own folder, written from the host.

What runs in the node can write there too, and may have put anything there: nothing is followed, or taken for what it is not.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import IO

from testbed.errors import NetBoxITError


class NodeFileInTheWay(NetBoxITError):
    """A node has something else where a file of its own belongs."""


def write(file: Path, content: str | bytes) -> None:
    """A new file in the place of what is there, whole from the beginning."""
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(descriptor, "wb") as new:
            new.write(content.encode() if isinstance(content, str) else content)
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


def take(file: Path, to: Path) -> bool:
    """Moves an ordinary file out of a node's folder, as one of this program's own. False when there is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return False
    with os.fdopen(descriptor, "rb") as found, to.open("wb") as taken:
        shutil.copyfileobj(found, taken)
    file.unlink(missing_ok=True)
    return True
