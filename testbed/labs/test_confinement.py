# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program inside a node cannot do to the host, or to find a way out."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from system import node_disks, seccomp, users
from system.users import UserSupport
from testbed.labs import lab_status
from testbed.labs.lab import Lab
from tests.small_labs import PlanPair

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: System calls of x86-64 that a node is refused, each with arguments that would otherwise give another error than EPERM.
_REFUSED = {"ptrace": 101, "unshare": 272, "setns": 308, "mount": 165, "add_key": 248, "bpf": 321, "io_uring_setup": 425}
_TRY = (
    "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
    "def tried(call): ctypes.set_errno(0); libc.syscall(call, -1, -1, -1, -1, -1); return ctypes.get_errno()\n"
    "print(*map(tried, {calls}))"
)


@pytest.fixture
def lab(plan_pair: PlanPair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setenv("NETBOXIT_STATE", folder)
        with Lab.up(plan_pair(capabilities=("net_raw",))) as up:
            yield up


def test_the_root_of_a_node_is_nobody_on_the_host(lab: Lab, tmp_path: Path) -> None:
    if refused := users.support([lab.folder, CHECKOUT]).refused:
        assert any(refused in note for note in lab_status.of(lab)["notes"])
        pytest.skip(refused)
    assert lab.is_confined("left")
    assert lab.run("left", ["id", "-u"]).stdout == "0\n"
    program = lab.start("left", ["sleep", "60"], log=tmp_path / "log")
    assert Path(f"/proc/{program.pid}").stat().st_uid == users.FIRST_ID
    lab.run("left", ["touch", "/run/netboxit/made"])
    assert (lab.node_folder("left") / "made").stat().st_uid == users.FIRST_ID


def test_its_capabilities_count_in_its_own_network(lab: Lab) -> None:
    raw = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW).bind(('wire', 3)); print('bound')"
    assert lab.run("left", ["/usr/bin/python3", "-c", raw]).stdout == "bound\n"


@pytest.mark.parametrize(
    ("support", "capabilities", "reason"),
    [
        (UserSupport(None, None), ("net_raw", "sys_nice", "ipc_lock"), None),
        (UserSupport(None, "no limits"), ("net_raw", "CAP_SYS_NICE"), "no limits"),
        (UserSupport(None, "no limits"), ("net_raw", "net_bind_service"), None),
        (UserSupport(None, None), ("net_raw", "bpf"), "loads a program"),
        (UserSupport("refused", None), (), "refused"),
    ],
)
def test_who_has_to_be_the_hosts_root_is_told_why(
    support: UserSupport, capabilities: tuple[str, ...], reason: str | None, plan_pair: PlanPair
) -> None:
    why = support.keeps_out(plan_pair(capabilities=capabilities).nodes[0])
    assert why is None if reason is None else reason in (why or "")


def test_a_folder_that_only_root_may_enter_keeps_nodes_from_being_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    refused = users.support([tmp_path / "closed/labs"]).refused
    assert refused is not None
    assert f"{tmp_path}/closed" in refused


def test_system_calls_that_lead_out_of_a_node_are_refused(lab: Lab) -> None:
    assert set(_REFUSED) <= set(re.findall(r"^(\w+) errno 1$", seccomp.profile(()), re.MULTILINE))
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


#: On a machine that has a disk of its own below /usr, as many have at /usr/local, and one more below it that runs no programs.
_MOUNTED = f"""\
mount -t tmpfs -o mode=777 none /usr/src && mkdir "/usr/src/a b" && mount -t tmpfs -o noexec,mode=777 none "/usr/src/a b"
echo there >"/usr/src/a b/file"
{CHECKOUT}/netboxit.py up "$1" >/dev/null || exit
for node in a one; do
    {CHECKOUT}/netboxit.py exec $node -- sh -c 'cat "/usr/src/a b/file"; touch /usr/src/new "/usr/src/a b/new" /usr/new'
    {CHECKOUT}/netboxit.py exec $node -- grep --count lxc/rootfs /proc/self/mountinfo
done
{CHECKOUT}/netboxit.py down x >/dev/null
"""


def test_what_the_host_has_mounted_below_usr_is_there_and_read_only() -> None:
    """A user namespace may not show a part of it. `one` may have to be the host's root, `a` need not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        file = Path(folder, "x.yaml")
        stations = "{technology: ethernet, stations: {left: {}, right: {}}}"
        file.write_text(
            "name: x\nhosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}\n"
            f"netboxes: {{one: {stations}}}\nwires: [[a, one.left], [one.right, b]]\n"
        )
        argv = ["unshare", "--mount", "sh", "-c", _MOUNTED, "sh", str(file)]
        done = subprocess.run(
            argv, env=os.environ | {"NETBOXIT_STATE": f"{folder}/state"}, capture_output=True, text=True, check=False
        )
    assert done.stdout.split() == ["there", "0"] * 2, done.stderr
    assert done.stderr.count("Read-only file system") == 6, done.stderr


_RUNS_WHAT_IT_WRITES = ["sh", "-c", "cp /usr/bin/true /run/netboxit/true && /run/netboxit/true"]


def test_what_a_node_writes_on_the_host_cannot_be_run(lab: Lab) -> None:
    assert lab.run("left", _RUNS_WHAT_IT_WRITES).returncode == 126


def test_neither_can_what_it_writes_where_this_host_has_no_disks_for_nodes(
    plan_pair: PlanPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_disks, "refused", lambda: "this test's host has none")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setenv("NETBOXIT_STATE", folder)
        with Lab.up(plan_pair(capabilities=("net_raw",))) as lab:
            assert not lab.node_folder("left").is_mount()
            assert lab.run("left", _RUNS_WHAT_IT_WRITES).returncode == 126
