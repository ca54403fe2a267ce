# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands leave that were killed while they tried whether SCHED_FIFO is granted, in a host of the test's own."""

from __future__ import annotations

import os
import signal

import pytest

from system import cores
from system.processes import ProcessIdentity
from system.realtime_support import realtime_budget_us, remove_abandoned_probes
from tests.own_host import run_in_own_host

pytestmark = pytest.mark.lab

#: To give back the pages of so much memory takes some tens of milliseconds.
_MEMORY = 256 << 20


def test_a_trial_that_was_killed_ends_though_its_budget_is_too_small_to_end_in() -> None:
    def killed() -> bool | None:
        if not realtime_budget_us():
            return None
        readable, writable = os.pipe()
        maker = os.fork()
        if maker == 0:
            group = cores.group_folder("cpu", f"netboxit-probe-{ProcessIdentity.own()}")
            group.mkdir()
            cores.grant(group, 1_000)
            if os.fork() == 0:
                memory = bytearray(os.urandom(1)) * _MEMORY
                (group / "cgroup.procs").write_text(str(os.getpid()))
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
                os.write(writable, memory[:1])
            signal.pause()
        os.read(readable, 1)
        left = cores.group_folder("cpu", f"netboxit-probe-{ProcessIdentity.of(maker)}")
        os.kill(maker, signal.SIGKILL)
        os.waitpid(maker, 0)
        remove_abandoned_probes()
        return left.exists()

    if (exists := run_in_own_host(killed)) is None:
        pytest.skip("this kernel does not ration real-time service, or has none left")
    assert not exists
