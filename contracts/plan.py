# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: every name, address, core and file of a lab as data, made without touching the system.

`testbed.plans.resolve` makes it from a topology, `testbed.labs.lab` applies it. A plan can be printed, compared and kept as JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from contracts.changes import EventPlan

NodeKind = Literal["host", "netbox", "router", "switch"]
#: What a user gives a lab; a "vxlan" is the planner's, this machine's end of a wire that leads to another one.
GivenKind = Literal["nic", "vlan", "macvlan", "tap"]
EquipmentKind = Literal[GivenKind, "vxlan"]
MacvlanMode = Literal["bridge", "private", "vepa", "passthru"]


@dataclass(frozen=True)
class RealtimeSupport:
    """What the host grants to real-time threads in containers, as `system.realtime_support` found."""

    #: SCHED_FIFO can be used in a container.
    fifo: bool
    #: CPU time of real-time classes that all containers together may take, in microseconds a second, on each core;
    #: None where the kernel does not ration it by cgroup.
    budget_us: int | None
    #: Why not, or how: one line for the user.
    reason: str
    #: Cores can be kept from halting (`system.awake`).
    keep_awake: bool = False
    #: Cores that the kernel keeps other programs off (isolcpus): emulators come there first, and nothing else does.
    isolated: tuple[int, ...] = ()
    #: False: who asks may not try it.
    tried: bool = True


@dataclass(frozen=True)
class InterfacePlan:
    """One end of a wire inside a node: an interface of the kernel, or a folder with rings where the wire is memory.

    Netbox ports have no addresses: a netbox is transparent at layer 2. A NIC has a MAC address of its own, and so no planned one.
    """

    name: str
    wire: str
    mac: str
    addresses: tuple[str, ...] = ()
    #: By what the node's program reaches the wire, and why where there was a choice.
    port: Literal["kernel", "packet", "xdp", "memory"] = "kernel"
    reason: str = ""


@dataclass(frozen=True)
class RoutePlan:
    """A kernel route of a host: `destination` in CIDR or "default", through `gateway`."""

    destination: str
    gateway: str


@dataclass(frozen=True)
class Limits:
    """The most that a node may take of its machine; sizes in bytes. Each default is several times what any kind of node needs."""

    #: Processes and threads at one time.
    processes: int = 1024
    #: RAM, also what is in /tmp, /run and /dev/shm, and what the kernel keeps for the node.
    memory: int = 2_000_000_000
    #: Each of /tmp, /run and /dev/shm, which are in RAM.
    temporary: int = 256_000_000
    #: Its own folder, /run/netboxit, on disk; and each file that its programs write anywhere, as their logs in a run's folder.
    disk: int = 4_000_000_000
    #: Open files of each process.
    open_files: int = 4096
    #: RAM that each process may lock; emulators, which lock all that they have, are bound by `memory`.
    locked_memory: int = 64_000_000


@dataclass(frozen=True)
class CopiedPlan:
    """A file or folder of the user's that a host gets a copy of: where it is on this machine, and what it is."""

    source: str
    #: Of names, modes and content (system.file_trees).
    digest: str
    #: Files, folders and links together; the bytes of all files.
    entries: int
    size: int


@dataclass(frozen=True)
class NodePlan:
    """One container. `files` are written to the node's own folder, which it sees as /run/netboxit."""

    name: str
    kind: NodeKind
    container: str
    namespace: str
    cores: tuple[int, ...]
    command: tuple[str, ...]
    interfaces: tuple[InterfacePlan, ...]
    routes: tuple[RoutePlan, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    #: SCHED_FIFO priority to ask for, 0 for none.
    realtime_priority: int = 0
    #: Its kernel forwards packets from interface to interface.
    forwards: bool = False
    #: Its TCP asks for ECN (RFC 3168), or refuses it; None: as Linux, accepts it from those that ask.
    ecn: bool | None = None
    #: Devices of the host that it sees.
    devices: tuple[str, ...] = ()
    limits: Limits = Limits()
    #: The machine that it is on, by its name in the inventory; "" in a lab on one machine.
    host: str = ""
    #: What is copied into it from beside the topology, by where it sees it.
    copied: dict[str, CopiedPlan] = field(default_factory=dict)
    #: Debian packages that it has besides what the machine has.
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, order=True)
class WireEnd:
    node: str
    interface: str


@dataclass(frozen=True)
class WirePlan:
    """What joins two nodes: a veth pair, or rings in memory that both containers see (system.rings).

    Between nodes on two machines: a tunnel (VXLAN, RFC 7348), or a cable between a physical port of each.
    """

    name: str
    left: WireEnd
    right: WireEnd
    mtu: int
    kind: Literal["veth", "memory", "vxlan", "port"] = "veth"
    #: Why it is of that kind, for the user.
    reason: str = ""
    #: Of a tunnel: its network identifier, 24 bits.
    vni: int | None = None
    #: Of a cable: the interface of the left end's machine, and of the right end's.
    over: tuple[str, str] | None = None


