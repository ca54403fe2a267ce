# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines for tests of several hosts: each has a root, processes, network, name, control groups of its own, and a real sshd.

They are made of namespaces, inside those of a world that has the network between them; the kernel ends everything in it with its
first process. A machine's root is an overlay over this machine's: the checkout, what was built and what is installed are there,
and what is written stays in memory.

    world: bridge `underlay`, IPv4 and IPv6            alpha, beta, …: `uplink` to the bridge, sshd, /run/ssh, /run/state
    direct cables besides: alpha's `to-beta` and beta's `to-alpha`, beta's `to-gamma` and gamma's `to-beta`, …
"""

from __future__ import annotations

import os
import socket
import subprocess
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml

from contracts.installation import CHECKOUT
from system import cores
from tests import machine_parts, overlays
from tests.machine_parts import ip

Result = TypeVar("Result")

#: Room for VXLAN around frames with 1500 bytes.
UNDERLAY_MTU = 1600
STATE = Path("/run/state")
#: An inventory for Ansible and for `netboxit`, in which the machine that reads it is `ansible_connection: local`.
INVENTORY = Path("/run/inventory.yml")
_SSH = Path("/run/ssh")
#: In the world: a folder for each machine, and the keys.
_ROOTS = Path("/srv")
_KEYS = _ROOTS / "keys"

_SSHD = f"""\
HostKey {_SSH}/host_key
AuthorizedKeysFile {_SSH}/authorized_keys
PidFile {_SSH}/pid
PasswordAuthentication no
UsePAM yes
UseDNS no
Subsystem sftp internal-sftp
"""


@dataclass(frozen=True)
class MemberHosts:
    """As the function of a test sees them, in the first of them."""

    names: Sequence[str]
    _requests: Connection

    def command(self, name: str, *words: str) -> list[str]:
        """What runs a command on one of the others, by ssh; its words are read by a shell over there."""
        options = ("-i", str(_SSH / "key"), "-o", f"UserKnownHostsFile={_SSH}/known_hosts", "-o", "BatchMode=yes")
        return ["ssh", *options, f"root@{address(self.names.index(name))}", *words]

    def run(self, name: str, *words: str) -> str:
        """Runs a command on one of the others; returns its output, and fails the test when it fails."""
        done = subprocess.run(self.command(name, *words), capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"on {name}, {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def cut_off(self, name: str) -> None:
        """Takes its cable out of the network between the machines; it goes on by itself."""
        self._ask("cut_off", name)

    def plug_in(self, name: str) -> None:
        """Puts the cable back."""
        self._ask("plug_in", name)

    def kill(self, name: str) -> None:
        """As a power cut: everything on it is gone at once."""
        self._ask("kill", name)

    def changes(self, name: str) -> dict[str, str]:
        """Paths on its root that are not as they were when the machine began, and what is there now (`overlays.changes`)."""
        return self._ask("changes", name)  # type: ignore[no-any-return]

    def _ask(self, *request: str) -> Any:
        self._requests.send(request)
        return self._requests.recv()


def address(number: int, version: int = 4) -> str:
    """Of the machine with that number, counted from 0, at the underlay."""
    return f"192.0.2.{number + 1}" if version == 4 else f"2001:db8:0:7::{number + 1}"


def run_in_member_hosts(
    function: Callable[..., Result],
    *arguments: Any,
    names: Sequence[str] = ("alpha", "beta"),
    mtu: int = UNDERLAY_MTU,
    realtime_budget_us: int = machine_parts.REALTIME_BUDGET_US,
) -> Result:
    """Makes machines with these names and calls `function(MemberHosts, *arguments)` in the first one.

    Each has that real-time budget, of each core's time in a second, or none where there is not enough left for all. Returns
    what the function returned; what it raised is raised, with its traceback. With it everything ends, and nothing is left.
    """
    top = machine_parts.group_name()
    groups = {name: f"{top}/{name}" for name in names}

    def become(writing: int) -> NoReturn:
        machine_parts.unshare(machine_parts.NEW_MOUNTS | machine_parts.NEW_PROCESSES | machine_parts.NEW_NETWORK)
        machine_parts.go_on_as_first_process(writing)
        _World(groups, mtu, writing, partial(_call, function, arguments)).go_on()

    budgets = {top: len(names) * realtime_budget_us} | dict.fromkeys(groups.values(), realtime_budget_us)
    return machine_parts.answered(budgets, become)  # type: ignore[no-any-return]


def _call(function: Callable[..., Result], arguments: Sequence[Any], hosts: MemberHosts) -> Result:
    return function(hosts, *arguments)


class _World:
    """The first process of all: makes the machines and the network between them, and does what the test asks for."""

    def __init__(self, groups: dict[str, str], mtu: int, writing: int, function: Callable[[MemberHosts], Any]) -> None:
        self._groups = groups
        self._names = list(groups)
        self._mtu = mtu
        machine_parts.make_mounts_private()
        machine_parts.mount("proc", "/proc", "proc")
        machine_parts.mount("tmpfs", str(_ROOTS), "tmpfs", data="mode=755")
        ip(f"link add underlay mtu {mtu} type bridge")
        ip("link set underlay addrgenmode none up")
        _make_keys(self._names)
        self._processes: dict[str, int] = {}
        self._pipes: dict[str, Connection] = {}
        for number, (name, group) in enumerate(groups.items()):
            mine, theirs = Pipe()
            machine = _Machine(number, self._names, group, theirs)
            self._processes[name] = os.fork()
            if self._processes[name] == 0:
                mine.close()
                machine.become(writing, None if number else function)
            theirs.close()
            self._pipes[name] = mine
        os.close(writing)

    def go_on(self) -> NoReturn:
        """Until the function in the first machine has ended."""
        self._receive_all()  # they have their namespaces
        for name, process in self._processes.items():
            ip(f"link add {name} mtu {self._mtu} type veth peer name uplink mtu {self._mtu} netns {process}")
            ip(f"link set {name} master underlay addrgenmode none up")
        for left, right in pairwise(self._names):
            ends = (f"to-{right} mtu {self._mtu} netns {self._processes[left]}", f"to-{left} netns {self._processes[right]}")
            ip(f"link add name {ends[0]} type veth peer mtu {self._mtu} name {ends[1]}")
        for pipe in self._pipes.values():
            pipe.send("the cables are in")
        self._receive_all()  # they are up
        requests = self._pipes[self._names[0]]
        requests.send("go")
        with suppress(EOFError):
            while True:
                what, name = requests.recv()
                requests.send(getattr(self, f"_{what}")(name))
        os._exit(0)

    def _receive_all(self) -> None:
        for name, pipe in self._pipes.items():
            problem = pipe.recv()
            assert not problem, f"{name} does not come up:\n{problem}"

    def _cut_off(self, name: str) -> None:
        ip(f"link set {name} down")

    def _plug_in(self, name: str) -> None:
        ip(f"link set {name} up")

    def _kill(self, name: str) -> None:
        self._cut_off(name)  # the kernel takes its time to take down a network whose processes are gone
        cores.end_all(self._groups[name])
        os.waitpid(self._processes[name], 0)

    def _changes(self, name: str) -> dict[str, str]:
        return overlays.changes(_ROOTS / name)


@dataclass(frozen=True)
class _Machine:
    """One of the machines, before it is one."""

    number: int
    names: Sequence[str]
    group: str
    pipe: Connection

    @property
    def name(self) -> str:
        return self.names[self.number]

    def become(self, writing: int, function: Callable[[MemberHosts], Any] | None) -> NoReturn:
        """Calls the function when all machines are there, if there is one, and ends with it."""
        try:
            machine_parts.die_with_parent()
            machine_parts.join_groups(self.group)
            machine_parts.unshare(machine_parts.NEW_MACHINE)
            self.pipe.send("")
            self.pipe.recv()
            machine_parts.go_on_as_first_process(writing)
            self._set_up()
            self.pipe.send("")
            self.pipe.recv() if function else os.close(writing)
        except BaseException:
            self.pipe.send(traceback.format_exc())
            os._exit(1)
        if function is None:
            machine_parts.be_init()
        runner = os.fork()
        if runner:
            os.close(writing)
            self.pipe.close()
            machine_parts.be_init(runner)
        machine_parts.answer(writing, function, MemberHosts(self.names, self.pipe))

    def _set_up(self) -> None:
        hierarchies = machine_parts.mounted_hierarchies()
        ssh = {file.name: file.read_text() for file in (_KEYS / self.name).iterdir()}
        root = overlays.mount_over_root(_ROOTS / self.name)
        machine_parts.bind("/dev", str(root / "dev"))
        machine_parts.change_root(root)
        machine_parts.mount_views(hierarchies)
        machine_parts.mount("devpts", "/dev/pts", "devpts", data="ptmxmode=0666,mode=0620,gid=5")
        socket.sethostname(self.name)
        for interface in ("lo", *self._cables()):
            ip(f"link set {interface} addrgenmode none up")
        ip(f"address add {address(self.number)}/24 dev uplink")
        ip(f"address add {address(self.number, version=6)}/64 dev uplink nodad")
        machine_parts.wait_for_carrier()
        # What this machine's root has its shell do before each command (set up other Pythons, say) is nothing of a test's.
        Path("~root/.bashrc").expanduser().unlink(missing_ok=True)
        self._start_sshd(ssh)
        INVENTORY.write_text(yaml.safe_dump(_inventory(self.names, here=self.name)))

    def _cables(self) -> list[str]:
        neighbours = [n for n in (self.number - 1, self.number + 1) if 0 <= n < len(self.names)]
        return ["uplink", *(f"to-{self.names[neighbour]}" for neighbour in neighbours)]

    def _start_sshd(self, files: Mapping[str, str]) -> None:
        for folder in (_SSH, Path("/run/sshd")):
            folder.mkdir(mode=0o755)
        for name, text in files.items():
            (_SSH / name).write_text(text)
            (_SSH / name).chmod(0o600)
        (_SSH / "sshd_config").write_text(_SSHD)
        subprocess.run(["/usr/sbin/sshd", "-f", str(_SSH / "sshd_config"), "-E", str(_SSH / "log")], check=True)


def _make_keys(names: Sequence[str]) -> None:
    """What is in /run/ssh of each machine: its own key, the key of whoever operates them, and whom both know."""
    user = _key(_KEYS / "user")
    hosts = {name: _key(_KEYS / name) for name in names}
    known = "".join(
        f"{address(number)},{address(number, version=6)} {public}" for number, (_, public) in enumerate(hosts.values())
    )
    for name, (private, _) in hosts.items():
        (folder := _KEYS / name).mkdir()
        for file, text in (("host_key", private), ("key", user[0]), ("authorized_keys", user[1]), ("known_hosts", known)):
            (folder / file).write_text(text)


def _key(file: Path) -> tuple[str, str]:
    """A new one: private and public."""
    file.parent.mkdir(exist_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", file.name, "-f", f"{file}.key"], check=True)
    return Path(f"{file}.key").read_text(), Path(f"{file}.key.pub").read_text()


def _inventory(names: Sequence[str], here: str) -> dict[str, Any]:
    common = {
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_user": "root",
        "ansible_port": 22,
        "ansible_ssh_private_key_file": str(_SSH / "key"),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={_SSH}/known_hosts",
        "netboxit_folder": str(CHECKOUT),
        "netboxit_state": str(STATE),
    }
    hosts = {
        name: {"ansible_connection": "local", "netboxit_address": address(number)}
        if name == here
        else {"ansible_host": address(number)}
        for number, name in enumerate(names)
    }
    return {"all": {"hosts": hosts, "vars": common}}
