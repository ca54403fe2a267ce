# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of a run's folder stays: a thousand runs with all their captures fill a disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final, Literal

from typing_extensions import TypedDict

from contracts import durable
from contracts.errors import WrongInput
from contracts.run_files import read
from contracts.run_folder import FRAMES_TABLE, KEPT_FILE, SERIES_TABLE

#: All of it; the frames and time series of flows, and figures; figures alone.
Keep = Literal["everything", "frames", "figures"]

#: What an analysis reads, and what only it reads.
_SOURCES: Final = ("captures", "nodes", "traffic")
_TABLES: Final = (FRAMES_TABLE, SERIES_TABLE)


class Reduced(WrongInput):
    """Not all of a run was kept, so it cannot be analysed again."""


class KeptRecord(TypedDict):
    """kept.json, of a folder that was reduced."""

    keep: Keep


def reduce(folder: Path, keep: Keep) -> None:
    """Removes what is not to be kept of a run that was analysed. Raises NotWritten."""
    if keep == "everything":
        return
    record: KeptRecord = {"keep": keep}
    durable.write(folder / KEPT_FILE, json.dumps(record) + "\n")
    for name in _SOURCES:
        if (folder / name).exists():
            shutil.rmtree(folder / name)
    for name in _TABLES if keep == "figures" else ():
        (folder / name).unlink(missing_ok=True)


def size_of(folder: Path) -> int:
    """What a run's files have, in bytes."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())


def check_whole(folder: Path) -> None:
    """Raises Reduced."""
    if (record := read(folder / KEPT_FILE, KeptRecord)) is not None:
        raise Reduced(
            f"of {folder} only {record['keep']} were kept, so it cannot be analysed again; "
            f"its figures are in metrics.json, and `netboxit run --again {folder}` makes it again"
        )
