# SPDX-License-Identifier: GPL-2.0-or-later
"""The control group with the real-time budget of all labs, where the kernel rations it (cgroup v1, RT_GROUP_SCHED).

The kernel counts a group's budget on each core by itself, while the budgets of groups beside or below each other may not add up
to more than one core's. So a group for each lab would leave the second one nothing, though it runs on other cores; in one group
each core's emulators have all of it, of whichever lab they are. Labs hold the group together: the first one makes it with what
the kernel has left to grant, from which no other program's group loses anything, and the last one removes it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from system import cores, holding, kernel, marks
from system.cores import REALTIME_GROUP, REALTIME_PERIOD_US, GroupFailed

_HELD: Final = holding.RUN / "realtime"
_HOLDERS: Final = _HELD / "holders"
#: What it is called until it is whole.
NEW: Final = f"{REALTIME_GROUP}.new"
#: What is no more granted as a whole is asked for in steps of that size, down from it.
_STEP_US: Final = 10_000


def path() -> Path:
    """Where it is, or would be."""
    return cores.group_folder("cpu", REALTIME_GROUP)


def hold(budget_us: int, lab: Path) -> int:
    """The lab of that folder has it until it is released; to have it already is fine. Raises GroupFailed.

    Its real-time threads may take so many microseconds a second of each core, together with those of other labs there. Returns
    how many: fewer where another program, or another lab in a group of its size, was faster than this lab after it was planned.
    """
    with holding.locked(_HELD):
        cores.remove(NEW)  # of a command that was killed: whoever has the lock makes none
        if path().is_dir() and cores.shared_realtime_group() is None:
            raise GroupFailed(f"control group {path()} exists already and is not NetBoxIT's; rename or remove it")
        holding.add(_HOLDERS, lab)
        if cores.shared_realtime_group() is None:
            _make(budget_us)
        return cores.granted_us(path())


def release(lab: Path) -> None:
    """The lab needs it no longer; it goes with its last holder."""
    with holding.locked(_HELD, make=False) as held:
        if not held or holding.drop(_HOLDERS, lab):
            return
        cores.remove(NEW)
        if cores.shared_realtime_group() is not None:
            _remove()
        with suppress(FileNotFoundError):
            _HOLDERS.rmdir()


def _make(budget_us: int) -> None:
    """Renamed when it is whole and marked, which cgroup v1 can: one that has the name is ours, or has no mark."""
    new = path().with_name(NEW)
    with kernel.errors_as(GroupFailed, f"control group {path()}"):
        new.mkdir()
        (new / "cpu.rt_period_us").write_text(str(REALTIME_PERIOD_US))
        if not cores.grant(new, _in_period(budget_us)) and not any(
            cores.grant(new, _in_period(less), 0.0) for less in range(budget_us - _STEP_US, 0, -_STEP_US)
        ):
            raise GroupFailed(
                f"control group {path()}: the kernel grants no real-time budget any more: other programs have taken the "
                f"{budget_us} us a second meanwhile; try again"
            )
        marks.put([new], cores.REALTIME_MARK)
        new.rename(path())


def _in_period(budget_us: int) -> int:
    return budget_us * REALTIME_PERIOD_US // cores.SECOND_US


def _remove() -> None:
    try:
        cores.remove(REALTIME_GROUP)
    except GroupFailed as error:
        if left := cores.processes(REALTIME_GROUP):
            raise GroupFailed(
                f"control group {path()}: the processes {sorted(left)} in it are of no lab that is there; end them and repeat"
            ) from error
        raise
