# SPDX-License-Identifier: GPL-2.0-or-later
"""The few system calls that Python 3.11 has no function for, each checked; and what callers of the system need around them."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from contracts.errors import NetBoxITError

#: Kinds of namespaces, for `unshare` and `setns`: mounts, users, processes and network.
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_SHARED = 4096, 16384, 1 << 20
_MNT_DETACH, _UMOUNT_NOFOLLOW = 2, 8
_RENAME_EXCHANGE = 2
_OPEN_TREE, _OPEN_TREE_CLONE = 428, 1  # of no C library before glibc 2.36; the number is the same everywhere
_FSOPEN, _FSOPEN_CLOEXEC = 430, 1  # linux/mount.h, the same everywhere
_FSCONFIG, _SET_STRING, _CREATE = 431, 1, 6
_AT_FDCWD = -100
#: Of x86-64 (asm/unistd_64.h). The C library's functions change all threads of a process, the kernel's calls only their own.
_SETGROUPS, _SETRESUID, _SETRESGID = 116, 117, 119
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(kinds: int) -> None:
    """Gives the calling thread namespaces of its own, as `os.unshare` of Python 3.12: those of processes to its next children.

    With CLONE_NEWUSER the process must have one thread.
    """
    _check(_libc.unshare(kinds), "unshare")


def mount_device(device: Path, target: Path, kind: str, options: str) -> None:
    """Mounts a block device's file system of that kind, without set-uid programs, devices and programs.

    `options` are the file system's own.
    """
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _check(_libc.mount(bytes(device), bytes(target), kind.encode(), flags, options.encode()), f"mount {device} on {target}")


def try_device(device: Path, kind: str) -> None:
    """Opens a block device's file system of that kind as a mount does, and closes it; it appears nowhere."""
    with closing(_check(_libc.syscall(_FSOPEN, kind.encode(), _FSOPEN_CLOEXEC), f"fsopen {kind}")) as descriptor:
        _check(_libc.syscall(_FSCONFIG, descriptor, _SET_STRING, b"source", bytes(device), 0), f"fsconfig {device}")
        _check(_libc.syscall(_FSCONFIG, descriptor, _CREATE, None, None, 0), f"open {kind} on {device}")


def mount_new(kind: str, target: Path) -> None:
    """Mounts a new file system of the kernel's (proc, sysfs) for the namespaces that the caller is in."""
    _check(_libc.mount(b"none", bytes(target), kind.encode(), 0, None), f"mount {kind} on {target}")


def setns(descriptor: int, kind: int) -> None:
    """Puts the calling thread into the namespace behind an open file of that kind, /proc/…/ns/… or /run/netns/… .

    As `os.setns` of Python 3.12. With CLONE_NEWUSER the process must have one thread.
    """
    _check(_libc.setns(descriptor, kind), "setns")


def become(user: int, group: int, groups: Sequence[int]) -> None:
    """Gives the calling thread of a process of root's another user and group, without capabilities, until `become_root_again`.

    Its real user stays root: so the user whose number it has can neither end nor trace it (kill(2), ptrace(2)).
    """
    _set_groups(groups)
    _check(_libc.syscall(_SETRESGID, -1, group, -1), "setresgid")
    _check(_libc.syscall(_SETRESUID, -1, user, -1), "setresuid")


def become_root_again(groups: Sequence[int]) -> None:
    _check(_libc.syscall(_SETRESUID, -1, 0, -1), "setresuid")
    _check(_libc.syscall(_SETRESGID, -1, 0, -1), "setresgid")
    _set_groups(groups)
    # With another user the kernel takes it that a process has secrets, and gives its files in /proc to root (proc(5)).
    _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def end_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Has the calling process get that signal when the thread that made it ends; at once, where that was so already.

    A change of user undoes it, also that by a set-user-ID program (prctl(2)).
    """
    _check(_libc.prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os.kill(os.getpid(), by)


def _set_groups(groups: Sequence[int]) -> None:
    _check(_libc.syscall(_SETGROUPS, len(groups), (ctypes.c_uint32 * len(groups))(*groups)), "setgroups")


def bind_mount(source: Path, target: Path) -> None:
    """With all that is mounted below the source."""
    _check(_libc.mount(bytes(source), bytes(target), None, _MS_BIND | _MS_REC, None), f"mount {source} on {target}")


def open_uncovered(folder: Path) -> int:
    """A descriptor of the folder as it is below what is mounted in it."""
    return _check(_libc.syscall(_OPEN_TREE, _AT_FDCWD, bytes(folder), _OPEN_TREE_CLONE | os.O_CLOEXEC), f"open_tree {folder}")


def share_mounts(target: Path) -> None:
    """What is mounted below a mount point appears in all copies of it, in other mount namespaces too; EINVAL when it is none."""
    _check(_libc.mount(b"", bytes(target), b"none", _MS_SHARED | _MS_REC, None), f"share the mounts of {target}")


def unmount(target: Path) -> None:
    """A link in its place is not followed."""
    _check(_libc.umount2(bytes(target), _MNT_DETACH | _UMOUNT_NOFOLLOW), f"unmount {target}")


def exchange(folder: int, name: str, other: str) -> None:
    """Two objects in an open folder get each other's names, at once."""
    _check(
        _libc.renameat2(folder, os.fsencode(name), folder, os.fsencode(other), _RENAME_EXCHANGE), f"exchange {name} and {other}"
    )


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """The open file is closed after the block."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def remove_empty(*folders: Path) -> None:
    """Removes these folders, in this order. One that is not empty, gone or another user's is left alone."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def ignored(*numbers: int) -> Iterator[None]:
    """An OSError of the block with one of these numbers (errno) ends the block, and nothing else."""
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise


@contextmanager
def errors_as(kind: type[NetBoxITError], what: str, remedy: str = "") -> Iterator[None]:
    """An OSError of the block becomes an error of that kind: what was tried, what the system answered, what to do next."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror}" + (f"; {remedy}" if remedy else "")) from error


def _check(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return int(result)
