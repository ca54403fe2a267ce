# SPDX-License-Identifier: GPL-2.0-or-later
"""`notes.json`: what the user should know of how the lab was made on this host, and cannot see later."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from contracts.errors import printable
from ownership import recorded

_FILE: Final = "notes.json"


def add(lab: Path, note: str) -> None:
    """Adds a note to the lab in that folder, unless it has it already. Raises NotWritten."""
    recorded.put(lab / _FILE, list(dict.fromkeys([*read(lab), printable(note)])))


def read(lab: Path) -> list[str]:
    """Raises DamagedRecord."""
    try:
        return recorded.read(lab / _FILE, lambda notes: list(map(str, notes)))
    except FileNotFoundError:
        return []
