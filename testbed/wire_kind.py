# SPDX-License-Identifier: GPL-2.0-or-later
"""Of which kind a wire is where the topology leaves it open."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from testbed.input_errors import listed
from testbed.topology import Topology, WireKind
from testbed.wiring import End


def wire_kind(
    left: End, right: End, said: WireKind, topology: Topology, switched: Collection[frozenset[End]]
) -> tuple[Literal["veth", "memory"], str]:
    """The fastest kind that both ends can have, unless the topology says one, and why; events take the `switched` ones down."""
    if said != "auto":
        return said, "the topology says so"
    nodes = (left.node, right.node)
    if hosts := [node for node in nodes if node in topology.hosts]:
        return "veth", f"auto: programs of {listed(hosts, 'and')} need an interface of the kernel"
    if frozenset((left, right)) in switched:
        return "veth", "auto: an event takes it down, which shared memory cannot be"
    if by_kernel := [node for node in nodes if node in topology.routers and topology.routers[node].engine == "linux"]:
        return "veth", f"auto: {listed(by_kernel, 'and')} routes by the kernel, which needs an interface"
    return "memory", "auto: both ends are emulators"
