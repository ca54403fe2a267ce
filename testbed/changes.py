# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be changed in a running lab, as data: by an event of the topology, or by somebody at a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

WireState = Literal["up", "down"]


@dataclass(frozen=True)
class ParameterChange:
    """A live parameter of a netbox, or of one of its stations ("responder.position"), and its new value in base units."""

    netbox: str
    parameter: str
    value: Any
    #: The value as a person writes it.
    written: str
    kind: Literal["parameter"] = "parameter"

    def words(self) -> str:
        return f"{self.netbox}: {self.parameter} {self.written}"


@dataclass(frozen=True)
class WireChange:
    """A veth wire that goes down or comes back, by the interface of the node at one of its ends."""

    wire: str
    state: WireState
    node: str
    interface: str
    kind: Literal["wire"] = "wire"

    def words(self) -> str:
        return f"wire {self.wire.replace('--', ' – ')} {self.state}"


Change = ParameterChange | WireChange


@dataclass(frozen=True)
class EventPlan:
    """A change, and when it is made: seconds since the network's time began."""

    at_s: float
    change: Change
