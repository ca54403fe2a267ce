# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose a container's control group is, by its mark, or by the monitor that is making it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from testbed.system import cores, marks, monitors
from testbed.system.cores import Hierarchy

NAME = f"nbx-try{os.getpid()}-a"


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cores, "hierarchies", lambda: (Hierarchy(tmp_path, 1, frozenset()),))
    (folder := tmp_path / NAME).mkdir()
    return folder


@pytest.fixture
def started() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Starts what has the command line of a monitor of the container in that lab's folder."""
    with ExitStack() as all_of_them:

        def start(home: Path) -> subprocess.Popen[bytes]:
            argv = [monitors.PROGRAM, "-c", "input()", "-q", *monitors.options(home, NAME), "-f", "config"]
            monitor = subprocess.Popen(argv, executable=sys.executable, stdin=subprocess.PIPE)
            all_of_them.callback(monitor.wait)
            all_of_them.callback(monitor.kill)
            return monitor

        yield start


def test_a_group_without_a_mark_is_of_the_lab_whose_monitor_is_making_it(
    group: Path, tmp_path: Path, started: Callable[[Path], subprocess.Popen[bytes]]
) -> None:
    ours, theirs = tmp_path / "ours/labs/x/containers", tmp_path / "theirs/labs/x/containers"
    assert not monitors.is_anothers(ours, NAME, group.name)  # its maker was killed
    own = started(ours)
    assert not monitors.is_anothers(ours, NAME, group.name)
    assert [monitor.pid for monitor in monitors.of(ours, [NAME])] == [own.pid]
    assert monitors.of(theirs, [NAME]) == []
    assert monitors.is_anothers(theirs, NAME, group.name)


@pytest.mark.lab
def test_a_mark_says_more_than_a_monitor(group: Path, tmp_path: Path, started: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    ours, theirs = tmp_path / "ours/labs/x/containers", tmp_path / "theirs/labs/x/containers"
    marks.put([group], marks.of_lab(ours.parent))
    started(theirs)
    assert not monitors.is_anothers(ours, NAME, group.name)
    assert monitors.is_anothers(theirs, NAME, group.name)
