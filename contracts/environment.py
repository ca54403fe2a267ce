# SPDX-License-Identifier: GPL-2.0-or-later
"""environment.json of a run folder, which is also told of each machine in hosts.json: what the run was made on.

What the system does not tell is null; what another version did not ask for is not there.
"""

from __future__ import annotations

from typing_extensions import TypedDict

#: Clock ticks since boot by core, and of all cores under "all".
CpuTimes = dict[str, dict[str, int]]


class CheckedOut(TypedDict, total=False):
    #: Of NetBoxIT.
    commit: str | None


class Kernel(TypedDict, total=False):
    release: str | None
    version: str | None
    machine: str | None


class Processor(TypedDict, total=False):
    model: str | None
    cores: int | None
    #: Of frequencies.
    governor: str | None
    #: The kernel's list of isolated cores.
    isolated: str | None
    #: Of the last 1, 5 and 15 minutes.
    load: list[float]
    times: CpuTimes


class ClockSource(TypedDict, total=False):
    current: str | None
    available: list[str]


class Machine(TypedDict, total=False):
    """A machine, and the versions of what runs on it."""

    netboxit: CheckedOut
    kernel: Kernel
    #: The distribution.
    system: str | None
    processor: Processor
    memory_kib: int
    clock_source: ClockSource
    #: CPU time a second that real-time classes may take, in microseconds.
    realtime_runtime_us: str | None
    #: Versions of Debian's packages.
    packages: dict[str, str | None]
    #: Versions of Python and of its packages.
    python: dict[str, str | None]


class FolderVersion(TypedDict, total=False):
    """What environment.json has whichever version wrote it."""

    #: Of the run folder (contracts/run_folder.py); a number, of the versions that there are.
    run_folder: object


class Environment(Machine, FolderVersion):
    """environment.json."""
