# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder of root's in a place where every user may make names, as /dev/shm is.

A user who makes the name first does not keep it: their object is exchanged, in one system call, with a folder of root's, and then
has a name that nobody could guess. What is in it stays theirs. Nothing of it is followed, opened or asked: it may be a link, or a
file system of theirs (FUSE), which answers when it likes. Only the owner of an object can rename or remove it in such a place
(the sticky bit, inode(7)), so that a folder which is root's stays there.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError
from system import foreign_text, kernel

#: A folder that others can pass through, and neither list nor write in.
_MODE: Final = 0o711
#: Each one fails only when a user has changed their object between two system calls of ours.
_TRIES: Final = 1000


class NotClaimed(NetBoxITError):
    """A folder could not be made, because something of another user's is in its place."""


def claim(folder: Path) -> str | None:
    """The folder is there and this user's, and others can only pass through it. Returns what had to be moved away for it.

    Raises NotClaimed, OSError.
    """
    note = None
    with _above(folder) as above:
        for _ in range(_TRIES):
            with suppress(FileExistsError):
                os.mkdir(folder.name, 0o700, dir_fd=above)
            with suppress(FileNotFoundError), _opened(above, folder.name) as descriptor:
                if _is_own(descriptor, above):
                    Path(f"/proc/self/fd/{descriptor}").chmod(_MODE)  # also where the umask, or a killed command, had closed it
                    return note
                note = _move_away(above, folder, _whose(descriptor, above)) or note
    raise NotClaimed(f"{folder}: another user puts something there again and again; `ls -l {folder.parent}` shows who")


def is_own(folder: Path) -> bool:
    """Whether it is there and this user's."""
    with suppress(FileNotFoundError), _above(folder) as above, _opened(above, folder.name) as descriptor:
        return _is_own(descriptor, above)
    return False


def _above(folder: Path) -> AbstractContextManager[int]:
    return kernel.closing(os.open(folder.parent, os.O_PATH | os.O_DIRECTORY))


def _opened(above: int, name: str) -> AbstractContextManager[int]:
    """O_PATH asks neither the object nor its file system for anything."""
    return kernel.closing(os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=above))


def _is_own(descriptor: int, above: int) -> bool:
    if _is_users_mount(descriptor, above):
        return False
    status = os.fstat(descriptor)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _whose(descriptor: int, above: int) -> str:
    """In words. Raises NotClaimed for what only root can have put there: that is for root to remove."""
    if _is_users_mount(descriptor, above):
        return "a user's file system (FUSE)"
    owner = os.fstat(descriptor).st_uid
    if owner == os.geteuid() or _mount_of(descriptor) != _mount_of(above):
        raise NotClaimed("it is not a folder of root's, and only root can have put it there; remove or unmount it")
    return f"of user {owner}"


def _is_users_mount(descriptor: int, above: int) -> bool:
    """Users can mount file systems of programs of theirs (fusermount3(1)), and nothing else."""
    mount = _mount_of(descriptor)
    return mount != _mount_of(above) and any(
        line.split(" ")[0] == mount and line.partition(" - ")[2].startswith("fuse")
        for line in foreign_text.lines(Path("/proc/self/mountinfo"))
    )


def _mount_of(descriptor: int) -> str:
    """The number of the mount that it is in (proc(5), fdinfo)."""
    return Path(f"/proc/self/fdinfo/{descriptor}").read_text().partition("mnt_id:")[2].split()[0]


def _move_away(above: int, folder: Path, whose: str) -> str | None:
    """Puts a folder of our own in its place. Tells what was there; None when that was gone, or is to be looked at anew."""
    aside = f".{folder.name}-{secrets.token_hex(16)}"
    os.mkdir(aside, 0o700, dir_fd=above)
    try:
        kernel.exchange(above, aside, folder.name)
    except OSError as error:
        os.rmdir(aside, dir_fd=above)
        if error.errno == errno.ENOENT:
            return None
        if error.errno == errno.EBUSY:
            with suppress(OSError):  # it is mounted no longer
                kernel.unmount(folder)
            return None
        raise NotClaimed(f"{folder} is {whose}, and cannot be moved away ({error.strerror}); remove it") from error
    with _opened(above, aside) as moved:
        if _is_own(moved, above):  # another command's, made when the user had removed theirs
            kernel.exchange(above, aside, folder.name)
            os.rmdir(aside, dir_fd=above)
            return None
    return f"{folder} was {whose}; {_removed(above, aside) or f'it is {folder.parent / aside} now'}"


def _removed(above: int, name: str) -> str | None:
    """Removes it when that takes nothing from anybody: an empty folder, or a link."""
    try:
        try:
            os.rmdir(name, dir_fd=above)
        except NotADirectoryError:
            os.readlink(name, dir_fd=above)
            os.unlink(name, dir_fd=above)
    except OSError:
        return None
    return "it is removed"
