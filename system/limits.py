# SPDX-License-Identifier: GPL-2.0-or-later
"""The most that a node may take of this machine: how LXC is told, what this host enforces of it, and what a node has reached.

Processes and memory are bounded by control groups, of version 1 or 2, open files and locked memory by limits of resources
(setrlimit(2)), and what is in RAM as files by the sizes of their file systems. All of it also counts for what is run in a node
later (lxc-attach).
"""

from __future__ import annotations

import os
import resource
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.plan import Limits
from contracts.quantities import SIZE
from system import cores, foreign_text

#: Folders of a node's own that are in RAM.
TEMPORARY: Final = ("/tmp", "/run", "/dev/shm")
#: In the folder of a container's configuration: what its control groups had counted when it ended.
AT_THE_END: Final = "limits"
#: By controller: the file that counts what was refused, of version 1 and of version 2, and its word for that.
_COUNTS: Final = {
    "pids": ("pids.events", "pids.events", "max"),
    "memory": ("memory.oom_control", "memory.events", "oom_kill"),
}
#: A file system with less room than this share of its size is full to who writes much at once: ext4 keeps 2 % for itself.
_FULL: Final = 0.04


@dataclass(frozen=True)
class Support:
    """What this host enforces. Of a controller the version of its hierarchy; None where there is none."""

    processes: int | None
    memory: int | None
    #: The file that bounds swap, where the kernel counts it.
    swap: str | None
    #: What this process may grant at most: limits of resources can only be lowered without CAP_SYS_RESOURCE.
    open_files: int
    locked_memory: int

    @classmethod
    def read(cls) -> Support:
        pids, memory = cores.hierarchy_of("pids"), cores.hierarchy_of("memory")
        return cls(
            processes=pids.version if pids else None,
            memory=memory.version if memory else None,
            swap=_swap(memory) if memory else None,
            open_files=_hard(resource.RLIMIT_NOFILE),
            locked_memory=_hard(resource.RLIMIT_MEMLOCK),
        )

    def missing(self) -> list[str]:
        """What is not enforced here, and why."""
        missing = [
            (what, controller)
            for what, controller, version in (("processes", "pids", self.processes), ("memory", "memory", self.memory))
            if version is None
        ]
        return [
            f"nodes' limits of {what} are not enforced: no control group hierarchy has the {controller} controller"
            for what, controller in missing
        ]


def lines(limits: Limits, support: Support, *, locks_all: bool, bounds_files: bool) -> list[str]:
    """Of a container's configuration.

    `locks_all`: its programs lock all memory that they have, so `memory` is their bound. `bounds_files`: no file may be longer
    than the node's disk. A program ends (SIGXFSZ) where it writes beyond: on a disk of that size it never gets there.
    """
    found = []
    if support.processes is not None:
        found.append(f"{_key(support.processes)}.pids.max = {limits.processes}")
    if support.memory == 1:
        found.append(f"lxc.cgroup.memory.limit_in_bytes = {limits.memory}")
    elif support.memory == 2:
        found.append(f"lxc.cgroup2.memory.max = {limits.memory}")
    if support.swap is not None and support.memory is not None:
        # Of version 1 it is of memory and swap together, of version 2 of swap alone: nodes are not to be swapped out.
        found.append(f"{_key(support.memory)}.{support.swap} = {limits.memory if support.memory == 1 else 0}")
    if bounds_files:
        found.append(f"lxc.prlimit.fsize = {limits.disk}")
    found.append(f"lxc.prlimit.nofile = {min(limits.open_files, support.open_files)}")
    if not locks_all:
        found.append(f"lxc.prlimit.memlock = {min(limits.locked_memory, support.locked_memory)}")
    return found


def remembering(group: str, home: Path) -> list[str]:
    """Of a container's configuration: what its groups have counted is kept when it ends, since LXC removes them."""
    files = " ".join(shlex.quote(str(file)) for _, file, _ in _counters(group))
    return [f"lxc.hook.stop = grep -H . {files} > {shlex.quote(str(home / AT_THE_END))}"] if files else []


def reached(group: str, home: Path, disks: Mapping[str, Path], limits: Limits) -> list[str]:
    """What a node has reached since it started, in words, also when it has ended meanwhile. `disks` are folders of its own, by
    what they are called; those that are no disks have no limit."""
    counted = dict(_counted(group, home))
    found = []
    if refused := counted.get("pids", 0):
        found.append(f"processes: {limits.processes} at one time ({refused} more were refused)")
    if ended := counted.get("memory", 0):
        found.append(f"memory: {SIZE.write(limits.memory)} (the kernel ended {ended} of its processes)")
    for name, folder in disks.items():
        with suppress(OSError):
            if folder.is_mount() and is_full(folder):
                found.append(f"disk: {name} is full ({SIZE.write(limits.disk)})")
    return found + [f"temporary: {name} is full ({SIZE.write(limits.temporary)})" for name in _full(group)]


def _counted(group: str, home: Path) -> Iterator[tuple[str, int]]:
    """How often a limit acted, by controller; what was kept of a node that ended comes first."""
    kept: list[tuple[str, str]] = []
    with suppress(OSError):
        kept = [(path, text) for path, _, text in (line.partition(":") for line in foreign_text.lines(home / AT_THE_END))]
    for controller, file, word in _counters(group):
        yield from ((controller, count) for count in _counts([text for path, text in kept if path == str(file)], word))
        with suppress(OSError):
            yield from ((controller, count) for count in _counts(foreign_text.lines(file), word))


def _counts(text: list[str], word: str) -> Iterator[int]:
    """Of lines with a word and a number each (cgroups(7), Documentation/admin-guide/cgroup-v2.rst)."""
    for line in text:
        key, _, value = line.partition(" ")
        if key == word and value.isdecimal():
            yield int(value)


def _counters(group: str) -> Iterator[tuple[str, Path, str]]:
    """Each controller that there is, the file in which it counts, and the word for what is meant."""
    for controller, (first, second, word) in _COUNTS.items():
        if (hierarchy := cores.hierarchy_of(controller)) is not None:
            yield controller, hierarchy.folder / group / (first if hierarchy.version == 1 else second), word


def _full(group: str) -> Iterator[str]:
    for pid in sorted(cores.processes(group))[:1]:
        for name in TEMPORARY:
            with suppress(OSError):
                if is_full(Path(f"/proc/{pid}/root{name}")):
                    yield name


def is_full(place: Path) -> bool:
    """Whether a file system has next to no room, for data or for files, left. Raises OSError."""
    found = os.statvfs(place)
    return found.f_bavail < _FULL * found.f_blocks or (found.f_files > 0 and found.f_favail < _FULL * found.f_files)


def _key(version: int) -> str:
    return "lxc.cgroup" if version == 1 else "lxc.cgroup2"


def _swap(memory: cores.Hierarchy) -> str | None:
    """The kernel has it when it counts swap; in the first group of version 2 it never is."""
    if memory.version == 1:
        return "memory.memsw.limit_in_bytes" if (memory.folder / "memory.memsw.limit_in_bytes").exists() else None
    return "memory.swap.max" if any(memory.folder.glob("*/memory.swap.max")) else None


def _hard(which: int) -> int:
    hard = resource.getrlimit(which)[1]
    return hard if hard != resource.RLIM_INFINITY else (1 << 63) - 1
