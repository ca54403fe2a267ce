# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a lab is on one machine, as far as its nodes share that machine: cores, real-time service, switches' datapaths."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from contracts.plan import Plan
from testbed.description.topology import Topology
from testbed.plans.core_plan import CorePlan, housekeeping_core, plan_cores
from testbed.plans.sites import Site
from testbed.plans.switch_plan import PlannedSwitches

#: A note begins so, and the reason follows.
WITHOUT_REALTIME = "netboxes and routers run without real-time priority, and will be late more often: "


class MachinePlan:
    """Of the `nodes` that a machine has."""

    def __init__(self, topology: Topology, site: Site, nodes: Collection[str], running: Plan | None) -> None:
        self.site, self._topology = site, topology
        self._realtime = site.facts.realtime
        self.switches = PlannedSwitches(
            {name: switch for name, switch in topology.switches.items() if name in nodes}, site.facts.datapaths
        )
        self._netboxes = {name: netbox for name, netbox in topology.netboxes.items() if name in nodes}
        routers = {name: router for name, router in topology.routers.items() if name in nodes}
        click = tuple(name for name, router in routers.items() if router.engine == "click")
        self.housekeeping = housekeeping_core(site.facts.cores, self._realtime.isolated)
        self.cores: CorePlan = plan_cores(
            site.facts.cores,
            # A kernel routes on the cores of those who send, and FRRouting is idle most of the time.
            hosts=(
                *(name for name in topology.hosts if name in nodes),
                *(name for name, router in routers.items() if router.engine == "linux"),
                *(name for name in self.switches.datapath if name not in self.switches.polling()),
            ),
            netboxes=tuple(self._netboxes),
            routers=(*click, *self.switches.polling()),
            shares={name: netbox.share for name, netbox in self._netboxes.items() if netbox.share is not None},
            two_cores=tuple(name for name, netbox in self._netboxes.items() if netbox.cores > 1),
            running={node.name: node.cores for node in running.nodes if node.host in ("", site.name)} if running else None,
            others=site.facts.others,
            isolated=self._realtime.isolated,
        )
        self._emulators = len(self._netboxes) + len(click)
        self.priority = topology.realtime.priority if self._realtime.fifo else 0

    def budget_us(self) -> int:
        """What the kernel grants to the emulators of a core together; the whole to all, since few use up what they may."""
        return self._realtime.budget_us or 0 if self._realtime.fifo and self._emulators else 0

    def runtime_us(self) -> int | None:
        """The kernel stops real-time threads that use up their budget; a netbox that knows it steps back before."""
        return None if self._realtime.budget_us is None else self.budget_us()

    def awake_cores(self) -> tuple[int, ...]:
        """Those of all netboxes: a router has no clock to be late by."""
        if not (self._topology.realtime.keep_awake and self._realtime.keep_awake):
            return ()
        return tuple(sorted({core for netbox in self._netboxes for core in self.cores.cores[netbox]}))

    def notes(self) -> Iterator[str]:
        yield from self.cores.notes
        if self._emulators and not self._realtime.tried:
            yield f"whether netboxes and routers get real-time priority is not known: {self._realtime.reason}"
        elif self._emulators and not self._realtime.fifo:
            yield f"{WITHOUT_REALTIME}{self._realtime.reason}"
        elif self._emulators and self._realtime.budget_us is not None:
            yield (
                f"netboxes and routers may use {self.budget_us() / 1e6:.0%} of each core at real-time priority, those on one "
                "core together: the kernel grants no more, and holds them up when they need more"
            )
        if self._topology.realtime.keep_awake and not self._realtime.keep_awake:
            yield "the netboxes' cores cannot be kept awake and will be late more often; `netboxit doctor` says why"
