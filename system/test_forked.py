# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
import signal

import pytest

from system import forked


def child(write: int | None = None, end: int | None = None) -> int:
    """One that writes a byte, and ends with a status; without one it waits for a signal."""
    if (pid := os.fork()) == 0:
        try:
            if write is not None:
                os.write(write, b"\x0d")
            if end is None:
                signal.pause()
        finally:
            os._exit(end or 0)
    return pid


def test_the_status_and_the_answer_of_a_child() -> None:
    reading, writing = os.pipe()
    pid = child(writing, 3)
    os.close(writing)
    assert forked.answer(reading, pid, "answer") == 13
    assert forked.status(pid, "answer") == 3
    os.close(reading)


@pytest.mark.timeout(30)
def test_a_child_that_does_not_end_is_killed_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_DEADLINE_S", 0.1)
    pid = child()
    with pytest.raises(forked.ChildHangs, match=rf"process {pid}, which is to sleep, is not through after 0.1 s; .*/proc/{pid}/"):
        forked.status(pid, "sleep")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.mark.timeout(30)
def test_a_child_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_DEADLINE_S", 0.1)
    reading, writing = os.pipe()
    pid = child()
    with pytest.raises(forked.ChildHangs, match=f"process {pid}, which is to answer"):
        forked.answer(reading, pid, "answer")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)
    os.close(writing)
