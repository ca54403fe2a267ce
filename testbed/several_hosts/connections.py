# SPDX-License-Identifier: GPL-2.0-or-later
"""The connections of one command: one to each machine, for whatever is asked of it, and all of them end with the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from testbed.plans.facts import Facts
from testbed.several_hosts.connection import Connection
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.sites import facts_of


class Connections:
    """Made when they are first needed, and closed at the end of the with block."""

    def __init__(self) -> None:
        self._open: dict[str, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close(self._open.values())

    def facts(self, machine: Machine, lab: str) -> Facts:
        """What planning the lab of that name has to know of a machine."""
        return facts_of(self.to(machine), lab)

    def to(self, machine: Machine) -> Connection:
        """Raises NotConnected, OtherVersion."""
        if machine.name not in self._open:
            self._open[machine.name] = Connection(machine)
        return self._open[machine.name]

    def to_all(self, machines: Iterable[Machine]) -> Mapping[str, Connection]:
        """To all but this machine, by name; those that are missing are made at a time."""
        others = [machine for machine in machines if not machine.here]
        self._open |= connect([machine for machine in others if machine.name not in self._open])
        return {machine.name: self._open[machine.name] for machine in others}


def connect(machines: Sequence[Machine]) -> dict[str, Connection]:
    """To all of them at a time. Raises what went wrong first, with no connection left."""
    if not machines:
        return {}
    with ThreadPoolExecutor(len(machines)) as workers:
        futures = [workers.submit(Connection, machine) for machine in machines]
    errors = [error for future in futures if (error := future.exception()) is not None]
    made = {machine.name: future.result() for machine, future in zip(machines, futures, strict=True) if not future.exception()}
    if errors:
        close(made.values())
        raise errors[0]
    return made


def close(connections: Iterable[Connection]) -> list[str]:
    """Ends them at a time. Returns the machines that could not say that nothing is left there."""
    closing = list(connections)
    if not closing:
        return []
    with ThreadPoolExecutor(len(closing)) as workers:
        done = list(workers.map(Connection.close, closing))
    return [connection.name for connection, clean in zip(closing, done, strict=True) if not clean]
