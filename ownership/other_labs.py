# SPDX-License-Identifier: GPL-2.0-or-later
"""What labs that are up already use of this host, for whoever plans another one."""

from __future__ import annotations

from contextlib import suppress

from contracts.errors import NetBoxITError
from ownership import recorded, state


def emulating(besides: str) -> dict[int, str]:
    """On which cores emulators of labs other than that one compute, and of which lab.

    A lab of whose plan nothing can be read (it goes just now, or is another user's) counts as none.
    """
    cores: dict[int, str] = {}
    for name in [name for name in state.seen_lab_names() or () if name != besides]:
        with suppress(OSError, NetBoxITError):
            plans = recorded.states(state.labs_folder() / name)
            nodes = [node for plan in plans for node in plan.nodes if node.realtime_priority or node.kind == "netbox"]
            cores |= {core: name for node in nodes for core in node.cores}
    return cores
