# SPDX-License-Identifier: GPL-2.0-or-later
"""The connections of one command: one to each machine, for whatever is asked of it, and all of them end with the command."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from testbed.plans.facts import Facts
from testbed.several_hosts.connection import Connection
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.sites import facts_of


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


def close(connections: Iterable[Connection]) -> list[str]:
    """Ends them at a time. Returns the machines that could not say that nothing is left there."""
    closing = list(connections)
    with ThreadPoolExecutor(max(1, len(closing))) as workers:
        done = list(workers.map(Connection.close, closing))
    return [connection.name for connection, clean in zip(closing, done, strict=True) if not clean]
