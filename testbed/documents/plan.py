# SPDX-License-Identifier: GPL-2.0-or-later
"""What a topology file comes to: `check`, `plan`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from testbed.plans.difference import EquipmentDifference, NodeDifference, WireDifference
from testbed.plans.load import LoadEstimate


class Check(TypedDict):
    """A file that is sound; one that is not makes errors."""

    file: str
    sound: Literal[True]
    #: The nodes of each machine, of a lab over several.
    machines: dict[str, list[str]]
    notes: list[str]


class Changed(TypedDict):
    """What is done to a lab that is up so that it becomes what its file says. Every part of both plans is in it."""

    lab: str
    #: The lab is already what it should be.
    nothing: bool
    nodes: tuple[NodeDifference, ...]
    wires: tuple[WireDifference, ...]
    equipment: tuple[EquipmentDifference, ...]
    #: What changes for the lab as a whole, for people.
    common: tuple[str, ...]
    #: What only its record will have, for people.
    recorded: tuple[str, ...]


class PlanDocument(TypedDict):
    """The plan of a file, what it costs, and what `apply` would do."""

    # Before these: all that `contracts.plan.Plan` has.
    load: LoadEstimate
    #: Null while no lab of that name is up.
    difference: Changed | None
    #: What this machine lacks for the plan's equipment, for people.
    missing: list[str]
    #: What is to be known of the equipment that is there, for people.
    remarks: list[str]
