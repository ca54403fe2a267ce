# SPDX-License-Identifier: GPL-2.0-or-later
"""A switch as a topology file describes it. `switches.py` says it in Open vSwitch's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from applications.dscp import parse_dscp
from contracts.addresses import Addresses, Gateways, Interface, Ipv4
from contracts.name import Name
from contracts.names import BRIDGE, check_name
from contracts.quantities import RATE, SIZE, TIME, Quantity
from testbed.description.input_errors import nearest
from testbed.description.section import ContainerSection, Section
from testbed.description.traffic_class import one_or_several
from testbed.description.yaml_source import Location

#: What OpenFlow, Open vSwitch and its datapaths mean by themselves.
_RESERVED = frozenset((BRIDGE, "ovs-netdev", "ovs-system", "local", "normal", "flood", "table", "controller", "none", "any"))

#: Frames that wait at a switch's ports, together. In user space they count against the one socket that Open vSwitch sends by:
#: its buffer (net.core.wmem_default, 212992 bytes) holds 92 of 1514 bytes, and what finds no room is lost whatever its queue.
MOST_WAITING = 80

#: The smallest and the largest of IEEE 802.1Q.
Vlan = Annotated[int, Field(ge=1, le=4094)]
_Rate = Annotated[float, Quantity(RATE, 8e3, 10e9)]


def _port_name(name: str) -> str:
    if check_name(name) in _RESERVED:
        raise ValueError(f'"{name}" has a meaning of its own in a switch; choose another name')
    return name


PortName = Annotated[Name, AfterValidator(_port_name)]


_dscps = one_or_several(parse_dscp, "a queue is for at least one DSCP; write dscp: ef")
_one_or_several = WithJsonSchema(
    {"anyOf": [{"type": ["integer", "string"]}, {"type": "array", "items": {"type": ["integer", "string"]}}]}
)
_Dscps = Annotated[tuple[int, ...], BeforeValidator(_dscps), _one_or_several]


class Queue(Section):
    """One of the queues before a port that has a `limit`."""

    dscp: _Dscps = Field(description="Code points of the packets that wait in it.")
    priority: int = Field(0, ge=0, le=6, description="Of two queues that both could send, the one with the smaller number does.")
    least: _Rate | None = Field(None, description="Rate that it has whatever the others send; a tenth of the limit by default.")
    most: _Rate | None = Field(None, description="Rate that it never exceeds; the limit by default.")
    length: int = Field(16, ge=1, le=MOST_WAITING, description="Frames that can wait in it.")


class Vlans(Section):
    """What VLANs (IEEE 802.1Q) a port is in. Without any, it takes untagged and tagged frames as they are."""

    vlan: Vlan | None = Field(
        None, description="Untagged frames are of this VLAN: all of an access port, or a trunk's native ones."
    )
    trunk: tuple[Vlan, ...] = Field((), description="VLANs whose frames pass with their tags; frames of others do not.")

    def enters(self, tag: int | None) -> int | None:
        """The VLAN of a frame that arrives with that tag, 0 for none; None when it is not taken."""
        if tag is None:
            return None if self.vlan is None and self.trunk else self.vlan or 0
        if self.vlan is None and not self.trunk:
            return tag
        return tag if tag in self.trunk and tag != self.vlan else None

    def leaves(self, vlan: int) -> tuple[int | None] | None:
        """With what tag a frame of a VLAN leaves, in a tuple; None when it does not."""
        tag = None if vlan in (0, self.vlan) else vlan
        return (tag,) if self.enters(tag) == vlan else None


class SwitchPort(Vlans):
    """A port that has a wire."""

    police: _Rate | None = Field(None, description="What comes in beyond this rate is dropped (bytes of Ethernet frames).")
    burst: Annotated[float, Quantity(SIZE, 2e3, 10e6)] = Field(
        32e3, description="How much may come at once before `police` drops."
    )
    limit: _Rate | None = Field(None, description="What goes out waits so that it does not exceed this rate.")
    queue: int = Field(16, ge=1, le=MOST_WAITING, description="With `limit`: frames that can wait of what no other queue is for.")
    queues: dict[Name, Queue] = Field({}, max_length=15, description="With `limit`: queues by DSCP, the first that fits.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.queues and self.limit is None:
            yield (), "queues need a limit, before which frames wait; add limit: 10 Mbit/s"
        limit = self.limit or 0
        for name, queue in self.queues.items():
            for key, rate in (("least", queue.least), ("most", queue.most)):
                if rate is not None and rate > limit:
                    yield ("queues", name, key), f"is more than the port's limit of {RATE.write(limit)}; write less"
        if sum(queue.least or 0 for queue in self.queues.values()) > limit:
            yield ("queues",), "the least rates are more than the limit together; give less"

    def waiting(self) -> int:
        """Frames that can wait before it."""
        return self.queue + sum(queue.length for queue in self.queues.values()) if self.limit else 0


class Tunnel(Vlans):
    """A port whose frames go to another switch inside of packets, from the switch's `own` address."""

    kind: Literal["vxlan", "geneve", "gre"] = Field("vxlan", description="RFC 7348, RFC 8926, or RFC 2890 with whole frames.")
    remote: Ipv4 = Field(description="`own` address of the switch at its other end.")
    key: Annotated[int, Field(ge=0, le=2**24 - 1)] = Field(0, description="Its number; the same at both ends (VNI).")


