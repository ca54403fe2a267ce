# SPDX-License-Identifier: GPL-2.0-or-later
"""`parts.json` in the folder of a lab: where its parts on other machines are, and taking them down from what it says.

It is there before any of them is, so that `down` finds them with the inventory and the topology gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from contracts import durable
from contracts.errors import NetBoxITError
from contracts.plan import Plan
from contracts.shapes import shaped
from ownership import recorded
from ownership.ledger import UndoFailed
from ownership.recorded import DamagedRecord
from testbed.labs import removal
from testbed.plan_part import PARTS_FILE
from testbed.several_hosts.connection import Connection, at_a_time
from testbed.several_hosts.machine import Machine

#: A part is taken down as a lab is, within its own deadlines.
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class PartsRecord:
    """Of one lab. `owner` is what its parts know it by (`agent.OWNER_FILE`)."""

    here: str
    owner: str
    machines: tuple[Machine, ...]
    #: Of the whole, as JSON that only `whole` reads: `down` needs no plan, and goes on where that one is damaged.
    plan: Mapping[str, object]

    @staticmethod
    def of(folder: Path) -> PartsRecord | None:
        """None: all of the lab is on this machine."""
        try:
            return recorded.read(folder / PARTS_FILE, lambda data: shaped(data, PartsRecord))
        except FileNotFoundError:
            return None

    def write(self, folder: Path) -> None:
        """Raises NotWritten."""
        recorded.put(folder / PARTS_FILE, asdict(self))

    def keep_only(self, names: Iterable[str], folder: Path) -> None:
        """On record stays what is left when there is nothing any more on the other machines.

        Where that cannot be written, `down` asks them once more, and finds nothing.
        """
        left = set(names)
        with suppress(durable.NotWritten):
            replace(self, machines=tuple(machine for machine in self.machines if machine.name in left)).write(folder)

    def whole(self) -> Plan:
        return Plan.from_json(self.plan)


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
