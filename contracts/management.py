# SPDX-License-Identifier: GPL-2.0-or-later
"""What a host is told of its parts in managed links (middleware/README.md)."""

from __future__ import annotations

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts.plan import NodePlan
from contracts.shapes import parsed

#: In the host's own folder.
TOLD: Final = "management.json"


class Part(TypedDict):
    """A host's part in one link, as the middleware reads it; rates in bit/s."""

    name: str
    role: Literal["allocator", "member"]
    domain: int
    kind: Literal["unweighted", "dybra"]
    key: str | None
    capacity_bps: NotRequired[int]
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
    enforcement: NotRequired[Literal["window", "shaper", "none"]]


class _Told(TypedDict):
    management: list[Part]


def parts(node: NodePlan) -> list[Part]:
    """None, where a host has no part in anything. Raises OtherShape."""
    return parsed(node.files[TOLD], _Told)["management"] if TOLD in node.files else []
