# SPDX-License-Identifier: GPL-2.0-or-later
"""What machines of a test's own are made of: control groups, namespaces, what is mounted in them, their first process."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from system import cores

NEW_MOUNTS, NEW_CGROUPS, NEW_NAME, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEW_PROCESSES, NEW_NETWORK = 0x20000000, 0x40000000
NEW_MACHINE = NEW_MOUNTS | NEW_CGROUPS | NEW_NAME | NEW_IPC | NEW_PROCESSES | NEW_NETWORK
#: A machine's real-time budget, of each core's time; what a host has left to grant may be little.
REALTIME_BUDGET_US = 20_000
_REALTIME_PATIENCE_S = 3.0
_MS_BIND, _MS_REC, _MS_PRIVATE, _MNT_DETACH = 0x1000, 0x4000, 0x40000, 2
#: Of a group of version 2: where its own processes are, since it may have none itself when its groups have controllers. LXC makes
#: its groups where the first process is, but above a group of this name: that is systemd's for itself.
_LEAF = "init.scope"
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_SYS_PIVOT_ROOT = 155  # on x86-64

_libc = ctypes.CDLL(None, use_errno=True)
_numbers = itertools.count()


def group_name() -> str:
    """A new name for a machine's control groups."""
    return f"netboxit-test-{os.getpid()}-{next(_numbers)}"


def answered(budgets_us: Mapping[str, int], become: Callable[[int], NoReturn]) -> Any:
    """Has a child become a machine, and returns what a function in there returned; what it raised is raised, as text.

    `budgets_us` are the control groups that are made for it and their real-time budgets; the first holds all others, and the
    child is in it. `become` gets the descriptor to `answer` to.
    """
    top = next(iter(budgets_us))
    reading, writing = os.pipe()
    try:
        for group, budget_us in budgets_us.items():
            _make_groups(group, budget_us)
        child = os.fork()
        if child == 0:
            os.close(reading)
            answer(writing, partial(_begin, top, become, writing))
        os.close(writing)
        with os.fdopen(reading, "rb") as answers:
            data = answers.read()
        os.waitpid(child, 0)
    finally:
        cores.end_all(top)
        cores.remove(top)
    assert data, "the machine ended before its function did"
    error, result = pickle.loads(data)
    if error:
        raise AssertionError(f"in a machine of its own:\n{error}")
    return result


def answer(writing: int, function: Callable[..., Any], *arguments: Any) -> NoReturn:
    """Writes down what a function returns or raises, and ends this process."""
    outcome: tuple[str, Any]
    try:
        outcome = ("", function(*arguments))
    except BaseException:
        outcome = (traceback.format_exc(), None)
    with os.fdopen(writing, "wb") as answers:
        pickle.dump(outcome, answers)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _begin(group: str, become: Callable[[int], NoReturn], writing: int) -> NoReturn:
    die_with_parent()
    join_groups(group)
    become(writing)


def die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL), "prctl")


def join_groups(name: str) -> None:
    for hierarchy in cores.hierarchies():
        group = hierarchy.folder / name
        _join(group / _LEAF if hierarchy.version == 2 else group)


