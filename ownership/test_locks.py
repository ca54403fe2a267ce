# SPDX-License-Identifier: GPL-2.0-or-later
"""Locks are root's: what another user can neither open nor lock, and who is told to hold one."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from ownership import state
from ownership.state import LabBusy
from tests import strangers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

#: linux/proc_ns.h, PROC_PID_INIT_INO
_FIRST_PID_NAMESPACE = 0xEFFFFFFC


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of labs, on the way to which nobody is kept out."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    return tmp_path / "state/labs"


def test_nobody_but_root_reads_or_locks_what_labs_are(labs: Path) -> None:
    lab = state.make_lab_folder("x")
    (lab / "plan.json").write_text("{}")
    assert strangers.opened([labs.parent, labs, lab, lab / "plan.json"]) == [labs.parent]
    with strangers.locking(labs, lab, lab / "plan.json") as (_, locks), state.locked(lab, patience_s=0):
        assert locks == 0
    assert state.lab_names() == ["x"]


def test_what_an_older_version_left_open_is_closed(labs: Path) -> None:
    (lab := labs / "x").mkdir(parents=True, mode=0o755)
    (lab / "parts.json").write_text("{}")
    assert strangers.opened([labs, lab, lab / "parts.json"]) == [labs, lab, lab / "parts.json"]
    assert state.lab_names() == ["x"]
    assert strangers.opened([labs, lab, lab / "parts.json"]) == []


def test_who_holds_a_lock_is_told(labs: Path) -> None:
    (lab := labs / "x").mkdir(parents=True, mode=0o755)
    told = r"process {} holds its lock \(/usr/bin/python3 "
    with strangers.locking(lab) as (pid, _), pytest.raises(LabBusy, match=told.format(pid)), state.locked(lab, patience_s=0.1):
        pass


def test_who_waits_for_a_lock_is_not_told_to_hold_it(labs: Path) -> None:
    lab = state.make_lab_folder("x")
    with state.locked(lab):
        waiting = subprocess.Popen(["flock", str(lab), "true"])
        with pytest.raises(LabBusy, match=f"process {os.getpid()} holds its lock"), state.locked(lab, patience_s=0.1):
            pass
    assert waiting.wait(10) == 0


def test_a_lock_whose_taker_has_ended_is_told_as_such(labs: Path) -> None:
    in_container = Path("/proc/self/ns/pid").stat().st_ino != _FIRST_PID_NAMESPACE
    told = "started by one that has ended" if in_container else "took its lock and has ended"
    lab = state.make_lab_folder("x")
    script = f"exec 9<{lab}; flock 9; sleep 30 >/dev/null & echo $!"
    heir = int(subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, check=True).stdout)
    try:
        with pytest.raises(LabBusy, match=told), state.locked(lab, patience_s=0.1):
            pass
    finally:
        os.kill(heir, signal.SIGKILL)
