# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in a node's own folder, used from the host.

Programs of the node can write there too, and may have put anything there. So no link is followed, and what is opened is checked
to be of the expected kind. A file is in the node's folder itself or in a folder of it; the node cannot move its own folder.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from contracts import durable
from contracts.errors import NetBoxITError, printable
from system import kernel

#: More than anything that is read as a whole: logs are a node's to fill.
_MOST_BYTES = 16 << 20
#: The longest file that is copied out of a node, with its holes: 16 GiB are a day of a netbox's records at 4000 frames/s.
LONGEST_COPY = 16 << 30
#: The most data that are copied out of a node's folder, and the most files.
MOST_COPIED = 64 << 30
MOST_FILES = 10_000
_PIECE = 1 << 20


class NodeFileInTheWay(NetBoxITError):
    """A node has something else where a file of its own belongs."""


class NodeFileTooLong(NodeFileInTheWay):
    """A node's file is longer than anything that is taken out of one."""


class OwnFiles:
    """Files that an application has in a node, in a folder of its own, by their names.

    Programs of the node see them and can write them. What they put in the files' places is never followed.
    `testbed.several_hosts` has the same for nodes of other machines.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: str | bytes) -> None:
        """A new file in the place of what is there."""
        write(self._folder / name, content)

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name: a file, a pipe."""
        return exists(self._folder / name)

    def take(self, name: str, to: Path) -> bool:
        """Moves a file out of the node. False when there is none, or no ordinary one."""
        return take(self._folder / name, to)

    def remove(self, name: str) -> None:
        """What is not there is removed already."""
        remove(self._folder / name)


def write(file: Path, content: str | bytes) -> None:
    """A new file in the place of what is there, whole from the beginning. Raises NodeFileInTheWay."""
    beside = f".{file.name}.new"
    with _errors(file, "written"), _folder(file) as folder:
        _remove(beside, folder)
        with _new(beside, folder) as new:
            new.write(content.encode() if isinstance(content, str) else content)
        os.replace(beside, file.name, src_dir_fd=folder, dst_dir_fd=folder)


