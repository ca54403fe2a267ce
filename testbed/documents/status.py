# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs that are up: `status`, `up`, `down`."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from contracts.node_status import NodeStatus
from contracts.plan import EquipmentKind
from testbed.documents.watch import Event


class EndStatus(TypedDict):
    """An end of a wire: by what its node reaches it."""

    node: str
    interface: str
    #: "kernel", "packet", "xdp" or "memory"; null while a netbox is silent.
    port: str | None
    reason: str | None


class WireStatus(TypedDict):
    name: str
    kind: Literal["veth", "memory", "vxlan", "port"]
    reason: str
    mtu: int
    #: Left and right.
    ends: list[EndStatus]


class EquipmentStatus(TypedDict):
    name: str
    kind: EquipmentKind
    #: The same for people.
    what: str
    mtu: int
    node: str
    interface: str


class Hosts(TypedDict):
    """The machines of a lab over several."""

    #: The one on which the command was called.
    here: str
    reached: list[str]
    not_reached: list[str]


class LabNow(TypedDict):
    """A lab, but for what happened in it."""

    lab: str
    #: What is on record of it.
    folder: str
    nodes: list[NodeStatus]
    wires: list[WireStatus]
    equipment: list[EquipmentStatus]
    #: For people.
    notes: list[str]


class LabStatus(LabNow):
    """A lab that is up."""

    #: CLOCK_REALTIME at time 0 of `events`; null until the network's time begins.
    began_ns: int | None
    #: The latest 100.
    events: list[Event]
    hosts: NotRequired[Hosts]


class Status(TypedDict):
    """All labs that are up, or the named one."""

    labs: list[LabStatus]


class Down(TypedDict):
    #: The labs that were taken down.
    removed: list[str]
    #: What could not be put back, for people.
    notes: list[str]
