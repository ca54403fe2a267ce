# SPDX-License-Identifier: GPL-2.0-or-later
"""Named network namespaces. A node's namespace outlives its container, so a container can restart without losing its wires."""

from __future__ import annotations

import errno
import itertools
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from contracts import durable
from contracts.errors import NetBoxITError
from ownership import locks
from system import forked, holding, kernel, processes

FOLDER = Path("/run/netns")
#: `ip netns` makes two mounts under its lock.
_LOCK_OF_IP_S: Final = 1.0


class NamespaceFailed(NetBoxITError):
    """A network namespace could not be made, entered or removed."""


def path(name: str) -> Path:
    """The file of the namespace, where `ip netns` and LXC find it, too."""
    return FOLDER / name


def create(names: Iterable[str], users: Path | None = None, mark: str = "") -> None:
    """Makes namespaces and keeps each by a bind mount. Raises NamespaceFailed for a name that is in use: it is somebody else's.

    They belong to the user namespace `users` (a file), or to the host's. The file below each mount holds `mark`, which says whose
    the namespace is. It is written before the mount is made, and no node sees it.
    """
    _prepare_folder()
    with _source(users) as make_namespace:
        for name in names:
            _keep(make_namespace, name, mark)


def _keep(make_namespace: Callable[[], Path], name: str, mark: str) -> None:
    target = path(name)
    try:
        with durable.told(target), kernel.closing(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)) as file:
            try:
                durable.write_all(file, mark.encode())
            except OSError:
                target.unlink()  # half a mark is another lab's
                raise
    except FileExistsError:
        raise NamespaceFailed(
            f"network namespace {name} exists already; look with `ip netns`, and remove it if it is yours"
        ) from None
    try:
        kernel.bind_mount(make_namespace(), target)
    except OSError as error:
        target.unlink()
        raise NamespaceFailed(f"network namespace {name}: {error.strerror}; labs need root (or CAP_SYS_ADMIN)") from error


@contextmanager
def _source(users: Path | None) -> Iterator[Callable[[], Path]]:
    """A function that makes a new namespace at each call. It returns the file of that namespace, valid until the next call.

    A child of this process makes them: only a process with one thread may change its user namespace.
    """
    purpose = "make network namespaces"

    def make() -> None:
        nonlocal users
        if users is not None:
            kernel.setns(os.open(users, os.O_RDONLY), kernel.CLONE_NEWUSER)
            users = None
        kernel.unshare(kernel.CLONE_NEWNET)

    with forked.asked(itertools.repeat(make), purpose) as (child, ask):

        def make_namespace() -> Path:
            forked.check(ask(purpose))
            return Path(f"/proc/{child}/ns/net")

        yield make_namespace


def _prepare_folder() -> None:
    """Makes the folder a shared mount of its own, as `ip netns add` does.

    Otherwise `ip netns add` would mount the folder over itself later. That would cover the namespaces that are there, and covered
    mounts cannot be unmounted any more.
    """
    with kernel.errors_as(NamespaceFailed, str(FOLDER), "labs need root (or CAP_SYS_ADMIN)"):
        FOLDER.mkdir(parents=True, exist_ok=True)
        if not _shared():
            # The lock of all labs is for what is done once after the machine's start.
            with holding.locked(holding.RUN / "netns"), kernel.closing(os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)) as folder:
                # The lock that `ip netns` takes for the same purpose (iproute2, ipnetns.c). Every user can read this folder, and
                # so lock it. We wait no longer than `ip` could need: who holds the lock longer is no `ip` of root's, and others
                # cannot mount anything here.
                locks.taken(folder, _LOCK_OF_IP_S)
                if not _shared():
                    kernel.bind_mount(FOLDER, FOLDER)
                    kernel.share_mounts(FOLDER)


def _shared() -> bool:
    """Makes the folder's mount a shared one; False when the folder is no mount."""
    with kernel.ignored(errno.EINVAL):
        kernel.share_mounts(FOLDER)
        return True
    return False


def is_there(name: str) -> bool:
    """Whether there is a namespace of that name, not only a file without one, as a reboot may leave it."""
    return os.path.ismount(path(name))  # Path.is_mount is of folders alone


def belongs(name: str, mark: str) -> bool:
    """Whether the namespace has that mark, or no owner: it is gone, or a file to which no namespace was bound yet."""
    try:
        with (
            kernel.closing(kernel.open_uncovered(FOLDER)) as below,
            os.fdopen(os.open(name, os.O_RDONLY, dir_fd=below), "rb") as file,
        ):
            written = file.read()
    except FileNotFoundError:
        return True
    return written == mark.encode() or (not written and not is_there(name))


def delete(name: str) -> None:
    """Removes a namespace. It may be gone already; after a reboot its file may still be there."""
    target = path(name)
    with kernel.errors_as(NamespaceFailed, f"network namespace {name}"), kernel.ignored(errno.EINVAL, errno.ENOENT):
        kernel.unmount(target)
    target.unlink(missing_ok=True)


@contextmanager
def entered(name: str) -> Iterator[None]:
    """The calling thread is inside the namespace for the length of a with block; programs started there are as well."""
    with ExitStack() as inside:
        try:
            inside.enter_context(entered_at(path(name)))
        except FileNotFoundError:
            raise NamespaceFailed(f"network namespace {name} is gone; `netboxit down` and `up` bring the lab back") from None
        except OSError as error:
            check_seen(name)
            raise NamespaceFailed(
                f"network namespace {name}: {error.strerror}; `netboxit down` and `up` bring the lab back"
            ) from error
        yield


def check_seen(name: str) -> None:
    """Raises NamespaceFailed where there is a file of that name, and this process does not see the namespace mounted on it."""
    if path(name).exists() and not is_there(name):
        raise NamespaceFailed(
            f"network namespace {name} is not seen here: the lab was brought up where mounts are others (`ip netns exec`, "
            "`unshare --mount`), so call this there; or `netboxit down` and `up` here bring the lab back"
        )


@contextmanager
def entered_at(file: Path) -> Iterator[None]:
    """The same with any namespace, by a file that stands for it. Raises OSError when it cannot be entered."""
    with kernel.closing(os.open("/proc/thread-self/ns/net", os.O_RDONLY)) as home:
        with kernel.closing(os.open(file, os.O_RDONLY)) as inside:
            kernel.setns(inside, kernel.CLONE_NEWNET)
        try:
            yield
        finally:
            kernel.setns(home, kernel.CLONE_NEWNET)


def write_settings(settings: Mapping[str, str]) -> None:
    """Writes sysctls below net/ of the calling thread's namespace. Raises NamespaceFailed for one that this kernel lacks."""
    for name, value in settings.items():
        with kernel.errors_as(NamespaceFailed, f"sysctl net/{name} = {value}"):
            Path("/proc/sys/net", name).write_text(value)


def end_processes_inside(names: Iterable[str]) -> None:
    """Kills what still runs in these namespaces (say, a capture whose owner was killed)."""
    ours = {identity for identity in map(_identity, map(path, names)) if identity is not None}
    for pid in processes.all_of_them():
        if pid != os.getpid() and _identity(Path(f"/proc/{pid}/ns/net")) in ours:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
