# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program inside a node cannot do to the host, or to find a way out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from testbed import seccomp
from testbed.conftest import PlanPair
from testbed.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: System calls of x86-64 that a node is refused, each with arguments that would otherwise give another error than EPERM.
_REFUSED = {"ptrace": 101, "unshare": 272, "setns": 308, "mount": 165, "add_key": 248, "bpf": 321, "io_uring_setup": 425}
_TRY = (
    "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
    "def tried(call): ctypes.set_errno(0); libc.syscall(call, -1, -1, -1, -1, -1); return ctypes.get_errno()\n"
    "print(*map(tried, {calls}))"
)


@pytest.fixture
def lab(plan_pair: PlanPair) -> Iterator[Lab]:
    with Lab.up(plan_pair()) as up:
        yield up


def test_system_calls_that_lead_out_of_a_node_are_refused(lab: Lab) -> None:
    assert set(_REFUSED) <= set(re.findall(r"^(\w+) errno 1$", seccomp.profile(bpf=False), re.MULTILINE))
    tried = lab.run("left", ["/usr/bin/python3", "-c", _TRY.format(calls=list(_REFUSED.values()))])
    assert tried.stdout.split() == ["1"] * len(_REFUSED), tried.stderr
    assert "Seccomp:\t2" in lab.run("left", ["cat", "/proc/1/status"]).stdout, "also what the lab itself starts there"
    assert lab.run("left", ["unshare", "--user", "true"]).returncode == 1, "as root of a new user namespace it might do more"


def test_threads_and_programs_still_start(lab: Lab) -> None:
    threads = "import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()"
    assert lab.run("left", ["/usr/bin/python3", "-c", threads]).stdout == "thread\n"


def test_folders_of_the_host_in_a_node_are_read_only_or_hold_no_programs_and_no_devices(lab: Lab) -> None:
    """A wire's folder is one, too; here it is the node's own."""
    for line in lab.run("left", ["cat", "/proc/self/mountinfo"]).stdout.splitlines():
        root, inside, options = line.split()[3:6]
        if inside.startswith(("/dev", "/proc", "/sys")) or root == "/":
            continue
        assert "ro" in options.split(",") or {"nosuid", "nodev", "noexec"} <= set(options.split(",")), line


def test_what_a_node_writes_on_the_host_cannot_be_run(lab: Lab) -> None:
    script = "cp /usr/bin/true /run/netboxit/true && /run/netboxit/true"
    assert lab.run("left", ["sh", "-c", script]).returncode == 126
