# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk of bounded size for a node's own folder: an image in the lab's folder, mounted as a block device (loop(4)).

The image is a sparse file: it takes what the node has written. Project quotas would need a file system that was made for them.
It becomes a block device by the kernel's own calls: mount(8) takes as long to start as a container does.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from contracts.errors import NetBoxITError
from system import kernel, node_files

#: Without a journal: after a crash of the host nobody needs what is in it. Tables of inodes are left as holes. Without room to
#: grow and copies of the superblock, which are two megabytes of each image: nobody repairs it or makes it larger.
_MAKE: Final = (
    *("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal,^resize_inode,sparse_super2"),
    *("-E", "lazy_itable_init=1,nodiscard,num_backup_sb=0"),
)
#: In a mounted one it would take ten milliseconds, which the host takes to free its blocks.
_EMPTY: Final = ("debugfs", "-w", "-R", "rmdir lost+found")
#: Removed files give their space back to the host. Neither a node that syncs nor `down` waits for the host's disk ("nobarrier").
_OPTIONS: Final = "discard,noinit_itable,nobarrier"
#: Of each program; on a busy disk it takes a second.
_DEADLINE_S: Final = 60.0
#: How large a disk is that is only tried.
_TRIED: Final = 16 << 20
_REMEDY: Final = (
    "the kernel needs ext4, and a loop device that is free and that root may open (`losetup --find`); where this host is a "
    "container, its own host has to grant them"
)
_LOOP_CONTROL: Final = Path("/dev/loop-control")
#: Of linux/loop.h.
_GET_FREE, _CONFIGURE, _AUTOCLEAR = 0x4C82, 0x4C0A, 4
#: struct loop_config: the file, its block size (0: the kernel's choice) and struct loop_info64, of which only the flags and the
#: name of the file, for those who look, are not zero.
_CONFIG: Final = struct.Struct("=2I 52x I 64s 112x 64x")
_NAME_BYTES: Final = 63
#: A device that another program takes first is theirs, and the next one is tried.
_TAKEN_WITHIN_S: Final = 10.0


class NodeDiskFailed(NetBoxITError):
    """A node's disk could not be made or removed."""


class NotMounted(NodeDiskFailed):
    """This host does not mount an image, although it has loop devices."""


@dataclass(frozen=True)
class NodeDisk:
    """An image, the folder at which it is mounted, and its size in bytes."""

    image: Path
    folder: Path
    size: int


def refused() -> str | None:
    """Why this host can have no such disks; None when it can, as far as that shows without making one."""
    if shutil.which(_MAKE[0]) is None:
        return f"{_MAKE[0]} is not installed (package e2fsprogs)"
    if not os.access(_LOOP_CONTROL, os.R_OK | os.W_OK):
        return f"{_LOOP_CONTROL} cannot be opened (`modprobe loop`; some containers have no block devices)"
    return None


def refused_when_tried() -> str | None:
    """The same for root, by making a disk. The kernel opens its file system, and mounts it nowhere."""
    if (why := refused()) is not None:
        return why
    with TemporaryDirectory(prefix="netboxit-disk-") as folder:
        disk = NodeDisk(Path(folder) / "image", Path(folder) / "mounted", _TRIED)
        try:
            _make_image(disk, disk.image)
            with _mounting_errors(disk), loop_device(disk.image) as device:
                kernel.try_device(device, "ext4")
        except NodeDiskFailed as error:
            return str(error)
    return None


def create(disks: Iterable[NodeDisk]) -> None:
    """Makes the images and mounts each at its folder, which is made. Raises NodeDiskFailed, NotMounted.

    The file system is made once for each size, and copied: a copy takes a millisecond and mkfs.ext4 six.
    """
    templates: dict[int, Path] = {}
    for disk in (disks := list(disks)):
        _make_image(disk, templates.setdefault(disk.size, disk.image))
    for disk in disks:
        # The block device goes with the mount, however that ends.
        with _mounting_errors(disk), loop_device(disk.image) as device:
            kernel.mount_device(device, disk.folder, "ext4", _OPTIONS)


@contextmanager
def loop_device(file: Path) -> Iterator[Path]:
    """The block device with what is in a file. After the block it stays as long as it is mounted, however that ends.

    Raises OSError.
    """
    deadline = time.monotonic() + _TAKEN_WITHIN_S
    with kernel.closing(os.open(file, os.O_RDWR)) as backing:
        while (free := _free_device(backing, bytes(file))) is None:
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, f"other programs took each free loop device for {_TAKEN_WITHIN_S:g} s")
    device, descriptor = free
    with kernel.closing(descriptor):
        yield device


def _free_device(backing: int, name: bytes) -> tuple[Path, int] | None:
    """A device that was free and has the file now, and its descriptor; None when another program was faster."""
    with kernel.closing(os.open(_LOOP_CONTROL, os.O_RDWR)) as control:
        device = Path(f"/dev/loop{ioctl(control, _GET_FREE)}")
    descriptor = os.open(device, os.O_RDWR)
    try:
        ioctl(descriptor, _CONFIGURE, _CONFIG.pack(backing, 0, _AUTOCLEAR, name[:_NAME_BYTES]))
    except OSError as error:
        os.close(descriptor)
        if error.errno != errno.EBUSY:
            raise
        return None
    return device, descriptor


def _make_image(disk: NodeDisk, model: Path) -> None:
    """A copy of another image of its size, which is not mounted yet, or a new one where it is to be the model itself."""
    try:
        disk.folder.mkdir(parents=True, exist_ok=True)
        disk.image.parent.mkdir(mode=0o700, exist_ok=True)
        disk.image.unlink(missing_ok=True)
        with disk.image.open("xb") as file:
            if model == disk.image:
                file.truncate(disk.size)
            else:
                with model.open("rb") as source:
                    node_files.copy_sparsely(source.fileno(), file.fileno(), disk.size)
    except OSError as error:
        # The kernel names the place of what it refused by name, and nothing where it refused to write.
        raise NodeDiskFailed(f"{error.filename or disk.image} cannot be made: {error.strerror}") from error
    if model == disk.image:
        _run(*_MAKE, str(disk.image))
        # It tells its version first, and ends with 0 whatever happens.
        if wrong := _run(*_EMPTY, str(disk.image)).partition("\n")[2].strip():
            raise NodeDiskFailed(f"{' '.join(_EMPTY)} {disk.image}: {wrong}")


def _mounting_errors(disk: NodeDisk) -> AbstractContextManager[None]:
    return kernel.errors_as(NotMounted, f"{disk.image} cannot be mounted at {disk.folder}", _REMEDY)


def delete(image: Path, folder: Path) -> None:
    """Unmounts and removes a disk. It may be gone already, as after a reboot. Raises NodeDiskFailed."""
    with kernel.errors_as(NodeDiskFailed, f"{image}, mounted at {folder}, cannot be removed"):
        with suppress(FileNotFoundError):
            while folder.is_mount():
                kernel.unmount(folder)
        image.unlink(missing_ok=True)


def _run(*command: str) -> str:
    """Returns what the program has written to its standard error."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_DEADLINE_S,
        )
    except subprocess.TimeoutExpired:
        raise NodeDiskFailed(
            f"{' '.join(command)} is not over after {_DEADLINE_S:g} s; see in `dmesg` whether the disk of the state folder fails"
        ) from None
    except OSError as error:
        raise NodeDiskFailed(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        raise NodeDiskFailed(f"{' '.join(command)} ended with {done.returncode}: {' '.join(done.stderr.split())}")
    return done.stderr
