# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node is told of its parts in managed links (middleware/README.md)."""

from __future__ import annotations

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts.plan import NodePlan
from contracts.shapes import parsed

#: In the node's own folder.
TOLD: Final = "management.json"


class Part(TypedDict):
    """A node's part in one link, as the middleware reads it; rates in bit/s."""

    name: str
    role: Literal["allocator", "member"]
    domain: int
    kind: Literal["unweighted", "dybra"]
    key: str | None
    #: Multicast group of announcements; of an allocator also the address from which it sends to that.
    group: NotRequired[str]
    address: NotRequired[str]
    capacity_bps: NotRequired[int]
    #: In place of a capacity: what the netbox at `interface` tells of which direction, and the part of it that is divided.
    follows: NotRequired[Literal["transmit", "receive"]]
    exploitation: NotRequired[float]
    equations: NotRequired[Literal["corrected", "printed"]]
    recovers: NotRequired[bool]
    allocator: NotRequired[str]
    interface: NotRequired[str | None]
    #: IP networks that are reached without the link.
    beside: NotRequired[list[str]]
    threshold: NotRequired[float]
    access_bps: NotRequired[int | None]
    #: Its access is as the netbox at its interface tells.
    telemetry: NotRequired[bool]
    without_lease: NotRequired[Literal["unmanaged", "hold"]]
    #: In virtual time: it is a member only while its TCP sends.
    while_sending: NotRequired[bool]
    enforcement: NotRequired[Literal["window", "shaper", "none"]]


class _Told(TypedDict):
    management: list[Part]


def parts(node: NodePlan) -> list[Part]:
    """None, where a node has no part in anything. Raises OtherShape."""
    return parsed(node.files[TOLD], _Told)["management"] if TOLD in node.files else []
