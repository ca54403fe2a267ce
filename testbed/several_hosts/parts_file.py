# SPDX-License-Identifier: GPL-2.0-or-later
"""`parts.json` in the folder of a lab: where its parts on other machines are.

It is there before any of them is, so that `down` finds them with the inventory and the topology gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from contracts import durable
from contracts.plan import Plan
from contracts.shapes import shaped
from ownership import recorded
from testbed.plan_part import PARTS_FILE
from testbed.several_hosts.machine import Machine


@dataclass(frozen=True)
class PartsRecord:
    """Of one lab. `plan` is of the whole, as JSON; `owner` is what its parts know it by (`agent.OWNER_FILE`)."""

    here: str
    owner: str
    machines: tuple[Machine, ...]
    plan: dict[str, Any]

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
