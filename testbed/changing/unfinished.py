# SPDX-License-Identifier: GPL-2.0-or-later
"""What puts back the changes of a command that is going on, or that was killed: kept in the lab's folder meanwhile."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from contracts import durable
from contracts.changes import Change
from contracts.errors import NetBoxITError
from ownership import recorded
from system.processes import ProcessIdentity

_FILE: Final = "unfinished.json"


class DrillGoesOn(NetBoxITError):
    """Another one is going on in the lab, or was cut short and not put back."""


@dataclass(frozen=True)
class Unfinished:
    """A sequence that is going on, or whose command was killed, and what puts everything back."""

    name: str
    process: ProcessIdentity
    undo: tuple[Change, ...]

    @property
    def goes_on(self) -> bool:
        return self.process.alive()

    @property
    def away(self) -> set[str]:
        """Nodes that may be without power meanwhile."""
        return {change.node for change in self.undo if change.kind == "power"}

    def note(self, lab: str) -> str:
        if self.goes_on:
            return f"{self.name} is going on"
        words = ", ".join(change.words() for change in self.undo)
        return f"{self.name} was cut short; `netboxit drill --end --lab {lab}` puts back what it changed: {words}"


def of(folder: Path) -> Unfinished | None:
    """That of the lab in this folder. Raises DamagedRecord."""
    if not (file := folder / _FILE).exists():
        return None
    from contracts.shapes import shaped  # Pydantic is only needed where there is something

    return recorded.read(file, lambda record: shaped(record, Unfinished))


def begin(folder: Path, name: str, undo: tuple[Change, ...]) -> None:
    """Written before the first change, so that whoever finds it knows what may be changed. Raises DrillGoesOn, NotWritten."""
    try:
        durable.create(folder / _FILE, json.dumps(asdict(Unfinished(name, ProcessIdentity.own(), undo))))
    except FileExistsError:
        left = of(folder)
        raise DrillGoesOn(f"lab {folder.name}: {left.note(folder.name) if left else 'another drill begins'}") from None


def end(folder: Path) -> None:
    """All is as before."""
    (folder / _FILE).unlink(missing_ok=True)
