# SPDX-License-Identifier: GPL-2.0-or-later
"""What labs could leave behind on the host."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from ownership import state
from system import cores, processes, rings
from tests.waiting import until


def traces(folder: Path) -> dict[str, set[str]]:
    """All that a lab of this test process could leave on the host."""
    ours = str(os.getpid())
    groups = (entry for hierarchy in cores.hierarchies() for entry in hierarchy.folder.iterdir() if entry.is_dir())
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return {
        "namespaces": {entry.name for entry in Path("/run/netns").glob(f"netboxit-*{ours}*")},
        "interfaces": {entry.name for entry in Path("/sys/class/net").iterdir()},
        "mounts": {line for line in mounts if ours in line or str(folder) in line},
        "groups": {str(group) for group in groups if ours in group.name or group.name.startswith("lxc")},
        "processes": {line for line in command_lines() if str(folder) in line},
        "locks": {path for path in _below("/run/lxc/lock") if str(folder) in path},
        "awake cores": {
            unquote(Path(path).name) for path in _below("/run/netboxit/awake") if quote(str(folder), safe="") in Path(path).name
        },
        "labs": set(state.lab_names()),
        "disks": _disks_that_stay(folder),
        "shared memory": {path for path in _below(rings.FOLDER) if ours in path},
    }


def _below(folder: str | Path) -> Iterator[str]:
    """All files and folders, of which others may go meanwhile: labs of tests beside this one."""
    for place, inner, files in os.walk(folder):
        yield from (str(Path(place, name)) for name in (*inner, *files))


def _disks_that_stay(folder: Path) -> set[str]:
    """Of images that are removed: the kernel frees their devices when the last copy of their mounts is gone.

    A program that makes mounts of its own, a test beside this one say, may have such a copy for a moment.
    """
    deadline = time.monotonic() + 10
    while (found := set(loop_images(folder))) and all("(deleted)" in image for image in found) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def loop_images(folder: Path) -> Iterator[str]:
    """Images below a folder that are block devices (loop(4))."""
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            if file.read_text().startswith(str(folder)):
                yield file.read_text()


def no_loop_images(folder: Path) -> None:
    """Waits until no loop device has a file below the folder. Where udev is, it looks at each new device, which stays as long."""
    until(lambda: not list(loop_images(folder)), f"loop devices let go of files in {folder}")


def command_lines() -> Iterator[str]:
    for pid in processes.all_of_them():
        yield processes.command_line(pid).replace(b"\0", b" ").decode(errors="replace")
