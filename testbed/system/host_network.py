# SPDX-License-Identifier: GPL-2.0-or-later
"""The network of the host's interfaces: the namespace of whoever brings a lab up, found again by whoever takes it down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed.errors import NetBoxITError
from testbed.system import namespaces

_OWN = Path("/proc/thread-self/ns/net")
_FIRST = Path("/proc/1/ns/net")


class HostNetworkGone(NetBoxITError):
    """The namespace that an interface came from cannot be found."""


def identity() -> str:
    """Of the calling thread's network namespace; another has the same one only after a restart of the machine."""
    status = _OWN.stat()
    return f"{status.st_dev}:{status.st_ino}"


def is_machines() -> bool:
    """Whether the calling thread is in the network of the machine's first process."""
    return _is(_FIRST, identity())


def boot() -> str:
    """The same as long as the machine runs."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@contextmanager
def entered(wanted: str) -> Iterator[None]:
    """The calling thread is in the namespace of that identity for the length of a with block. Raises HostNetworkGone."""
    if identity() == wanted:
        yield
        return
    found = next((place for place in _places() if _is(place, wanted)), None)
    if found is None:
        raise HostNetworkGone(
            "the network namespace that it came from is not found; if it is still there, run this in it (nsenter --net=…)"
        )
    with namespaces.entered_at(found):
        yield


def _places() -> Iterator[Path]:
    yield _FIRST
    if namespaces.FOLDER.is_dir():
        yield from sorted(namespaces.FOLDER.iterdir())


def _is(place: Path, wanted: str) -> bool:
    try:
        status = place.stat()
    except OSError:
        return False
    return f"{status.st_dev}:{status.st_ino}" == wanted
