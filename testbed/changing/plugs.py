# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node's program is told when the interface at one of its ports gives way to another one of the same name.

Hosts and Linux routers need no telling: their kernel uses what there is. A netbox goes on with its old one until it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contracts.plan import NodePlan
from testbed.changing import handlers
from testbed.labs import switch_statistics
from testbed.labs.lab import Lab, NodeFailed
from testbed.nodes import switches


def unplug(lab: Lab, node: NodePlan, interface: str) -> None:
    """Before the interface goes. What is sent there meanwhile is lost. A program that has ended has let go of it already."""
    if not lab.alive()[node.name]:
        return
    if _is_click(node):
        handlers.write(lab, node.name, "unplug", interface)
    elif node.kind == "switch":
        _told(lab, node, switches.without_interface(interface))


def plug(lab: Lab, node: NodePlan, interface: str) -> None:
    """The interface that has the name now is up."""
    if node.kind == "netbox":
        with lab.control(node.name) as control:
            control.reopen(interface)
    elif _is_click(node):
        handlers.write(lab, node.name, "plug", interface)
    elif node.kind == "switch":
        _told(lab, node, switches.with_interface(node.files[switches.CONFIGURATION], interface))


def _told(lab: Lab, switch: NodePlan, calls: Iterable[Sequence[str]]) -> None:
    with switch_statistics.keeping_unserved(lab, switch.name):
        for call in calls:
            done = lab.run(switch.name, call)
            if done.returncode:
                raise NodeFailed(f"switch {switch.name}: {' '.join(call)}: {done.stderr.strip()}")


def _is_click(node: NodePlan) -> bool:
    return node.kind == "router" and not node.forwards
