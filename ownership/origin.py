# SPDX-License-Identifier: GPL-2.0-or-later
"""The topology file that a lab was made from: files that somebody names while the lab is up may be beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from contracts import durable
from ownership import recorded

FILE: Final = "origin.json"


def of(topology: Path) -> str:
    """What the lab's folder has in FILE."""
    return recorded.text({"topology": str(topology.absolute())})


def keep(folder: Path, topology: Path) -> None:
    """Raises NotWritten."""
    durable.put(folder / FILE, of(topology))


def beside(folder: Path) -> Path | None:
    """The folder of the topology file of the lab in `folder`; None when none is on record. Raises DamagedRecord, NoPrivilege."""
    try:
        return recorded.read(folder / FILE, lambda record: Path(record["topology"]).parent)
    except FileNotFoundError:
        return None
