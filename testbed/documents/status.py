# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs that are up: `status`, `up`, `down`."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from testbed.documents.watch import Event
from testbed.plan import EquipmentKind, NodeKind


class Scheduler(TypedDict):
    """How the kernel serves a netbox. Others of its keys are the netbox's own."""

    policy: str
    priority: float
    reasons: list[str]


class NetboxPort(TypedDict):
    """A port as the netbox itself tells it. Others of its keys are the netbox's own."""

    name: str
    kind: str
    #: Why it is of that kind, in words, when that is a fallback.
    reason: NotRequired[object]


class NetboxStatus(TypedDict):
    """What a netbox says of itself. Others of its keys are the netbox's own."""

    technology: str
    #: Each station has its link, or has had the time that this takes.
    ready: bool
    simulated_s: float
    scheduler: Scheduler
    ports: list[NetboxPort]
    #: The stations that nothing can reach now, and why.
    unlinked: dict[str, str]


class SwitchPort(TypedDict):
    """Frames that a port of a switch counted since the switch came up."""

    #: OpenFlow's.
    number: int
    received: int
    sent: int
    receive_drops: int
    send_drops: int
    #: Dropped by `police`.
    policed: int
    #: Found no room in a queue before the port.
    queue_drops: int


class SwitchStatus(TypedDict):
    #: Open vSwitch's word: "system" is the kernel's, "netdev" that in user space.
    datapath: str
    ports: dict[str, SwitchPort]
    #: Frames that came to the sockets of user space and were never read; null where others look after that.
    unserved: int | None


class ProgramStatus(TypedDict):
    """The program that a host runs by itself (`start`), as the host says, which may say anything."""

    state: Literal["waits", "runs", "pauses", "ended", "stopped"]
    #: With which it ended last, as shells say it; null before.
    status: int | None
    #: How often it was started since the host was.
    starts: int
    #: The end of what it has printed.
    log: str


class NodeStatus(TypedDict):
    """A node of a lab. What is null is not known: the node does not run, or its machine does not answer."""

    name: str
    kind: NodeKind
    alive: bool | None
    #: Its root is nobody on the machine.
    confined: bool | None
    cores: list[int]
    #: The limits that it has reached since it started, in words.
    limits_reached: list[str]
    #: How its network differs from the plan, in words; of hosts and routers.
    network_changes: list[str]
    #: Its cores do not halt.
    awake: bool | None
    addresses: list[str]
    #: Of a netbox that answers.
    netbox: NetboxStatus | None
    #: Of a host that runs one by itself, and says how it does.
    program: ProgramStatus | None
    #: Of a switch that answers.
    switch: SwitchStatus | None
    #: Its machine, of a lab over several.
    host: NotRequired[str]


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
