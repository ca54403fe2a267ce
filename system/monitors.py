# SPDX-License-Identifier: GPL-2.0-or-later
"""Monitors: LXC's process beside each container, which starts it, waits for its end and is known by its command line.

Every user can start a process with such a name and command line. So only a process counts with what its maker cannot choose: it
runs LXC's program, is in this process's PID namespace, which no node's is, and is this process's own user, which is root.

It takes commands at an abstract socket (unix(7)). Every program in its network can connect to that, or take its name first. So
the monitors of a lab, and what speaks to them, have a network of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from contracts.names import monitors_namespace
from system import cores, marks, namespaces, processes
from system.processes import ProcessIdentity

PROGRAM: Final = "lxc-execute"
#: A process that has just become LXC has no command line yet. The kernel writes it within microseconds, unless the process has to
#: wait for its core.
_BECOMING_S: Final = 2.0


def network(home: Path) -> str | None:
    """The namespace of the monitors of a lab; None where an older NetBoxIT brought it up, or nobody has made it yet."""
    name = monitors_namespace(home.parent.name)
    return name if namespaces.is_there(name) else None


def apart(home: Path) -> AbstractContextManager[None]:
    """What is started in the block is in the network of the lab's monitors."""
    name = network(home)
    return namespaces.entered(name) if name else nullcontext()


def options(home: Path, name: str) -> list[str]:
    """What a monitor's command line says of its container: the folder of the lab's containers, and its name."""
    return ["-P", str(home), "-n", name]


def of(home: Path, names: Sequence[str]) -> list[ProcessIdentity]:
    """Those of a lab's containers, also when their starter was killed."""
    own = [_written(options(home, name)) for name in names]
    return [monitor for monitor, line in _all() if any(words in line for words in own)]


def is_anothers(home: Path, name: str, group: str) -> bool:
    """Whether a control group of the container of that name is another lab's.

    By its mark, or, where that is still to come, by the monitor that makes it. What has neither was being made by the lab of that
    folder when its maker was killed.
    """
    if marked := marks.of(cores.folders(group)):
        return marked != {marks.of_lab(home.parent)}
    of_that_name, own = _written(["-n", name]), _written(options(home, name))
    return any(of_that_name in line and own not in line for _, line in _all())


def _all() -> Iterator[tuple[ProcessIdentity, bytes]]:
    """Whatever lab they are of, with their command lines."""
    until = time.monotonic() + _BECOMING_S
    for pid in processes.all_of_them():
        if (identity := ProcessIdentity.of(pid)) is None or not _is_monitor(pid):
            continue
        while not (line := processes.command_line(pid)) and _is_monitor(pid) and time.monotonic() < until:
            time.sleep(0.0002)
        if line.startswith(f"{PROGRAM}\0".encode()):
            yield identity, line


def _is_monitor(pid: int) -> bool:
    program = (processes.executable(pid) or "").removesuffix(" (deleted)").rpartition("/")[2]  # LXC was updated meanwhile
    return program == PROGRAM and processes.is_own_users(pid)


def _written(words: Sequence[str]) -> bytes:
    return "".join(f"\0{word}" for word in words).encode() + b"\0"
