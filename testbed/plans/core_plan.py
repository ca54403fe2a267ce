# SPDX-License-Identifier: GPL-2.0-or-later
"""Which node runs on which cores: a pure function of the cores that there are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from contracts.errors import listed


@dataclass(frozen=True)
class CorePlan:
    """The cores of each node, the one that it computes on first, and what had to be shared or was wished, for the user."""

    cores: dict[str, tuple[int, ...]]
    notes: tuple[str, ...] = ()
    #: Netboxes whose frames go in and out on a second core.
    io_cores: dict[str, int] = field(default_factory=dict)
    #: With so many cores each emulator would have its own, and each that asks for a second one that, too.
    needed: int = 1


def plan_cores(
    cores: Sequence[int],
    *,
    hosts: Sequence[str],
    netboxes: Sequence[str],
    routers: Sequence[str],
    shares: Mapping[str, str] | None = None,
    two_cores: Collection[str] = (),
    running: Mapping[str, tuple[int, ...]] | None = None,
    others: Mapping[int, str] | None = None,
    isolated: Collection[int] = (),
) -> CorePlan:
    """Assigns cores to the nodes.

    The first is for housekeeping: interrupts, which the kernel prefers to send there, and the hosts with their applications.
    Each netbox has one of the others to itself while there are enough, then the routers one each, then those netboxes a second
    one that ask for it (`two_cores`); the hosts have the rest, too. Netboxes with the same word in `shares` count as one.
    Emulators that are `running` on cores already stay there, unless others would have to share more for it. Cores on which
    `others` compute, other labs by name, come last. On `isolated` cores the kernel balances no load: emulators come there first,
    and hosts never, of which each may have several programs.
    """
    first = housekeeping_core(cores, isolated)
    others, running, emulators = others or {}, running or {}, (*netboxes, *routers)
    rest = sorted(set(cores) - {first}, key=lambda core: (core in others, core not in isolated, core))
    assign = partial(_assigned, [first, *rest], hosts, netboxes, routers, shares or {}, two_cores, {*others, *isolated})
    plan = assign(running)
    notes = (*_beside_others(plan, others, emulators), *_staying(plan, assign({}), running, emulators))
    needed = 1 + len(_groups(netboxes, shares or {})) + len(routers) + len(two_cores)
    return replace(plan, notes=(*plan.notes, *notes), needed=needed)


def housekeeping_core(cores: Sequence[int], isolated: Collection[int]) -> int:
    """The first that is not isolated; the first, where all are."""
    return min(cores, key=lambda core: (core in isolated, core))


def core_sets(cores: Sequence[int], needed: int, isolated: Collection[int]) -> list[tuple[int, ...]]:
    """Disjoint sets of them for labs that are up at the same time, each with `needed` at least; one, where two have no room.

    One, too, where some are isolated: a lab's command is kept to its set by its affinity, and the kernel would leave programs of
    its own on whichever isolated core they came to. `needed` 0 is not known, and has all cores.
    """
    labs = max(1, len(cores) // needed) if needed and not set(cores) & set(isolated) else 1
    ends = [len(cores) * number // labs for number in range(labs + 1)]
    return [tuple(cores[begin:end]) for begin, end in pairwise(ends)]


def _assigned(
    cores: Sequence[int],
    hosts: Sequence[str],
    netboxes: Sequence[str],
    routers: Sequence[str],
    shares: Mapping[str, str],
    two_cores: Collection[str],
    not_for_hosts: Collection[int],
    running: Mapping[str, tuple[int, ...]],
) -> CorePlan:
    housekeeping, *spare = cores
    groups = _groups(netboxes, shares)
    if not spare:
        alone: dict[str, tuple[int, ...]] = dict.fromkeys((*hosts, *netboxes, *routers), (housekeeping,))
        shared = (
            f"everything shares core {housekeeping}, the only one that the lab may use: applications and emulators disturb each "
            "other, and the run will probably be degraded"
        )
        notes = [shared] if netboxes or routers else []
        return CorePlan(alone, (*notes, *_without_second(list(two_cores), housekeeping, 1)))
    where = {node: of[0] for node, of in running.items()}
    assigned = _assign([next((where[node] for node in group if node in where), None) for group in groups], spare)
    emulating = {node: core for group, core in zip(groups, assigned, strict=True) for node in group}
    free = [core for core in spare if core not in assigned]
    # Without a core to spare, routers go to the netboxes' cores, beginning where fewest netboxes are.
    chosen = free or sorted(spare, key=assigned.count)
    routing = dict(zip(routers, _assign([where.get(router) for router in routers], chosen), strict=True))
    free = [core for core in free if core not in routing.values()]
    seconds = {node: of[1] for node, of in running.items() if len(of) > 1}
    asking = list(two_cores)[: len(free)]
    io_cores = dict(zip(asking, _assign([seconds.get(node) for node in asking], free), strict=True))
    rest = [core for core in free if core not in io_cores.values() and core not in not_for_hosts]
    taken = {**emulating, **routing}
    notes = [
        *_wished(groups, emulating, shares),
        *_sharing(groups, taken, housekeeping, len(spare) + 1, 1 + len(groups) + len(routers)),
        *_without_second([node for node in two_cores if node not in io_cores], housekeeping, len(spare) + 1),
    ]
    emulators = {node: (core, io_cores[node]) if node in io_cores else (core,) for node, core in taken.items()}
    return CorePlan(dict.fromkeys(hosts, (housekeeping, *rest)) | emulators, tuple(notes), io_cores)


def _beside_others(plan: CorePlan, others: Mapping[int, str], emulators: Sequence[str]) -> Iterator[str]:
    """Which emulators share their core with another lab's."""
    for core, lab in sorted(others.items()):
        if nodes := [node for node in emulators if core in plan.cores[node]]:
            yield f"core {core} is shared by {listed(nodes, 'and')} and emulators of lab {lab}; each can make the others late"


