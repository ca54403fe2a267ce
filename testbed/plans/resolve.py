# SPDX-License-Identifier: GPL-2.0-or-later
"""From a topology to the plan of a lab: every name, address, core and file. The same input gives the same plan."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from contracts.names import container_name, lab_name, netbox_seed
from contracts.netbox_configuration import CONFIGURATION_FILE, NetboxConfiguration, PortConfiguration, RealtimeConfiguration
from contracts.plan import CopiedPlan, InterfacePlan, Limits, NodePlan, Plan, RealtimeSupport, RoutePlan
from contracts.quantities import SIZE
from contracts.run_folder import JOURNAL_FILE, RECORDS_FILE, STATISTICS_FILE
from netboxes.live_limits import live_limits
from netboxes.stages.stage import Stage
from system import file_trees
from system.cores import REALTIME_PERIOD_US, available_cores
from system.rootfs import NODE_FOLDER, WIRES_FOLDER
from system.user_privileges import as_user
from testbed.description.router import Router
from testbed.description.section import ContainerSection, NodeSection, planned
from testbed.description.targets import Targets
from testbed.description.topology import Host, Netbox, Topology
from testbed.description.wiring import End, Wiring
from testbed.nodes import frr, host_program, management, routers
from testbed.nodes.host_program import Program
from testbed.plans import management_plan
from testbed.plans.event_plan import beyond, plan_events
from testbed.plans.facts import Facts
from testbed.plans.machine_plan import MachinePlan
from testbed.plans.planned_wires import MTU, PlannedWires
from testbed.plans.sites import HERE, Placed, Site, place
from testbed.plans.switch_plan import Datapaths
from testbed.plans.traffic_plan import plan_traffic, without_effect

#: ping and packet captures; ports below 1024, as SIP proxies or web servers have them.
HOST_CAPABILITIES = ("net_raw", "net_bind_service")

#: What runs where programs are started later, or the kernel does the work.
IDLE = ("/usr/bin/sleep", "infinity")

#: Packet sockets; SCHED_FIFO; memory that is never paged out.
EMULATOR_CAPABILITIES = ("net_raw", "sys_nice", "ipc_lock")

#: By AF_XDP a netbox takes 4 to 20 % less CPU time with full batches, the same below saturation, and 3 us longer for a frame that
#: comes alone (netboxes/engine/README.md): too little to give every netbox two more capabilities for.
IO_AUTO = "auto: on veth AF_XDP saves little, and takes more rights"

#: The least that the kernel loads and attaches an XDP program with; only netboxes with an AF_XDP port have it.
XDP_CAPABILITIES = ("net_admin", "bpf")

#: What hosts may be given of files, together.
MOST_COPIED = 4_000_000_000

#: RFC 7348, 7: VXLAN has no protection of its own.
_OPEN_TUNNELS = (
    "wires between machines are open: VXLAN takes frames from whoever can send to the machines' UDP port for it, and anybody on "
    "the way can read them; netboxit_tunnels: wireguard in the inventory seals them (docs/several-hosts.md)"
)


class UnreadableConfiguration(NetBoxITError):
    """A router's configuration was there when the topology was checked, and cannot be read now."""


def resolve(
    topology: Topology,
    *,
    lab: str | None = None,
    cores: tuple[int, ...] | None = None,
    duration_s: float | None = None,
    realtime: RealtimeSupport,
    running: Plan | None = None,
    datapaths: Datapaths | None = None,
    others: Mapping[int, str] | None = None,
    sites: Sequence[Site] = (),
) -> Plan:
    """Plans a lab of the topology.

    `lab` is its name (default: the topology's), `cores` those that it may use (default: all that this process may), `duration_s`
    replaces the duration of all traffic; nodes of a `running` lab stay on their cores if they can; `datapaths` are those for
    switches (default: what this host has); on cores of `others` emulators of another lab compute. With `sites` the lab may be on
    several machines, and what each of them has is known from there. Raises BadLabName, BadDuration, NoDatapath,
    UnreadableConfiguration, NotToBeCopied.
    """
    alone = Facts(cores or available_cores(), realtime, datapaths, others=dict(others or {}))
    placed = place(topology, sites or [Site(HERE, alone, here=True)], running)
    return _Resolver(topology, lab_name(topology.name if lab is None else lab), placed, running).plan(duration_s)


