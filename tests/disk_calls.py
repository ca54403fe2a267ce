# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that a full or failing disk refuses, told by what they are about to do: where, and whether that takes room."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from tests.system_calls import Call, take_descriptor

#: Which argument is the folder's descriptor (None: paths are the process's own) and which the path of what is made.
_MAKING: dict[str, tuple[int | None, int]] = {
    "open": (None, 0),
    "creat": (None, 0),
    "openat": (0, 1),
    "mkdir": (None, 0),
    "mkdirat": (0, 1),
    "symlink": (None, 1),
    "symlinkat": (1, 2),
    "link": (None, 1),
    "linkat": (2, 3),
    "mknod": (None, 0),
    "mknodat": (0, 1),
}
_RENAMING: dict[str, tuple[int | None, int]] = {"rename": (None, 1), "renameat": (2, 3), "renameat2": (2, 3)}
#: Their first argument is the file.
_WRITING = ("write", "pwrite64", "writev", "sendfile", "fallocate")
_SETTLING = ("fsync", "fdatasync", "ftruncate")
#: copy_file_range(2) has it third.
_COPYING = "copy_file_range"
#: Where no disk is: what the kernel shows of itself, and devices.
_NO_DISK = ("/proc", "/sys", "/dev")
_SHARED_MEMORY = "/dev/shm"
_HERE = (-100) & 0xFFFFFFFF  # AT_FDCWD
_LONGEST_PATH = 4096


@dataclass(frozen=True)
class DiskCall:
    """A call that a disk can refuse."""

    name: str
    place: Path
    #: Whether a full disk refuses it each time: renaming and fsync(2) mostly need nothing.
    takes_room: bool


def of(call: Call, process: int) -> DiskCall | None:
    """None for a call that has nothing to do with a disk, or that fails anyhow."""
    try:
        if call.name in _MAKING:
            place = _path(call, process, *_MAKING[call.name])
            makes = place is not None and _would_make(place, process)
            return DiskCall(call.name, place, takes_room=True) if place and makes else None
        if call.name in _RENAMING:
            place = _path(call, process, *_RENAMING[call.name])
            return DiskCall(call.name, place, takes_room=False) if place else None
        if call.name in (*_WRITING, *_SETTLING, _COPYING):
            place = _opened(process, call.arguments[2 if call.name == _COPYING else 0])
            return DiskCall(call.name, place, takes_room=call.name not in _SETTLING) if place else None
    except OSError:
        return None  # whoever calls was killed meanwhile, or names what is not in its memory
    return None


def write_half(call: Call, process: int) -> int:
    """Makes a `write` for its caller, of half of what it has to write, as when that is all there is room for."""
    address, length = call.arguments[1], call.arguments[2] // 2
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        data = memory.read(length)
    pidfd = os.pidfd_open(process)
    try:
        descriptor = take_descriptor(pidfd, call.arguments[0])
    finally:
        os.close(pidfd)
    try:
        return os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _opened(process: int, descriptor: int) -> Path | None:
    link = Path(f"/proc/{process}/fd/{descriptor}")
    if not stat.S_ISREG(link.stat().st_mode):
        return None
    place = link.readlink()
    return place if _is_on_disk(place) else None


def _path(call: Call, process: int, folder: int | None, path: int) -> Path | None:
    at = _HERE if folder is None else call.arguments[folder] & 0xFFFFFFFF
    base = Path(f"/proc/{process}/cwd" if at == _HERE else f"/proc/{process}/fd/{at}").readlink()
    place = Path(os.path.normpath(base / _text(process, call.arguments[path])))
    return place if _is_on_disk(place) else None


def _text(process: int, address: int) -> str:
    """What ends with a zero byte; it may end a page before what is not there. Raises OSError where nothing can be read."""
    found = b""
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        while b"\0" not in found and len(found) < _LONGEST_PATH:
            page_left = 4096 - (address + len(found)) % 4096
            if not (part := memory.read(page_left)):
                raise ProcessLookupError  # it was killed meanwhile: its memory is gone, and its file empty
            found += part
    return os.fsdecode(found.partition(b"\0")[0])


def _is_on_disk(place: Path) -> bool:
    nowhere = not place.is_absolute() or str(place).startswith("/memfd:") or any(map(place.is_relative_to, _NO_DISK))
    return not nowhere or place.is_relative_to(_SHARED_MEMORY)


def _would_make(place: Path, process: int) -> bool:
    """Whether it is not there yet, and its folder is."""
    seen = Path(f"/proc/{process}/root{place}")
    return not os.path.lexists(seen) and seen.parent.is_dir()
