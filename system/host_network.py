# SPDX-License-Identifier: GPL-2.0-or-later
"""The network of the host's interfaces: the namespace of whoever brings a lab up, found again by whoever takes it down."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError
from system import namespaces

#: asm-generic/socket.h, Linux 5.14: the number of a socket's network, which is given once in the life of a kernel. A namespace's
#: inode is given again at once: after a network is gone, the next one that somebody makes has its number.
_SO_NETNS_COOKIE: Final = 71
_OWN, _FIRST = Path("/proc/thread-self/ns/net"), Path("/proc/1/ns/net")


class HostNetworkGone(NetBoxITError):
    """The namespace that an interface came from cannot be found."""


def identity() -> str:
    """Of the calling thread's network namespace; another has the same one only after a restart of the machine."""
    with socket.socket(socket.AF_UNIX) as asked:
        return str(int.from_bytes(asked.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8), sys.byteorder))


def is_machines() -> bool:
    """Whether the calling thread is in the network of the machine's first process."""
    try:
        return _FIRST.samefile(_OWN)
    except OSError:  # of a process that nobody here may look at
        return False


def boot() -> str:
    """The same as long as the machine runs."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@contextmanager
def entered(wanted: str) -> Iterator[None]:
    """The calling thread is in the namespace of that identity for the length of a with block. Raises HostNetworkGone."""
    for place in (_OWN, _FIRST, *sorted(namespaces.FOLDER.glob("*"))):
        with ExitStack() as inside:
            try:
                inside.enter_context(namespaces.entered_at(place))
            except OSError:
                continue  # it was removed meanwhile, or is no namespace
            if identity() == wanted:
                yield
                return
    raise HostNetworkGone(
        "the network namespace that it came from is not found; if it is still there, run this in it (nsenter --net=…)"
    )
