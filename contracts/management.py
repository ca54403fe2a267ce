# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of a host's own folder that tells it its parts in managed links (middleware/README.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts.plan import NodePlan
from contracts.shapes import parsed

TOLD: Final = "management.json"


class ToldPart(TypedDict):
    """What others than the middleware want to know of a part."""

    name: str
    role: Literal["allocator", "member"]
    kind: Literal["unweighted", "dybra"]
    #: Of a member.
    allocator: NotRequired[str]
    telemetry: NotRequired[bool]


class _Told(TypedDict):
    management: list[ToldPart]


def told_parts(node: NodePlan) -> list[ToldPart]:
    """None, where a node has no part in anything. Raises OtherShape."""
    return parsed(node.files[TOLD], _Told)["management"] if TOLD in node.files else []


def managed_links(nodes: Iterable[NodePlan]) -> list[str]:
    """The names of the links in which these nodes have parts. Raises OtherShape."""
    return list(dict.fromkeys(part["name"] for node in nodes for part in told_parts(node)))
