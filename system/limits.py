# SPDX-License-Identifier: GPL-2.0-or-later
"""The most that a node may take of this machine: as LXC's configuration, what this host enforces, and what a node has reached.

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
        return [
            f"nodes' limits of {what} are not enforced: no control group hierarchy has the {controller} controller"
            for what, controller, version in (("processes", "pids", self.processes), ("memory", "memory", self.memory))
            if version is None
        ]


def lines(limits: Limits, support: Support, *, locks_all: bool, bounds_files: bool) -> list[str]:
    """Of a container's configuration.

    `locks_all`: its programs lock all memory that they have, so `memory` is their bound. `bounds_files`: no file may be longer
    than the node's disk. A program ends (SIGXFSZ) where it writes beyond: on a disk of that size it never gets there.
    """
    # What bounds swap is of version 1 the most of memory and swap together, of version 2 of swap alone: nodes are not to be
    # swapped out.
    groups = (
        (support.processes, "pids.max", limits.processes),
        (support.memory, "memory.limit_in_bytes" if support.memory == 1 else "memory.max", limits.memory),
        (support.memory if support.swap else None, support.swap, limits.memory if support.memory == 1 else 0),
    )
    return [
        *(f"lxc.cgroup{'' if version == 1 else version}.{key} = {most}" for version, key, most in groups if version is not None),
        *([f"lxc.prlimit.fsize = {limits.disk}"] if bounds_files else []),
        f"lxc.prlimit.nofile = {min(limits.open_files, support.open_files)}",
        *([] if locks_all else [f"lxc.prlimit.memlock = {min(limits.locked_memory, support.locked_memory)}"]),
    ]


def remembering(group: str, home: Path) -> list[str]:
    """Of a container's configuration: what its groups have counted is kept when it ends, since LXC removes them."""
    files = " ".join(shlex.quote(str(file)) for _, file, _ in _counters(group))
    return [f"lxc.hook.stop = grep -H . {files} > {shlex.quote(str(home / AT_THE_END))}"] if files else []


def reached(group: str, home: Path, disks: Mapping[str, Path], limits: Limits) -> list[str]:
    """What a node has reached since it started, in words, also when it has ended meanwhile. `disks` are folders of its own, by
    what they are called; those that are no disks have no limit."""
    counted = {controller: _count(file, word, home) for controller, file, word in _counters(group)}
    words = []
    if refused := counted.get("pids"):
        words.append(f"processes: {limits.processes} at one time ({refused} more were refused)")
    if ended := counted.get("memory"):
        words.append(f"memory: {SIZE.write(limits.memory)} (the kernel ended {ended} of its processes)")
    full_disks = [name for name, folder in disks.items() if os.path.ismount(folder) and _is_full(folder)]
    roots = [Path(f"/proc/{pid}/root") for pid in sorted(cores.processes(group))[:1]]
    full_temporary = [name for root in roots for name in TEMPORARY if _is_full(root / name[1:])]
    return [
        *words,
        *(f"disk: {name} is full ({SIZE.write(limits.disk)})" for name in full_disks),
        *(f"temporary: {name} is full ({SIZE.write(limits.temporary)})" for name in full_temporary),
    ]


def _count(file: Path, word: str, home: Path) -> int:
    """How often a limit acted: the last number after that word, in what was kept of a node that ended or in the file itself.

    Their lines are of a word and a number each (cgroups(7), Documentation/admin-guide/cgroup-v2.rst).
    """
    lines: list[str] = []
    with suppress(OSError):
        lines += [line.removeprefix(f"{file}:") for line in foreign_text.lines(home / AT_THE_END)]
    with suppress(OSError):
        lines += foreign_text.lines(file)
    numbers = [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]
    return next((int(number) for number in reversed(numbers) if number.isdecimal()), 0)


def _counters(group: str) -> Iterator[tuple[str, Path, str]]:
    """Each controller that there is, the file in which it counts, and the word for what is meant."""
    for controller, (first, second, word) in _COUNTS.items():
        if (hierarchy := cores.hierarchy_of(controller)) is not None:
            yield controller, hierarchy.folder / group / (first if hierarchy.version == 1 else second), word


def _is_full(place: Path) -> bool:
    """Whether a file system has next to no room, for data or for files, left; one that is gone is not full."""
    try:
        system = os.statvfs(place)
    except OSError:
        return False
    return system.f_bavail < _FULL * system.f_blocks or (system.f_files > 0 and system.f_favail < _FULL * system.f_files)


def _swap(memory: cores.Hierarchy) -> str | None:
    """The kernel has it when it counts swap; in the first group of version 2 it never is."""
    if memory.version == 1:
        return "memory.memsw.limit_in_bytes" if (memory.folder / "memory.memsw.limit_in_bytes").exists() else None
    return "memory.swap.max" if any(memory.folder.glob("*/memory.swap.max")) else None


def _hard(which: int) -> int:
    hard = resource.getrlimit(which)[1]
    return hard if hard != resource.RLIM_INFINITY else (1 << 63) - 1
