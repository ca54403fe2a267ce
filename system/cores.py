# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores and control groups: which cores there are, the groups of a container, and their real-time budgets."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from contracts.errors import NetBoxITError
from system import foreign_text, kernel, marks
from system.processes import states_of

#: The period of real-time budgets; a netbox that used up its share waits for the next one. The kernel also
#: seems to charge it for the time for which a virtual machine's host stood still: with 100 ms, a stop that made two netboxes
#: 55 ms late made the one with the most to do 218 ms late. A second forgives that, and bursts of frames.
REALTIME_PERIOD_US = 1_000_000
SECOND_US = 1_000_000
#: The group with the real-time budget of all labs (`system.realtime_group`), and its mark. A dot is in no lab's name and
#: in no node's, so it is no container's.
REALTIME_GROUP = "nbx.realtime"
REALTIME_MARK = "all labs"
#: A removed group's budget comes back when the kernel has really released the group: after more than a second on a busy machine.
GRANTED_WITHIN_S = 5.0
#: What the kernel may take to end what was killed: moments, but more than ten seconds in a virtual machine whose host has other
#: things to do (Linux 6.1, seven containers with a switch).
ENDED_WITHIN_S = 60.0
_CORES = Path("/sys/devices/system/cpu")


class GroupFailed(NetBoxITError):
    """A control group could not be made, emptied or removed."""


@dataclass(frozen=True)
class Hierarchy:
    """A mounted tree of control groups. Version 2 has all its controllers in one tree."""

    folder: Path
    version: int
    controllers: frozenset[str]


@cache
def hierarchies() -> tuple[Hierarchy, ...]:
    trees = []
    for line in foreign_text.lines(Path("/proc/self/mounts")):
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup":
            trees.append(Hierarchy(Path(folder), 1, frozenset(options.split(","))))
        elif kind == "cgroup2":
            trees.append(Hierarchy(Path(folder), 2, frozenset(Path(folder, "cgroup.controllers").read_text().split())))
    return tuple(trees)


def hierarchy_of(controller: str) -> Hierarchy | None:
    """The tree in which a controller (cpu, cpuset, …) works; None when the kernel has none or none is mounted."""
    return next((h for h in hierarchies() if controller in h.controllers), None)


def why_no_cpuset() -> tuple[str, str]:
    """Where `hierarchy_of("cpuset")` is None: cause and remedy."""
    if hierarchies():
        return "no cpuset controller is mounted", "mount a cgroup hierarchy with cpuset (systemd does)"
    return (
        "no control group hierarchy is mounted here",
        "mount one with cpuset (systemd does); `ip netns exec` hides them, as it mounts /sys anew: enter a network by "
        "`nsenter --net=/run/netns/NAME`",
    )


def available_cores() -> tuple[int, ...]:
    """Cores that labs may use, lowest first: those that this process may, and isolated ones.

    The kernel leaves isolated cores out of everybody's affinity, but a container may have them. They are not added where this
    process was restricted to some of the other cores (by taskset, say).
    """
    allowed, isolated = os.sched_getaffinity(0), set(isolated_cores())
    everything_else = allowed | isolated == set(_listed(_CORES / "online"))
    return tuple(sorted(allowed | isolated if everything_else else allowed))


def isolated_cores() -> tuple[int, ...]:
    """Those that the kernel was booted to keep other programs off (isolcpus)."""
    return _listed(_CORES / "isolated")


def _listed(file: Path) -> tuple[int, ...]:
    """A list of cores as the kernel writes it (cpuset(7), "List format"): 0,2-4. Nothing where there is no such file."""
    ranges = [part.split("-") for part in file.read_text().strip().split(",") if part] if file.exists() else []
    return tuple(core for ends in ranges for core in range(int(ends[0]), int(ends[-1]) + 1))


def memory_nodes() -> str:
    """NUMA nodes as cpuset.mems takes them: "0" on a machine without NUMA."""
    file = Path("/sys/devices/system/node/online")
    return file.read_text().strip() if file.exists() else "0"


def group_folder(controller: str, name: str) -> Path:
    """Where a group of that name is, or would be, in the tree of a controller."""
    if (hierarchy := hierarchy_of(controller)) is None:
        raise GroupFailed(f"control group {name}: no mounted hierarchy has the {controller} controller; see `netboxit doctor`")
    return hierarchy.folder / name


