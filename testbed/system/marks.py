# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose an object is, as the kernel shows it, so that nothing of somebody else's is removed who has used a name again.

A lab is known by its folder, of which there is but one; its name may be another lab's in another state folder. Here: the mark,
and control groups, which have it as an extended attribute.
"""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

from testbed.system import cores

_ATTRIBUTE = "trusted.netboxit"


def of_lab(folder: Path) -> str:
    """The mark of the lab that is kept in that folder."""
    return f"{folder.name}@{hashlib.blake2b(bytes(folder), digest_size=6).hexdigest()}"


def mark_groups(name: str, mark: str) -> None:
    """Marks the control groups of that name. Where they cannot be (it takes the rights of the host's root) they stay without."""
    for group in cores.folders(name):
        try:
            os.setxattr(group, _ATTRIBUTE, mark.encode())
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOENT):
                raise


def are_foreign(name: str, mark: str) -> bool:
    """Whether groups of that name have another lab's mark. What has none was being made when its maker was killed."""
    return any(_of_group(group) not in (None, mark) for group in cores.folders(name))


def _of_group(group: Path) -> str | None:
    try:
        return os.getxattr(group, _ATTRIBUTE).decode()
    except OSError:
        return None
