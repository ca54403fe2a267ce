# SPDX-License-Identifier: GPL-2.0-or-later
"""Where labs are kept on the host, and the lock that keeps two commands from working on one lab at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from contracts import durable
from contracts.errors import NetBoxITError, WrongInput
from contracts.permissions import user_name
from ownership import locks
from ownership.operators import NoPrivilege, operator

#: In a lab's folder, of an operator's: the number of that user.
_OWNER = "owner"


class NoSuchLab(WrongInput):
    """There is no lab of that name."""


class LabExists(NetBoxITError):
    """A lab of that name is there already."""


class LabBusy(NetBoxITError):
    """Another command works on the lab just now."""


class SomebodyElses(NetBoxITError):
    """The lab is neither this operator's nor this operator root."""


def state_folder() -> Path:
    return Path(os.environ.get("NETBOXIT_STATE", "/var/lib/netboxit")).absolute()


def labs_folder() -> Path:
    return state_folder() / "labs"


def lab_names() -> list[str]:
    """Labs that are up, half up or left behind. Raises NoPrivilege where this user may not see them.

    Root closes what an older NetBoxIT has left open to everybody.
    """
    folder = labs_folder()
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
    except PermissionError as error:
        raise NoPrivilege(f"{folder} cannot be read: {error.strerror}; ask as root") from None
    if os.geteuid() == 0 and names:
        for closed in (folder, *(folder / name for name in names)):
            with suppress(FileNotFoundError):  # another command takes the lab down
                locks.close_to_users(closed)
    return names


def seen_lab_names() -> list[str] | None:
    """As far as this user may see them; None where that is not at all."""
    try:
        return lab_names()
    except NoPrivilege:
        return None


def chosen(name: str | None, option: str = "--lab {}") -> str:
    """The lab that is meant: the named one, or without a name the only one. Raises NoSuchLab, SomebodyElses.

    `option` is how a user names it on the command line.
    """
    if name is not None:
        check_own(lab_folder(name))
        return name
    if not (names := own_lab_names()):
        raise NoSuchLab("no lab is up; `netboxit up FILE` makes one")
    if len(names) > 1:
        raise NoSuchLab(f"{len(names)} labs are up; say which: {' or '.join(option.format(name) for name in names)}")
    return names[0]


def own_lab_names() -> list[str]:
    """Those of an operator; all for anybody else."""
    user = operator()
    return [name for name in lab_names() if user is None or _owner(labs_folder() / name) == user.pw_uid]


def check_own(folder: Path) -> None:
    """Raises SomebodyElses when an operator may not change the lab in this folder."""
    user = operator()
    if user is not None and (owner := _owner(folder)) != user.pw_uid:
        raise SomebodyElses(
            f"lab {folder.name} is {'root' if owner == 0 else user_name(owner)}'s, who may change it or take it down; so may root"
        )


def _owner(folder: Path) -> int:
    """Of the lab in this folder; root's is whatever says nothing else."""
    try:
        return int((folder / _OWNER).read_text())
    except (FileNotFoundError, ValueError):
        return 0


def lab_folder(name: str) -> Path:
    """The folder of a lab that is there. Raises NoSuchLab naming those that are."""
    names = lab_names()
    if name not in names:
        raise NoSuchLab(f"there is no lab {name}; {'labs are: ' + ', '.join(names) if names else 'no lab is up'}")
    return labs_folder() / name


def check_new(name: str) -> None:
    """Raises LabExists when there is a lab of that name."""
    if name in lab_names():
        raise _exists(name)


def make_lab_folder(name: str) -> Path:
    """A new, empty folder: the name belongs to this lab from here on. Raises LabExists, NoPrivilege, NotWritten."""
    folder = labs_folder() / name
    try:
        with durable.told(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            locks.close_to_users(folder.parent)
            folder.mkdir(mode=0o700)
            locks.close_to_users(folder)
    except FileExistsError:
        raise _exists(name) from None
    except PermissionError as error:
        raise NoPrivilege(f"{folder}: {error.strerror}; labs need root, or a folder of your own in $NETBOXIT_STATE") from error
    try:
        with durable.told(folder):
            durable.sync_folder(folder.parent)
        if (user := operator()) is not None:
            durable.put(folder / _OWNER, f"{user.pw_uid}\n")
    except BaseException:
        shutil.rmtree(folder)
        raise
    return folder


@contextmanager
def locked(folder: Path, patience_s: float = 1.0) -> Iterator[None]:
    """Exclusive work on a lab; raises LabBusy when it is not granted soon. The lock ends with its process, however that ends.

    A program being started holds it too, until it is really that program: so whoever gets the lock sees all that was started.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise _gone(folder) from None
    try:
        if not locks.taken(descriptor, patience_s):
            raise LabBusy(f"lab {folder.name}: another netboxit command works on it: {locks.holder(descriptor)}; try again later")
        if not folder.exists():
            raise _gone(folder)
        yield
    finally:
        os.close(descriptor)


def _exists(name: str) -> LabExists:
    return LabExists(f"a lab {name} is up or was left behind; `netboxit down {name}` removes it, or give this one another --name")


def _gone(folder: Path) -> NoSuchLab:
    return NoSuchLab(f"there is no lab {folder.name} any more; another command removed it")
