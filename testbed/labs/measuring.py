# SPDX-License-Identifier: GPL-2.0-or-later
"""Marks a lab that a run measures, so that no other command changes it: the change would falsify the run's figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from contracts import durable
from contracts.errors import NetBoxITError
from ownership import state
from system.processes import ProcessIdentity

#: How often a run has each netbox's statistics in its journal.
SAMPLE_S: Final = 1.0
#: In the lab's folder, while the run's process lives.
_FILE: Final = "measured.json"


class LabMeasured(NetBoxITError):
    """A run is measuring the lab."""


def begin(lab: Path, run: Path, *, stays: bool = False) -> None:
    """From here on this process measures the lab of that folder, for the run of that one. `stays`: the lab outlives the run."""
    durable.put(lab / _FILE, json.dumps({"run": str(run), "process": str(ProcessIdentity.own()), "stays": stays}))


def claim(lab: Path, run: Path) -> None:
    """The same for a lab that stays up afterwards, until `end`. Raises LabMeasured, and LabBusy while it is changed."""
    with state.locked(lab):
        check_free(lab)
        begin(lab, run, stays=True)


def keep_log(lab: Path, began_ns: int, events: Path) -> None:
    """Changes by hand are recorded also in that file from here on, with times since then (CLOCK_REALTIME)."""
    measured = json.loads((lab / _FILE).read_text())
    durable.put(lab / _FILE, json.dumps({**measured, "log": {"began_ns": began_ns, "file": str(events.absolute())}}))


def end(lab: Path) -> None:
    """The run no longer measures the lab."""
    (lab / _FILE).unlink(missing_ok=True)


def run_of(lab: Path) -> str | None:
    """The folder of the run that measures the lab of that folder just now; None when there is none."""
    measured = _measured(lab)
    return None if measured is None else str(measured["run"])


def log_of(lab: Path) -> tuple[int, Path] | None:
    """What `keep_log` said, while that run goes on."""
    log = (_measured(lab) or {}).get("log")
    return None if log is None else (int(log["began_ns"]), Path(log["file"]))


def stays(lab: Path) -> bool:
    """Whether the lab is one that stays up after the run which measures it just now."""
    return bool((_measured(lab) or {}).get("stays"))


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


def _measured(lab: Path) -> dict[str, Any] | None:
    """What `begin` and `keep_log` have written; None when the process that wrote it has ended."""
    try:
        measured: dict[str, Any] = json.loads((lab / _FILE).read_text())
    except FileNotFoundError:
        return None
    process = ProcessIdentity.read(measured["process"])
    return measured if process is not None and process.alive() else None
