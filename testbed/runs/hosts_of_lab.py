# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts of a lab that stays up, as applications use them. What the applications leave there is removed with them.

In a run the end of the lab removes it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import Final

from contracts.errors import NetBoxITError
from contracts.plan import TrafficPlan
from system import cores, node_files
from system.node_files import OwnFiles
from system.processes import Process, ProcessIdentity
from testbed.labs.lab import Lab

#: In the environment of all programs of applications, and so of what they start: by it they are found.
_MARK: Final = "NETBOXIT_TRAFFIC"
_LONGEST_ENVIRONMENT: Final = 1 << 20
_ENDED_WITHIN_S: Final = 5.0


class NameTaken(NetBoxITError):
    """A host already has a file or folder at the place of an application's folder."""


class HostsOfLab:
    """`check` before anything is done, `clean` when the applications were stopped."""

    def __init__(self, lab: Lab, entries: Sequence[TrafficPlan]) -> None:
        self._lab, self._mark = lab, f"{ProcessIdentity.own()}-{time.monotonic_ns()}"
        self._folders = {
            (node, entry.name): lab.node_folder(node) / entry.name
            for entry in entries
            for node in (entry.source, entry.destination)
        }

    def check(self) -> None:
        """Raises NameTaken, because the application would write over what is there, and `clean` would remove it."""
        for (node, name), folder in self._folders.items():
            if node_files.exists(folder):
                raise NameTaken(
                    f"host {node} has /run/netboxit/{name} already, where traffic {name} would keep its files; give the traffic "
                    f"another name, or remove it: netboxit exec --lab {self._lab.name} {node} rm -r /run/netboxit/{name}"
                )

    def own_files(self, node: str, name: str) -> OwnFiles:
        return self._lab.own_files(node, name)

    def check_confined(self, node: str) -> None:
        self._lab.check_confined(node)

    def run(self, node: str, argv: Sequence[str], *, timeout_s: float = 60.0) -> CompletedProcess[str]:
        return self._lab.run(node, argv, timeout_s=timeout_s, env={_MARK: self._mark})

    def start(
        self, node: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, held: bool = False
    ) -> Process:
        return self._lab.start(node, argv, log=log, env={**(env or {}), _MARK: self._mark}, held=held)

    def clean(self) -> list[str]:
        """Kills what their programs have left running, and removes their folders. Returns what is left, and why."""
        problems = []
        for node in sorted({node for node, _ in self._folders}):
            until = time.monotonic() + _ENDED_WITHIN_S
            while (left := self._left(node)) and time.monotonic() < until:
                for process in left:
                    process.kill()
                time.sleep(0.01)
            if left:
                problems.append(
                    f"programs of the traffic still run in host {node}: {', '.join(str(process.pid) for process in left)}"
                )
        for folder in self._folders.values():
            try:
                node_files.remove(folder)
            except (NetBoxITError, OSError, RecursionError) as error:  # folders in folders, as deep as a node likes
                problems.append(f"{folder} is left: {error}")
        return problems

    def _left(self, node: str) -> list[ProcessIdentity]:
        identities = map(ProcessIdentity.of, cores.processes(self._lab.node(node).container))
        return [process for process in identities if process is not None and self._is_marked(process.pid)]

    def _is_marked(self, pid: int) -> bool:
        with suppress(OSError), Path(f"/proc/{pid}/environ").open("rb") as file:
            return f"{_MARK}={self._mark}".encode() in os.read(file.fileno(), _LONGEST_ENVIRONMENT).split(b"\0")
        return False
