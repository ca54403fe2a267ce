# SPDX-License-Identifier: GPL-2.0-or-later
"""The connections of a command that plans: one to each machine, which first says what it has, and then gets its part."""

from __future__ import annotations

from typing import Any, Self

from testbed.plans.facts import Facts
from testbed.several_hosts.connection import Connection, close
from testbed.several_hosts.machine import Machine


class Connections:
    """Made when they are first needed, and closed at the end of the with block. Many threads may ask, each for one machine."""

    def __init__(self) -> None:
        self._open: dict[str, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        close(self._open.values())

    def facts(self, machine: Machine, lab: str) -> Facts:
        """What planning the lab of that name has to know of a machine."""
        return facts_of(self.to(machine), lab)

    def to(self, machine: Machine) -> Connection:
        """Raises NotConnected, OtherVersion."""
        if machine.name not in self._open:
            self._open[machine.name] = Connection(machine)
        return self._open[machine.name]


def facts_of(connection: Connection, lab: str) -> Facts:
    """What planning the lab of that name has to know of the machine at the other end."""
    return Facts.from_json(connection.request("facts", dict[str, Any], lab=lab))
