# SPDX-License-Identifier: GPL-2.0-or-later
"""What chrony 4.3 and linuxptp 3.1 answer, played by programs that say the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.several_hosts import synchronisation as module
from testbed.several_hosts.synchronisation import synchronisation

TRACKING = (
    "C0000201,192.0.2.1,3,1795300659.226146045,-0.000002000,0.000001100,0.000001900,12.871,0.002,0.031,"
    "0.000016000,0.000002000,64.2,"
)
TIME_STATUS = """sending: GET TIME_STATUS_NP
\t1ae8cd.fffe.e15ae8-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP
\t\tmaster_offset              {offset}
\t\tingress_time               1795300729950872392
\t\tgmPresent                  {present}
\t\tgmIdentity                 5edd0e.fffe.29e6dd
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which programs are looked for first."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(module, "_PTP4L", tmp_path / "ptp4l")
    return tmp_path


def says(folder: Path, program: str, words: str, status: int = 0) -> None:
    (folder / f"{program}.txt").write_text(words)
    (folder / program).write_text(f"#!/bin/sh\ncat {folder}/{program}.txt\nexit {status}\n")
    (folder / program).chmod(0o755)


@pytest.mark.parametrize(
    ("said", "status", "found"),
    [
        (TRACKING + "Normal\n", 0, "chrony, 12 us"),
        (TRACKING + "Insert second\n", 0, "chrony, 12 us"),
        (TRACKING + "Not synchronised\n", 0, None),
        ("506 Cannot talk to daemon\n", 1, None),
        ("a,b,c\n", 0, None),
        (",".join("abcdefghijklmn") + "\n", 0, None),
    ],
)
def test_chrony_tells_a_bound_of_its_error(programs: Path, said: str, status: int, found: str | None) -> None:
    says(programs, "chronyc", said, status)
    assert synchronisation() == found


@pytest.mark.parametrize(
    ("offset", "present", "found"),
    [
        (-45, "true", "ptp4l, 45 ns from its grandmaster"),
        (12_000, "true", "ptp4l, 12 us from its grandmaster"),
        (0, "false", None),
    ],
)
def test_ptp_tells_how_far_its_grandmaster_is(programs: Path, offset: int, present: str, found: str | None) -> None:
    says(programs, "chronyc", "506 Cannot talk to daemon\n", 1)
    says(programs, "pmc", TIME_STATUS.format(offset=offset, present=present))
    assert synchronisation() is None  # nobody is asked where there is no ptp4l
    (programs / "ptp4l").touch()
    assert synchronisation() == found


def test_without_either_nobody_keeps_the_clock(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    assert synchronisation() is None
