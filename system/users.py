# SPDX-License-Identifier: GPL-2.0-or-later
"""User namespaces: inside a lab's namespace its nodes' programs are root, which the kernel maps to an unused user of the host.

The network namespaces of a lab belong to its user namespace, so that its nodes' capabilities count in them, and nowhere else.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from contracts.errors import NetBoxITError
from contracts.plan import NodePlan
from ownership.locks import NODES, make_closed
from system import forked, kernel

#: The host's number of a node's user 0.
FIRST_ID = NODES
IDS = 65_536

FOLDER = Path("/run/netboxit/users")

#: Limits that the kernel keeps for each user namespace (namespaces(7), /proc/sys/user). All nodes of a lab share them; each lab
#: gets a part of what the host grants its root.
_COUNTED = Path("/proc/sys/user")
_BOUNDED = ("max_inotify_instances", "max_inotify_watches", "max_fanotify_groups", "max_fanotify_marks")
_SHARE = 8

#: These capabilities do not count in a user namespace: there resource limits (setrlimit(2)) allow what they would.
_BY_LIMITS = {"sys_nice", "ipc_lock"}
#: What a host's user needs to configure its network, and to run services as other users. The capabilities count only inside the
#: user namespace.
_OF_OWN_NAMESPACE = ("net_admin", "setuid", "setgid", "chown", "dac_override", "fowner", "kill")
#: Loading a program into the kernel takes the host's own right.
_OF_HOST = {"bpf"}


class UsersFailed(NetBoxITError):
    """A lab's user namespace could not be made or removed."""


@dataclass(frozen=True)
class UserSupport:
    """Which user namespaces this host grants."""

    #: Why there can be no user namespaces; None when there can.
    refused: str | None
    #: Why programs in one can have neither real-time priority nor locked memory; None when they can.
    unlimited: str | None

    def keeps_out(self, node: NodePlan) -> str | None:
        """Why a node's programs have to be the host's root; None when they need not."""
        if self.refused:
            return self.refused
        needed = {*capabilities(node, confined=False)}
        if needed & _OF_HOST:
            return "its ports are AF_XDP's, for which it loads a program into the kernel"
        for device in node.devices:
            if Path(device).stat().st_mode & 0o006 != 0o006:
                return f"it needs {device}, which is for the host's root alone here (chmod o+rw)"
        return self.unlimited if needed & _BY_LIMITS else None


def support(folders: Iterable[Path]) -> UserSupport:
    """Makes one to try it. `folders` are those that nodes see: a node's root, an unused user of the host, must reach them."""
    for folder in folders:
        for part in (folder, *folder.parents):
            if part.exists() and not _passable(part.stat()):
                return UserSupport(f"only its owner may enter {part}, below which {folder} is (chmod o+x)", None)
    try:
        with _child() as (_, ask):
            if ask("mount /proc and /sys in a user namespace"):
                return UserSupport("part of /proc or /sys is hidden here, so that a user namespace cannot have its own", None)
    except OSError as error:
        if os.geteuid() != 0:
            return UserSupport(f"only root can try it ({error.strerror})", None)
        return UserSupport(f"this host refuses user namespaces: {error.strerror} (see user.max_user_namespaces)", None)
    return UserSupport(None, _unlimited())


def capabilities(node: NodePlan, *, confined: bool) -> tuple[str, ...]:
    """Of the node's root, in small letters without `cap_`; `confined` when the node is in a user namespace."""
    return (
        *(name.lower().removeprefix("cap_") for name in node.capabilities),
        *(_OF_OWN_NAMESPACE if confined and node.kind == "host" else ()),
    )


def _passable(status: os.stat_result) -> bool:
    """Whether a node's root may enter the folder."""
    return bool(status.st_mode & (0o010 if status.st_gid == FIRST_ID else 0o001))


def path(mark: str) -> Path:
    """The user namespace of the lab with that mark, bound to a file."""
    return FOLDER / mark


def of(mark: str) -> Path | None:
    """The same, or None when the lab has none."""
    return path(mark) if path(mark).exists() else None


