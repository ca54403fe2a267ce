# SPDX-License-Identifier: GPL-2.0-or-later
"""Marks a lab that a run measures, so that no other command changes it: the change would falsify the run's figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError
from contracts.shapes import shaped
from ownership import recorded, state
from system.processes import ProcessIdentity

#: How often a run has each netbox's statistics in its journal.
SAMPLE_S: Final = 1.0
#: In the lab's folder, while the run's process lives.
_FILE: Final = "measured.json"


class LabMeasured(NetBoxITError):
    """A run is measuring the lab."""


@dataclass(frozen=True)
class _Log:
    """Where changes by hand are recorded for the run, and since when its times count (CLOCK_REALTIME)."""

    began_ns: int
    file: str


@dataclass(frozen=True)
class _Measured:
    """By which run, and by which process of it (`ProcessIdentity`). `stays`: the lab outlives the run."""

    run: str
    process: str
    stays: bool = False
    log: _Log | None = None

    @staticmethod
    def of(lab: Path) -> _Measured:
        """Raises FileNotFoundError, DamagedRecord, NoPrivilege."""
        return recorded.read(lab / _FILE, lambda data: shaped(data, _Measured))

    def write(self, lab: Path) -> None:
        recorded.put(lab / _FILE, asdict(self))


def begin(lab: Path, run: Path, *, stays: bool = False) -> None:
    """From here on this process measures the lab of that folder, for the run of that one. `stays`: the lab outlives the run."""
    _Measured(str(run), str(ProcessIdentity.own()), stays).write(lab)


def claim(lab: Path, run: Path) -> None:
    """The same for a lab that stays up afterwards, until `end`. Raises LabMeasured, and LabBusy while it is changed."""
    with state.locked(lab):
        check_free(lab)
        begin(lab, run, stays=True)


def keep_log(lab: Path, began_ns: int, events: Path) -> None:
    """Changes by hand are recorded also in that file from here on, with times since then (CLOCK_REALTIME)."""
    replace(_Measured.of(lab), log=_Log(began_ns, str(events.absolute()))).write(lab)


def end(lab: Path) -> None:
    """The run no longer measures the lab."""
    (lab / _FILE).unlink(missing_ok=True)


def run_of(lab: Path) -> str | None:
    """The folder of the run that measures the lab of that folder just now; None when there is none."""
    measured = _measured(lab)
    return None if measured is None else measured.run


def log_of(lab: Path) -> tuple[int, Path] | None:
    """What `keep_log` said, while that run goes on."""
    measured = _measured(lab)
    return None if measured is None or measured.log is None else (measured.log.began_ns, Path(measured.log.file))


def stays(lab: Path) -> bool:
    """Whether the lab is one that stays up after the run which measures it just now."""
    measured = _measured(lab)
    return measured is not None and measured.stays


def check_free(lab: Path) -> None:
    """Raises LabMeasured while a run measures the lab of that folder: its figures would have the traffic of another one."""
    _refuse(lab, "figures would have this traffic in them; wait for its end, or interrupt it by Ctrl-C in its terminal")


def check(lab: Path, what: str) -> None:
    """Raises LabMeasured while a run measures the lab of that folder. `what` would change it: "`apply`"."""
    _refuse(
        lab,
        f"record would not have what {what} changes; "
        "wait for its end, or interrupt it; what is to change in a run are its events, "
        "and what `netboxit set` and `netboxit drill` do is recorded in it",
    )


def _refuse(lab: Path, why: str) -> None:
    if (run := run_of(lab)) is not None:
        raise LabMeasured(f"lab {lab.name} is measured by the run {run}, whose {why}")


def _measured(lab: Path) -> _Measured | None:
    """What `begin` and `keep_log` have written; None when the process that wrote it has ended."""
    try:
        measured = _Measured.of(lab)
    except FileNotFoundError:
        return None
    process = ProcessIdentity.read(measured.process)
    return measured if process is not None and process.alive() else None
