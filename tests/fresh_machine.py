# SPDX-License-Identifier: GPL-2.0-or-later
"""README's commands on a machine that has nothing yet: `make fresh-test`. Exit status 1 when one of them failed.

The machine is a new Debian 12, made by mmdebstrap, with a fresh clone of this checkout's last commit. It has processes, mounts,
control groups, /run, /tmp and a name of its own. It shares this machine's kernel, and its network, by which alone packages come.
It is configured as this machine is, as far as packages are concerned: apt's sources and how it fetches, pip's settings,
certificates, name servers. However this ends, the machine and all that it made are removed; only SIGKILL leaves its folder.

python -m tests.fresh_machine [COMMAND…]      other commands than README's, each run by a shell in the clone
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from contracts.installation import CHECKOUT
from system import cores
from tests import machine_parts

SUITE = "bookworm"
#: What README takes for granted besides Debian's own: how else would the checkout get there.
_INCLUDED = ("git", "make", "ca-certificates")
#: In README's order.
_COMMANDS = ("make demo", "make test")
#: What somebody who is not root can run of them.
_COMMANDS_OF_USER = ("make test",)
_USER, _USER_ID = "somebody", 1000
_NAME = "fresh"
_CLONE = Path("/opt/netboxit")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Files and settings of the environment that say how packages are fetched, carried over where this machine has them.
_CARRIED = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
_CARRIED_FOLDERS = ("/etc/apt/keyrings", "/etc/apt/trusted.gpg.d", "/usr/share/keyrings")
_SETTINGS = re.compile(r"PIP_(?!FIND_LINKS)\w+|\w+_(proxy|PROXY)|SSL_CERT_FILE|REQUESTS_CA_BUNDLE")
#: Of the real-time service that this machine has left, what is left to others.
_SPARED_US = 20_000


@dataclass(frozen=True)
class Ran:
    """A command that was run."""

    who: str
    command: str
    status: int
    seconds: float

    def __str__(self) -> str:
        result = "passed" if self.status == 0 else f"FAILED with {self.status}"
        return f"{result}, {self.seconds / 60:.1f} min: {self.command} ({self.who})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fresh_machine", description="README's commands on a fresh machine.")
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="run by root in the clone; README's by default")
    parser.add_argument("--as-user", action="append", metavar="COMMAND", help="run afterwards by somebody who is not root")
    parser.add_argument("--variant", default="important", help="mmdebstrap's: how much of Debian there is at first")
    words = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("a fresh machine is made of namespaces: run this as root")
    if shutil.which("mmdebstrap") is None:
        sys.exit("mmdebstrap is missing: `apt-get install mmdebstrap`")
    as_root = words.commands or ([] if words.as_user else _COMMANDS)
    as_user = words.as_user or ([] if words.commands else _COMMANDS_OF_USER)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has the background ignore it
    try:
        with _folder() as root:
            _make(root, words.variant)
            ran = _run(root, as_root, as_user)
    except KeyboardInterrupt:
        sys.exit("interrupted; the fresh machine was removed")
    print("on a fresh machine:", *ran, sep="\n    ")
    return 1 if any(one.status for one in ran) else 0


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def _folder() -> Iterator[Path]:
    """For the machine's root. Others may pass through it: a lab's nodes are nobody on the machine."""
    folder = Path(tempfile.mkdtemp(prefix="netboxit-fresh-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        # Its mounts were in namespaces that are gone. One that is here would be somebody's, and would be emptied.
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        if any(Path(target).is_relative_to(folder) for target in mounted):
            sys.exit(f"something is mounted in {folder}, which is left as it is: unmount it, and remove the folder")
        shutil.rmtree(folder)


def _make(root: Path, variant: str) -> None:
    """Debian with this machine's settings for packages, and the clone."""
    commit = subprocess.check_output(["git", "-C", str(CHECKOUT), "log", "-1", "--format=%h %s"], text=True).strip()
    print(f"making Debian 12 ({variant}) with a clone of {commit}", flush=True)
    options = root.with_name(f"{root.name}.apt")
    try:
        # How to fetch; not what else this machine has apt do.
        options.write_text(subprocess.check_output(["apt-config", "dump", "Acquire"], text=True))
        # In namespaces, so that whatever ends it ends all that it has started, too.
        alone = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        debian = ("mmdebstrap", "--quiet", "--mode=root", f"--variant={variant}", f"--include={','.join(_INCLUDED)}")
        subprocess.run([*alone, *debian, f"--aptopt={options}", SUITE, str(root), *_sources()], check=True)
    finally:
        options.unlink(missing_ok=True)
    for file in map(Path, _CARRIED):
        if file.exists():
            there = root / file.relative_to("/")
            there.unlink(missing_ok=True)  # a link to where a service would write it
            shutil.copyfile(file, there)
    for folder in map(Path, _CARRIED_FOLDERS):
        shutil.copytree(folder, root / folder.relative_to("/"), dirs_exist_ok=True)
    (root / "etc/hostname").write_text(f"{_NAME}\n")
    with (root / "etc/hosts").open("a") as hosts:
        hosts.write(f"127.0.0.1 localhost\n127.0.1.1 {_NAME}\n")
    user = ("useradd", f"--uid={_USER_ID}", "--create-home", f"--root={root}", _USER)
    subprocess.run(user, check=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(CHECKOUT), str(root / _CLONE.relative_to("/"))], check=True)


