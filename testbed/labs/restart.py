# SPDX-License-Identifier: GPL-2.0-or-later
"""A node of a lab that is up, ended and started again: its namespace with the wires, its folder and its ledger entry stay.

Whoever starts it with other files or another configuration writes them between `stop` and `start`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contracts.plan import NodePlan
from contracts.run_folder import JOURNAL_FILE, RECORDS_FILE, STATISTICS_FILE
from ownership import state
from system import containers, node_files
from system.containers import Container
from testbed.labs.removal import container_of
from testbed.nodes import host_program, management

#: How long a netbox may take to write what it has measured.
_WRITTEN_WITHIN_S: Final = 1.0
#: What it has measured: records of frames, events, counters.
_MEASURED: Final = (RECORDS_FILE, JOURNAL_FILE, STATISTICS_FILE)

#: Files by which a node shows its state, and the one that tells it to begin. They are removed, because the restarted node would
#: seem to be ready by them.
_SIGNS_OF_LIFE: Final = ("control.sock", "ready", host_program.GO, host_program.STATE, management.STATE)


def stop(lab: Path, node: NodePlan) -> None:
    """Kills all that runs in a node's container, without notice, as a loss of power does. A node that has ended is fine."""
    with state.locked(lab):
        stop_all(lab, [node])


def stop_all(lab: Path, nodes: Sequence[NodePlan]) -> None:
    """Several at once, for whoever has the lab's lock."""
    if nodes:
        containers.end(lab / "containers", [node.container for node in nodes])
    for container in (_container(lab, node) for node in nodes):
        containers.remove_traces(container)
        for name in _SIGNS_OF_LIFE:
            node_files.remove(container.folder / name)


def end_measured(lab: Path, node: NodePlan) -> None:
    """Ends a netbox as a loss of power does, but that it writes what it has measured, which is kept for a run.

    It stands beside what the netbox measures when it is started again, as frames.1.bin, frames.2.bin, ….
    """
    with state.locked(lab):
        container = _container(lab, node)
        containers.ask_to_end(container)
        deadline = time.monotonic() + _WRITTEN_WITHIN_S
        while containers.alive(container) and time.monotonic() < deadline:
            time.sleep(0.002)
        stop_all(lab, [node])
        files = [container.folder / name for name in _MEASURED]
        life = next(n for n in itertools.count(1) if not any(node_files.exists(_of_life(file, n)) for file in files))
        for file in files:
            node_files.rename(file, _of_life(file, life).name)


def _of_life(file: Path, life: int) -> Path:
    return file.with_name(f"{file.stem}.{life}{file.suffix}")


def start(lab: Path, node: NodePlan) -> None:
    """Starts the node's command in its container, as its LXC configuration says now; `Lab.wait_ready` tells when it answers."""
    with state.locked(lab):
        container = _container(lab, node)
        containers.wait_started(container, containers.start(container, node.command))


def _container(lab: Path, node: NodePlan) -> Container:
    return container_of(lab, node.name, node.container)
