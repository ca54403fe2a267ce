# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that is frozen stands still and goes on, also when whoever froze it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from testbed.changing.freeze import Freeze, FreezeFailed

pytestmark = pytest.mark.lab

#: Two threads, of which each could go on without the other; says how long each pause over 50 ms was.
PROGRAM = """\
import threading, time
threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)], daemon=True).start()
before = time.monotonic()
print("runs", flush=True)
while True:
    time.sleep(0.001)
    now = time.monotonic()
    if now - before > 0.05:
        print(now - before, flush=True)
    before = now
"""
HOLDER = """\
import sys, time
from testbed.changing.freeze import Freeze
Freeze(int(sys.argv[1]), 60).start()
print("holds", flush=True)
time.sleep(60)
"""


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        assert said(program) == "runs"
        yield program
        program.kill()


def said(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline().strip()


def pause_of(program: subprocess.Popen[str], least_s: float) -> None:
    """A busy machine makes pauses, too."""
    while float(said(program)) < least_s:
        pass


def states(program: subprocess.Popen[str]) -> set[str]:
    return {(thread / "stat").read_text().rpartition(")")[2].split()[0] for thread in Path(f"/proc/{program.pid}/task").iterdir()}


def test_all_threads_stand_still_for_the_time_that_was_asked_for(program: subprocess.Popen[str]) -> None:
    freeze = Freeze(program.pid, 0.3)
    freeze.start()
    assert states(program) == {"t"}
    freeze.join()
    pause_of(program, 0.29)
    assert "t" not in states(program)


def test_a_freeze_can_be_ended_before_its_time(program: subprocess.Popen[str]) -> None:
    freeze = Freeze(program.pid, 3600.0)
    freeze.start()
    freeze.end()
    assert "t" not in states(program)


def test_nothing_stays_frozen_when_whoever_froze_it_is_killed(program: subprocess.Popen[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(program.pid)], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert said(holder) == "holds"
        assert states(program) == {"t"}
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    deadline = time.monotonic() + 20.0
    while "t" in states(program):
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_what_is_gone_cannot_be_frozen() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    with pytest.raises(FreezeFailed, match=f"process {gone.pid}"):
        Freeze(gone.pid, 0.1).start()


#: It waits in the kernel for its child, which never becomes another program.
VFORKED = """\
#include <stdio.h>
#include <unistd.h>
int main() { puts("waits"); fflush(stdout); if (vfork() == 0) { sleep(60); _exit(0); } return 0; }
"""


def test_a_program_that_cannot_stop_is_told_and_nobody_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testbed.changing.freeze._STANDS_WITHIN_S", 0.2)
    (source := tmp_path / "vforked.c").write_text(VFORKED)
    subprocess.run(["cc", "-o", tmp_path / "vforked", source], check=True)
    with subprocess.Popen([tmp_path / "vforked"], stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
        try:
            assert said(program) == "waits"
            child = Path(f"/proc/{program.pid}/task/{program.pid}/children")
            while not child.read_text():
                time.sleep(0.001)
            with pytest.raises(FreezeFailed, match="a thread of it has not stopped"):
                Freeze(program.pid, 60).start()
        finally:
            os.killpg(program.pid, signal.SIGKILL)