#: What each kind adds to a frame besides its 14 bytes of Ethernet: IPv4, UDP or GRE with a key, and its own header.
TUNNEL_HEADERS = {"vxlan": 20 + 8 + 8, "geneve": 20 + 8 + 8, "gre": 20 + 8}


class Own(Section):
    """An address of the switch itself, as a real one has for its management: for a controller, and for tunnels."""

    address: Addresses = Field(description="IPv4 address with prefix length.")
    vlan: Vlan | None = Field(None, description="VLAN that it is in.")
    gateway: Gateways = Field((), description="Router for all other networks.")

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if any(interface.version != 4 for interface in self.address):
            yield ("address",), "the switch itself speaks IPv4; write an address like 10.0.0.9/24"


class Mirror(Section):
    """Copies of all frames at some ports go out at another one, which does nothing else."""

    source: tuple[Name, ...] = Field((), alias="from", description="Ports whose frames, in and out, are copied; all by default.")
    to: Name = Field(description="Port where the copies go out.")


class Controller(Section):
    """An OpenFlow controller in the lab. The switch speaks to it from its `own` address."""

    address: Ipv4 = Field(description="Address of its host.")
    port: int = Field(6653, ge=1, le=65535, description="TCP port that it listens on.")
    fail: Literal["standalone", "secure"] = Field(
        "standalone", description="Without it the switch learns addresses and floods as others do, or passes only what flows say."
    )


