# SPDX-License-Identifier: GPL-2.0-or-later
"""The ledger of a lab: each object is written down *before* it is created, so that it can always be undone, in reverse."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from contracts import durable
from contracts.errors import NetBoxITError
from contracts.shapes import OtherShape, Shape, shaped


class DamagedLedger(NetBoxITError):
    """A line of a ledger is not what was written there."""


@dataclass(frozen=True)
class Record:
    """One object: what kind it is and what names it. `details` are what else undoing it needs, of a type for each kind."""

    kind: str
    name: str
    details: Mapping[str, object] = field(default_factory=dict)

    def details_as(self, shape: type[Shape]) -> Shape:
        """The details, held against the type of this kind. Raises DamagedLedger."""
        try:
            return shaped(self.details, shape)
        except OtherShape as error:
            raise DamagedLedger(
                f"{self.kind} {self.name}: its line in the lab's ledger is damaged ({error}); see there what it is, remove that "
                "by hand, and then the lab's folder"
            ) from error


class UndoFailed(NetBoxITError):
    """Some objects of a lab could not be removed; the ledger is kept."""


#: The kind of a line that says that an object is gone while the lab stays.
_REMOVED = "removed"

#: Removes objects of one kind, given in the reverse of the order of their creation; those already gone are fine.
Undoer = Callable[[list[Record]], None]


class Ledger:
    """Records in a file, one JSON object a line, on the disk before `add` returns."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, *records: Record) -> None:
        """All of them or none. Raises NotWritten: then the caller makes nothing."""
        lines = "".join(json.dumps({"kind": r.kind, "name": r.name, **r.details}) + "\n" for r in records)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        with durable.told(self._file), os.fdopen(os.open(self._file, flags, 0o600), "rb", buffering=0) as file:
            before = _cut_half_line(file.fileno())
            try:
                durable.write_all(file.fileno(), lines.encode())
                os.fsync(file)
            except OSError:
                with suppress(OSError):  # what is left of it names what is not there
                    os.ftruncate(file.fileno(), before)
                raise
            if not before:
                durable.sync_folder(self._file.parent)

    def records(self) -> list[Record]:
        """What is there, in the order of creation. Raises DamagedLedger.

        A last line without its end was never acted upon: its writer died while writing it.
        """
        records, damaged = self._read()
        if damaged:
            raise DamagedLedger(f"{damaged}; `netboxit down {self._file.parent.name}` undoes what can be read")
        return records

    def remove(self, records: Sequence[Record], undoers: Mapping[str, Undoer]) -> None:
        """Undoes some records while the rest stays, the last made first, and only then strikes them out.

        Raises UndoFailed, NotWritten: then they stay on record, and are gone already when the lab goes down.
        """
        _undo(records, undoers)
        self.add(*(Record(_REMOVED, record.name, {"of": record.kind}) for record in records))

    def undo(self, undoers: Mapping[str, Undoer]) -> None:
        """Undoes all records, the last made first. Raises UndoFailed, after what can be read is undone."""
        records, damaged = self._read()
        _undo(records, undoers)
        if damaged:
            folder = self._file.parent
            raise UndoFailed(
                f"{damaged}; all else of the lab is removed. Look with `ip netns` and `lxc-ls` for what else has the name "
                f"{folder.name}, then remove {folder}"
            )

    def _read(self) -> tuple[list[Record], str]:
        """The records, and what is wrong with lines that are none."""
        try:
            whole = self._file.read_bytes().rpartition(b"\n")[0]
        except FileNotFoundError:
            return [], ""
        records: dict[tuple[str, str], Record] = {}
        damaged = []
        for number, line in enumerate(whole.split(b"\n") if whole else (), 1):
            try:
                record, of = _parsed(line)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                damaged.append(number)
                continue
            if of is not None:
                records.pop((of, record.name), None)
            else:
                records[record.kind, record.name] = record
        lines = f"line{'s' if len(damaged) > 1 else ''} {', '.join(map(str, damaged[:10]))}"
        return list(records.values()), f"{self._file} is damaged, {lines}" if damaged else ""


def _parsed(line: bytes) -> tuple[Record, str | None]:
    """A record, and of which kind the one is that it strikes out. No name that was written leads anywhere."""
    details = json.loads(line)
    record = Record(details.pop("kind"), details.pop("name"), details)
    if "/" in record.name or record.name in ("", ".", "..") or not isinstance(record.kind, str):
        raise ValueError("no record")
    return record, str(record.details["of"]) if record.kind == _REMOVED else None


def _cut_half_line(descriptor: int) -> int:
    """Removes what a writer that died left of its last line, which would spoil the next one. Returns the length without it."""
    size = os.fstat(descriptor).st_size
    whole = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    if whole < size:
        os.ftruncate(descriptor, whole)
    return whole


def _undo(all_records: Sequence[Record], undoers: Mapping[str, Undoer]) -> None:
    """In reverse; neighbours of one kind are handed over together, so that they can go in parallel.

    After one that fails it goes on with the others, and raises UndoFailed with all failures at the end.
    """
    failures = []
    for kind, group in itertools.groupby(reversed(all_records), key=lambda record: record.kind):
        records = list(group)
        try:
            undoers[kind](records)
        except (NetBoxITError, OSError, LookupError, ValueError, TypeError) as error:
            failures.append(f"{kind} {', '.join(r.name for r in records)}: {error}")
    if failures:
        raise UndoFailed("not everything could be removed; " + "; ".join(failures))
