# SPDX-License-Identifier: GPL-2.0-or-later
"""Taking labs down with their parts on other machines, from what is on record of them here."""

from __future__ import annotations

from pathlib import Path

from contracts.errors import NetBoxITError
from ownership.ledger import UndoFailed
from ownership.recorded import DamagedRecord
from testbed.labs import removal
from testbed.several_hosts.connection import Connection, at_a_time
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import PartsRecord

#: A part is taken down as a lab is, within its own deadlines.
_PATIENCE_S = 120.0


def undo(folder: Path) -> list[str]:
    """Removes a lab and all its parts (`removal.take_down`). What cannot be reached stays on record here, and the rest goes.

    Returns what could not be put back and never will. Raises UndoFailed when something stays.
    """
    name = folder.name
    try:
        record = PartsRecord.of(folder)
    except DamagedRecord as error:
        removal.undo(folder, folder_too=False)
        raise UndoFailed(
            f"{folder} does not say any more on which other machines lab {name} is; what was of it here is gone. Call "
            f"`netboxit down {name}` on each, then remove {folder}: {error}"
        ) from error
    if record is None:
        return removal.undo(folder)
    notes, failures = take_parts_down(record, name)
    record.keep_only(failures, folder)
    notes += removal.undo(folder, folder_too=not failures)
    if failures:
        raise UndoFailed(
            f"lab {name} is not down everywhere; `netboxit down {name}` goes on when these can be reached, and "
            f"{folder} can be removed when they are gone for good:\n" + "\n".join(failures.values())
        )
    return notes


def take_parts_down(record: PartsRecord, lab: str) -> tuple[list[str], dict[str, str]]:
    """Those on other machines, all at a time. Returns notes, and why a machine's could not be taken down."""
    notes: list[str] = []
    failures: dict[str, str] = {}

    def take_down(machine: Machine) -> None:
        try:
            with Connection(machine) as connection:
                own_notes = connection.request("down", list[str], lab=lab, owner=record.owner, patience_s=_PATIENCE_S)
                notes.extend(f"{machine.name}: {note}" for note in own_notes)
        except NetBoxITError as error:
            failures[machine.name] = str(error)

    at_a_time(take_down, record.machines)
    return notes, failures
