# SPDX-License-Identifier: GPL-2.0-or-later
"""The ledger of a lab: each object is written down *before* it is created, so that it can always be undone, in reverse."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testbed.errors import NetBoxITError


@dataclass(frozen=True)
class Record:
    """One object: what kind it is and what names it."""

    kind: str
    name: str
    details: dict[str, Any] = field(default_factory=dict)


class UndoFailed(NetBoxITError):
    """Some objects of a lab could not be removed; the ledger is kept."""


#: Removes objects of one kind, given in the reverse of the order of their creation; those already gone are fine.
Undoer = Callable[[list[Record]], None]


class Ledger:
    """Records in a file, one JSON object a line, on the disk before `add` returns."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, *records: Record) -> None:
        lines = "".join(json.dumps({"kind": r.kind, "name": r.name, **r.details}) + "\n" for r in records)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, lines.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def records(self) -> list[Record]:
        """In the order of creation. A last line without its end was never acted upon: its writer died while writing it."""
        if not self._file.exists():
            return []
        whole = self._file.read_text().rpartition("\n")[0]
        found = []
        for line in whole.splitlines():
            details = json.loads(line)
            found.append(Record(details.pop("kind"), details.pop("name"), details))
        return found

    def undo(self, undoers: Mapping[str, Undoer]) -> None:
        """Undoes all records in reverse; neighbours of one kind are handed over together, so that they can go in parallel.

        One that fails does not keep the others: UndoFailed tells all of them at the end.
        """
        failures = []
        for kind, group in itertools.groupby(reversed(self.records()), key=lambda record: record.kind):
            records = list(group)
            try:
                undoers[kind](records)
            except (NetBoxITError, OSError) as error:
                failures.append(f"{kind} {', '.join(r.name for r in records)}: {error}")
        if failures:
            raise UndoFailed("not everything could be removed; " + "; ".join(failures))
