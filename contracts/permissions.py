# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are closed to who called: what the user is told of them."""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path

from contracts.errors import NetBoxITError, printable


class NotPermitted(NetBoxITError):
    """A file or folder is another user's, and closed."""


def not_permitted(error: PermissionError, path: Path) -> NotPermitted:
    """What to tell of a file that could be neither read nor written."""
    return NotPermitted(f"{printable(str(path))}: {error.strerror}; {remedy(path)}")


def remedy(path: Path) -> str:
    """For a file that is closed; it says whose it is, or whose the folder is that hides it."""
    nearest = next((place for place in (path, *path.absolute().parents) if _is_seen(place)), Path("/"))
    return (
        f"{printable(str(nearest))} is {user_name(nearest.stat().st_uid)}'s: "
        "call the command as that user or as root, or name a file of your own"
    )


def user_name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def check_readable(folder: Path) -> None:
    """All that is in it. Raises PermissionError naming what is not."""
    for path in (folder, *sorted(folder.rglob("*"))):
        if not os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK) and not path.is_symlink():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _is_seen(path: Path) -> bool:
    try:
        path.stat()
    except OSError:
        return False
    return True