class Switch(ContainerSection):
    """An Ethernet switch: Open vSwitch, in a container of its own."""

    KIND: ClassVar = "switch"
    PORT: ClassVar = "port"
    PASSES: ClassVar = "frames"

    datapath: Literal["auto", "kernel", "userspace", "xdp"] = Field(
        "auto",
        description="What moves frames: the kernel's module, or Open vSwitch itself by packet sockets or, with a polling core, "
        "by AF_XDP; auto: the module where the kernel has it, else packet sockets.",
    )
    port_list: dict[PortName, SwitchPort | None] = Field(
        alias="ports", min_length=1, description="Name of each port, and what it does."
    )
    tunnels: dict[PortName, Tunnel] = Field({}, description="Ports that lead through other networks, by name.")
    own: Own | None = Field(None, description="Its own address; none by default.")
    mirror: Mirror | None = Field(None, description="Copy frames to a port.")
    rstp: bool = Field(False, description="Find loops and break them by IEEE 802.1D-2004 (RSTP).")
    priority: int = Field(
        32768, ge=0, le=61440, multiple_of=4096, description="With `rstp`: the switch with the smallest is the root."
    )
    ageing: Annotated[float, Quantity(TIME, 15.0, 3825.0)] = Field(
        300.0, description="For how long it remembers where an address was seen."
    )
    multicast_snooping: bool = Field(False, description="Multicast goes only where a member was heard of (IGMP, MLD).")
    flows: tuple[str, ...] = Field(
        (),
        max_length=10_000,
        description="OpenFlow flows as `ovs-ofctl` writes them, beside the one of priority 0 that learns and floods (`NORMAL`); "
        "ports by name after `in_port=`, `output:` and `enqueue:`.",
    )
    controller: Controller | None = Field(None, description="An OpenFlow controller.")

    @property
    def numbers(self) -> dict[str, int]:
        """OpenFlow numbers of its ports: the order of the file, tunnels last."""
        return {name: number for number, name in enumerate((*self.port_list, *self.tunnels), 1)}

    def ports(self) -> dict[str, tuple[Interface, ...]]:
        return dict.fromkeys(self.port_list, ())

    def own_interfaces(self) -> dict[str, tuple[Interface, ...]]:
        return {BRIDGE: self.own.address} if self.own else {}

    def place(self, port: str) -> Location:
        return ("own", "address") if port == BRIDGE else super().place(port)

    def needs_interface(self) -> str:
        return "which Open vSwitch joins by interfaces of the kernel"

    def settings(self) -> Mapping[str, SwitchPort]:
        """Of its ports, those that say nothing included."""
        return {name: port or SwitchPort() for name, port in self.port_list.items()}

    def vlans(self) -> dict[str, Vlans]:
        """Of all that frames pass: its ports but the mirror's, its tunnels, its own interface."""
        own = {BRIDGE: Vlans(vlan=self.own.vlan)} if self.own else {}
        passing: dict[str, Vlans] = {**self.settings(), **self.tunnels, **own}
        return {name: vlans for name, vlans in passing.items() if self.mirror is None or name != self.mirror.to}

    def passed(self, port: str, tag: int | None) -> Iterator[tuple[str, int | None]]:
        """Where a frame can leave that enters at a port with that tag, and with what tag then."""
        vlans = self.vlans()
        if port not in vlans or (vlan := vlans[port].enters(tag)) is None:
            return
        for other, exits in vlans.items():
            if other != port and (left := exits.leaves(vlan)):
                yield other, left[0]

    def is_at(self, address: IPv4Address) -> bool:
        """Whether that is its own address."""
        return self.own is not None and any(address == interface.ip for interface in self.own.address)

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        for name in self.tunnels.keys() & self.port_list.keys():
            yield ("tunnels", name), f'"{name}" is the name of a port already; choose another'
        if self.tunnels and self.own is None:
            yield ("tunnels",), "tunnels begin at an address of the switch; add own: {address: 10.0.0.9/24}"
        for name, tunnel in self.tunnels.items():
            if self.is_at(tunnel.remote):
                yield ("tunnels", name, "remote"), "is the switch's own address; write that of the other switch"
        if self.controller and self.own is None:
            yield ("controller",), "a controller is spoken to from an address of the switch; add own: {address: 10.0.0.9/24}"
        yield from self._wrong_in_mirror()
        yield from self._wrong_in_rates()
        for index, flow in enumerate(self.flows):
            if not flow.isprintable() or not flow.strip() or len(flow) > 4000:
                yield ("flows", index), "a flow is one line of text; see ovs-ofctl(8)"

    def _wrong_in_mirror(self) -> Iterator[tuple[Location, str]]:
        if self.mirror is None:
            return
        ports = (*self.port_list, *self.tunnels)
        for index, name in enumerate(self.mirror.source):
            if name not in ports:
                yield ("mirror", "from", index), f'the switch has no port "{name}"; {nearest(name, ports)}'
        if self.mirror.to not in self.port_list:
            yield ("mirror", "to"), f'the switch has no port "{self.mirror.to}"; {nearest(self.mirror.to, self.port_list)}'
        elif self.mirror.to in self.mirror.source:
            yield ("mirror", "to"), f'"{self.mirror.to}" would be copied to itself; take it out of from, or copy to another port'

    def _wrong_in_rates(self) -> Iterator[tuple[Location, str]]:
        other = next((key for key in ("flows", "controller") if getattr(self, key)), None)
        waiting = Counter({name: port.waiting() for name, port in self.settings().items()})
        for name, port in self.settings().items():
            if port.police is not None and other:
                yield ("ports", name, "police"), f"is done by a flow, of which {other} decides here; leave one of them out"
            if port.limit is not None and self.datapath == "xdp":
                yield ("ports", name, "limit"), "frames sent by AF_XDP never wait; leave it out, or write datapath: userspace"
        if waiting.total() > MOST_WAITING and self.datapath != "kernel":
            ((name, _),) = waiting.most_common(1)
            yield (
                ("ports", name),
                f"{waiting.total()} frames could wait in the switch, and the socket that it sends by has room for "
                f"{MOST_WAITING}; give its queues less, or write datapath: kernel",
            )
