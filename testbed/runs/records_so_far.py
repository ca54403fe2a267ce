# SPDX-License-Identifier: GPL-2.0-or-later
"""Frame records of a netbox that goes on: those of the time that was measured, copied out of the file that it still writes.

A netbox writes its records in the order in which copies of frames were settled, and counts both. It writes them in pieces when it
has nothing better to do, or when it is told to (`write_records`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import numpy as np

from contracts.control import RunningStatistics
from results.records import RECORD
from system import node_files

_HEADER_BYTES: Final = 16
#: How many records are looked at at a time.
_PIECE: Final = 1 << 15


def settled(statistics: RunningStatistics) -> int:
    """Copies of frames of which the netbox knows what became, since it started; each has a record, or one was dropped."""
    frames = statistics["frames"]
    return frames["delivered"] + sum(frames["lost"].values()) + frames["absorbed"]


def copy(file: Path, to: Path, first: int, end: int, since_ns: int) -> str | None:
    """The records from number `first` to before number `end`, without frames that came into the netbox before `since_ns`.

    Returns what is wrong with them, None when nothing is. Raises NodeFileInTheWay, FileNotFoundError.
    """
    item = RECORD.itemsize
    with node_files.opened(file) as source, to.open("xb") as target:
        descriptor = source.fileno()
        target.write(os.pread(descriptor, _HEADER_BYTES, 0))
        at, wanted = _HEADER_BYTES + first * item, _HEADER_BYTES + end * item
        size = os.fstat(descriptor).st_size
        until = min(wanted, size, at + node_files.LONGEST_COPY)
        if at < until and os.lseek(descriptor, at, os.SEEK_HOLE) < until:
            return f"{file}: a part of it was never written, so its records are not kept"
        while at + item <= until and len(piece := os.pread(descriptor, min(_PIECE * item, until - at), at)) >= item:
            records = np.frombuffer(piece, RECORD, len(piece) // item)
            target.write(records[records["in_ns"] >= since_ns].tobytes())
            at += records.size * item
    return None if at == wanted else f"{file}: {(wanted - at) // item:,} of its records are missing or too many to be kept"
