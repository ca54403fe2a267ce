# SPDX-License-Identifier: GPL-2.0-or-later
"""Which system calls are steps of a command, and whose: netboxit's own, or those of one of its children."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from system import processes
from tests.system_calls import Call

#: Programs of the testbed that set no_new_privs. What has it set and is another one is what a container or a sandbox runs.
_MAKERS = ("lxc-execute", "bwrap")


@dataclass(frozen=True)
class Step:
    """A call of netboxit (child 0) or of one of its children; its number is counted from 1 in each of them."""

    child: int
    number: int
    process: int
    program: str


@dataclass(frozen=True)
class _Program:
    name: str
    #: Whether its calls make what a lab consists of.
    makes: bool


class Steps:
    """Programs are numbered from 1 as they are started, forks of netboxit itself from -1 downwards.

    What is known of a process is kept until it becomes another program: to ask the kernel takes longer than the call.
    """

    def __init__(self, netboxit: int) -> None:
        self._netboxit, self._own = netboxit, _name(netboxit)
        self._processes: dict[int, int] = {}
        self._children = {netboxit: 0}
        self._programs: dict[int, _Program] = {}
        #: How many each child has made, and how many of them while it was a copy of netboxit still.
        self.counted: Counter[int] = Counter()
        self.as_copy: Counter[int] = Counter()
        #: Command lines by child, as words: those of programs that it has become or started.
        self.command_lines: dict[int, list[list[str]]] = {}

    def of(self, call: Call) -> Step | None:
        """None for what is no step, or made by a process of which it cannot be told any more whose it is."""
        process = self._processes.setdefault(call.thread, 0) or call.process
        self._processes[call.thread] = process
        child = self._child(process, call.name)
        if child is None:
            return None
        program = self._programs.get(process) or self._look_at(process, child)
        if call.name in ("execve", "execveat"):
            del self._programs[process]
        if not program.makes:
            return None
        self.counted[child] += 1
        self.as_copy[child] += program.name == self._own and child != 0
        return Step(child, self.counted[child], process, program.name)

    def processes(self) -> list[int]:
        """All of the command's that have made a call, the latest first."""
        return [*reversed(self._children)]

    def child_with(self, word: str) -> int | None:
        """The child in whose command lines a word is."""
        return next((child for child, lines in self.command_lines.items() if any(word in line for line in lines)), None)

    def _child(self, process: int, call: str) -> int | None:
        if process not in self._children:
            parent = _parent(process)
            if parent == self._netboxit:
                known = self._children.values()
                self._children[process] = max(known) + 1 if call == "execve" else min(known) - 1
            elif parent in self._children:
                self._children[process] = self._children[parent]
        return self._children.get(process)

    def _look_at(self, process: int, child: int) -> _Program:
        name = _name(process)
        found = self._programs[process] = _Program(name, name in _MAKERS or not processes.has_no_new_privileges(process))
        self.command_lines.setdefault(child, []).append(_command_line(process))
        return found


def _name(process: int) -> str:
    return (processes.executable(process) or "").rpartition("/")[2]


def _parent(process: int) -> int:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[1])


def _command_line(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []
