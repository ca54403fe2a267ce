# SPDX-License-Identifier: GPL-2.0-or-later
"""What real-time service a container can have here: tried out, since no file says it."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from contracts.plan import RealtimeSupport
from system import awake, cores, forked, realtime_group
from system.cores import Hierarchy
from system.processes import ProcessIdentity

#: Names of throw-away groups, with the number and the start of the process that made them.
_PROBE = "netboxit-probe"


def realtime_support() -> RealtimeSupport:
    """Tries SCHED_FIFO in a throw-away control group, and says how much CPU time the kernel has left to grant."""
    return replace(_fifo_support(), keep_awake=all(map(awake.possible, cores.available_cores())), isolated=cores.isolated_cores())


def _fifo_support() -> RealtimeSupport:
    budget = realtime_budget_us()
    if budget is not None and budget <= 0:
        return RealtimeSupport(
            False,
            0,
            f"all of the kernel's real-time budget is given to {', '.join(sorted(_granted())) or 'control groups not seen here'}",
        )
    if os.geteuid() != 0:
        return RealtimeSupport(False, budget, "only root can try whether containers get it", tried=False)
    if (refused := _try_fifo(budget)) is not None:
        return RealtimeSupport(False, budget, refused)
    if budget is None:
        return RealtimeSupport(True, None, "SCHED_FIFO works in control groups, without budgets")
    return RealtimeSupport(
        True, budget, f"SCHED_FIFO works within a budget of {budget / cores.SECOND_US:.0%} of each core for all containers"
    )


def realtime_budget_us() -> int | None:
    """Microseconds a second that labs have or may have together; None where the kernel has no budgets (on cgroup v2, say)."""
    cpu = cores.hierarchy_of("cpu")
    if cpu is None or not (cpu.folder / "cpu.rt_runtime_us").exists():
        return None
    if (shared := cores.shared_realtime_group()) is not None:
        return cores.granted_us(shared)
    return cores.granted_us(cpu.folder) - sum(_granted().values())


def _granted() -> dict[str, int]:
    """What groups have of it that keep it: not what other commands just try out, nor the labs' group while it is made."""
    cpu = cores.hierarchy_of("cpu")
    groups = [group for group in (cpu.folder.iterdir() if cpu else ()) if group.is_dir()]
    lasting = [group for group in groups if group.name != realtime_group.NEW and not group.name.startswith(_PROBE)]
    return {group.name: budget_us for group in lasting if (budget_us := cores.granted_us(group))}


def _try_fifo(budget_us: int | None) -> str | None:
    """Starts a process in a group of its own and has it ask for SCHED_FIFO. Returns why not, or None when it was granted."""
    if (cpu := cores.hierarchy_of("cpu")) is None:
        return "no control group hierarchy has the cpu controller; mount one (systemd does), or boot without cgroup_disable=cpu"
    deadline = time.monotonic() + cores.GRANTED_WITHIN_S
    try:
        while (number := _fifo_in_group(cpu, budget_us)) is None:
            if time.monotonic() > deadline:
                return "the kernel grants a control group no real-time budget, though it says that there is some left"
            time.sleep(0.01)
    except OSError as error:
        return f"no control group can be made in {cpu.folder} ({error.strerror}); labs need root"
    if number == 0:
        return None
    if cpu.version == 2 and number == errno.EPERM:
        return "the kernel has RT_GROUP_SCHED, which cgroup v2 cannot share out; boot with rt_group_sched=0, or use cgroup v1"
    return f"the kernel refuses SCHED_FIFO in a control group ({os.strerror(number)}); CAP_SYS_NICE is needed"


def _fifo_in_group(cpu: Hierarchy, budget_us: int | None) -> int | None:
    """The error number with which a child in a group is refused it, 0 when it is not.

    None when another command is in the way, so that it is to be tried again.

    That one tries it, too, or makes the labs' group, or takes the last lab down, and the group with it.
    """
    with _group_to_try(cpu) as group:
        if group.name != cores.REALTIME_GROUP and budget_us is not None and not cores.grant(group, min(1000, budget_us), 0.0):
            return None
        number = forked.call(partial(_take_priority, group), "take real-time priority in a control group")
    return None if number in (errno.ENOENT, errno.ENODEV) else number


@contextmanager
def _group_to_try(cpu: Hierarchy) -> Iterator[Path]:
    """That of the labs, which has all that there is, or a throw-away one."""
    remove_abandoned_probes()
    if (shared := cores.shared_realtime_group()) is not None:
        yield shared
        return
    group = cpu.folder / f"{_PROBE}-{ProcessIdentity.own()}"
    group.mkdir()
    try:
        yield group
    finally:
        cores.remove(group.name)


def remove_abandoned_probes() -> None:
    """Groups of commands that were killed while they tried something out: no lab's, so in no ledger."""
    cpu = cores.hierarchy_of("cpu")
    for group in cpu.folder.glob(f"{_PROBE}-*-*") if cpu else ():
        maker = ProcessIdentity.read(group.name.removeprefix(f"{_PROBE}-"))
        if maker is not None and not maker.alive():
            cores.end_all(group.name)
            cores.remove(group.name)


def _take_priority(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    # Back at once: ending takes more time than the little budget of a trial, and would be held up.
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