def _groups(netboxes: Sequence[str], shares: Mapping[str, str]) -> list[list[str]]:
    """Netboxes that are to share a core, and each other one alone, in the order in which they were named."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for netbox in netboxes:
        groups.setdefault((netbox in shares, shares.get(netbox, netbox)), []).append(netbox)
    return list(groups.values())


def _assign(running: Sequence[int | None], cores: Sequence[int]) -> list[int]:
    """A core for each: the one that it is running on, if that need not be shared more for it, else the least taken, in turn."""
    most = -(-len(running) // len(cores)) if cores else 0
    assigned: list[int | None] = []
    for core in running:
        assigned.append(core if core in cores and assigned.count(core) < most else None)
    for at, core in enumerate(assigned):
        if core is None:
            assigned[at] = min(cores, key=assigned.count)
    return [core for core in assigned if core is not None]


def _staying(kept: CorePlan, fresh: CorePlan, running: Mapping[str, tuple[int, ...]], emulators: Sequence[str]) -> Iterator[str]:
    """Who is where it is only because it was there."""
    if staying := [node for node in emulators if kept.cores[node] == running.get(node) != fresh.cores[node]]:
        yield f"{listed(staying, 'and')} stay on the cores that they run on; in a lab that comes up they would have others"


def _wished(groups: Sequence[Sequence[str]], taken: Mapping[str, int], shares: Mapping[str, str]) -> list[str]:
    return [
        f"{listed(group, 'and')} share core {taken[group[0]]}, as share: {shares[group[0]]} asks"
        if len(group) > 1
        else f"{group[0]} is alone in share: {shares[group[0]]}"
        for group in groups
        if group[0] in shares
    ]


def _sharing(groups: Sequence[Sequence[str]], taken: Mapping[str, int], housekeeping: int, there: int, needed: int) -> list[str]:
    """Where nodes are together for want of cores, not only because they were asked to be."""
    group_of = {node: number for number, group in enumerate(groups) for node in group}
    sharers = {core: [node for node in taken if taken[node] == core] for core in sorted({*taken.values()})}
    return [
        f"{listed(nodes, 'and')} share core {core}: the lab may use {there} cores, core {housekeeping} for hosts and interrupts, "
        f"and {needed} are needed for one core each; each can make the others late"
        for core, nodes in sharers.items()
        if len({group_of.get(node, node) for node in nodes}) > 1
    ]


def _without_second(netboxes: Sequence[str], housekeeping: int, there: int) -> Iterator[str]:
    if netboxes:
        yield (
            f"{listed(netboxes, 'and')} asked for a second core and got none: the lab may use {there} cores, "
            f"core {housekeeping} for hosts and interrupts, and netboxes and routers come first; all of it is on one core"
        )
