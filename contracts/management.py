# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of a host's own folder that tells it its parts in managed links (middleware/README.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from typing_extensions import TypedDict

from contracts.plan import NodePlan
from contracts.shapes import parsed

TOLD: Final = "management.json"


class _Part(TypedDict):
    name: str


class _Told(TypedDict):
    management: list[_Part]


def managed_links(nodes: Iterable[NodePlan]) -> list[str]:
    """The names of the links in which these nodes have parts. Raises OtherShape."""
    told = [parsed(node.files[TOLD], _Told)["management"] for node in nodes if TOLD in node.files]
    return list(dict.fromkeys(part["name"] for parts in told for part in parts))
