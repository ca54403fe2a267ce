# SPDX-License-Identifier: GPL-2.0-or-later
"""What labs hold together, of whatever state folder: the first one makes it, the last one to let go of it removes it.

Who holds it is kept below /run, by the labs' folders, which a reboot empties with what is held.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, unquote

from testbed import durable

RUN = Path("/run/netboxit")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else changes meanwhile what is held. The folder is there for the length of the block, and then as long as something
    is held.
    """
    descriptor = _open_locked(folder)
    try:
        yield
    finally:
        with suppress(OSError):  # not empty
            folder.rmdir()
            folder.parent.rmdir()
        os.close(descriptor)


def add(holders: Path, lab: Path) -> None:
    """The lab of that folder is one of the holders from here on."""
    with durable.told(holders):
        holders.mkdir(parents=True, exist_ok=True)
        _holder(holders, lab).touch()


def drop(holders: Path, lab: Path) -> bool:
    """It is one no longer. Whether there are others."""
    _holder(holders, lab).unlink(missing_ok=True)
    return any(_still_there(holder) for holder in (holders.iterdir() if holders.is_dir() else ()))


def _holder(holders: Path, lab: Path) -> Path:
    return holders / quote(str(lab), safe="")


def _still_there(holder: Path) -> bool:
    """A lab whose folder was removed by hand will not let go of anything any more."""
    there = Path(unquote(holder.name)).exists()
    if not there:
        holder.unlink()
    return there


def _open_locked(folder: Path) -> int:
    while True:
        with suppress(FileNotFoundError):  # another command has just removed it
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(descriptor), folder.stat()):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
