# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of a test's own: network, processes, mounts, control groups, /run and /dev/shm are nobody else's.

So a test can look at all of the host, beside other tests and on a machine that is in use. It is made of namespaces; the kernel
ends everything in it with its first process.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from testbed import cores

Result = TypeVar("Result")

_NEW = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # NS, CGROUP, UTS, IPC, PID, NET
_MS_REC, _MS_PRIVATE, _MS_BIND, _MNT_DETACH = 0x4000, 0x40000, 0x1000, 2
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
#: Of each core's time; what a host has left to grant may be little.
_REALTIME_BUDGET_US = 20_000
_REALTIME_PATIENCE_S = 3.0

#: Its network: something of each kind that a lab must not touch.
_NETWORK = """\
sysctl -qw net.ipv6.conf.default.addr_gen_mode=1 net.ipv6.conf.default.accept_ra=0
ip link set lo up
ip link add nic0 address 02:00:5e:00:00:01 type veth peer name far0 address 02:00:5e:00:00:02
ip link add office type bridge
ip link set far0 master office
ip address add 192.0.2.2/24 dev nic0
ip link set nic0 up
ip link set far0 up
ip link set office up
ip address add 2001:db8::2/64 dev nic0 nodad
ip route add default via 192.0.2.1 dev nic0
ip route add 198.51.100.0/24 via 192.0.2.7 dev nic0 table 77
ip rule add from 192.0.2.2 lookup 77 priority 500
ip neighbour add 192.0.2.1 lladdr 02:00:5e:00:00:fe dev nic0 nud permanent
ip link add nic1 address 02:00:5e:00:00:03 type veth peer name far1 address 02:00:5e:00:00:04
ip link set far1 up
ip link set nic1 mtu 1400 txqueuelen 77 alias spare up
ip address add 198.51.100.2/24 dev nic1
ip address add 2001:db8:1::2/64 dev nic1 nodad
ip route add 203.0.113.0/24 via 198.51.100.9 dev nic1 table 78
ip neighbour add 198.51.100.9 lladdr 02:00:5e:00:00:fd dev nic1 nud permanent
sysctl -qw net.ipv4.conf.nic1.proxy_arp=1
nft add table inet firewall
nft add chain inet firewall forward { type filter hook forward priority 0 ; policy drop ; }
nft add rule inet firewall forward iifname office accept
sysctl -qw net.ipv4.ip_forward=1
sysctl -qw net.ipv4.conf.nic0.rp_filter=1"""

_libc = ctypes.CDLL(None, use_errno=True)


def run_in_own_host(function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls a function in a new host and returns what it returned; what it raised is raised, with its traceback."""
    reading, writing = os.pipe()
    group = f"netboxit-test-{os.getpid()}-{reading}"
    _make_groups(group)
    try:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _become_host(group, writing, function, arguments)
        os.close(writing)
        with os.fdopen(reading, "rb") as answers:
            answer = answers.read()
        os.waitpid(child, 0)
    finally:
        cores.end_all(group)
        cores.remove(group)
    assert answer, "the host ended before its function did"
    error, result = pickle.loads(answer)
    if error:
        raise AssertionError(f"in a host of its own:\n{error}")
    return result  # type: ignore[no-any-return]


def _become_host(group: str, writing: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Never returns: a process outside waits for the host's first one, which is its child and ends with it."""
    answer: tuple[str, Any]
    try:
        _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL), "prctl")
        for hierarchy in cores.hierarchies():
            (hierarchy.folder / group / "cgroup.procs").write_text(str(os.getpid()))
        _check(_libc.unshare(_NEW), "unshare")
        first = os.fork()
        if first:
            os.close(writing)
            os.waitpid(first, 0)
            os._exit(0)
        _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL), "prctl")
        _mount_all()
        _set_network_up()
        runner = os.fork()
        if runner:
            os.close(writing)
            _be_init(runner)
        answer = ("", function(*arguments))
    except BaseException:
        answer = (traceback.format_exc(), None)
    with os.fdopen(writing, "wb") as answers:
        pickle.dump(answer, answers)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _be_init(runner: int) -> None:
    """Reaps what is orphaned; when the runner ends, so does the host."""
    while os.wait()[0] != runner:
        pass
    os._exit(0)


def _make_groups(name: str) -> None:
    """A group in each hierarchy, as the root of the host's own tree."""
    for hierarchy in cores.hierarchies():
        group = hierarchy.folder / name
        group.mkdir()
        if "cpuset" in hierarchy.controllers and hierarchy.version == 1:
            for setting in ("cpuset.cpus", "cpuset.mems"):
                (group / setting).write_text((hierarchy.folder / setting).read_text())
        if (group / "cpu.rt_runtime_us").exists():
            _grant_realtime(group / "cpu.rt_runtime_us")


def _grant_realtime(setting: Path) -> None:
    """Labs that are up now may have all that there is; where it stays so, this is a host without real-time service."""
    deadline = time.monotonic() + _REALTIME_PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(OSError):
            setting.write_text(str(_REALTIME_BUDGET_US))
            return
        time.sleep(0.05)


def _mount_all() -> None:
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    hierarchies = [words for words in lines if words[2].startswith("cgroup")]
    settings = list(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/power/pm_qos_resume_latency_us"))
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("proc", "/proc", "proc")
    _unmount_below("/sys")
    _mount("sysfs", "/sys", "sysfs")
    # Once more, whole: where a part of /sys is covered, as below, a user namespace would not be given its own.
    _mount("sysfs", "/srv", "sysfs")
    _mount("tmpfs", "/sys/fs/cgroup", "tmpfs")
    for _, folder, kind, options, *_ in hierarchies:
        Path(folder).mkdir()
        _mount(kind, folder, kind, data=",".join(word for word in options.split(",") if word not in ("rw", "relatime")))
    cores.hierarchies.cache_clear()
    for folder in ("/run", "/dev/shm", "/var/lib/lxc"):
        _unmount_below(folder)
        _mount("tmpfs", folder, "tmpfs")
    # What keeps a core awake is the machine's: a file stands for it, as long as what is written to it.
    for setting in settings:
        stand_in = Path("/run/pm_qos") / setting.parts[-3]
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text("100\n")
        _mount(str(stand_in), str(setting), "", _MS_BIND)
    Path("/run/tmp").mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = "/run/tmp"
    os.environ["NETBOXIT_STATE"] = "/run/state"


def _unmount_below(folder: str) -> None:
    """Other labs' namespaces, say, which are to come and go unseen; one that goes just now cannot be unmounted."""

    def mounted() -> list[str]:
        targets = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        return [target for target in reversed(targets) if target.startswith(f"{folder}/")]

    while targets := mounted():
        for target in targets:
            _libc.umount2(target.encode(), _MNT_DETACH)


def _set_network_up() -> None:
    for command in _NETWORK.splitlines():
        subprocess.run(command.split(), check=True)
    deadline = time.monotonic() + 10
    while any("NO-CARRIER" in link["flags"] for link in json.loads(subprocess.check_output(["ip", "-json", "link"]))):
        assert time.monotonic() < deadline, "the host's interfaces do not get their carrier"
        time.sleep(0.005)


def _mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    _check(_libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), f"mount {kind} on {target}")


def _check(result: int, call: str) -> None:
    assert result == 0, f"{call}: {os.strerror(ctypes.get_errno())}"