class _Resolver:
    def __init__(self, topology: Topology, lab: str, placed: Placed, running: Plan | None) -> None:
        self.topology, self.lab, self.placed = topology, lab, placed
        self.wiring = Wiring.of(topology)
        self.machines = {
            site.name: MachinePlan(topology, site, {node for node, name in placed.machine.items() if name == site.name}, running)
            for site in placed.sites
        }
        self.wires = PlannedWires(topology, self.wiring, lab, placed.machine)
        self.management = management_plan.plan_management(topology, self.wiring)
        self.copied_bytes = 0

    def on(self, node: str) -> MachinePlan:
        """The machine that has a node."""
        return self.machines[self.placed.machine[node]]

    def plan(self, duration_s: float | None) -> Plan:
        topology = self.topology
        nodes = [
            *(self._host(name, host) for name, host in topology.hosts.items()),
            *(self._netbox(name, netbox) for name, netbox in topology.netboxes.items()),
            *(
                self._linux_router(name, router) if router.engine == "linux" else self._click_router(name, router)
                for name, router in topology.routers.items()
            ),
            *(
                machine.switches.node(
                    self.lab, name, self.wiring, self.wires, machine.cores.cores[name], machine.housekeeping, self._limits(switch)
                )
                for name, switch in topology.switches.items()
                for machine in [self.on(name)]
            ),
        ]
        traffic = plan_traffic(topology, self.wiring, duration_s)
        events = plan_events(topology, Targets.of(nodes, self.wires.wires, self.wires.equipment))
        several = len(self.machines) > 1
        if several:
            nodes = [replace(node, host=self.placed.machine[node.name]) for node in nodes]
        alone = None if several else next(iter(self.machines.values()))
        return Plan(
            lab=self.lab,
            topology=str(topology.path),
            seed=topology.seed,
            nodes=tuple(nodes),
            wires=self.wires.wires,
            equipment=self.wires.equipment,
            traffic=traffic,
            centre=topology.centre,
            lateness_limit_s=topology.realtime.limit,
            lateness_policy=topology.realtime.policy,
            realtime_budget_us=alone.budget_us() if alone else 0,
            awake_cores=alone.awake_cores() if alone else (),
            cores_needed=alone.cores.needed if alone else 0,
            notes=(*self._notes(several), *topology.notes, *without_effect(traffic), *beyond(events, traffic, duration_s)),
            events=events,
            hosts=tuple(
                machine.site.host(machine.awake_cores(), machine.budget_us()) for machine in self.machines.values() if several
            ),
        )

    def _notes(self, several: bool) -> Iterator[str]:
        yield from self.placed.notes
        machines = [(f"{name}: " if several else "", machine) for name, machine in self.machines.items()]
        yield from (prefix + note for prefix, machine in machines for note in machine.notes())
        yield from self.wires.notes()
        yield from management_plan.notes(self.topology, self.wiring)
        sealed = all(machine.site.sealed for machine in self.machines.values())
        if not sealed and any(wire.kind == "vxlan" for wire in self.wires.wires):
            yield _OPEN_TUNNELS
        yield from (prefix + note for prefix, machine in machines for note in machine.switches.notes())

    def _host(self, name: str, host: Host) -> NodePlan:
        programs = {} if host.start is None else {host_program.OF_USER: Program(host.start, host.restart)}
        part = self.management.get(name)
        if part is not None:
            programs[management.NAME] = management.program()
        return NodePlan(
            name=name,
            kind="host",
            container=container_name(self.lab, name),
            namespace=container_name(self.lab, name),
            cores=self.on(name).cores.cores[name],
            command=host_program.COMMAND if programs else IDLE,
            interfaces=self.wires.interfaces(name, host.ports()),
            routes=tuple(RoutePlan("default", str(gateway)) for gateway in host.gateway),
            files={**(host_program.files(programs) if programs else {}), **(management.files(part) if part else {})},
            capabilities=(*HOST_CAPABILITIES, *(management.CAPABILITIES if part and part["role"] == "member" else ())),
            ecn=host.ecn,
            limits=self._limits(host),
            copied={place: self._copied(source) for place, source in host.files.items()},
            packages=tuple(sorted(set(host.packages))),
        )

    def _copied(self, source: Path) -> CopiedPlan:
        """All of it is read: what hosts get together is bounded as what each gets."""
        extent = file_trees.survey(source)
        self.copied_bytes += extent.size
        if self.copied_bytes > MOST_COPIED:
            raise file_trees.NotToBeCopied(
                f"the files of all hosts together are more than {SIZE.write(MOST_COPIED)}; copy less, or by `netboxit copy` later"
            )
        return CopiedPlan(str(source), file_trees.digest(source), extent.entries, extent.size)

    def _netbox(self, name: str, netbox: Netbox) -> NodePlan:
        io: Literal["packet", "xdp"]
        io, reason = ("packet", IO_AUTO) if netbox.io == "auto" else (netbox.io, "the topology says so")
        ports = {station: self._port(name, station, io) for station in netbox.stations}
        return self._emulator(
            name,
            "netbox",
            command=(str(CHECKOUT / "build" / "bin" / f"netbox-{netbox.technology}"), f"{NODE_FOLDER}/{CONFIGURATION_FILE}"),
            interfaces=self.wires.interfaces(name, dict.fromkeys(netbox.stations, ()), io, reason),
            files={CONFIGURATION_FILE: self._netbox_json(name, netbox, ports)},
            capabilities=(
                *EMULATOR_CAPABILITIES,
                *(XDP_CAPABILITIES if any(port["kind"] == "xdp" for port in ports.values()) else ()),
            ),
        )

    def _netbox_json(self, name: str, netbox: Netbox, ports: Mapping[str, PortConfiguration]) -> str:
        """The text of its netbox.json; `ports` says by station how it reaches its wire."""
        machine, common, own = self.on(name), self.topology.realtime, netbox.realtime
        limit = own.limit if own and own.limit is not None else common.limit
        realtime: RealtimeConfiguration = {
            "limit_us": round(limit * 1e6, 3),
            "policy": own.policy if own and own.policy is not None else common.policy,
            "priority": machine.priority,
            # A spin without SCHED_FIFO only uses up the time that the scheduler gives.
            "spin_us": round(common.spin * 1e6, 3) if machine.priority else 0,
            "timer_slack_ns": round(common.timer_slack * 1e9),
            "runtime_us": machine.runtime_us(),
            "period_us": REALTIME_PERIOD_US,
        }
        if name in machine.cores.io_cores:
            realtime["io_core"] = machine.cores.io_cores[name]
        configuration: NetboxConfiguration = {
            "name": name,
            "technology": netbox.technology,
            "seed": netbox_seed(self.topology.seed, name),
            "clock": "real",
            "stations": [{"name": station, "port": port} for station, port in ports.items()],
            "classes": [{"name": of, "match": match.rule()} for of, match in netbox.classes.items()],
            "parameters": netbox.parameters.values(netbox.classes),
            "live": live_limits(type(netbox.parameters), has_link_layer=netbox.link_layer is not None),
            "realtime": realtime,
            "control": f"{NODE_FOLDER}/control.sock",
            "records": f"{NODE_FOLDER}/{RECORDS_FILE}",
            "statistics": f"{NODE_FOLDER}/{STATISTICS_FILE}",
            "journal": f"{NODE_FOLDER}/{JOURNAL_FILE}",
        }
        if stages := _in_base_units(netbox.stages):
            configuration["stages"] = stages
        if netbox.link_layer is not None:
            configuration["link_layer"] = netbox.link_layer.model_dump(mode="json")
        if netbox.telemetry:
            configuration["telemetry"] = True
        return json.dumps(configuration, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def _linux_router(self, name: str, router: Router) -> NodePlan:
        neighbours = frr.neighbours(name, router, self.topology.routers, self.wiring)
        networks = frr.networks(name, self.topology.routers, self.wiring) if router.ospf else []
        text = frr.configuration(name, router, neighbours) if router.ospf else None
        if router.configuration is not None:
            text = _read_configuration(router.configuration)
        files = {} if text is None else {frr.CONFIGURATION: text, **frr.link_costs(router.ospf)}
        if (part := self.management.get(name)) is not None:
            journal = JOURNAL_FILE if text is None else frr.PARTS_JOURNAL
            files |= {**host_program.files({management.NAME: management.program()}), **management.files(part, journal)}
        alone = IDLE if part is None else host_program.COMMAND
        return NodePlan(
            name=name,
            kind="router",
            container=container_name(self.lab, name),
            namespace=container_name(self.lab, name),
            cores=self.on(name).cores.cores[name],
            command=alone if text is None else frr.command(sum(neighbours.values()), networks),
            interfaces=self.wires.interfaces(name, router.interfaces),
            routes=tuple(RoutePlan("default", str(gateway)) for gateway in router.gateway),
            files=files,
            capabilities=HOST_CAPABILITIES if text is None else frr.CAPABILITIES,
            forwards=True,
            limits=self._limits(router),
        )

    def _click_router(self, name: str, router: Router) -> NodePlan:
        assert router.configuration is not None, "the model of a Click router asks for one"
        interfaces = self.wires.interfaces(name, router.interfaces, "packet")
        mtu = min(self.wires.mtu[End(name, interface.name)] for interface in interfaces)
        # Its interfaces, `$MTU` where it is not Ethernet's, and its variables.
        values = routers.defines(interfaces) | ({"MTU": str(mtu)} if mtu < MTU else {})
        values |= {variable: str(value) for variable, value in router.variables.items()}
        # The copy makes the run folder complete in itself, and keeps the container from needing any other folder.
        copy = router.configuration.name
        stages = routers.stages_text(netbox_seed(self.topology.seed, name), _in_base_units(router.stages))
        return self._emulator(
            name,
            "router",
            command=routers.command(
                Path(NODE_FOLDER, copy),
                values,
                self.on(name).priority,
                memory=self.wires.memory_ends(name),
                has_stages=True,
            ),
            interfaces=interfaces,
            files={copy: _read_configuration(router.configuration), routers.STAGES_FILE: stages},
        )

    def _emulator(
        self,
        name: str,
        kind: Literal["netbox", "router"],
        command: tuple[str, ...],
        interfaces: tuple[InterfacePlan, ...],
        files: dict[str, str],
        capabilities: tuple[str, ...] = EMULATOR_CAPABILITIES,
    ) -> NodePlan:
        return NodePlan(
            name=name,
            kind=kind,
            container=container_name(self.lab, name),
            namespace=container_name(self.lab, name),
            cores=self.on(name).cores.cores[name],
            command=command,
            interfaces=interfaces,
            files=files,
            capabilities=capabilities,
            realtime_priority=self.on(name).priority,
            limits=self._limits(self.topology.node(name)),
        )

    def _limits(self, node: NodeSection) -> Limits:
        assert isinstance(node, ContainerSection), "only such a node is planned"
        return planned(self.topology.limits, node.limits)

    def _port(self, name: str, station: str, io: Literal["packet", "xdp"]) -> PortConfiguration:
        """How a netbox reaches the wire of a station, `io` if it is no memory (docs/architecture.md, "Netbox process")."""
        if (end := self.wires.memory_ends(name).get(station)) is not None:
            # No interface would tell the MTU.
            return {"kind": "memory", "wire": f"{WIRES_FOLDER}/{station}", "end": end, "mtu": self.wires.mtu[End(name, station)]}
        port: PortConfiguration = {"kind": io, "interface": station}
        return {**port, "fallback": False} if io == "xdp" else port


def _in_base_units(stages: Mapping[str, Sequence[Stage]]) -> dict[str, list[dict[str, Any]]]:
    """Of those ports that have any."""
    return {port: [stage.model_dump() for stage in own] for port, own in stages.items() if own}


def _read_configuration(path: Path) -> str:
    try:
        with as_user():
            return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableConfiguration(f"router configuration {path} cannot be read: {error}; check the file") from None
