# SPDX-License-Identifier: GPL-2.0-or-later
"""Of which kind a wire is where the topology leaves it open."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from testbed.description.topology import Topology, WireKind
from testbed.description.wiring import End


def wire_kind(
    left: End, right: End, said: WireKind, topology: Topology, switched: Collection[frozenset[End]]
) -> tuple[Literal["veth", "memory"], str]:
    """The fastest kind that both ends can have, unless the topology says one, and why; events take the `switched` ones down."""
    if said != "auto":
        return said, "the topology says so"
    for name in (left.node, right.node):
        node = topology.node(name)
        if why := node.needs_interface():
            return "veth", f"auto: {name} is a {node.KIND}, {why}"
    if frozenset((left, right)) in switched:
        return "veth", "auto: an event takes it down, which shared memory cannot be"
    return "memory", "auto: both ends are emulators"
