# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine can do: `doctor`, `calibrate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from testbed.plans.calibration import Machine, PortCost, TechnologyCost

There = Literal["yes", "partly", "no"]


@dataclass(frozen=True)
class Ability:
    """One ability of a machine."""

    name: str
    there: There
    found: str
    #: What is lost without it; "" where nothing is.
    lost: str = ""
    remedy: str = ""
    #: No lab can run without it.
    needed: bool = False


class Doctor(TypedDict):
    """What a machine can do for labs."""

    #: Labs can run there.
    able: bool
    findings: list[Ability]


class Machines(TypedDict):
    """The same of the machines of an inventory, by their names."""

    #: All of them.
    able: bool
    machines: dict[str, Doctor]


class Calibrate(TypedDict):
    """What a frame costs on this machine, and the file that keeps it."""

    file: str
    #: UTC, ISO 8601.
    measured: str
    machine: Machine
    technologies: dict[str, TechnologyCost]
    #: By kind.
    ports: dict[str, PortCost]
    #: The kinds of ports that are not to be had, and why.
    missing: dict[str, str]
    #: What could not be measured, and why.
    failed: dict[str, str]