def create(mark: str) -> None:
    """Makes the user namespace of the lab with that mark. Raises UsersFailed."""
    target = path(mark)
    try:
        _make_file(target)
        with _child() as (child, _):
            _limit(child)
            kernel.bind_mount(Path(f"/proc/{child}/ns/user"), target)
    except OSError as error:
        target.unlink(missing_ok=True)
        raise UsersFailed(f"user namespace {target}: {error.strerror}") from error


def _make_file(target: Path) -> None:
    while True:
        with suppress(FileNotFoundError):  # another command has just removed a folder that was empty
            make_closed(target.parent.parent)
            make_closed(target.parent)
            target.touch(exist_ok=False)
            return


def delete(mark: str) -> None:
    """Removes the user namespace of the lab with that mark. It may be gone already. Raises UsersFailed."""
    target = path(mark)
    with kernel.errors_as(UsersFailed, f"user namespace {target}"):
        if target.exists():
            with suppress(OSError):  # after a reboot it is a file alone
                kernel.unmount(target)
            target.unlink()
        kernel.remove_empty(FOLDER, FOLDER.parent)


def give(folder: Path) -> None:
    """Makes the nodes' root the owner of a folder and all that is in it. No node may have been able to write there before."""
    for entry in (folder, *folder.rglob("*")):
        os.chown(entry, FIRST_ID, FIRST_ID, follow_symlinks=False)


def enclose(folder: Path, support: UserSupport) -> None:
    """Makes the folder in which nodes have theirs. No user can enter it: a node might leave set-user-ID programs for them."""
    folder.mkdir(mode=0o710)
    if os.geteuid() == 0:
        os.chown(folder, 0, FIRST_ID if support.refused is None else 0)


def is_own(pid: int) -> bool:
    """Whether a process is in a user namespace that is not the host's; one that has ended is not."""
    try:
        return not Path(f"/proc/{pid}/ns/user").samefile("/proc/self/ns/user")
    except OSError:
        return False


def _limit(child: int) -> None:
    """Limits what the kernel counts for the namespace. It counts it for the host's root, too, who has to keep most of it."""
    limits = {name: max(1, int((_COUNTED / name).read_text()) // _SHARE) for name in _BOUNDED if (_COUNTED / name).exists()}

    def write_inside() -> None:
        kernel.setns(inside, kernel.CLONE_NEWUSER)
        for name, most in limits.items():
            (_COUNTED / name).write_text(str(most))

    with kernel.closing(os.open(f"/proc/{child}/ns/user", os.O_RDONLY)) as inside:
        forked.check(forked.call(write_inside, "bound what a user namespace may have"))


def _unlimited() -> str | None:
    def raise_limits() -> None:
        resource.setrlimit(resource.RLIMIT_RTPRIO, (1, 1))
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    refused = forked.call(raise_limits, "raise limits of resources")
    return "this host lets nobody raise RLIMIT_RTPRIO and RLIMIT_MEMLOCK (CAP_SYS_RESOURCE)" if refused else None


@contextmanager
def _child() -> Iterator[tuple[int, Callable[[str], int]]]:
    """A child process in a new user namespace, with users and groups mapped. It ends with the block.

    The block gets its number, and the function that asks it for the mounts that a container's start needs (`forked.asked`).
    """
    with forked.asked((partial(kernel.unshare, kernel.CLONE_NEWUSER), _mount_own), "hold a user namespace") as (child, ask):
        forked.check(ask("make a user namespace"))
        for kind in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{kind}").write_text(f"0 {FIRST_ID} {IDS}\n")
        yield child, ask


def _mount_own() -> None:
    """Mounts /proc and /sys of new namespaces. The kernel refuses that where parts of the present ones are hidden
    (user_namespaces(7))."""

    def mount() -> None:
        kernel.mount_new("sysfs", Path("/sys"))
        kernel.mount_new("proc", Path("/proc"))

    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET)
    forked.check(forked.call(mount, "mount /proc and /sys"))
