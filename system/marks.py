# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose an object is, as the kernel shows it, so that nothing of somebody else's is removed who has used a name again.

A lab is known by its folder, of which there is but one; its name may be another lab's in another state folder. Here: the mark,
and control groups, which have it as an extended attribute.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from system import kernel

_ATTRIBUTE = "trusted.netboxit"


def of_lab(folder: Path) -> str:
    """The mark of the lab that is kept in that folder."""
    return f"{folder.name}@{hashlib.blake2b(bytes(folder), digest_size=6).hexdigest()}"


def put(groups: Iterable[Path], mark: str) -> None:
    """Marks control groups. Where they cannot be (it takes the rights of the host's root) they stay without."""
    for group in groups:
        with kernel.ignored(errno.EPERM, errno.ENOTSUP, errno.ENOENT):
            os.setxattr(group, _ATTRIBUTE, mark.encode())


def of(groups: Iterable[Path]) -> set[str]:
    """The marks that control groups have; none: their maker has not come to it yet, or was killed before."""
    return {mark for group in groups if (mark := _of(group)) is not None}


def _of(group: Path) -> str | None:
    try:
        return os.getxattr(group, _ATTRIBUTE).decode()
    except OSError:
        return None