@dataclass(frozen=True)
class EquipmentPlan:
    """A port of the outside world: an interface of this machine that becomes a node's, or one that is made for it."""

    #: As a wire's end: "modem", or "backhaul.hub" of a network with several ports.
    name: str
    kind: EquipmentKind
    #: The interface of this machine: the NIC itself, what the VLAN or macvlan is of, the tap, or what carries the tunnel.
    device: str
    #: Whose interface it becomes.
    end: WireEnd
    #: What that interface has as its wire.
    wire: str
    mtu: int
    #: Of a VLAN: its number.
    vlan: int | None = None
    #: Of a macvlan.
    mode: MacvlanMode | None = None
    #: Of a tap: who may open it.
    user: str | None = None
    #: Of a tunnel's end: its network identifier, the addresses of this machine and of the other one, their UDP port.
    vni: int | None = None
    local: str | None = None
    remote: str | None = None
    udp_port: int | None = None
    #: Not in the topology: somebody attached it to the running lab.
    attached: bool = False

    def words(self) -> str:
        """What it is, for people."""
        return {
            "nic": f"NIC {self.device}",
            "vlan": f"VLAN {self.vlan} of {self.device}",
            "macvlan": f"macvlan ({self.mode}) of {self.device}",
            "tap": f"tap {self.device}",
            "vxlan": f"VXLAN {self.vni} to {self.remote}",
        }[self.kind]


@dataclass(frozen=True)
class HostPlan:
    """A machine of a lab over several, by its name in the inventory, and what the lab as a whole asks of it."""

    name: str
    #: It is the one on which the plan was made.
    here: bool
    #: The address that carries the wires between machines, the interface that has it, and the UDP port of tunnels.
    address: str
    interface: str = ""
    vxlan_port: int = 4789  # RFC 7348, 8
    #: Its checkout of NetBoxIT.
    folder: str = ""
    #: As the same of a plan, for this machine.
    awake_cores: tuple[int, ...] = ()
    realtime_budget_us: int = 0
    #: Wires between machines are in WireGuard.
    sealed: bool = False


@dataclass(frozen=True)
class TrafficPlan:
    """One application of the `traffic:` section, between two hosts; `options` are its own parameters, in base units."""

    name: str
    application: str
    source: str
    destination: str
    source_address: str
    destination_address: str
    #: What source to destination is called: "return" is towards the operations centre, "forward" away from it.
    direction: Literal["return", "forward"]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A whole lab. `notes` say what the planner decided and why (shared cores, what is missing)."""

    lab: str
    topology: str
    seed: int
    nodes: tuple[NodePlan, ...]
    wires: tuple[WirePlan, ...]
    traffic: tuple[TrafficPlan, ...]
    #: Lateness limit in seconds and what to do beyond it ("mark" or "abort").
    lateness_limit_s: float
    lateness_policy: Literal["mark", "abort"]
    #: Cores that do not halt while the lab is up.
    awake_cores: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    #: CPU time in real-time classes that the emulators may take on each core, those of one core together, in microseconds a
    #: second; 0 where the kernel does not ration it (it does on cgroup v1 with RT group scheduling) or grants none.
    realtime_budget_us: int = 0
    #: What a run changes, in the order of its times.
    events: tuple[EventPlan, ...] = ()
    #: Ports of the outside world, each in place of a wire.
    equipment: tuple[EquipmentPlan, ...] = ()
    #: The machines of a lab over several, which say themselves which cores they keep awake and what budget they grant. Empty: all
    #: of the lab is on one machine.
    hosts: tuple[HostPlan, ...] = ()
    #: Interfaces that the person who brings the lab up lets it have though they are in use (testbed.plans.taking).
    take: tuple[str, ...] = ()
    #: Of the part of a lab that one machine has: the addresses of nodes on others, by name.
    elsewhere: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: In whose time it runs: this machine's, or in virtual time.
    clock: Literal["real", "virtual"] = "real"
    #: Cores with which each emulator would have its own, and a second one where it asks for that, with the one for hosts and
    #: interrupts. 0: of a lab over several machines.
    cores_needed: int = 0
    #: The operations centre: what goes towards it is called "return". None where nobody says which host it is.
    centre: str | None = None
    #: Of a run: seconds from its time 0 in which what is sent is in no figure. The command says it, not the topology.
    warm_up_s: float = 0.0

    def kernel_interfaces(self, node: NodePlan) -> tuple[InterfacePlan, ...]:
        """Those that the node's network namespace has: an end of a memory wire is none."""
        memory = {wire.name for wire in self.wires if wire.kind == "memory"}
        return tuple(interface for interface in node.interfaces if interface.wire not in memory)

    def mtus(self) -> dict[str, int]:
        """The MTU of each wire by its name, also of those that are equipment."""
        return {wire.name: wire.mtu for wire in self.wires} | {port.wire: port.mtu for port in self.equipment}

    def host(self, name: str) -> HostPlan:
        """The machine of that name; KeyError when there is none."""
        return {host.name: host for host in self.hosts}[name]

    def node(self, name: str) -> NodePlan:
        """The node of that name; KeyError when there is none."""
        return {node.name: node for node in self.nodes}[name]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: object) -> Plan:
        """The plan that `to_json` wrote. Raises OtherShape."""
        from contracts.shapes import shaped  # commands that read no plan do without Pydantic

        return shaped(data, Plan)
