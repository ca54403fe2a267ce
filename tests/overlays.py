# SPDX-License-Identifier: GPL-2.0-or-later
"""A root for a machine of a test: what it writes lies over this machine's files, in a folder, and is seen nowhere else."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path

from contracts.installation import CHECKOUT
from tests import machine_parts


def mount_over_root(folder: Path) -> Path:
    """Mounts it below a folder of a tmpfs; returns where. Of other file systems (/proc, /dev, …) it has the checkout's alone."""
    upper, work, root = folder / "upper", folder / "work", folder / "root"
    for part in (upper, work, root):
        part.mkdir(parents=True)
    upper.chmod(0o755)
    machine_parts.mount("overlay", str(root), "overlay", data=f"lowerdir=/,upperdir={upper},workdir={work}")
    # The checkout may be on another file system, as one below /home often is.
    own = machine_parts.mount_point(CHECKOUT)
    if own != Path("/"):
        for part in (upper := folder / "checkout/upper", work := folder / "checkout/work"):
            part.mkdir(parents=True)
        shutil.copystat(own, upper)
        there = str(root / own.relative_to("/"))
        machine_parts.mount("overlay", there, "overlay", data=f"lowerdir={own},upperdir={upper},workdir={work}")
    return root


def changes(folder: Path) -> dict[str, str]:
    """Paths that are not as below, and what is there now; "gone" where nothing is.

    What was written again with the same content, owner and rights is no change; nor are times, nor a folder for what is in it.
    """
    upper = folder / "upper"
    found: dict[str, str] = {}
    for top, folders, files in os.walk(upper):
        for entry in (Path(top, name) for name in (*folders, *files)):
            path = Path("/") / entry.relative_to(upper)
            now, before = _described(entry), _described(path)
            if now != before and not (now == _GONE and before is None):
                found[str(path)] = now or _GONE
    return found


_GONE = "gone"


def _described(path: Path) -> str | None:
    """Kind, rights, owner and content; `_GONE` for the mark of an overlay that hides what is below."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFCHR and status.st_rdev == 0:
        return _GONE
    words = [stat.filemode(status.st_mode), f"{status.st_uid}:{status.st_gid}"]
    if kind == stat.S_IFLNK:
        words.append(str(path.readlink()))
    if kind == stat.S_IFREG:
        words.append(hashlib.sha256(path.read_bytes()).hexdigest())
    return " ".join(words)
