# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in a node's own folder, used from the host.

What runs in the node can write there too, and may have put anything there: nothing is followed, or taken for what it is not.
A file is one of the node's folder itself or of a folder in it; where the node's folder is, the node cannot change.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from testbed.errors import NetBoxITError

#: More than anything that is read as a whole: logs are a node's to fill.
_MOST_BYTES = 16 << 20


class NodeFileInTheWay(NetBoxITError):
    """A node has something else where a file of its own belongs."""


def write(file: Path, content: str | bytes) -> None:
    """A new file in the place of what is there, whole from the beginning. Raises NodeFileInTheWay."""
    beside = f".{file.name}.new"
    with _told(file, "written"), _folder(file) as folder:
        _remove(beside, folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(beside, flags, 0o644, dir_fd=folder), "wb") as new:
            new.write(content.encode() if isinstance(content, str) else content)
        os.replace(beside, file.name, src_dir_fd=folder, dst_dir_fd=folder)


def appended(file: Path) -> IO[bytes]:
    """An ordinary file, to be written at its end. Raises NodeFileInTheWay."""
    with _told(file, "written"), _folder(file) as folder:
        return os.fdopen(_opened(file, folder, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def opened(file: Path) -> IO[bytes]:
    """An ordinary file, to be read. Raises NodeFileInTheWay, FileNotFoundError."""
    with _told(file, "read"), _folder(file) as folder:
        return os.fdopen(_opened(file, folder, os.O_RDONLY), "rb")


def read(file: Path) -> str:
    """A whole ordinary file; of one that is large its end. Raises NodeFileInTheWay, FileNotFoundError."""
    with opened(file) as found:
        found.seek(max(0, os.fstat(found.fileno()).st_size - _MOST_BYTES))
        return found.read(_MOST_BYTES).decode(errors="replace")


def exists(file: Path) -> bool:
    """Whether there is anything of that name: a file, a pipe."""
    try:
        with _folder(file) as folder:
            os.lstat(file.name, dir_fd=folder)
    except OSError:
        return False
    return True


def take(file: Path, to: Path) -> bool:
    """Moves an ordinary file out of a node's folder, as one of this program's own. False when there is none."""
    try:
        with _folder(file) as folder:
            with os.fdopen(_opened(file, folder, os.O_RDONLY), "rb") as found, to.open("wb") as taken:
                shutil.copyfileobj(found, taken)
            remove(file)
    except (OSError, NodeFileInTheWay):
        return False
    return True


def rename(file: Path, name: str) -> None:
    """Another name in the same folder for what is there, if anything is. Raises NodeFileInTheWay."""
    with _told(file, "renamed"), _folder(file) as folder, suppress(FileNotFoundError):
        os.rename(file.name, name, src_dir_fd=folder, dst_dir_fd=folder)


def remove(file: Path) -> None:
    """Whatever is there of that name; what is not there is removed already. Raises NodeFileInTheWay."""
    with _told(file, "removed"), _folder(file) as folder:
        _remove(file.name, folder)


def make_folder(place: Path, owner: int | None) -> None:
    """A folder in the node's own, unless it is there; of the node's root where that is a user. Raises NodeFileInTheWay."""
    with _told(place, "made"), _folder(place) as folder:
        with suppress(FileExistsError):
            os.mkdir(place.name, dir_fd=folder)
        descriptor = os.open(place.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            if owner is not None:
                os.fchown(descriptor, owner, owner)
        finally:
            os.close(descriptor)


@contextmanager
def socket_address(file: Path) -> Iterator[str]:
    """By what to connect to a socket there, however long its path is (unix(7): 107 bytes), and to none that a link leads to.

    Raises OSError when there is no socket.
    """
    with _folder(file) as folder:
        descriptor = os.open(file.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise OSError(f"{file} is no socket; see what the node has put there")
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


@contextmanager
def _folder(file: Path) -> Iterator[int]:
    descriptor = os.open(file.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(file: Path, folder: int, flags: int) -> int:
    """An ordinary file; opening a pipe would wait for its other end."""
    descriptor = os.open(file.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NodeFileInTheWay(f"{file} is no ordinary file; see what the node has put there")
    return descriptor


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=folder)


@contextmanager
def _told(file: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) and what == "read":
            raise
        raise NodeFileInTheWay(f"{file} cannot be {what}: {error.strerror}; see what the node has put there") from error
