# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders on which users of the machine can do nothing: neither read and lock them, nor reach what is below.

What labs are, and how other machines are reached, is there; and a lock that somebody else holds would keep every lab waiting.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

#: The host's number of a node's user and group 0. Those from 1879048192 on are nobody's: Linux distributions and container
#: managers keep to smaller ones (systemd, "Users, Groups, UIDs and GIDs on systemd Systems").
NODES: Final = 1_879_048_192

#: For root; of the group one can pass to what one has the name and a right of.
_PASSED: Final = 0o710
_ROOTS: Final = 0o700


def close_to_users(folder: Path) -> None:
    """Root's; the nodes of labs may pass through it to their own files. An older NetBoxIT let everybody read it.

    Where this process is not root's, the folder is its user's own.
    """
    status = folder.stat()
    if os.geteuid() == 0 and status.st_gid != NODES:
        try:
            os.chown(folder, -1, NODES)
        except OSError as error:
            # EINVAL: root of a user namespace without that number. Nodes can have none of their own here, and are this root's.
            if error.errno != errno.EINVAL:
                raise
    if status.st_mode & 0o777 != _PASSED:
        folder.chmod(_PASSED)


def make_closed(folder: Path) -> None:
    """Makes a folder in which nobody but root has anything to look for, or closes one that is there."""
    folder.mkdir(mode=_ROOTS, exist_ok=True)
    if folder.stat().st_mode & 0o777 != _ROOTS:
        folder.chmod(_ROOTS)
