# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory wires: the shared memory and the bells between two nodes (docs/architecture.md, "Memory wire").

Each wire is a folder on tmpfs, which both its nodes see. The files are made here, and only opened by those who use them.
"""

from __future__ import annotations

import os
import shutil
import struct
from contextlib import suppress
from pathlib import Path

from contracts import durable
from contracts.errors import NetBoxITError
from system import claimed_folder, kernel

#: Where the host keeps the memory wires of all labs.
FOLDER = Path("/dev/shm/netboxit")

#: Room for frames in one direction, a power of two: 50 ms at a million of the smallest frames a second.
CAPACITY_BYTES = 4 << 20

_MAGIC = b"NBXRING1"
#: Indices and counters of a ring, before its data.
HEADER_BYTES = 4096
_RINGS = ("left-to-right.ring", "right-to-left.ring")
_BELLS = ("left.bell", "right.bell")
#: Beside a lab's wires: a link to the folder in which it is kept. No name of a wire.
_OWNER = "owner"


class MemoryWireFailed(NetBoxITError):
    """The folder of a memory wire could not be made or removed."""


def folder(lab: str, wire: str) -> Path:
    """The wire's folder on the host. Both its nodes see it as a folder of their own."""
    return FOLDER / lab / wire


def claim() -> str | None:
    """Makes the folder of all labs' wires, where every user may make names. Returns what of another user's was in its place.

    Raises MemoryWireFailed.
    """
    try:
        return claimed_folder.claim(FOLDER)
    except (OSError, claimed_folder.NotClaimed) as error:
        raise MemoryWireFailed(f"{FOLDER} cannot be made: {error}") from error


def check_free(lab: str, wire: str, lab_folder: Path | None = None) -> None:
    """Raises MemoryWireFailed when the wire's folder, or that of the lab's wires, is somebody else's."""
    if not claimed_folder.is_own(FOLDER):
        return  # nothing in it is a lab's
    if (place := folder(lab, wire)).exists() or _is_foreign(lab, lab_folder):
        raise MemoryWireFailed(
            f"memory wire {wire}: {place} is there already, left behind by a lab {lab}; remove it, or give the lab another --name"
        )


def create(lab: str, wire: str, capacity: int = CAPACITY_BYTES, owner: int | None = None, lab_folder: Path | None = None) -> Path:
    """Makes the wire's folder, and returns it. All memory is taken now: a node must not find later that there is none.

    It is for the host's root, or, where the lab's nodes are the user `owner` of the host, for them and root's group: a node that
    has to be the host's root has no other right to it. LXC mounts it as that user, who therefore has to get to it: the folders
    above let users pass, who can neither list them nor enter a wire's. The lab's wires are marked as those of the lab that is
    kept in `lab_folder`, where no node sees it.
    """
    check_free(lab, wire, lab_folder)
    place = folder(lab, wire)
    try:
        for passed in (FOLDER, place.parent):
            claimed_folder.claim(passed)
        if lab_folder is not None and not (place.parent / _OWNER).is_symlink():
            (place.parent / _OWNER).symlink_to(lab_folder)
        place.mkdir(mode=0o700)
        for ring in _RINGS:
            _make_ring(place / ring, capacity)
        for bell in _BELLS:
            os.mkfifo(place / bell, 0o600)
        if owner is not None:
            _share(place, owner)
    except OSError as error:
        delete(lab, wire, lab_folder)
        raise MemoryWireFailed(
            f"memory wire {wire}: {place} cannot be made ({error.strerror}); it takes {len(_RINGS) * capacity >> 20} MiB "
            f"in /dev/shm, see `df /dev/shm`; with `wire: veth` it takes none"
        ) from error
    return place


def delete(lab: str, wire: str, lab_folder: Path | None = None) -> None:
    """Removes the wire's folder, also what a node has left in it, and the lab's with its last wire.

    It may be gone already. A folder that is marked as another lab's, or that another user made, stays.
    """
    if not claimed_folder.is_own(FOLDER) or _is_foreign(lab, lab_folder):
        return
    place = folder(lab, wire)
    with kernel.errors_as(MemoryWireFailed, f"memory wire {wire}: {place} cannot be removed"):
        with suppress(FileNotFoundError):
            shutil.rmtree(place)
        if place.parent.is_dir() and {entry.name for entry in place.parent.iterdir()} == {_OWNER}:
            (place.parent / _OWNER).unlink(missing_ok=True)
    kernel.remove_empty(place.parent, FOLDER)


def _is_foreign(lab: str, lab_folder: Path | None) -> bool:
    """Whether the folder of the lab's wires is another lab's, or another user's."""
    if not claimed_folder.is_own(FOLDER / lab):
        return os.path.lexists(FOLDER / lab)
    try:
        return (FOLDER / lab / _OWNER).readlink() != lab_folder
    except FileNotFoundError:
        return False


def _make_ring(file: Path, capacity: int) -> None:
    """An empty ring, with memory behind all of it."""
    with kernel.closing(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)) as ring:
        os.posix_fallocate(ring, 0, HEADER_BYTES + capacity)
        durable.write_all(ring, _MAGIC + struct.pack("<Q", capacity))


def _share(place: Path, owner: int) -> None:
    for file in place.iterdir():
        file.chmod(0o660)
        os.chown(file, owner, 0)
    os.chown(place, owner, 0)
    place.chmod(0o770)
