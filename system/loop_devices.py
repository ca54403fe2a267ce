# SPDX-License-Identifier: GPL-2.0-or-later
"""Files as block devices (loop(4)), by the kernel's own calls: mount(8) takes as long to start as a container does."""

from __future__ import annotations

import errno
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from typing import Final

from system import kernel

CONTROL: Final = Path("/dev/loop-control")
#: Of linux/loop.h.
_GET_FREE: Final = 0x4C82
_CONFIGURE: Final = 0x4C0A
_AUTOCLEAR: Final = 4
#: struct loop_config: the file, its block size (0: the kernel's choice) and struct loop_info64, of which only the flags and the
#: name of the file, for those who look, are not zero.
_CONFIG: Final = struct.Struct("=2I 52x I 64s 112x 64x")
_NAME_BYTES: Final = 63
#: A device that another program takes first is theirs, and the next one is tried.
_TAKEN_WITHIN_S: Final = 10.0


@contextmanager
def attached(file: Path) -> Iterator[Path]:
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
    with kernel.closing(os.open(CONTROL, os.O_RDWR)) as control:
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
