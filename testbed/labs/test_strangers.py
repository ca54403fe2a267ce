# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user of the machine who has nothing to do with labs can do to one that is up: nothing but see what it is called."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from system import cores, holding, rings
from testbed.labs.lab import Lab
from tests import strangers
from tests.small_labs import PlanPair

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: Each of these works on a process of one's own.
_PROCESSES = """
import ctypes, json, os, sys
ptrace, seize = 101, 0x4206  # asm/unistd_64.h, linux/ptrace.h
libc = ctypes.CDLL(None, use_errno=True)
attempts = {
    "environ": lambda pid: open(f"/proc/{pid}/environ", "rb").read(),
    "memory": lambda pid: open(f"/proc/{pid}/mem", "rb"),
    "descriptors": lambda pid: os.listdir(f"/proc/{pid}/fd"),
    "root": lambda pid: os.readlink(f"/proc/{pid}/root"),
    "network": lambda pid: os.open(f"/proc/{pid}/ns/net", os.O_RDONLY),
    "signal": lambda pid: os.kill(pid, 0),
    "trace": lambda pid: libc.syscall(ptrace, seize, pid, 0, 0) and os.listdir("/nonexistent"),
    "cores": lambda pid: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
    "priority": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
}
done = []
for pid in map(int, sys.argv[1:]):
    for name, attempt in attempts.items():
        try:
            attempt(pid)
        except OSError:
            continue
        done.append(name)
print(json.dumps(done))
"""
_WRITABLE = "import os, sys\nfor path in sys.argv[1:]:\n    if os.access(path, os.W_OK): print(path)"


@pytest.fixture
def lab(plan_pair: PlanPair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("NETBOXIT_STATE", folder)
        with Lab.up(plan_pair()) as up:
            yield up


def test_they_open_and_lock_nothing_of_it(lab: Lab) -> None:
    own = [lab.folder.parent, lab.folder, *lab.folder.rglob("*")]
    places = [path for top in (holding.RUN, rings.FOLDER) for path in (top, *top.rglob("*"))]
    assert {"plan.json", "ledger.jsonl"} <= {path.name for path in own}
    assert strangers.opened([*own, *places]) == []
    with strangers.locking(*own, *places) as (_, locks):
        assert locks == 0
        assert lab.run("left", ["true"]).returncode == 0


def test_they_do_nothing_to_its_processes(lab: Lab) -> None:
    groups = [folder for node in lab.plan.nodes for folder in cores.folders(node.container)]
    inside = {pid for node in lab.plan.nodes for pid in cores.processes(node.container)}
    monitors = {int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in inside} - inside - {0, 1}
    assert inside and monitors
    assert json.loads(strangers.run(_PROCESSES, *map(str, sorted(inside | monitors)))) == []
    files = [path for folder in groups for path in (folder, *folder.iterdir())]
    assert strangers.run(_WRITABLE, *files) == ""
    own = strangers.run(f"import os, sys; sys.argv.append(str(os.getpid()))\n{_PROCESSES}")
    assert "signal" in json.loads(own) and os.geteuid() == 0, "the attempts are such as succeed at one's own"


def test_they_speak_to_none_of_its_monitors_and_have_no_name_before_them(lab: Lab) -> None:
    """LXC's abstract sockets are for everybody in their network, and their names are known before."""
    seen = strangers.run("print(open('/proc/net/unix').read())")
    assert str(lab.folder) not in seen
    socket = (
        f"import socket; socket.socket(socket.AF_UNIX).bind('\\0{lab.folder}/containers/{lab.plan.nodes[0].container}/command')"
    )
    strangers.run(socket)
    assert lab.run("left", ["true"]).returncode == 0