def appended(file: Path) -> IO[bytes]:
    """An ordinary file, to be written at its end. Raises NodeFileInTheWay."""
    with _errors(file, "written"), _folder(file) as folder:
        return os.fdopen(_opened(file, folder, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def opened(file: Path) -> IO[bytes]:
    """An ordinary file, to be read. Raises NodeFileInTheWay, FileNotFoundError."""
    with _errors(file, "read"), _folder(file) as folder:
        return os.fdopen(_opened(file, folder, os.O_RDONLY), "rb")


def read(file: Path) -> str:
    """A whole ordinary file, or the end of a large one. Raises NodeFileInTheWay, FileNotFoundError."""
    with opened(file) as opened_file:
        opened_file.seek(max(0, os.fstat(opened_file.fileno()).st_size - _MOST_BYTES))
        return opened_file.read(_MOST_BYTES).decode(errors="replace")


def exists(file: Path) -> bool:
    """Whether there is anything of that name: a file, a pipe."""
    with suppress(OSError), _folder(file) as folder:
        return _kind(file.name, folder) != 0
    return False


def take(file: Path, to: Path) -> bool:
    """Moves an ordinary file out of a node's folder, as one of this program's own. False when there is none.

    Raises NodeFileInTheWay for a file longer than LONGEST_COPY.
    """
    try:
        with _folder(file) as folder, os.fdopen(_opened(file, folder, os.O_RDONLY), "rb") as source:
            if os.fstat(source.fileno()).st_size > LONGEST_COPY:
                raise NodeFileTooLong(f"{file} is longer than {LONGEST_COPY >> 30} GiB, and stays in the node")
            with to.open("wb") as taken:
                copy_sparsely(source.fileno(), taken.fileno(), LONGEST_COPY)
            _remove(file.name, folder)
    except NodeFileTooLong:
        raise
    except (OSError, NodeFileInTheWay):
        return False
    return True


def copy_all(folder: Path, to: Path) -> list[str]:
    """Copies the ordinary files of a node's own folder (none of folders in it) that `to` does not have yet.

    Links, pipes and sockets are left out. Returns what else could not be copied, or not as a whole, and why.
    """
    problems: list[str] = []
    left, files = MOST_COPIED, 0
    with _listable(folder) as source, _listable(to) as target, os.scandir(source) as entries:
        for entry in entries:
            if _kind(entry.name, source) == stat.S_IFREG and not _kind(entry.name, target):
                if (files := files + 1) > MOST_FILES:
                    problems.append(f"{folder} has more than {MOST_FILES} files, and the others are not kept")
                    break
                try:
                    left -= _copy(folder / entry.name, source, target, left, problems)
                except OSError as error:
                    problems.append(f"{printable(str(folder / entry.name))} is not kept: {error.strerror}")
                except NodeFileInTheWay as error:
                    problems.append(str(error))
    return problems


def move_all(place: Path, part: str, to: Path) -> None:
    """Moves the ordinary files of `part`, a folder in the `place` of programs that have ended, to a folder on the same disk.

    A full disk has room for that, and would have none for copies. Pipes and links are left, also where `part` leads by one.
    Raises FileNotFoundError, NotADirectoryError when `part` is no folder.
    """
    with ExitStack() as opened_folders, _listable(to) as target:
        source = opened_folders.enter_context(_listable(place))
        for step in Path(part).parts:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            source = opened_folders.enter_context(kernel.closing(os.open(step, flags, dir_fd=source)))
        with os.scandir(source) as entries:
            names = sorted(entry.name for entry in entries)[:MOST_FILES]
        for name in names:
            try:
                file = _opened(place / part / name, source, os.O_RDONLY)
            except (OSError, NodeFileInTheWay):
                continue
            with kernel.closing(file):
                os.fchmod(file, 0o644)
                os.fchown(file, os.geteuid(), os.getegid())
            os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)


def copy_sparsely(source: int, target: int, longest: int, most: int | None = None) -> tuple[int, bool]:
    """Copies an open file to an empty one: what is a hole there is one here (lseek(2), SEEK_HOLE).

    At most its first `longest` bytes, and of them `most` bytes of data. Returns how many bytes of data it copied, and whether
    that was all.
    """
    size = min(whole := os.fstat(source).st_size, longest)
    at = copied = 0
    while at < size:
        start, at = at, size  # where no data follow, the rest is a hole
        with kernel.ignored(errno.ENXIO):
            at = min(os.lseek(source, start, os.SEEK_DATA), size)
        end = min(os.lseek(source, at, os.SEEK_HOLE), size) if at < size else size
        while at < end:
            if most is not None and copied >= most:
                return copied, False
            piece = os.pread(source, min(_PIECE, end - at), at)
            if not piece:  # it has become shorter
                return copied, False
            os.lseek(target, at, os.SEEK_SET)
            durable.write_all(target, piece)
            at += len(piece)
            copied += len(piece)
    os.ftruncate(target, size)
    return copied, size == whole


def rename(file: Path, name: str) -> None:
    """Gives a file another name in the same folder, if it is there. Raises NodeFileInTheWay."""
    with _errors(file, "renamed"), _folder(file) as folder, suppress(FileNotFoundError):
        os.rename(file.name, name, src_dir_fd=folder, dst_dir_fd=folder)


def remove(file: Path) -> None:
    """Removes a file, folder or anything else of that name, if it is there. Raises NodeFileInTheWay."""
    with _errors(file, "removed"), _folder(file) as folder:
        _remove(file.name, folder)


def make_folder(place: Path, owner: int | None) -> None:
    """A folder in the node's own, unless it is there; of the node's root where that is a user. Raises NodeFileInTheWay."""
    with _errors(place, "made"), _folder(place) as folder:
        with suppress(FileExistsError):
            os.mkdir(place.name, dir_fd=folder)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        with kernel.closing(os.open(place.name, flags, dir_fd=folder)) as new_folder:
            if owner is not None:
                os.fchown(new_folder, owner, owner)


def make_pipe(file: Path, owner: int | None) -> int:
    """A named pipe in the place of what is there, for the node's root where that is a user. Returns its reading end.

    Reading does not wait. Raises NodeFileInTheWay.
    """
    with _errors(file, "made"), _folder(file) as folder:
        _remove(file.name, folder)
        os.mkfifo(file.name, 0o600, dir_fd=folder)
        descriptor = os.open(file.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=folder)
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise NodeFileInTheWay(f"{file} was replaced by somebody in the node")
        if owner is not None:
            os.fchown(descriptor, owner, owner)
    return descriptor


@contextmanager
def socket_address(file: Path) -> Iterator[str]:
    """The address of a socket there, short enough for a path of any length (unix(7): 107 bytes). No link is followed to it.

    Raises OSError when there is no socket.
    """
    with _folder(file) as folder, kernel.closing(os.open(file.name, os.O_PATH | os.O_NOFOLLOW, dir_fd=folder)) as place:
        if not stat.S_ISSOCK(os.fstat(place).st_mode):
            raise OSError(f"{file} is no socket; see what the node has put there")
        yield f"/proc/self/fd/{place}"


def _copy(file: Path, source: int, target: int, most: int, problems: list[str]) -> int:
    """Copies one file from folder to folder; returns how many bytes of data it has."""
    with os.fdopen(_opened(file, source, os.O_RDONLY), "rb") as opened_file, _new(file.name, target) as copy:
        copied, whole = copy_sparsely(opened_file.fileno(), copy.fileno(), LONGEST_COPY, most)
        if not whole:
            kept = os.fstat(copy.fileno()).st_size
            problems.append(
                f"{printable(str(file))} is kept only up to byte {kept:,}: it is too long, or the node's files are too many"
            )
    return copied


def _new(name: str, folder: int) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    return os.fdopen(os.open(name, flags, 0o644, dir_fd=folder), "wb")


def _kind(name: str, folder: int) -> int:
    """What has that name: one of stat.S_IFREG, S_IFDIR and so on. 0 for nothing."""
    with suppress(FileNotFoundError):
        return stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return 0


def _listable(folder: Path) -> AbstractContextManager[int]:
    return kernel.closing(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))


def _folder(file: Path) -> AbstractContextManager[int]:
    """The folder that the file is in."""
    return kernel.closing(os.open(file.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW))


def _opened(file: Path, folder: int, flags: int) -> int:
    """An ordinary file with one name; opening a pipe would wait for its other end.

    A file with several names may be somebody else's, if a link to it could be made here.
    """
    descriptor = os.open(file.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644, dir_fd=folder)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        what = "has several names (hard links)" if stat.S_ISREG(status.st_mode) else "is no ordinary file"
        raise NodeFileInTheWay(f"{printable(str(file))} {what}; see what the node has put there")
    return descriptor


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=folder)


@contextmanager
def _errors(file: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) and what == "read":
            raise
        if error.errno in durable.OF_THE_PLACE:
            raise durable.not_written(error, file) from error
        raise NodeFileInTheWay(f"{file} cannot be {what}: {error.strerror}; see what the node has put there") from error