def shared_realtime_group() -> Path | None:
    """The group in which all labs have their real-time service, while there is one."""
    cpu = hierarchy_of("cpu")
    group = cpu.folder / REALTIME_GROUP if cpu else None
    return group if group is not None and marks.of([group]) == {REALTIME_MARK} else None


def move(group: str, cores: Sequence[int]) -> None:
    """Has what runs in a group run on these cores from now on. A group that is gone has ended, and nothing is moved."""
    hierarchy = hierarchy_of("cpuset")
    folder = hierarchy.folder / group if hierarchy else None
    if folder is None or not folder.is_dir():
        return
    wanted = ",".join(map(str, cores))
    with kernel.errors_as(GroupFailed, f"control group {folder}: cpuset.cpus = {wanted}"):
        (folder / "cpuset.cpus").write_text(wanted)


def grant(group: Path, runtime_us: int, deadline_s: float = GRANTED_WITHIN_S) -> bool:
    """False when the kernel has no such budget left.

    It is asked for a while: another command may just try whether it has any, and the kernel takes its time to give back what
    a removed group had.
    """
    deadline = time.monotonic() + deadline_s
    while True:
        with kernel.ignored(errno.EINVAL):
            (group / "cpu.rt_runtime_us").write_text(str(runtime_us))
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)


def processes(group: str) -> set[int]:
    """Everything that runs in the groups of that name or below, in any hierarchy."""
    numbers: set[int] = set()
    for top in folders(group):
        for folder, _, _ in os.walk(top):  # passes over what is removed meanwhile
            with suppress(OSError):
                numbers.update(map(int, Path(folder, "cgroup.procs").read_text().split()))
    return numbers


def is_empty(group: str) -> bool:
    """Whether nothing runs in the groups of that name themselves; faster than to ask for what does."""
    for folder in folders(group):
        with suppress(OSError):
            if (folder / "cgroup.procs").read_text():
                return False
    return not processes(group)


def kill_all(group: str) -> set[int]:
    """Sends SIGKILL to everything in a group; returns what was there.

    A process with real-time priority also loses it, if this one may take it: ending takes CPU time, of which a group with a small
    budget has too little.
    """
    present = processes(group)
    for process in present:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
            if os.sched_getscheduler(process) in (os.SCHED_FIFO, os.SCHED_RR):
                with suppress(PermissionError):  # without CAP_SYS_NICE it ends later
                    os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))
    return present


def end_all(group: str, deadline_s: float = ENDED_WITHIN_S) -> None:
    """Kills everything in a group and waits until it is empty."""
    deadline = time.monotonic() + deadline_s
    while left := kill_all(group):
        if time.monotonic() > deadline:
            raise GroupFailed(f"control group {group}: does not end although it was killed: {states_of(left)}")
        time.sleep(0.002)


def check_free(group: str) -> None:
    """Raises GroupFailed when there is a group of that name: then it is somebody else's."""
    if there := folders(group):
        raise GroupFailed(f"control group {there[0]} exists already and is not this lab's; give the lab another --name")


def remove(group: str, deadline_s: float = 10.0) -> None:
    """Removes the empty groups of that name from all hierarchies; those gone already are fine."""
    deadline = time.monotonic() + deadline_s
    for folder in folders(group):
        for inner, _, _ in os.walk(folder, topdown=False):
            _remove_folder(Path(inner), deadline)


def _remove_folder(folder: Path, deadline: float) -> None:
    while True:
        try:
            return folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            # A group stays busy for a moment after its last process was reaped.
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise GroupFailed(f"control group {folder}: {error.strerror}") from error
            time.sleep(0.002)


def folders(group: str) -> list[Path]:
    """Of that name, in all hierarchies."""
    return [folder for h in hierarchies() if (folder := h.folder / group).is_dir()]


def granted_us(group: Path) -> int:
    """A group's real-time runtime, per second."""
    with kernel.ignored(errno.ENOENT, errno.ENODEV):
        runtime, period = (int((group / f"cpu.rt_{what}_us").read_text()) for what in ("runtime", "period"))
        return SECOND_US if runtime < 0 else runtime * SECOND_US // period
    return 0  # the group was removed meanwhile, before its file was opened or after
