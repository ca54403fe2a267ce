# SPDX-License-Identifier: GPL-2.0-or-later
"""From a topology file to a plan that can be applied: everything that the user's files can have wrong is found here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from contracts.changes import ConfigurationChange
from contracts.errors import BadInput, BadTopology
from contracts.names import lab_name
from contracts.plan import NodePlan, Plan, RealtimeSupport
from contracts.quantities import SIZE
from ownership import recorded
from system.cores import available_cores
from system.user_privileges import as_user
from testbed.description.machines import KnownMachines
from testbed.description.topology import Topology
from testbed.description.topology_file import load
from testbed.description.yaml_source import Source
from testbed.description.yaml_source import read as read_source
from testbed.nodes import routers, switches
from testbed.plans.calibration import NoCalibration, read
from testbed.plans.facts import Facts
from testbed.plans.load import LoadEstimate, estimate
from testbed.plans.resolve import resolve
from testbed.plans.sites import Site, assumed

#: On a node's disk (ext4): the share of a file or folder besides its content, with which there is an inode for each (mkfs.ext4
#: makes one for each 16 KiB); the share of the disk that is for files.
_OF_AN_ENTRY = 16384
_USABLE = 0.9

_NOBODY_ASKED = "no other machine was asked, each is taken for one like this; `plan` asks them for cores, addresses and MTU"


def plan_file(
    path: Path,
    *,
    realtime: RealtimeSupport,
    lab: str | None = None,
    cores: tuple[int, ...] | None = None,
    duration_s: float | None = None,
) -> Plan:
    """Loads, resolves, and has Click read the routers' configurations; nothing is created.

    Raises BadTopology, RouterProgramMissing, and what `resolve` raises.
    """
    return plan_topology(load(path), lab=lab, cores=cores, duration_s=duration_s, realtime=realtime)


def plan_unasked(
    topology: Topology, *, realtime: RealtimeSupport, machines: KnownMachines | None = None
) -> tuple[Plan, LoadEstimate]:
    """The plan, and what each netbox will have to do by this user's calibration, if there is one.

    No other machine is asked: each that the topology names is taken for one like this.
    """
    here = Facts(available_cores(), realtime, others=recorded.emulating(besides=lab_name(topology.name)))
    plan = plan_topology(topology, realtime=realtime, sites=assumed(topology, here, machines))
    if plan.hosts:
        plan = replace(plan, notes=(_NOBODY_ASKED, *plan.notes))
    return plan, estimated(topology, plan)


def estimated(topology: Topology, plan: Plan) -> LoadEstimate:
    """What each netbox will have to do by this user's calibration, if there is one."""
    try:
        return estimate(topology, plan, read())
    except NoCalibration as missing:
        return estimate(topology, plan, missing)


def plan_topology(
    topology: Topology,
    *,
    realtime: RealtimeSupport,
    lab: str | None = None,
    cores: tuple[int, ...] | None = None,
    duration_s: float | None = None,
    running: Plan | None = None,
    sites: Sequence[Site] = (),
) -> Plan:
    """Resolves a topology that was read, and has Click read the routers' configurations; see `plan_file` and `resolve`."""
    plan = resolve(
        topology,
        lab=lab,
        cores=cores,
        duration_s=duration_s,
        realtime=realtime,
        running=running,
        others=recorded.emulating(besides=topology.name if lab is None else lab),
        sites=sites,
    )
    if errors := [*_router_errors(topology, plan), *_flow_errors(topology), *_room_errors(topology, plan)]:
        raise BadTopology(errors)
    return plan


def _router_errors(topology: Topology, plan: Plan) -> Iterator[BadInput]:
    for name, router in topology.routers.items():
        if router.engine == "click" and router.configuration is not None:
            node = plan.node(name)
            text, defines = node.files[router.configuration.name], routers.defines_in(node.command)
            yield from _configuration_errors(name, router.configuration, text, defines)
    for event in plan.events:
        if isinstance(event.change, ConfigurationChange):
            yield from swap_errors(event.change, plan.node(event.change.router))


def _flow_errors(topology: Topology) -> Iterator[BadInput]:
    for name, switch in topology.switches.items():
        for index, complaint in switches.wrong_flows(switch):
            yield _source(topology).bad(("switches", name, "flows", index), f"switch {name}: {complaint}", "see ovs-ofctl(8)")


def _room_errors(topology: Topology, plan: Plan) -> Iterator[BadInput]:
    """Of hosts whose disk is too small for the files that are copied to it."""
    for name in topology.hosts:
        node = plan.node(name)
        needed = sum(copied.size + copied.entries * _OF_AN_ENTRY for copied in node.copied.values()) / _USABLE
        if needed > node.limits.disk:
            needed_size, available_size = SIZE.write(math.ceil(needed / 1e6) * 1e6), SIZE.write(node.limits.disk)
            cause = f"host {name}: its files need a disk of {needed_size}, and it has one of {available_size}"
            yield _source(topology).bad(
                ("hosts", name, "files"), cause, "copy less, or give it more by limits: {disk: …}", key=True
            )


@as_user()
def _source(topology: Topology) -> Source:
    """The file with its places, which are asked for so seldom that a topology does not remember them."""
    return read_source(topology.path)


def swap_errors(change: ConfigurationChange, router: NodePlan) -> Iterator[BadInput]:
    """What Click finds wrong with another configuration for a router."""
    return _configuration_errors(router.name, Path(change.file), change.text, routers.defines_in(router.command))


def _configuration_errors(router: str, file: Path, text: str, defines: Mapping[str, str]) -> Iterator[BadInput]:
    for error in routers.check(file, text, defines):
        message = " ".join(line.strip() for line in error.message.splitlines())
        yield BadInput(error.file, max(error.line, 1), 1, f"router {router}: {message}")