def _sources() -> list[str]:
    """This machine's files that say where that Debian comes from; without any mmdebstrap knows one."""
    found = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    files = [file for file in found if file.suffix in (".list", ".sources") and file.is_file()]
    return [str(file) for file in files if SUITE in file.read_text()]


def _run(root: Path, as_root: Sequence[str], as_user: Sequence[str]) -> list[Ran]:
    """Runs the commands on the machine."""
    settings = {name: value for name, value in os.environ.items() if _SETTINGS.fullmatch(name)}
    environment = settings | {"PATH": _PATH, "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb")}

    def become(writing: int) -> NoReturn:
        machine_parts.unshare(machine_parts.NEW_MACHINE & ~machine_parts.NEW_NETWORK)
        machine_parts.go_on_as_first_process(writing)
        _set_up(root)
        runner = os.fork()
        if runner:
            os.close(writing)
            machine_parts.be_init(runner)
        machine_parts.answer(writing, partial(_run_each, as_root, as_user, environment))

    ran: list[Ran] = machine_parts.answered({machine_parts.group_name(): _realtime_left_us()}, become)
    return ran


def _realtime_left_us() -> int:
    """What the kernel has left of the cores' time for real-time programs, where it rations it, less a little."""
    group = cores.group_folder("cpu", "cpu.rt_runtime_us")
    if not group.exists():
        return 0
    granted = sum(int(file.read_text()) for file in group.parent.glob("*/cpu.rt_runtime_us"))
    return max(0, int(group.read_text()) - granted - _SPARED_US)


def _set_up(root: Path) -> None:
    """Goes on in the machine."""
    machine_parts.make_mounts_private()
    hierarchies = machine_parts.mounted_hierarchies()
    machine_parts.bind(str(root), str(root))
    machine_parts.bind("/dev", str(root / "dev"))
    machine_parts.change_root(root)
    machine_parts.mount_views(hierarchies)
    machine_parts.mount("devpts", "/dev/pts", "devpts", data="ptmxmode=0666,mode=0620,gid=5")
    socket.sethostname(_NAME)


def _run_each(as_root: Sequence[str], as_user: Sequence[str], environment: Mapping[str, str]) -> list[Ran]:
    """All of them, also after one that failed."""
    ran = [_ran("root", command, {**environment, "HOME": "/root"}) for command in as_root]
    if as_user:
        # As `sudo make setup` leaves it in somebody's own checkout.
        subprocess.run(["chown", "-R", f"{_USER}:", str(_CLONE)], check=True)
    return [*ran, *(_ran(_USER, command, {**environment, "HOME": f"/home/{_USER}"}) for command in as_user)]


def _ran(who: str, command: str, environment: Mapping[str, str]) -> Ran:
    print(f"--- {who}: {command}", flush=True)
    started = time.monotonic()
    user, words = _USER_ID if who == _USER else None, ["sh", "-c", command]
    groups: list[str | int] | None = None if user is None else []
    with suppress(KeyboardInterrupt):
        done = subprocess.run(
            words, cwd=_CLONE, env=environment, stdin=subprocess.DEVNULL, user=user, group=user, extra_groups=groups, check=False
        )
        return Ran(who, command, done.returncode, time.monotonic() - started)
    return Ran(who, command, 1, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
