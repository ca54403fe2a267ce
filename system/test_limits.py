# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.plan import Limits
from system import cores, limits
from system.cores import Hierarchy
from system.limits import Support

OF_NODE = Limits(processes=10, memory=64_000_000, disk=1 << 30, open_files=100, locked_memory=1 << 20)
V1 = Support(processes=1, memory=1, swap=None, open_files=1 << 20, locked_memory=8 << 20)
V2 = Support(processes=2, memory=2, swap="memory.swap.max", open_files=1 << 20, locked_memory=8 << 20)


@pytest.fixture(params=[1, 2])
def version(request: pytest.FixtureRequest) -> int:
    """Of control groups."""
    return int(request.param)


@pytest.fixture
def group(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a node, in one hierarchy with both controllers."""
    hierarchy = Hierarchy(tmp_path, version, frozenset({"pids", "memory"}))
    monkeypatch.setattr(cores, "hierarchies", lambda: (hierarchy,))
    (made := tmp_path / "node").mkdir()
    return made


def test_each_version_of_control_groups_is_told_in_its_own_words() -> None:
    assert limits.lines(OF_NODE, V1, locks_all=False, bounds_files=True) == [
        "lxc.cgroup.pids.max = 10",
        "lxc.cgroup.memory.limit_in_bytes = 64000000",
        "lxc.prlimit.fsize = 1073741824",
        "lxc.prlimit.nofile = 100",
        "lxc.prlimit.memlock = 1048576",
    ]
    assert limits.lines(OF_NODE, V2, locks_all=True, bounds_files=False) == [
        "lxc.cgroup2.pids.max = 10",
        "lxc.cgroup2.memory.max = 64000000",
        "lxc.cgroup2.memory.swap.max = 0",
        "lxc.prlimit.nofile = 100",
    ]
    assert (V1.missing(), V2.missing()) == ([], [])


def test_without_a_controller_its_limit_is_left_out_and_that_is_told() -> None:
    without = replace(V2, processes=None, memory=None)
    assert limits.lines(OF_NODE, without, locks_all=True, bounds_files=False) == ["lxc.prlimit.nofile = 100"]
    assert ["pids controller" in one or "memory controller" in one for one in without.missing()] == [True, True]


def test_no_more_is_asked_for_than_this_process_may_grant() -> None:
    assert limits.lines(OF_NODE, replace(V1, open_files=20, locked_memory=4096), locks_all=False, bounds_files=True)[-2:] == [
        "lxc.prlimit.nofile = 20",
        "lxc.prlimit.memlock = 4096",
    ]


#: As the kernel writes them (Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files" and "PID Interface Files";
#: Documentation/admin-guide/cgroup-v1/memory.rst, "OOM Control").
MEMORY = {
    1: ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill {ended}\n"),
    2: ("memory.events", "low 0\nhigh 0\nmax 41\noom 3\noom_kill {ended}\noom_group_kill 0\n"),
}


def counted(group: Path, version: int, *, refused: int, ended: int) -> dict[Path, str]:
    file, text = MEMORY[version]
    files = {group / "pids.events": f"max {refused}\n", group / file: text.format(ended=ended)}
    for made, content in files.items():
        made.write_text(content)
    return files


def test_what_was_reached_is_read_from_either_version(group: Path, version: int, tmp_path: Path) -> None:
    counted(group, version, refused=7, ended=2)
    assert limits.reached("node", tmp_path, {}, OF_NODE) == [
        "processes: 10 at one time (7 more were refused)",
        "memory: 64 MB (the kernel ended 2 of its processes)",
    ]


def test_that_memory_was_short_is_no_limit_reached_while_nothing_was_ended(group: Path, version: int, tmp_path: Path) -> None:
    counted(group, version, refused=0, ended=0)
    assert limits.reached("node", tmp_path, {}, OF_NODE) == []


def test_what_was_counted_is_known_when_the_groups_are_gone(group: Path, version: int, tmp_path: Path) -> None:
    """By the command that LXC is told to run at the container's end."""
    counted(group, version, refused=1, ended=2)
    (hook,) = limits.remembering("node", tmp_path)
    subprocess.run(["sh", "-c", f"exec {hook.partition(' = ')[2]}"], check=True)
    shutil.rmtree(group)
    assert limits.reached("node", tmp_path, {}, OF_NODE) == [
        "processes: 10 at one time (1 more were refused)",
        "memory: 64 MB (the kernel ended 2 of its processes)",
    ]


def test_a_node_that_never_was_has_reached_nothing(group: Path, tmp_path: Path) -> None:
    assert group.is_dir()
    assert limits.reached("another", tmp_path, {}, OF_NODE) == []
