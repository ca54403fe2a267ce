# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node of a running lab is like: `netboxit status` tells it, and lab.json of a run folder."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from contracts.control import CaptureState
from contracts.plan import NodeKind
from contracts.statistics import SwitchStatus


class Scheduler(TypedDict):
    """How the kernel serves a netbox. Others of its keys are the netbox's own."""

    policy: str
    priority: float
    reasons: list[str]
    #: For how many microseconds it watches the clock before something is due, as the netbox says.
    spin_us: NotRequired[object]


class NetboxPort(TypedDict):
    """A port as the netbox itself tells it. Others of its keys are the netbox's own."""

    name: str
    kind: str
    #: Why it is of that kind, in words, when that is a fallback.
    reason: NotRequired[object]
    #: Null before the first capture.
    capture: NotRequired[CaptureState | None]


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


class ProgramStatus(TypedDict):
    """The program that a host runs by itself (`start`), as the host says, which may say anything."""

    state: Literal["waits", "runs", "pauses", "ended", "stopped"]
    #: With which it ended last, as shells say it; null before.
    status: int | None
    #: How often it was started since the host was.
    starts: int
    #: The end of what it has printed.
    log: str


class PartStatus(TypedDict):
    """A host's part in the management of a link, as the host says, which may say anything; rates in bit/s."""

    #: The link's.
    name: str
    role: Literal["allocator", "member"]
    #: Of an allocator, null of a member: what it divides, what a member has of it, how many they are.
    capacity: int | None
    share: int | None
    members: int | None
    #: Of a member, null of an allocator. Its budget is null where none applies.
    state: Literal["out", "joining", "member", "leaving"] | None
    budget: int | None
    reachable: bool | None
    #: Why a member's budget is not enforced, in words.
    unenforced: str | None


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
    #: Of a host that has a part in the management of a link, and says how it does.
    management: list[PartStatus] | None
    #: Of a switch that answers.
    switch: SwitchStatus | None
    #: Its machine, of a lab over several.
    host: NotRequired[str]
