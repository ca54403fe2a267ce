# SPDX-License-Identifier: GPL-2.0-or-later
"""What happened on this host while a lab was made that its user should know, and that cannot be seen later: `notes.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from contracts.errors import printable
from ownership import recorded

_FILE: Final = "notes.json"


def add(lab: Path, note: str) -> None:
    """To those of the lab in that folder; once, whoever says it again. Raises NotWritten."""
    recorded.put(lab / _FILE, list(dict.fromkeys([*read(lab), printable(note)])))


def read(lab: Path) -> list[str]:
    """Raises DamagedRecord."""
    try:
        return recorded.read(lab / _FILE, lambda notes: list(map(str, notes)))
    except FileNotFoundError:
        return []
