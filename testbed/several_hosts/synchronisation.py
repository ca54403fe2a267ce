# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine says of itself for a run over several: `environment`, and who keeps its clock at the right time, and how near.

That is chrony or PTP (linuxptp), asked by their own programs. It is told and changes nothing: what a run corrects by is a
comparison of its own (`clocks.py`).
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from contracts.machines import MachineFacts

#: ptp4l answers pmc at this socket (ptp4l(8), uds_address).
_PTP4L = Path("/var/run/ptp4l")
_PATIENCE_S = 5.0
#: Fields of `chronyc -c tracking`, counted from 0, in the order of chronyc(1), "tracking".
_SYSTEM_TIME, _ROOT_DELAY, _ROOT_DISPERSION, _LEAP_STATUS = 4, 10, 11, 13


def environment_and_clock() -> MachineFacts:
    """`environment` as in environment.json, and by what its clock is kept at the right time."""
    # And what it asks for versions, which other commands do without. Only the controller needs applications of other packages.
    from applications.application import programs_of
    from applications.registry import applications
    from results.environment import environment

    return {"environment": environment(programs_of(applications().ours.values())), "synchronised": synchronisation()}


def synchronisation() -> str | None:
    """For example "chrony, 12 us"; None when neither keeps the clock, or what does has not found the time."""
    return _chrony() or _ptp()


def _chrony() -> str | None:
    fields = _output("chronyc", "-c", "tracking").strip().split(",")
    if len(fields) <= _LEAP_STATUS or fields[_LEAP_STATUS] == "Not synchronised":
        return None
    try:
        off, delay, dispersion = (float(fields[at]) for at in (_SYSTEM_TIME, _ROOT_DELAY, _ROOT_DISPERSION))
    except ValueError:
        return None
    # chronyc(1): a bound of the clock's error is |system time| + root dispersion + half of the root delay.
    return f"chrony, {_time(abs(off) + dispersion + delay / 2)}"


def _ptp() -> str | None:
    if not _PTP4L.exists():
        return None
    status = _output("pmc", "-u", "-b", "0", "GET TIME_STATUS_NP")
    offset = re.search(r"master_offset\s+(-?\d+)\b.*gmPresent\s+true\b", status, re.DOTALL)
    return f"ptp4l, {_time(abs(int(offset[1])) / 1e9)} from its grandmaster" if offset else None


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} us" if seconds >= 1e-6 else f"{seconds * 1e9:.0f} ns"


def _output(*command: str) -> str:
    """Nothing when the program is not installed, or has nobody to ask."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
