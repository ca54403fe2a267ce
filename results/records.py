# SPDX-License-Identifier: GPL-2.0-or-later
"""Frame records: what became of each copy of each frame in a netbox (docs/architecture.md, "Frame records")."""

from __future__ import annotations

import os
import struct
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAGIC = b"NETBOXIT"
_HEADER = struct.Struct("<8sII")

#: One record. Times in ns since 1970; `out_ns` and `lateness_ns` are 0 when the copy was lost; `length` is the Ethernet frame's.
RECORD = np.dtype(
    [
        ("identity", "<u8"),
        ("in_ns", "<i8"),
        ("out_ns", "<i8"),
        ("lateness_ns", "<i8"),
        ("length", "<u4"),
        ("station_in", "<u2"),
        ("station_out", "<u2"),
        ("class", "<u2"),
        ("fate", "u1"),
        ("zeros", "V5"),
    ]
)


class Fate(IntEnum):
    """What `fate` says: delivered, or the reason of the loss (netboxes/engine/frame.h)."""

    DELIVERED = 0
    ON_AIR = 1
    QUEUE_FULL = 2
    QUEUE_EXPIRED = 3
    RETRY_LIMIT = 4
    OUTAGE = 5
    UNSUPPORTED = 6
    UNKNOWN = 7
    QUEUE_EARLY = 8
    POLICED = 9


class BadRecords(ValueError):
    """The file does not hold frame records of this version."""


def read(path: Path | str) -> NDArray[np.void]:
    """All whole records of a file, in the order in which copies were settled; a last one cut short is left out.

    Raises BadRecords also for a file with holes, which no netbox writes: as records they would be longer than the memory.
    """
    with Path(path).open("rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise BadRecords(f"{path} holds no frame records: {len(header)} bytes, no header")
        if header != _HEADER.pack(MAGIC, 1, RECORD.itemsize):
            raise BadRecords(f"{path} holds no frame records of version 1: its header is {header!r}")
        size = os.fstat(file.fileno()).st_size
        if os.lseek(file.fileno(), 0, os.SEEK_HOLE) < size:
            raise BadRecords(f"{path} holds no frame records: a part of its {size:,} bytes was never written")
        if not (count := (size - _HEADER.size) // RECORD.itemsize):
            return np.empty(0, RECORD)
        return np.memmap(file, RECORD, "r", _HEADER.size, count)
