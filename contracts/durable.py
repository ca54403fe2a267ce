# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are written whole or not at all, also when the disk is full or fails: write(2) may write less than it was given, and
what it wrote may be lost by a crash until fsync(2) has returned.

`put` and `create` are for what a later step relies on: the file is on the disk when they return. `write` is for all else.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError, printable

#: What the place answers that a file was to be written to, and not to what is wrong with the caller.
OF_THE_PLACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG})
_MODE: Final = 0o666


class NotWritten(NetBoxITError):
    """A file or a folder could not be written: most often, the disk is full."""


def put(file: Path, content: str | bytes) -> None:
    """In the place of what is there: a reader finds the old file or the new one, whole. Raises NotWritten."""
    with told(file), _made(beside(file), content) as new:
        new.rename(file)
        sync_folder(file.parent)


def create(file: Path, content: str | bytes) -> None:
    """A new file, whole from the beginning. Raises FileExistsError when there is one, NotWritten."""
    with told(file), _made(beside(file).with_suffix(f".{os.getpid()}"), content) as new:
        file.hardlink_to(new)
        sync_folder(file.parent)


def beside(file: Path) -> Path:
    """What `put` writes first, and leaves behind when it is killed; the next `put` writes over it."""
    return file.with_name(f".{file.name}.new")


def write(file: Path, content: str | bytes) -> None:
    """The same as `Path.write_text`, and nothing is left of a new file that could not be written whole. Raises NotWritten."""
    existed = file.exists()
    with told(file):
        try:
            with file.open("wb") as opened:
                opened.write(_encoded(content))
        except OSError:
            if not existed:
                file.unlink(missing_ok=True)
            raise


def write_all(descriptor: int, content: bytes) -> None:
    """All of it. Raises OSError."""
    while content:
        content = content[os.write(descriptor, content) :]


def sync_folder(folder: Path) -> None:
    """What was made, renamed or removed there stays so. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def told(place: Path) -> Iterator[None]:
    """A with block that writes to the place, a file or a folder: raises NotWritten when that is full, fails or is read-only."""
    try:
        yield
    except OSError as error:
        if error.errno not in OF_THE_PLACE:
            raise
        raise not_written(error, place) from error


def not_written(error: OSError, place: Path | None = None) -> NotWritten:
    """What to tell of an error whose number is one of OF_THE_PLACE."""
    named = error.filename2 or error.filename
    if place is not None and not (isinstance(named, str) and named.startswith("/")):
        named = place  # it was named within an open folder, or not at all
    written = printable(str(named or "a file"))
    remedy = {
        errno.ENOSPC: "free some space or inodes there (`df`, `df -i`), and repeat",
        errno.EDQUOT: "free some space there (`quota`), and repeat",
        errno.EIO: "the disk fails: `dmesg` says how",
        errno.EROFS: "it is mounted read-only: `dmesg` says why, where the disk failed",
        errno.EFBIG: "raise the limit (`ulimit -f`), and repeat",
    }[error.errno or errno.EIO]
    return NotWritten(f"{written} cannot be written: {error.strerror}; {remedy}")


@contextmanager
def _made(new: Path, content: str | bytes) -> Iterator[Path]:
    """A file with that content, on the disk; in the end nothing of that name stays."""
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)
        try:
            write_all(descriptor, _encoded(content))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield new
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
