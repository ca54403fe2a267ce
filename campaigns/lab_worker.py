# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker of a cluster that makes labs: root's, on a machine on which labs can run, with cores that no other worker has.

A worker that is killed leaves its lab, named by the first of its cores. The next worker that has this core takes it down.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final

from campaigns.lab_slot import LabSlot
from contracts import durable
from contracts.errors import NetBoxITError
from ownership import locks, state
from system import holding
from system.cores import available_cores
from testbed.probes import doctor

#: With a file for each core, which its worker locks as long as it lives.
_LOCKS: Final = holding.RUN / "workers"

#: The cores of this process, by their locks' descriptors.
_own: dict[int, int] = {}
_asking = Lock()


def why_none() -> str | None:
    """Why this process can make no labs, in words. None: it can, and has its cores for itself from now on.

    They are those of its affinity. Labs that earlier workers left on them are taken down.
    """
    with _asking:
        if _own:
            return None
        if os.geteuid() != 0:
            return "it is not root"
        lacking = [finding for finding in doctor.without_lab()["findings"] if finding.needed and finding.there == "no"]
        if lacking:
            return "; ".join(f"{finding.name}: {finding.found}" for finding in lacking)
        if (other := _take_cores()) is not None:
            return other
        try:
            for core in _own:
                _slot(core).take_down_earlier()
        except NetBoxITError as error:
            _release_cores()
            return str(error)
        return None


@contextmanager
def lab() -> Iterator[tuple[LabSlot, Path]]:
    """This process's, which makes one run at a time, and an empty folder for the run, gone afterwards. Raises NotWritten."""
    first = min(_own)
    place = _folder().resolve() / f"cpu{first}.run"
    shutil.rmtree(place, ignore_errors=True)  # of a worker that was killed
    with durable.told(place):
        place.mkdir(parents=True)
    try:
        yield _slot(first), place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            _folder().rmdir()


def _slot(core: int) -> LabSlot:
    return LabSlot(f"worker-cpu{core}", _folder() / f"cpu{core}.lab")


def _folder() -> Path:
    return state.state_folder() / "workers"


def _take_cores() -> str | None:
    """Returns which core another worker has."""
    locks.make_closed(_LOCKS.parent)
    locks.make_closed(_LOCKS)
    for core in available_cores():
        _own[core] = os.open(_LOCKS / f"cpu{core}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not locks.taken(_own[core], 0.0):
            words = f"core {core} is another worker's: {locks.holder(_own[core])}; start each with cores of its own (taskset)"
            _release_cores()
            return words
    return None


def _release_cores() -> None:
    for descriptor in _own.values():
        os.close(descriptor)
    _own.clear()
