# SPDX-License-Identifier: GPL-2.0-or-later
"""hosts.json of a run over several machines: who they are, how far their clocks are apart, what wires join them."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from contracts import environment


class ClockReading(TypedDict):
    """A machine's clock minus the controller's."""

    offset_ns: int
    #: The offset is no further off than this.
    error_ns: int
    round_trip_ns: int
    #: Exchanges that it is the best of.
    samples: int
    #: When, by the controller's clock.
    at_ns: int


class ClockReadings(TypedDict, total=False):
    """Before and after the traffic; null: not compared, and `problem` says why."""

    before: ClockReading | None
    after: ClockReading | None
    problem: str


class MachineFacts(TypedDict, total=False):
    """What a machine says of itself."""

    environment: environment.Machine
    #: By what its clock is kept at the right time, in words; null where nothing does.
    synchronised: str | None


class Machine(MachineFacts):
    address: NotRequired[str]
    clock: ClockReadings


class WireEnd(TypedDict):
    """An end of a wire between machines."""

    host: str
    node: str
    interface: str
    #: Its capture, in the run folder.
    capture: str


class Probe(TypedDict):
    """A wire tried out before the traffic."""

    round_trip_ns: int


class Wire(TypedDict):
    """A wire between two machines."""

    wire: str
    #: "vxlan" or "port".
    kind: str
    mtu: int
    #: Left and right.
    ends: Annotated[list[WireEnd], Field(min_length=2, max_length=2)]
    probe: NotRequired[Probe | None]


class MachinesRecord(TypedDict):
    """hosts.json."""

    #: The controller, whose clock all times of an analysis are by.
    here: str
    #: By their names in the inventory.
    hosts: dict[str, Machine]
    wires: list[Wire]
