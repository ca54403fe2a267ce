# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that a run measures: whatever else were done to it would be in the run's figures, and in none of its records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from testbed import durable
from testbed.errors import NetBoxITError
from testbed.system.processes import ProcessIdentity

#: How often a run has each netbox's statistics in its journal.
SAMPLE_S: Final = 1.0
#: In the lab's folder, while the run's process lives.
_FILE: Final = "measured.json"


class LabMeasured(NetBoxITError):
    """A run is measuring the lab."""


def begin(lab: Path, run: Path) -> None:
    """From here on this process measures the lab of that folder, for the run of that one."""
    durable.put(lab / _FILE, json.dumps({"run": str(run), "process": str(ProcessIdentity.own())}))


def run_of(lab: Path) -> str | None:
    """The folder of the run that measures the lab of that folder just now; None when there is none."""
    try:
        told = json.loads((lab / _FILE).read_text())
    except FileNotFoundError:
        return None
    process = ProcessIdentity.read(told["process"])
    return str(told["run"]) if process is not None and process.alive() else None


def check(lab: Path, what: str) -> None:
    """Raises LabMeasured while a run measures the lab of that folder. `what` would change it: "`apply`"."""
    if (run := run_of(lab)) is not None:
        raise LabMeasured(
            f"lab {lab.name} is measured by the run {run}, whose record would not have what {what} changes; "
            "wait for its end, or interrupt it; what is to change in a run are its events, "
            "and what `netboxit set` and `netboxit drill` do is recorded in it"
        )