def unshare(namespaces: int) -> None:
    """A new namespace of control groups has the machine's groups as its roots."""
    unified = next((one.folder for one in cores.hierarchies() if one.version == 2), None)
    if not namespaces & NEW_CGROUPS or unified is None:
        return _check(_libc.unshare(namespaces), "unshare")
    (own,) = (line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    leaf = unified / own[1:]
    _join(leaf.parent)
    _check(_libc.unshare(namespaces), "unshare")
    _join(leaf)
    _hand_on_controllers(leaf.parent)


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _hand_on_controllers(group: Path) -> None:
    """To the groups below it. The kernel allows that while no process is in it itself (cgroup-v2.rst, "No Internal Process")."""
    for name in (group / "cgroup.controllers").read_text().split():
        (group / "cgroup.subtree_control").write_text(f"+{name}")


def go_on_as_first_process(*not_outside: int) -> None:
    """Goes on in a child, the first one of a new process namespace; this process waits for it outside and ends with it."""
    first = os.fork()
    if first:
        for descriptor in not_outside:
            os.close(descriptor)
        os.waitpid(first, 0)
        os._exit(0)
    die_with_parent()


def be_init(runner: int | None = None) -> NoReturn:
    """Reaps what is orphaned; when the runner ends, so does the machine."""
    while os.wait()[0] != runner:
        pass
    os._exit(0)


def mounted_hierarchies() -> list[list[str]]:
    """Where the trees of control groups are mounted, as the words of their lines in /proc/self/mounts."""
    return [words for words in _mounts() if words[2].startswith("cgroup")]


def mount_point(path: Path) -> Path:
    """Where the file system is mounted that a path is on."""
    mounted = {Path(words[1]) for words in _mounts()}
    return next(folder for folder in (path, *path.parents) if folder in mounted)


def make_mounts_private() -> None:
    mount("none", "/", "", _MS_REC | _MS_PRIVATE)


def mount_views(hierarchies: list[list[str]]) -> None:
    """What a machine sees of itself and leaves behind, in new namespaces: processes, /sys, control groups, /run, /dev/shm."""
    mount("proc", "/proc", "proc")
    _unmount_disks_of_labs()
    settings = list(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/power/pm_qos_resume_latency_us"))
    _unmount_below("/sys")
    mount("sysfs", "/sys", "sysfs")
    # Once more, whole: where a part of /sys is covered, as below, a user namespace would not be given its own.
    mount("sysfs", "/srv", "sysfs")
    mount("tmpfs", "/sys/fs/cgroup", "tmpfs")
    for _, folder, kind, options, *_ in hierarchies:
        Path(folder).mkdir(exist_ok=True)
        # Words of the mount are no controllers; version 2 has all of them.
        words = set(options.split(",")) - {"rw", "relatime", "nosuid", "nodev", "noexec"} if kind == "cgroup" else ()
        mount(kind, folder, kind, data=",".join(sorted(words)))
    cores.hierarchies.cache_clear()
    for folder, rights in (("/run", "755"), ("/dev/shm", "1777"), ("/var/lib/lxc", "755")):
        if Path(folder).exists():  # where LXC is not installed it has no folder
            _unmount_below(folder)
            mount("tmpfs", folder, "tmpfs", data=f"mode={rights}")
    # What keeps a core awake is the real machine's: a file stands for it, as long as what is written to it.
    for setting in settings:
        stand_in = Path("/run/pm_qos") / setting.parts[-3]
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text("100\n")
        bind(str(stand_in), str(setting))
    Path("/run/tmp").mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = "/run/tmp"
    os.environ["NETBOXIT_STATE"] = "/run/state"


def change_root(root: Path) -> None:
    """To the root of a file system that is mounted there; the one before is gone from these mounts."""
    os.chdir(root)
    _check(_libc.syscall(_SYS_PIVOT_ROOT, b".", b"."), f"pivot_root to {root}")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount2 of the root before")
    os.chdir("/")


def ip(command: str) -> None:
    """One of iproute2's commands, without its first word."""
    subprocess.run(["ip", *command.split()], check=True)


def wait_for_carrier() -> None:
    """Of all interfaces that there are."""
    deadline = time.monotonic() + 10
    while any("NO-CARRIER" in link["flags"] for link in json.loads(subprocess.check_output(["ip", "-json", "link"]))):
        assert time.monotonic() < deadline, "the machine's interfaces do not get their carrier"
        time.sleep(0.005)


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    _check(_libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), f"mount {kind} on {target}")


def bind(source: str, target: str) -> None:
    mount(source, target, "", _MS_BIND)


def _make_groups(name: str, budget_us: int) -> None:
    """A group in each hierarchy, as the root of the machine's own tree."""
    for hierarchy in cores.hierarchies():
        group = hierarchy.folder / name
        group.mkdir()
        if hierarchy.version == 2:
            (group / _LEAF).mkdir()
            _hand_on_controllers(group.parent)
        if "cpuset" in hierarchy.controllers and hierarchy.version == 1:
            for setting in ("cpuset.cpus", "cpuset.mems"):
                (group / setting).write_text((group.parent / setting).read_text())
        budget = group / "cpu.rt_runtime_us"
        # None for a group whose outer one has got none.
        if budget.exists() and (group.parent / budget.name).read_text() != "0\n":
            _grant_realtime(budget, budget_us)


def _grant_realtime(setting: Path, budget_us: int) -> None:
    """Labs that are up now may have all that there is; where it stays so, this is a machine without real-time service."""
    deadline = time.monotonic() + _REALTIME_PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(OSError):
            setting.write_text(str(budget_us))
            return
        time.sleep(0.05)


def _unmount_disks_of_labs() -> None:
    """Those of labs outside: the kernel unmounts them here, too, when their mount points go. One that goes just now is gone."""
    for device, folder, *_ in _mounts():
        if device.startswith("/dev/loop") and Path(folder).parent.name == "nodes":
            _libc.umount2(folder.encode(), _MNT_DETACH)


def _unmount_below(folder: str) -> None:
    """Other labs' namespaces, say, which are to come and go unseen; one that goes just now cannot be unmounted."""
    while targets := [words[1] for words in reversed(_mounts()) if words[1].startswith(f"{folder}/")]:
        for target in targets:
            _libc.umount2(target.encode(), _MNT_DETACH)


def _mounts() -> list[list[str]]:
    return [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]


def _check(result: int, call: str) -> None:
    assert result == 0, f"{call}: {os.strerror(ctypes.get_errno())}"
