# SPDX-License-Identifier: GPL-2.0-or-later
"""The privileges of the calling user: a command that works as root for an operator opens the files that they name as that user.

Every file that a user names is opened inside `as_user()`, so it is one that this user can open. No program is started inside:
it would have the privileges of neither.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import WrongInput, printable
from ownership.operators import VARIABLE, operator
from system import kernel


class FileThere(WrongInput):
    """A file would be written over; nothing was done."""


@contextmanager
def as_user() -> Iterator[None]:
    """The calling thread has the operator's user, groups and no capability meanwhile; nothing changes where there is none."""
    user = operator()
    if user is None or os.geteuid() != 0:
        yield
        return
    before = os.getgroups()
    try:
        kernel.become(user.pw_uid, user.pw_gid, os.getgrouplist(user.pw_name, user.pw_gid))
        yield
    finally:
        kernel.become_root_again(before)


def check_new(files: Iterable[Path]) -> None:
    """Raises FileThere naming those of the files that are there already, as far as the operator may see.

    A command makes them where its user says, and writes over none unless the user asks for it. A link counts, wherever it leads.
    Raises PermissionError where a folder is closed to the operator.
    """
    with as_user():
        there = [printable(str(file)) for file in files if file.is_symlink() or file.exists()]
    if there:
        raise FileThere(
            f"{', '.join(there)} {'is' if len(there) == 1 else 'are'} there already; give another name, or --overwrite"
        )


def drop_privileges() -> None:
    """From here on the process is the operator's, for good: nothing that follows needs root."""
    if (user := operator()) is not None:
        os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
        del os.environ[VARIABLE]
        os.environ["HOME"] = user.pw_dir


def home() -> Path:
    """Of whoever called."""
    user = operator()
    return Path.home() if user is None else Path(user.pw_dir)
