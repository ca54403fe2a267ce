# SPDX-License-Identifier: GPL-2.0-or-later
"""Which processes are monitors, and whose a container's control group is, by its mark, or by the monitor that is making it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from system import cores, marks, monitors
from system.cores import Hierarchy

Started = Callable[..., subprocess.Popen[bytes]]

#: The user `nobody`.
_STRANGER = 65534
#: Unmaps the memory where the kernel looks for the words of its command line: fields 48 and 49 of proc(5), /proc/pid/stat. Below
#: are the program's vectors and its stack (field 28), by chance on the same page; then it begins again, at other addresses.
_FORGETTING = """
import ctypes, os, sys
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
stack, begin, end = (int(fields[number - 3]) for number in (28, 48, 49))
begin &= -4096
if begin < stack + 8 * (len(os.environ) + len(sys.orig_argv)) + 1024:
    os.execv(sys.orig_argv[0], sys.orig_argv)
assert ctypes.CDLL(None).munmap(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin)) == 0
print("ready", flush=True)
input()
"""

NAME = f"nbx-try{os.getpid()}-a"


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cores, "hierarchies", lambda: (Hierarchy(tmp_path, 1, frozenset()),))
    (folder := tmp_path / NAME).mkdir()
    return folder


@pytest.fixture
def program() -> Iterator[Path]:
    """One that has the name of LXC's, where every user can run it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(shutil.copy(Path(sys.executable).resolve(), Path(folder) / monitors.PROGRAM))


@pytest.fixture
def started(program: Path) -> Iterator[Started]:
    """Starts what has the program and the command line of a monitor of the container in that lab's folder, as a user."""
    with ExitStack() as all_of_them:

        def start(home: Path, user: int | None = None) -> subprocess.Popen[bytes]:
            argv = [monitors.PROGRAM, "-c", "input()", "-q", *monitors.options(home, NAME), "-f", "config"]
            monitor = subprocess.Popen(argv, executable=program, stdin=subprocess.PIPE, user=user, cwd="/")
            all_of_them.callback(monitor.wait)
            all_of_them.callback(monitor.kill)
            return monitor

        yield start


def test_a_group_without_a_mark_is_of_the_lab_whose_monitor_is_making_it(group: Path, tmp_path: Path, started: Started) -> None:
    ours, theirs = tmp_path / "ours/labs/x/containers", tmp_path / "theirs/labs/x/containers"
    assert not monitors.is_anothers(ours, NAME, group.name)  # its maker was killed
    own = started(ours)
    assert not monitors.is_anothers(ours, NAME, group.name)
    assert [monitor.pid for monitor in monitors.of(ours, [NAME])] == [own.pid]
    assert monitors.of(theirs, [NAME]) == []
    assert monitors.is_anothers(theirs, NAME, group.name)


@pytest.mark.lab
def test_a_mark_says_more_than_a_monitor(group: Path, tmp_path: Path, started: Started) -> None:
    ours, theirs = tmp_path / "ours/labs/x/containers", tmp_path / "theirs/labs/x/containers"
    marks.put([group], marks.of_lab(ours.parent))
    started(theirs)
    assert not monitors.is_anothers(ours, NAME, group.name)
    assert monitors.is_anothers(theirs, NAME, group.name)


@pytest.mark.lab
def test_what_another_user_starts_with_the_command_line_of_a_monitor_is_none(
    group: Path, tmp_path: Path, started: Started
) -> None:
    ours, theirs = tmp_path / "ours/labs/x/containers", tmp_path / "theirs/labs/x/containers"
    started(ours, _STRANGER)
    assert monitors.of(ours, [NAME]) == []
    started(theirs, _STRANGER)
    assert not monitors.is_anothers(ours, NAME, group.name)


@pytest.mark.lab
@pytest.mark.timeout(30)
def test_nobody_waits_for_the_command_line_of_another_users_program(program: Path, tmp_path: Path) -> None:
    """It has LXC's name, and looks for ever as if it had just become what it is."""
    with _without_command_line(program, _STRANGER):
        assert monitors.of(tmp_path, [NAME]) == []


@pytest.mark.lab
@pytest.mark.timeout(30)
def test_nobody_waits_for_ever_for_a_command_line_of_roots(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitors, "_BECOMING_S", 0.05)
    with _without_command_line(program, os.getuid()):
        assert monitors.of(tmp_path, [NAME]) == []


@contextmanager
def _without_command_line(program: Path, user: int) -> Iterator[None]:
    process = subprocess.Popen(
        [program, "-c", _FORGETTING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=user, cwd="/", text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert Path(f"/proc/{process.pid}/cmdline").read_bytes() == b""
        yield
    finally:
        process.kill()
        process.communicate()
