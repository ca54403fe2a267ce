# SPDX-License-Identifier: GPL-2.0-or-later
"""A node of a lab that is up, ended and started again: its namespace with the wires, its folder and its ledger entry stay.

Whoever starts it with other files or another configuration writes them between `stop` and `start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from testbed.labs.removal import container_of
from testbed.ownership import state
from testbed.plan import NodePlan
from testbed.system import containers, node_files
from testbed.system.containers import Container

#: What a node makes to say that it answers: left behind, it would be taken for the next one's word.
_SIGNS_OF_LIFE: Final = ("control.sock", "ready")


def stop(lab: Path, node: NodePlan) -> None:
    """Kills all that runs in a node's container, without notice, as a loss of power does. A node that has ended is fine."""
    with state.locked(lab):
        stop_all(lab, [node])


def stop_all(lab: Path, nodes: Sequence[NodePlan]) -> None:
    """Several at once, for whoever has the lab's lock."""
    stopped = [_container(lab, node) for node in nodes]
    for home in {container.home for container in stopped}:
        containers.end(home, [container.name for container in stopped])
    for container in stopped:
        containers.remove_traces(container)
        for name in _SIGNS_OF_LIFE:
            node_files.remove(container.folder / name)


def start(lab: Path, node: NodePlan) -> None:
    """Starts the node's command in its container, as its LXC configuration says now; `Lab.wait_ready` tells when it answers."""
    with state.locked(lab):
        container = _container(lab, node)
        containers.wait_started(container, containers.start(container, node.command))


def _container(lab: Path, node: NodePlan) -> Container:
    return container_of(lab, node.name, node.container)
