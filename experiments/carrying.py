# SPDX-License-Identifier: GPL-2.0-or-later
"""Letting a topology carry its traffic: in a lab, in real time, or in virtual time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from contracts.errors import NetBoxITError
from experiments import figures
from experiments.figures import Figures
from results.analyse import measure
from results.run_folder import Measured, RunFolder
from testbed import run, virtual_run
from testbed.labs.deployment import Progress

Time = Literal["real", "virtual"]


class RunFailed(NetBoxITError):
    """A run of an experiment ended before its traffic was over; the message tells why, and which run."""


@dataclass(frozen=True)
class Carried:
    """What was measured of each flow. In real time the run's folder and verdict tell how far to trust it."""

    time: Time
    measured: Sequence[Measured]
    folder: Path | None = None
    verdict: str | None = None
    reasons: tuple[str, ...] = ()

    def whole(self, *traffic: str) -> Figures:
        """Of these entries of the traffic together, from host to host."""
        return figures.whole(self._of(traffic))

    def segment(self, netbox: str, *traffic: str) -> Figures:
        return figures.segment(netbox, self._of(traffic))

    @cached_property
    def traffic(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(flow.application.name for flow in self.measured))

    def _of(self, traffic: Sequence[str]) -> list[Measured]:
        return [flow for flow in self.measured if flow.application.name in traffic]


#: Carries the traffic of a topology file.
Carrier = Callable[[Path], Carried]


def in_virtual_time(topology: Path) -> Carried:
    """A run whose folder is not kept: it can be had again. Raises RunFailed, and what `testbed.virtual_run.run` raises."""
    with tempfile.TemporaryDirectory(prefix="netboxit-") as results:
        folder = RunFolder(virtual_run.computed(topology, None, None, lambda _: None, Path(results)))
        if folder.failure is not None:
            raise RunFailed(f"the run of {topology.stem} in virtual time failed: {folder.failure}")
        return Carried("virtual", measure(folder).flows)


def in_real_time(topology: Path, results: Path, progress: Progress) -> Carried:
    """A lab and a run of its own, kept as any run. Raises RunFailed, and what `testbed.run.run` raises."""
    outcome = run.run(topology, lab=None, duration_s=None, progress=progress, results=results)
    folder = RunFolder(outcome.folder)
    if folder.failure is not None:
        raise RunFailed(f"the run of {topology.stem} failed: {folder.failure}; what is left of it is in {outcome.folder}")
    verdict = outcome.metrics["verdict"]
    return Carried("real", measure(folder).flows, outcome.folder, verdict["status"], tuple(verdict["reasons"]))
