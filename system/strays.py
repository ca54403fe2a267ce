# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands leave that are killed outside of any lab, while they plan or try something out: no ledger knows of it.

It carries the number and the start of the process that made it, and goes when that one is gone.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ownership import state
from system import foreign_text, kernel, processes
from system.processes import ProcessIdentity
from system.realtime_support import remove_abandoned_probes

_VARIABLE = "NETBOXIT_MAKER"


def marked_environment() -> Mapping[str, str]:
    """For a program that could outlive this process."""
    return os.environ | {_VARIABLE: f"{_numbering()}:{ProcessIdentity.own()}"}


@contextmanager
def folder_of_own() -> Iterator[Path]:
    """A folder that is root's and this process's, and gone afterwards."""
    folder = _folders() / f"{_numbering()}:{ProcessIdentity.own()}"
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        _remove_folder(folder)


def remove() -> None:
    """Ends such programs and removes such control groups and folders. What a process still needs that is alive stays."""
    remove_abandoned_probes()
    for folder in _folders().glob("*:*"):
        if _is_over(folder.name):
            _remove_folder(folder)
    for pid, maker in _marked():
        if _is_over(maker):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _is_over(maker: str) -> bool:
    """Whether the process is gone that made something.

    False for a process number of another PID namespace, about which nothing is known, and for text that is no mark: users may
    write anything into an environment.
    """
    numbering, _, identity = maker.partition(":")
    process = ProcessIdentity.read(identity)
    return numbering == _numbering() and process is not None and not process.alive()


def _folders() -> Path:
    return state.state_folder() / "runs"


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    kernel.remove_empty(folder.parent)


def _numbering() -> str:
    """In which PID namespace a process has its number: in a system container on this host the same one is another's."""
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _marked() -> Iterator[tuple[int, str]]:
    for pid in processes.all_of_them():
        with suppress(OSError):
            for entry in foreign_text.read(Path(f"/proc/{pid}/environ")).split("\0"):
                if entry.startswith(f"{_VARIABLE}="):
                    yield pid, entry.partition("=")[2]
