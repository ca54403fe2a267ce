# SPDX-License-Identifier: GPL-2.0-or-later
"""Control groups: in an ordinary folder that looks like the kernel's, and real-time budgets of the kernel itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from system import cores
from system.cores import GroupFailed, Hierarchy
from system.realtime_support import realtime_budget_us, realtime_support


def group(folder: Path, runtime_us: int, period_us: int = 1_000_000) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "cpu.rt_runtime_us").write_text(f"{runtime_us}\n")
    (folder / "cpu.rt_period_us").write_text(f"{period_us}\n")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    hierarchy = Hierarchy(tmp_path, 1, frozenset({"cpu"}))
    monkeypatch.setattr(cores, "hierarchies", lambda: (hierarchy,))
    return tmp_path


def test_the_budget_is_what_the_root_has_and_no_group_was_given(tree: Path) -> None:
    group(tree, 950_000)
    group(tree / "first", 200_000)
    group(tree / "second", 10_000, period_us=100_000)
    assert realtime_budget_us() == 950_000 - 200_000 - 100_000


def test_there_is_no_budget_where_the_kernel_does_not_ration(tree: Path) -> None:
    assert realtime_budget_us() is None


def test_a_budget_that_others_have_taken_leaves_no_real_time_service(tree: Path) -> None:
    group(tree, 950_000)
    group(tree / "other", 950_000)
    support = realtime_support()
    assert not support.fifo
    assert "budget is given to" in support.reason


def test_the_processes_of_a_group_are_those_of_all_hierarchies_and_of_groups_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, pids in {"one/lab": "11\n12\n", "one/lab/inner": "13\n", "two/lab": "12\n", "one/other": "14\n"}.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "cgroup.procs").write_text(pids)
    trees = tuple(Hierarchy(tmp_path / name, 1, frozenset()) for name in ("one", "two"))
    monkeypatch.setattr(cores, "hierarchies", lambda: trees)
    assert cores.processes("lab") == {11, 12, 13}


def test_removing_a_group_removes_those_below_it_and_forgives_that_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab/inner/deep").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(cores, "hierarchies", lambda: (Hierarchy(tmp_path, 1, frozenset()),))
    cores.remove("lab")
    cores.remove("lab")
    assert [entry.name for entry in tmp_path.iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("affinity", "isolated", "available"),
    [
        ({0, 1, 2, 3}, "", (0, 1, 2, 3)),
        ({0, 1}, "2-3", (0, 1, 2, 3)),  # as the kernel does it
        ({0}, "2-3", (0,)),  # restricted to one of the others
        ({2, 3}, "2-3", (2, 3)),  # asked for them
        ({1, 3}, "0,2", (0, 1, 2, 3)),
    ],
)
def test_isolated_cores_are_available_but_to_who_was_restricted_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, affinity: set[int], isolated: str, available: tuple[int, ...]
) -> None:
    (tmp_path / "online").write_text("0-3\n")
    (tmp_path / "isolated").write_text(f"{isolated}\n")
    monkeypatch.setattr(cores, "_CORES", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: affinity)
    assert cores.available_cores() == available


def test_what_was_killed_and_stays_is_told_with_its_state(tree: Path) -> None:
    """One that its parent has not waited for, say."""
    (tree / "lab").mkdir()
    with subprocess.Popen(["sleep", "60"]) as left:
        (tree / "lab" / "cgroup.procs").write_text(f"{left.pid}\n")
        with pytest.raises(GroupFailed, match=rf"control group lab: .*killed: sleep \({left.pid}, state Z \(zombie\).*\)$"):
            cores.end_all("lab", deadline_s=1.0)
