# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that take all that they can get: neither the host nor another node is short of anything, and the lab tells."""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from contracts.plan import Limits
from system import cores, node_disks
from testbed.labs import lab_status, removal
from testbed.labs.lab import Lab, NodeFailed
from tests.small_labs import PlanPair
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

LIMITS = Limits(processes=40, memory=96_000_000, temporary=4 << 20, disk=16 << 20, open_files=64, locked_memory=1 << 20)

#: Each process makes others, and all stay. The first says when it is refused one.
FORK_BOMB = "import os\nwhile True:\n try: os.fork()\n except OSError: pass"
MEMORY_HOG = "data = []\nwhile True: data.append(bytearray(1 << 20))"


@pytest.fixture
def lab(plan_pair: PlanPair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Its nodes are confined where the host allows it: they can enter the folder that the lab is in."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setenv("NETBOXIT_STATE", folder)
        with Lab.up(plan_pair(limits=LIMITS)) as up:
            yield up


def python(lab: Lab, node: str, program: str) -> CompletedProcess[str]:
    return lab.run(node, ["/usr/bin/python3", "-c", program], timeout_s=30.0)


def test_a_fork_bomb_stays_in_its_node_and_goes_down_with_it(lab: Lab, tmp_path: Path) -> None:
    lab.start("left", ["/usr/bin/python3", "-c", FORK_BOMB], log=tmp_path / "log")
    until(lambda: any("processes" in limit for limit in lab.limits_reached("left")))
    assert len(cores.processes(lab.node("left").container)) <= LIMITS.processes
    assert lab.run("right", ["true"]).returncode == 0
    assert lab.limits_reached("right") == []
    assert any("left has reached its limit of processes: 40" in note for note in lab_status.of(lab)["notes"])


def test_what_takes_all_memory_is_ended_and_nothing_else(lab: Lab) -> None:
    assert python(lab, "left", MEMORY_HOG).returncode == 128 + 9
    assert lab.alive() == {"left": True, "right": True}
    assert lab.limits_reached("left") == ["memory: 96 MB (the kernel ended 1 of its processes)"]
    assert lab.limits_reached("right") == []


def test_a_node_whose_command_takes_all_memory_is_told_as_such(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair(right=("/usr/bin/python3", "-c", MEMORY_HOG), limits=LIMITS)) as lab:
        until(lambda: not lab.alive()["right"])
        with pytest.raises(NodeFailed, match="right has ended; it has reached its limit of memory: 96 MB"):
            lab.check_alive()
        assert lab.alive()["left"]


@pytest.mark.parametrize("folder", ["/tmp", "/run", "/dev/shm"])
def test_a_folder_in_ram_takes_so_much_and_no_more(folder: str, lab: Lab) -> None:
    fill = f"import os\nfill = os.open('{folder}/fill', os.O_CREAT | os.O_WRONLY)\nwhile True: os.write(fill, bytes(4096))"
    assert "No space left on device" in python(lab, "left", fill).stderr
    assert python(lab, "left", f"print(__import__('os').stat('{folder}/fill').st_size)").stdout.strip() == str(LIMITS.temporary)
    assert lab.limits_reached("left") == [f"temporary: {folder} is full (4 MiB)"]
    assert python(lab, "right", f"open('{folder}/own', 'wb').write(bytes(1 << 20))").returncode == 0


def test_a_nodes_folder_takes_so_much_and_no_more(lab: Lab) -> None:
    if refused := node_disks.refused():
        assert any(refused in note for note in lab_status.of(lab)["notes"])
        pytest.skip(refused)
    fill = "import os, itertools\nfor number in itertools.count(): open(f'/run/netboxit/{number}', 'wb').write(bytes(1 << 16))"
    assert "No space left on device" in python(lab, "left", fill).stderr
    image = removal.disk_of(lab.folder, "left")
    assert image.stat().st_blocks * 512 <= LIMITS.disk
    assert lab.limits_reached("left") == ["disk: its folder is full (16 MiB)"]
    assert python(lab, "right", "open('/run/netboxit/own', 'wb').write(bytes(1 << 20))").returncode == 0
    assert (lab.node_folder("right") / "own").stat().st_size == 1 << 20
    # What goes from the node goes from the host, and files without content are bounded, too.
    empty = "import os\n[os.remove(f'/run/netboxit/{name}') for name in os.listdir('/run/netboxit') if name.isdigit()]\nos.sync()"
    assert python(lab, "left", empty).returncode == 0
    many = "import itertools\nfor number in itertools.count(): open(f'/run/netboxit/{number}', 'wb')"
    assert "No space left on device" in python(lab, "left", many).stderr
    assert lab.limits_reached("left") == ["disk: its folder is full (16 MiB)"]


def test_where_a_disk_cannot_be_mounted_the_lab_comes_up_without_and_says_so(
    plan_pair: PlanPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that has /dev/loop-control and no loop device. Of two, the second one fails."""
    if refused := node_disks.refused():
        pytest.skip(refused)
    attached = node_disks.loop_device

    def granted_once(file: Path) -> AbstractContextManager[Path]:
        if file.name == "right":
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        return attached(file)

    monkeypatch.setattr(node_disks, "loop_device", granted_once)
    with Lab.up(plan_pair(limits=LIMITS)) as lab:
        notes = lab_status.of(lab)["notes"]
        (why,) = [note for note in notes if "no disks of their own" in note]
        assert "Operation not permitted; the kernel needs ext4" in why
        assert any("left, right: the limit of disk is not enforced" in note for note in notes)
        write = "for name in 'ab': open(f'/run/netboxit/{name}', 'wb').write(bytes(12 << 20))"
        assert python(lab, "left", write).returncode == 0
        assert not list(lab.folder.glob("disks/*"))


def test_no_file_of_a_node_is_longer_than_its_disk(lab: Lab, tmp_path: Path) -> None:
    """Neither a sparse one of its own, nor one of the host's that it was handed: the log of what is run in it."""
    sparse = python(lab, "left", "open('/run/netboxit/sparse', 'wb').truncate(8 << 40)")
    assert "File too large" in sparse.stderr
    log = tmp_path / "log"
    endless = lab.start("left", ["yes"], log=log)
    assert endless.wait(30.0) != 0
    assert log.stat().st_size <= LIMITS.disk
    by_another = "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nos.ftruncate(1, 8 << 40)"
    lab.start("left", ["/usr/bin/python3", "-c", by_another], log=log).wait(30.0)
    assert log.stat().st_size <= LIMITS.disk


def test_a_process_opens_and_locks_so_much_and_no_more(lab: Lab) -> None:
    assert "Too many open files" in python(lab, "left", "import os\nwhile True: os.dup(0)").stderr
    locks = "import ctypes, mmap\nsize = {}\nm = mmap.mmap(-1, size)\nc = ctypes.CDLL(None, use_errno=True)\n" + (
        "print(c.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), ctypes.c_size_t(size)))"
    )
    assert python(lab, "left", locks.format(1 << 19)).stdout.strip() == "0"
    assert python(lab, "left", locks.format(1 << 21)).stdout.strip() == "-1"


def test_a_node_that_takes_all_watches_leaves_the_hosts_root_some(lab: Lab, tmp_path: Path) -> None:
    if not lab.is_confined("left"):
        pytest.skip("this host refuses user namespaces, so nodes are the host's root")
    takes = "import ctypes, signal\nc = ctypes.CDLL(None, use_errno=True)\nn = 0\nwhile c.inotify_init() >= 0: n += 1\n"
    # It keeps them until the host has tried.
    holding = lab.start(
        "left", ["/usr/bin/python3", "-c", takes + "print(n, flush=True)\nsignal.pause()"], log=(log := tmp_path / "log")
    )
    until(lambda: "\n" in log.read_text() or holding.poll() is not None, "all watches are taken", 120.0)
    host = int(Path("/proc/sys/user/max_inotify_instances").read_text())
    assert int(log.read_text()) == min(host // 8, LIMITS.open_files - 3)
    descriptor = ctypes.CDLL(None, use_errno=True).inotify_init()
    assert descriptor >= 0
    os.close(descriptor)
    assert holding.poll() is None
