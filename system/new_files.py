# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a command makes where its user says: one that is there already is not written over unless the user asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from contracts.errors import NetBoxITError, printable
from system.user_privileges import as_user


class FileThere(NetBoxITError):
    """A file would be written over; nothing was done."""

    exit_status = 2


def check_new(files: Iterable[Path]) -> None:
    """Raises FileThere naming those of the files that are there already, as far as the operator may see.

    A link counts, wherever it leads. Raises PermissionError where a folder is closed to them.
    """
    with as_user():
        there = [file for file in files if file.is_symlink() or file.exists()]
    if there:
        names, verb = ", ".join(printable(str(file)) for file in there), "is" if len(there) == 1 else "are"
        raise FileThere(f"{names} {verb} there already; give another name, or --overwrite")
