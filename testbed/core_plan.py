# SPDX-License-Identifier: GPL-2.0-or-later
"""Which node runs on which cores: a pure function of the cores that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testbed.input_errors import listed


@dataclass(frozen=True)
class CorePlan:
    """The cores of each node, and what had to be shared, for the user."""

    cores: dict[str, tuple[int, ...]]
    notes: tuple[str, ...] = ()


def plan_cores(cores: Sequence[int], *, hosts: Sequence[str], netboxes: Sequence[str], routers: Sequence[str]) -> CorePlan:
    """Shares out the cores.

    The first is for housekeeping: interrupts, which the kernel prefers to send there, and the hosts with their applications.
    Each netbox has one of the others to itself while there are enough, then the routers one each; the hosts have the rest, too.
    """
    housekeeping, *spare = sorted(cores)
    if not spare:
        alone: dict[str, tuple[int, ...]] = dict.fromkeys((*hosts, *netboxes, *routers), (housekeeping,))
        return CorePlan(alone, (_everything_shared(housekeeping),) if netboxes or routers else ())
    emulating = _round_robin(netboxes, spare)
    free = spare[len(netboxes) :]
    # Without a core to spare, routers go to the netboxes' cores, beginning where fewest netboxes are.
    routing = _round_robin(routers, free or _least_used(spare, emulating))
    left = free[len(routers) :]
    applications = dict.fromkeys(hosts, (housekeeping, *left))
    needed = 1 + len(netboxes) + len(routers)
    notes = _sharing({**emulating, **routing}, housekeeping, len(spare) + 1, needed)
    return CorePlan(applications | emulating | routing, tuple(notes))


def _round_robin(nodes: Sequence[str], cores: Sequence[int]) -> dict[str, tuple[int, ...]]:
    return {node: (cores[number % len(cores)],) for number, node in enumerate(nodes)}


def _least_used(cores: Sequence[int], taken: dict[str, tuple[int, ...]]) -> list[int]:
    users = [core for of in taken.values() for core in of]
    return sorted(cores, key=users.count)


def _sharing(taken: dict[str, tuple[int, ...]], housekeeping: int, there: int, needed: int) -> list[str]:
    sharers: dict[int, list[str]] = {}
    for node, cores in taken.items():
        sharers.setdefault(cores[0], []).append(node)
    return [
        f"{listed(nodes, 'and')} share core {core}: the lab may use {there} cores, core {housekeeping} for hosts and interrupts, "
        f"and {needed} are needed for one core each; each can make the others late"
        for core, nodes in sorted(sharers.items())
        if len(nodes) > 1
    ]


def _everything_shared(core: int) -> str:
    return (
        f"everything shares core {core}, the only one that the lab may use: applications and emulators disturb each other, "
        "and the run will probably be degraded"
    )
