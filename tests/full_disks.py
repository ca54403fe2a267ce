# SPDX-License-Identifier: GPL-2.0-or-later
"""A small disk for the state folder of a host of a test's own (tests/own_host.py), filled up to so much room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from system import kernel, node_disks
from tests import machine_parts

Kind = Literal["tmpfs", "ext4"]
#: What is counted: KiB, or files and folders.
Unit = Literal["KiB", "inodes"]

_IMAGE = Path("/run/disk.img")
_SIZE_MIB = 32
_INODES = 256
_PIECE = 1024


@dataclass(frozen=True)
class SmallDisk:
    """Mounted at a folder; `with disk.room(40, "KiB"):` has so much left in it."""

    folder: Path

    @contextmanager
    def room(self, left: int, unit: Unit) -> Iterator[None]:
        """What is on the disk beforehand stays."""
        filler = self.folder / "filler"
        filler.mkdir()
        try:
            (self._fill_blocks if unit == "KiB" else self._fill_inodes)(filler, left)
            yield
        finally:
            for file in filler.iterdir():
                file.unlink()
            filler.rmdir()

    def _fill_blocks(self, filler: Path, left: int) -> None:
        pieces = []
        descriptor = os.open(filler / "blocks", os.O_WRONLY | os.O_CREAT)
        with suppress(OSError):
            while True:
                os.write(descriptor, bytes(_PIECE))
                pieces.append(_PIECE)
        os.ftruncate(descriptor, max(0, len(pieces) - left) * _PIECE)
        os.fsync(descriptor)
        os.close(descriptor)

    def _fill_inodes(self, filler: Path, left: int) -> None:
        made = []
        with suppress(OSError):
            while True:
                (file := filler / str(len(made))).touch()
                made.append(file)
        for file in made[len(made) - left :] if left else ():
            file.unlink()


@contextmanager
def mounted(kind: Kind, folder: Path) -> Iterator[SmallDisk]:
    folder.mkdir(exist_ok=True)
    if kind == "tmpfs":
        machine_parts.mount("none", str(folder), "tmpfs", data=f"size={_SIZE_MIB}m,nr_inodes={_INODES},mode=755")
    else:
        with _IMAGE.open("wb") as image:
            image.truncate(_SIZE_MIB << 20)
        # Small blocks, no journal and nothing kept for root: what is written needs no more room than it has.
        options = ["-b", str(_PIECE), "-N", str(_INODES), "-m", "0", "-O", "^has_journal,^resize_inode"]
        subprocess.run(["mkfs.ext4", "-q", *options, str(_IMAGE)], check=True)
        with node_disks.loop_device(_IMAGE) as device:
            kernel.mount_device(device, folder, "ext4", "")
        (folder / "lost+found").rmdir()
    try:
        yield SmallDisk(folder)
    finally:
        # Not by mount(8) and umount(8), which leave a folder in /run.
        kernel.unmount(folder)
        _IMAGE.unlink(missing_ok=True)
