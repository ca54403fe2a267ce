# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops a program, and all that it starts, before each system call that changes something.

The kernel holds the caller (seccomp_unotify(2)) until it is let go, or answered without the call being made, or killed. So every
state that a program leaves when it is killed can be had, and every answer that the kernel may give, one after the other, and they
are the same each time.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import select
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: Calls that make, change or remove something that outlives them, or start, move or end a process, with their numbers
#: (x86-64, then the table of AArch64 and all newer architectures). Opening a file counts when it may make or empty it.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "write": (1, 64),
    "open": (2, None),
    "pwrite64": (18, 68),
    "writev": (20, 66),
    "sendfile": (40, 71),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "bind": (49, 200),
    "clone": (56, 220),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "creat": (85, None),
    "link": (86, None),
    "unlink": (87, None),
    "symlink": (88, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "mknod": (133, None),
    "sched_setscheduler": (144, 119),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "sethostname": (170, 161),
    "setxattr": (188, 5),
    "tkill": (200, 130),
    "sched_setaffinity": (203, 122),
    "exit_group": (231, 94),
    "tgkill": (234, 131),
    "openat": (257, 56),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "fchownat": (260, 54),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "fchmodat": (268, 53),
    "unshare": (272, 97),
    "fallocate": (285, 47),
    "setns": (308, 268),
    "renameat2": (316, 276),
    "execveat": (322, 281),
    "copy_file_range": (326, 285),
    "pidfd_send_signal": (424, 424),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "clone3": (435, 435),
    "mount_setattr": (442, 442),
    "ioctl": (16, 29),
}
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CREATING = os.O_CREAT | os.O_TRUNC
#: Of the argument that says so.
_FLAGS_OF = {"open": 1, "openat": 2}

_LOAD, _EQUAL, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06  # linux/bpf_common.h
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_RECEIVE, _SEND, _SET_FLAGS, _CONTINUE = 0xC0502100, 0xC0182101, 0x40082104, 1
#: The caller and whoever answers it run one after the other: the kernel need not wake up another core for either.
_SYNC_WAKE_UP = 1
_NEW_LISTENER = 8
_NR_SECCOMP = {"x86_64": 317, "aarch64": 277}

_NAMES = {numbers[_ARCHITECTURES[platform.machine()][0]]: name for name, numbers in _NUMBERS.items()}

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Call:
    """A system call that a thread wants to make."""

    identity: int
    thread: int
    name: str
    #: As the kernel has them: numbers, and addresses in the thread's memory.
    arguments: tuple[int, ...] = ()

    @property
    def process(self) -> int:
        """The process of the thread; 0 when it is gone."""
        try:
            lines = Path(f"/proc/{self.thread}/status").read_text().splitlines()
        except OSError:
            return 0
        return int(next(line.split()[1] for line in lines if line.startswith("Tgid:")))


class Watched:
    """A function in a child process, whose changing calls, and those of all that it starts, are asked for."""

    def __init__(self, function: Callable[[], int]) -> None:
        shared = mmap.mmap(-1, 4)  # tells without a system call, which would be asked for itself
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(_run_watched(function, shared))
        self.pidfd = os.pidfd_open(self.pid)
        while (number := struct.unpack("i", shared[:4])[0]) == 0:
            assert select.select([self.pidfd], [], [], 0.0005)[0] == [], "the watched program ended before it was watched"
        assert number > 0, f"seccomp: {os.strerror(-number)}"
        self._listener = take_descriptor(self.pidfd, number)
        with suppress(OSError):  # before Linux 6.6: slower
            fcntl.ioctl(self._listener, _SET_FLAGS, struct.pack("Q", _SYNC_WAKE_UP))

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def calls(self, end: int) -> Iterator[Call]:
        """One after the other, each to be let go or its caller killed, until the process behind the descriptor has ended."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(end, select.POLLIN)
        buffer = bytearray(80)
        while True:
            ready = dict(poll.poll())
            if ready.get(self._listener, 0) & select.POLLIN:
                buffer[:] = bytes(80)
                try:
                    fcntl.ioctl(self._listener, _RECEIVE, buffer)
                except OSError as error:
                    if error.errno in (errno.ENOENT, errno.EINTR):  # the caller was killed meanwhile
                        continue
                    raise
                identity, thread, _, number, _, _, *arguments = struct.unpack_from("QIIiIQ6Q", buffer)
                yield Call(identity, thread, _NAMES[number], tuple(arguments))
            elif end in ready:
                return
            elif ready.get(self._listener, 0) & select.POLLHUP:
                poll.unregister(self._listener)

    def let_go(self, call: Call) -> None:
        self._send(call, 0, 0, _CONTINUE)

    def fail(self, call: Call, number: int) -> None:
        """The call is not made; to its caller it has failed with that error number."""
        self._send(call, 0, -number, 0)

    def return_from(self, call: Call, value: int) -> None:
        """The call is not made; to its caller it has returned that value."""
        self._send(call, value, 0, 0)

    def _send(self, call: Call, value: int, error: int, flags: int) -> None:
        try:
            fcntl.ioctl(self._listener, _SEND, struct.pack("QqiI", call.identity, value, error, flags))
        except OSError as error:
            if error.errno != errno.ENOENT:  # killed meanwhile
                raise

    def status(self) -> int:
        """The exit status of the program, which has ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self) -> None:
        os.close(self._listener)
        os.close(self.pidfd)


def _run_watched(function: Callable[[], int], shared: mmap.mmap) -> int:
    code = _filter()
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(keep := ctypes.create_string_buffer(code)))
    block = ctypes.create_string_buffer(program)
    result = _libc.syscall(_NR_SECCOMP[platform.machine()], 1, _NEW_LISTENER, block)
    del keep
    shared[:4] = struct.pack("i", result if result > 0 else -ctypes.get_errno())
    return function()


def take_descriptor(pidfd: int, number: int) -> int:
    """A descriptor of this process for what another one has open."""
    taken = int(_libc.syscall(438, pidfd, number, 0))  # pidfd_getfd, everywhere the same
    assert taken >= 0, f"pidfd_getfd: {os.strerror(ctypes.get_errno())}"
    return taken


def _filter() -> bytes:
    """Instructions of the kernel's packet filter, over struct seccomp_data: number, architecture, instruction, six arguments."""
    column, architecture = _ARCHITECTURES[platform.machine()]
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
    for name, numbers in _NUMBERS.items():
        number = numbers[column]
        if number is None:
            continue
        if name in _FLAGS_OF:
            argument = 16 + 8 * _FLAGS_OF[name]
            code += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, argument), (_ANY_BIT, 0, 1, _CREATING)]
            code += [(_RETURN, 0, 0, _NOTIFY), (_RETURN, 0, 0, _ALLOW)]
        elif name == "ioctl":  # those of sockets set interfaces
            code += [(_EQUAL, 0, 5, number), (_LOAD, 0, 0, 24), (_AND, 0, 0, 0xFF00), (_EQUAL, 0, 1, 0x8900)]
            code += [(_RETURN, 0, 0, _NOTIFY), (_RETURN, 0, 0, _ALLOW)]
        else:
            code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOTIFY)]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)
