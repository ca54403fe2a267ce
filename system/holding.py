# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects that labs share, of all state folders: the first lab makes the object, the last one that releases it removes it.

The holders are kept below /run, by the labs' folders. A reboot empties /run and removes the objects.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from contracts import durable
from contracts.errors import NetBoxITError
from ownership import locks
from system import kernel

RUN = Path("/run/netboxit")

#: What is done under such a lock is some writing below /sys and /run.
_PATIENCE_S: Final = 10.0


class HoldingBusy(NetBoxITError):
    """Another command does not release what labs hold together."""


@contextmanager
def locked(folder: Path, *, make: bool = True) -> Iterator[bool]:
    """Locks the folder of a shared object. It is there during the block, and then as long as a lab holds the object.

    Without `make` a folder that is not there is not made, and the block gets False: no lab holds the object. So to release it
    needs no room on the disk. Raises HoldingBusy.
    """
    if (descriptor := _open_locked(folder, make)) is None:
        yield False
        return
    try:
        yield True
    finally:
        kernel.remove_empty(folder, folder.parent)
        os.close(descriptor)


def add(holders: Path, lab: Path) -> None:
    """The lab of that folder is one of the holders from here on."""
    with durable.told(holders):
        holders.mkdir(parents=True, exist_ok=True)
        _holder(holders, lab).touch()


def drop(holders: Path, lab: Path) -> bool:
    """The lab of that folder is a holder no longer. Returns whether there are others."""
    _holder(holders, lab).unlink(missing_ok=True)
    return any(_still_there(holder) for holder in (holders.iterdir() if holders.is_dir() else ()))


def _holder(holders: Path, lab: Path) -> Path:
    return holders / quote(str(lab), safe="")


def _still_there(holder: Path) -> bool:
    """Whether the holder's lab is there. Strikes it out otherwise: a lab whose folder was removed by hand releases nothing."""
    there = Path(unquote(holder.name)).exists()
    if not there:
        holder.unlink()
    return there


def _open_locked(folder: Path, make: bool) -> int | None:
    deadline = time.monotonic() + _PATIENCE_S
    while make or folder.is_dir():
        with suppress(FileNotFoundError), ExitStack() as unless_locked:  # another command has just removed it
            if make:
                locks.make_closed(folder.parent)
                locks.make_closed(folder)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            unless_locked.callback(os.close, descriptor)
            if not locks.taken(descriptor, deadline - time.monotonic()):
                raise HoldingBusy(f"{folder}: another netboxit command works on it: {locks.holder(descriptor)}; try again later")
            if os.path.samestat(os.fstat(descriptor), folder.stat()):
                unless_locked.pop_all()
                return descriptor
    return None
