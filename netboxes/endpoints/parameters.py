# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of endpoints in YAML: hosts with interfaces, and the traffic that they send and receive."""

from __future__ import annotations

import difflib
import hashlib
from ipaddress import IPv4Network, ip_address, ip_interface
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    computed_field,
    field_serializer,
    model_serializer,
    model_validator,
)

from applications.congestion_control import Variant
from applications.dscp import Dscp
from contracts.addresses import Addresses, Gateways, Mac, NetworkText, parse_address
from contracts.management_key import ManagementKey
from contracts.name import Name
from contracts.quantities import PACKET_RATE, RATE, SIZE, TIME, Quantity
from netboxes.generator.parameters import Recording
from netboxes.technology import StationParameters, Technology

#: Longest time of a network, in seconds.
LONGEST = 1e9
Time = Annotated[float, Quantity(TIME, 0.0, LONGEST)]
Buffer = Annotated[float, Quantity(SIZE, 4096, 1 << 30)]
#: Hosts of a netbox, and TCP connections that they begin: what statistics of them, and memory, are bounded for.
MOST_HOSTS = 1000
MOST_CONNECTIONS = 2000
MOST_PORT = 65535
#: What an allocator divides, and an access; budgets are whole bit/s (middleware/rate.h).
ManagedRate = Annotated[float, Quantity(RATE, 1e3, 1e12)]
#: Groups that no router forwards beyond an organisation (RFC 2365, section 6); middleware/part_configuration.cc takes the same.
GROUPS = IPv4Network("239.0.0.0/8")
IpText = Annotated[str, AfterValidator(lambda text: str(parse_address(text)))]


class Route(BaseModel):
    """A way to a network behind a router."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    destination: NetworkText = Field(description="Network in CIDR.")
    gateway: IpText = Field(description="Address of the router, in a network of the host.")


class Station(StationParameters):
    """One interface of a host, or of each of many hosts behind one wire."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"access"})

    host: Name | None = Field(None, description="Whose interface it is; default: a host of the station's name.")
    hosts: int | None = Field(
        None,
        ge=1,
        le=MOST_HOSTS,
        description="So many hosts, `NAME-1`, `NAME-2` and so on, instead of one; their addresses count up.",
    )
    addresses: Addresses = Field(description="Of the interface, with prefix lengths: one of IPv4, one of IPv6, or both.")
    gateway: Gateways | None = Field(None, description="Default route, of one or both versions of IP.")
    routes: list[Route] = Field([], description="Further routes.")
    mac: Mac | None = Field(None, description="Default: made of the station's name and addresses, locally administered.")
    mtu: int = Field(1500, ge=576, le=9216, description="Longest packet, bytes; with IPv6 at least 1280.")
    forwarding: bool = Field(False, description="The host is a router. It is one when any of its stations says so.")
    access: ManagedRate | None = Field(
        None, description="What the interface carries, for the management of links behind it (DyBRA). Default: no limit is known."
    )

    @model_validator(mode="after")
    def _check_mtu(self) -> Self:
        if self.mtu < 1280 and any(address.version == 6 for address in self.addresses):
            raise ValueError(f"an interface with IPv6 has an MTU of 1280 or more (RFC 8200, section 5), not {self.mtu}")
        return self

    @model_validator(mode="after")
    def _check_hosts(self) -> Self:
        if self.hosts is None:
            return self
        if self.mac is not None:
            raise ValueError("`mac` is of one host, and there are `hosts`; leave one of them out")
        for first in self.addresses:
            last, network = first.ip + self.hosts - 1, first.network
            end = network.broadcast_address if first.version == 4 and network.prefixlen < 31 else network.broadcast_address + 1
            if last >= end:
                raise ValueError(
                    f"{self.hosts} hosts from {first} on do not fit into {network}, whose last is {end - 1}; "
                    "write fewer hosts or a shorter prefix"
                )
        return self

    def host_names(self, name: str) -> list[str]:
        """Of the hosts at this station."""
        own = self.host or name
        return [own] if self.hosts is None else [f"{own}-{number}" for number in range(1, self.hosts + 1)]

    def interfaces(self, name: str) -> dict[str, dict[str, Any]]:
        """Of each host, by its name, as the segment reads it."""
        return {
            host: self._interface(name if self.hosts is None else f"{name} {host}", number)
            for number, host in enumerate(self.host_names(name))
        }

    def _interface(self, name: str, number: int) -> dict[str, Any]:
        addresses = [str(ip_interface(f"{first.ip + number}/{first.network.prefixlen}")) for first in self.addresses]
        said = f"{name} {' '.join(addresses)}"
        # One that another interface hardly has.
        made = ":".join(["02", *(f"{byte:02x}" for byte in hashlib.sha256(said.encode()).digest()[:5])])
        interface = {"mac": self.mac or made, "addresses": addresses, "mtu": self.mtu}
        return interface if self.access is None else {**interface, "access_bps": round(self.access)}

    def all_routes(self) -> list[dict[str, str]]:
        """As the segment reads them."""
        defaults = [{"destination": "default", "gateway": str(gateway)} for gateway in self.gateway or ()]
        return [*defaults, *(route.model_dump() for route in self.routes)]


class Tcp(BaseModel):
    """How TCP behaves at this end. The defaults are Linux's; `reno-1999` and `noordwijk` have some of their own, see below."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    variant: Variant = Field("cubic", description="Congestion control.")
    sack: bool = Field(True, description="Selective acknowledgements (RFC 2018).")
    ecn: bool | None = Field(
        None,
        description="Explicit congestion notification (RFC 3168): true asks for it, false refuses it; default: accepts it, "
        "as Linux. `dctcp` always has it.",
    )
    l4s: bool = Field(False, description="`dctcp`: its packets are ECT(1), for the L4S queue of `dualpi2` (RFC 9331).")
    timestamps: bool = Field(True, description="Timestamps (RFC 7323).")
    window_scaling: bool = Field(True, description="Windows of more than 64 KiB (RFC 7323).")
    initial_window: int = Field(10, ge=1, le=65535, description="Segments (RFC 6928).")
    initial_ssthresh: Annotated[float, Quantity(SIZE, 1, 4e9)] | None = Field(
        None, description="Slow-start threshold at the beginning. Default: none."
    )
    mss: int | None = Field(None, ge=48, le=9176, description="Largest segment, bytes. Default: what the MTU permits.")
    send_buffer: Buffer = Field(
        2.8e6,
        description="Data of a connection that wait or are on their way: what Linux's largest (tcp_wmem, 4 MiB of memory) holds.",
    )
    receive_buffer: Buffer = Field(6291456.0, description="As Linux's largest (tcp_rmem).")
    ack_every: int = Field(2, ge=1, le=255, description="Segments that one acknowledgement is sent for.")
    ack_timeout: Annotated[float, Quantity(TIME, 1e-6, 60.0)] = Field(0.04, description="How long it is delayed at most.")
    pacing: bool = Field(False, description="Segments at even distances; `bbr` always has it.")
    rto_min: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(
        0.2, description="What a timeout of a retransmission is more than the smoothed round trip at least, as Linux's."
    )
    burst: int = Field(20, ge=1, le=1000, description="`noordwijk`: segments of the first burst, and most of a later one.")
    burst_timer: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(
        0.5, description="`noordwijk`: from burst to burst at first."
    )

    @model_validator(mode="after")
    def _check_variant(self) -> Self:
        if self.variant != "noordwijk" and (unfit := sorted({"burst", "burst_timer"} & self.model_fields_set)):
            raise ValueError(f"{', '.join(unfit)}: of noordwijk alone; leave it out, or write `variant: noordwijk`")
        if self.l4s and self.variant != "dctcp":
            raise ValueError("`l4s` is of dctcp alone (RFC 9331, 4.3); leave it out, or write `variant: dctcp`")
        return self

    def as_segment_reads_it(self) -> dict[str, Any]:
        """Only what was said: defaults depend on the variant, and the segment knows them."""
        in_seconds = {"ack_timeout": "ack_timeout_s", "rto_min": "rto_min_s", "burst_timer": "burst_timer_s"}
        said = [name for name in type(self).model_fields if name in self.model_fields_set]
        return {in_seconds.get(name, name): getattr(self, name) for name in said}


class Page(BaseModel):
    """A page of a web server: a document, and what that refers to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    objects: list[Annotated[float, Quantity(SIZE, 0, 1e12), Field(multiple_of=1)]] = Field(
        min_length=1, max_length=1000, description="How long each is, the document first."
    )
    request: int = Field(231, ge=0, le=4096, description="Bytes of what asks for each of them.")
    parse: Annotated[float, Quantity(TIME, 0.0, 1e6)] = Field(
        0.0, description="From the document's arrival to the requests for the others."
    )
    think: Annotated[float, Quantity(TIME, 0.0, 1e6)] = Field(0.0, description="From when all is there to the next page.")

    def as_segment_reads_it(self) -> dict[str, Any]:
        requests = [self.request] * len(self.objects)
        return {"objects": self.objects, "requests": requests, "parse_s": self.parse, "think_s": self.think}


class Flow(BaseModel):
    """One end of a flow of traffic; its other end may be of another netbox."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What only some kinds of ends can be told, by application and role.
    KEYS: ClassVar = {
        ("datagrams", "sender"): {
            *(
                "destination",
                "source_port",
                "dscp",
                "start",
                "apart",
                "periods",
                "rate",
                "poisson",
                "payload",
                "recording",
                "resolve",
            ),
        },
        ("datagrams", "receiver"): set[str](),
        ("bulk", "sender"): {"destination", "source_port", "dscp", "start", "apart", "size", "until", "parallel", "tcp"},
        ("bulk", "receiver"): {"tcp"},
        ("web", "client"): {"destination", "dscp", "start", "apart", "until", "parallel", "pages", "count", "persistent", "tcp"},
        ("web", "server"): {"dscp", "pages", "tcp"},
    }
    ALL_HAVE: ClassVar = {"name", "host", "application", "role", "port"}

    name: str = Field(min_length=1, description="In statistics and journal.")
    host: Name = Field(description="Whose end it is; a name of many hosts: each of them has one, `FLOW-1` and so on.")
    application: Literal["datagrams", "bulk", "web"] = Field(
        description="UDP at given times; TCP as fast as it can; pages by HTTP/1.1."
    )
    role: Literal["sender", "receiver", "client", "server"] = Field(description="Which end: of web a client or a server.")
    port: int = Field(ge=1, le=65535, description="The receiver's, or the server's.")
    destination: IpText | None = Field(None, description="Sender, client: address of the other end.")
    source_port: int = Field(0, ge=0, le=65535, description="Sender: its own port; 0: any. Parallel connections count up.")
    dscp: Dscp = Field(0, description="All but receivers: differentiated services code point: name or number.")
    start: Time = Field(0.0, description="Sender, client: when it begins.")
    apart: Annotated[float, Quantity(TIME, 0.0, 1e6)] = Field(
        0.0, description="Sender, client: of many hosts each begins so much later than the one before."
    )
    periods: list[tuple[Time, Time]] = Field([], description="Sender of datagrams: [from, until], counted from `start`.")
    rate: Annotated[float, Quantity(PACKET_RATE, 1e-6, 10e6)] | None = Field(None, description="Datagrams in periods.")
    poisson: bool = Field(False, description="Sender of datagrams: gaps in periods are exponential ones of that mean, not equal.")
    resolve: bool = Field(
        False,
        description="Sender of datagrams: empty ones to port 9, before the network's time, have the path resolve addresses.",
    )
    payload: Annotated[float, Quantity(SIZE, 16, 65507)] | None = Field(
        None, multiple_of=1, description="Of each datagram: its number and its time of departure, then zeros."
    )
    recording: Recording | None = Field(None, description="pcapng file in the checkout: its UDP payloads, at their times.")
    size: Annotated[float, Quantity(SIZE, 1, 1e15)] | None = Field(
        None, multiple_of=1, description="Sender of bulk: how much in each connection."
    )
    until: Time | None = Field(None, description="Sender of bulk: till when instead. Client: till when.")
    parallel: int = Field(1, ge=1, le=256, description="Sender of bulk, client: connections at once; of a client at most 64.")
    pages: list[Page] = Field(
        [], description="Web, the same at both ends: what the client gets, one after another, again and again."
    )
    count: int | None = Field(None, ge=1, le=10**9, description="Client: how many pages at most.")
    persistent: bool = Field(True, description="Client: a connection serves more than one request.")
    tcp: Tcp = Field(Tcp(), description="Bulk, web: how TCP behaves at this end.")

    def start_of(self, number: int) -> float:
        """When it begins at that one of many hosts, counted from 0."""
        return self.start + number * self.apart

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        kind = f"a {self.role} of {self.application}"
        if (self.application, self.role) not in self.KEYS:
            roles = " or ".join(role for application, role in self.KEYS if application == self.application)
            raise ValueError(f"{self.application} has no {self.role}; its `role` is {roles}")
        permitted = self.ALL_HAVE | self.KEYS[self.application, self.role]
        if unfit := sorted(self.model_fields_set - permitted):
            raise ValueError(f"{kind} has no {', '.join(unfit)}; leave that out")
        if self.role in ("sender", "client") and self.destination is None:
            raise ValueError(f"{kind} needs a `destination`; write the address of the other end")
        return self

    @model_validator(mode="after")
    def _check_web(self) -> Self:
        if self.application != "web":
            return self
        if not self.pages:
            raise ValueError(f"a {self.role} of web needs `pages`; write what there is to get, like [{{objects: [20 kB, 4 kB]}}]")
        if self.role == "client" and (self.until is None or self.until <= self.start):
            raise ValueError("a client of web needs an `until` that is after its `start`; write when it ends")
        if self.parallel > 64:
            raise ValueError(f"a client of web has at most 64 connections at once, not {self.parallel}; write fewer")
        return self

    @model_validator(mode="after")
    def _check_amount(self) -> Self:
        if self.role != "sender":
            return self
        if self.source_port and self.source_port + self.parallel - 1 > MOST_PORT:
            raise ValueError(
                f"`source_port` {self.source_port} leaves no ports for {self.parallel} connections, whose ports count up to "
                f"{MOST_PORT}; write a smaller one"
            )
        if self.application == "bulk":
            if (self.size is None) == (self.until is None):
                raise ValueError("a sender of bulk has either `size` or `until`; write one of them")
            if self.until is not None and self.until <= self.start:
                raise ValueError("`until` is not after `start`; write a later time")
            return self
        if bool(self.periods) == bool(self.recording):
            raise ValueError("a sender of datagrams has either `periods` or a `recording`; write one of them")
        if bool(self.periods) != (self.rate is not None and self.payload is not None):
            raise ValueError("`periods`, `rate` and `payload` belong together")
        times = [time for period in self.periods for time in period]
        if times != sorted(times):
            raise ValueError("`periods` are [from, until], one after another")
        return self

    @model_serializer
    def _as_segment_reads_it(self) -> dict[str, Any]:
        written = {"start": "start_s", "until": "until_s", "rate": "per_s"}
        values: dict[str, Any] = {name: getattr(self, name) for name in ("name", "host", "application", "role", "port")}
        for name in sorted(self.KEYS[self.application, self.role] - {"apart", "tcp", "recording", "pages"}):
            values[written.get(name, name)] = getattr(self, name)
        if self.recording is not None:
            values["recording"] = str(self.recording)
        if self.application == "web":
            values["pages"] = [page.as_segment_reads_it() for page in self.pages]
        if self.application != "datagrams":
            values["tcp"] = self.tcp.as_segment_reads_it()
        return values


class Part(BaseModel):
    """A host's part in the management of a link: C2ML or DyBRA (middleware/README.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What only one of the roles can be told.
    KEYS: ClassVar = {
        "allocator": {"equations", "recovers", "follows", "exploitation", "address"},
        "member": {"allocator", "beside", "threshold", "enforce", "without_lease", "while_sending", "telemetry"},
    }

    link: str = Field(min_length=1, description="Name of the link, in statistics and journal.")
    host: Name = Field(description="Whose part it is; a name of many hosts: each of them is a member.")
    role: Literal["allocator", "member"] = Field(description="Divides the link's `capacity`, or has a budget of it.")
    domain: int = Field(0, ge=0, le=2**32 - 1, description="Number of the link in messages, the same for all its parts.")
    kind: Literal["unweighted", "dybra"] = Field(
        "unweighted", description="Equal budgets; dybra: what members with a slow access cannot use goes to the others."
    )
    key: ManagementKey | None = Field(
        None, description="32 hexadecimal digits that authenticate messages, the same for all parts. Default: none."
    )
    equations: Literal["corrected", "printed"] = Field(
        "corrected", description="Allocator of dybra: `printed` are the source's, which assign more than the link has."
    )
    recovers: bool = Field(
        False, description="Allocator: may have run before, so at first it only listens, for 2 s, to what members hold of that."
    )
    follows: Literal["transmit", "receive"] | None = Field(
        None,
        description="Allocator, instead of `capacity`: it divides the rate that the netbox at the station `interface`, which has "
        "`telemetry`, tells of what leaves, or of what comes in. Before it is told one, it grants nothing.",
    )
    exploitation: float = Field(1.0, gt=0.0, le=1.0, description="Allocator that follows a rate: the part of it that is divided.")
    group: IpText | None = Field(
        None,
        description="IPv4 multicast group of announcements, of 239.0.0.0/8, the same for all parts, which are in one network. "
        "Default: each member has a copy.",
    )
    address: IpText | None = Field(None, description="Allocator with a `group`: its address in the network of the members.")
    allocator: IpText | None = Field(None, description="Member: address of the allocator's host.")
    interface: Name | None = Field(
        None,
        description="Member: the station by which packets to the link leave; by default that to the allocator. Allocator that "
        "follows a rate: where it is told.",
    )
    beside: tuple[NetworkText, ...] = Field(
        (), description="Member: networks that are reached without the link; what is sent there takes nothing of the budget."
    )
    threshold: float = Field(0.2, ge=0.0, le=1.0, description="Member, dybra: a change of the access by less is not reported.")
    enforce: bool = Field(True, description="Member: its TCP keeps to the budget. false: the budget is told only.")
    without_lease: Literal["unmanaged", "hold"] = Field(
        "unmanaged", description="Member that no allocator answers: no budget applies, or the last one."
    )
    while_sending: bool = Field(
        False, description="Member: joins when a TCP connection begins to send over the link, and leaves after the last one."
    )
    telemetry: bool = Field(
        False, description="Member, dybra: its access is what the netbox at its station tells, which has `telemetry`."
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        other = "member" if self.role == "allocator" else "allocator"
        if unfit := sorted(self.model_fields_set & self.KEYS[other]):
            role = "an allocator" if self.role == "allocator" else "a member"
            raise ValueError(f"{role} has no {', '.join(unfit)}; leave that out")
        if self.role == "member" and self.allocator is None:
            raise ValueError("a member needs an `allocator`; write the address of the allocator's host")
        if self.role == "allocator" and (self.follows is None) != (self.interface is None):
            raise ValueError("an allocator that `follows` a rate is told it at an `interface`; write both, or none")
        if self.role == "allocator" and (self.group is None) != (self.address is None):
            raise ValueError("an allocator sends to a `group` from its `address` in the members' network; write both, or none")
        if self.group is not None and ip_address(self.group) not in GROUPS:
            raise ValueError(f"the group {self.group} is none of {GROUPS}; give one of them")
        return self

    def as_segment_reads_it(self, capacity: float | None) -> dict[str, Any]:
        """As middleware/README.md has it; `capacity` is the allocator's, bit/s."""
        same = {"name": self.link, "role": self.role, "domain": self.domain, "kind": self.kind, "key": self.key}
        same |= {} if self.group is None else {"group": self.group}
        if self.role == "allocator":
            same |= {"equations": self.equations, "recovers": self.recovers}
            same |= {} if self.address is None else {"address": self.address}
            if self.follows is not None:
                return {**same, "follows": self.follows, "interface": self.interface, "exploitation": self.exploitation}
            assert capacity is not None, "checked by Parameters"
            return {**same, "capacity_bps": round(capacity)}
        told = {name: getattr(self, name) for name in sorted((self.KEYS["member"] | {"interface"}) - {"enforce"})}
        return {**same, **told, "enforcement": "window" if self.enforce else "none"}


class Parameters(Technology):
    """Hosts and routers with an IP stack of their own, which send and receive by UDP and TCP: an end of the network."""

    EMITS: ClassVar[bool] = True
    LIVE: ClassVar[frozenset[str]] = frozenset({"capacity"})
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset(
        [
            *("flow_started", "flow_completed", "flow_failed", "route", "route_gone"),
            *("share", "budget", "lease", "lease_refused", "lease_lost"),
            *("left", "allocator_unreachable", "allocator_reachable", "other_allocator"),
        ]
    )

    stations: dict[str, Station] = Field(min_length=1, description="Any names; each is an interface of a host.")
    flows: list[Flow] = Field([], description="What its hosts send and receive.")
    management: list[Part] = Field([], exclude=True, description="Parts of its hosts in the management of links.")
    capacity: ManagedRate | None = Field(
        None, description="Of the link that a host here is the allocator of, counted as IP packets."
    )

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated properties
    @property
    def hosts(self) -> dict[str, Any]:
        """As the segment reads them: by name."""
        hosts: dict[str, Any] = {}
        for name, station in self.stations.items():
            for host, interface in station.interfaces(name).items():
                written = hosts.setdefault(host, {"interfaces": {}, "routes": [], "forwarding": False})
                written["interfaces"][name] = interface
                written["routes"] += station.all_routes()
                written["forwarding"] |= station.forwarding
        for part in self.management:
            for host in self._group(part.host) or [part.host]:
                if host in hosts:
                    hosts[host].setdefault("management", []).append(part.as_segment_reads_it(self.capacity))
        return hosts

    @field_serializer("flows")
    def _of_each_host(self, flows: list[Flow]) -> list[dict[str, Any]]:
        """A flow of a station with many hosts is one of each of them, numbered as they are."""
        written = []
        for flow in flows:
            values = flow.model_dump(mode="json")
            hosts = self._group(flow.host)
            for number, host in enumerate(hosts):
                start = {"start_s": flow.start_of(number)} if "start_s" in values else {}
                written.append({**values, **start, "name": f"{flow.name}-{number + 1}", "host": host})
            written += [] if hosts else [values]
        return written

    def _group(self, name: str) -> list[str]:
        """The hosts of all stations that have many of that name."""
        many = (
            station.host_names(own) for own, station in self.stations.items() if station.hosts and (station.host or own) == name
        )
        return max(many, key=len, default=[])

    @model_validator(mode="after")
    def _check_capacity(self) -> Self:
        allocators = [part for part in self.management if part.role == "allocator"]
        if len(allocators) > 1:
            links = " and ".join(part.link for part in allocators)
            raise ValueError(f"management has the allocators of {links}, and `capacity` is of one; put one into another netbox")
        told = [part for part in allocators if part.follows is None]
        if told and self.capacity is None:
            raise ValueError(f"the allocator of {told[0].link} needs a `capacity`, or `follows`; write what it divides")
        if self.capacity is not None and allocators and not told:
            raise ValueError(f"a netbox tells the allocator of {allocators[0].link} what it divides; leave `capacity` out")
        if self.capacity is not None and not allocators:
            raise ValueError("`capacity` is of the link that an allocator divides, and management has no allocator; leave it out")
        return self

    @model_validator(mode="after")
    def _check_hosts(self) -> Self:
        owners: dict[Any, str] = {}
        for name, station in self.stations.items():
            for interface in station.interfaces(name).values():
                for key in (*(text.partition("/")[0] for text in interface["addresses"]), interface["mac"]):
                    if key in owners:
                        raise ValueError(f"stations {owners[key]} and {name} both have {key}; give one of them another")
                    owners[key] = name
        if len(self.hosts) > MOST_HOSTS:
            raise ValueError(f"{len(self.hosts)} hosts in one netbox, {MOST_HOSTS} are the most; put some into another netbox")
        if both := next((host for host in self.hosts if self._group(host)), None):
            raise ValueError(f"{both} is one host, and many by `hosts`; give one of them another name")
        for host, written in self.hosts.items():
            own = [ip_interface(text) for interface in written["interfaces"].values() for text in interface["addresses"]]
            for route in written["routes"]:
                gateway = parse_address(route["gateway"])
                if any(gateway == interface.ip for interface in own):
                    raise ValueError(f"host {host}: gateway {gateway} is its own address; write that of a router")
                if not any(gateway in interface.network for interface in own):
                    raise ValueError(f"host {host}: gateway {gateway} is in none of its networks; correct one of them")
        return self

    @model_validator(mode="after")
    def _check_flows(self) -> Self:
        for flow in self.flows:
            group = self._group(flow.host)
            self._check_host(f"flow {flow.name}", flow.host)
            if flow.apart and not group:
                raise ValueError(f"flow {flow.name}: `apart` is of the flows of many hosts, and {flow.host} is one; leave it out")
            last = flow.start_of(max(0, len(group) - 1))
            if flow.until is not None and last >= flow.until:
                raise ValueError(
                    f"flow {flow.name}: the last of {len(group)} hosts begins at {last:g} s, and `until` is {flow.until:g} s; "
                    "write a later one, or a shorter `apart`"
                )
        self._check_isolation()
        connections = sum(max(1, len(self._group(flow.host))) * flow.parallel for flow in self.flows)
        if connections > MOST_CONNECTIONS:
            raise ValueError(
                f"its flows are {connections} at once, {MOST_CONNECTIONS} are the most in one netbox; "
                "put some into another netbox"
            )
        return self

    @model_validator(mode="after")
    def _check_management(self) -> Self:
        seen: set[tuple[str, str, str | int]] = set()
        hosts = self.hosts
        for part in self.management:
            whose = f"the {part.role} of {part.link}"
            self._check_host(whose, part.host)
            group = self._group(part.host)
            if group and part.role == "allocator":
                raise ValueError(f"{whose}: {part.host} are {len(group)} hosts, and a link has one allocator; name one host")
            for host in group or [part.host]:
                self._check_membership(whose, part, host, hosts[host]["interfaces"])
                for key in (part.link, part.domain):
                    if (host, part.role, key) in seen:
                        raise ValueError(
                            f"{whose}: host {host} is {part.role} of link {part.link} or domain {part.domain} twice; "
                            "give each link a name and a domain of its own"
                        )
                seen |= {(host, part.role, part.link), (host, part.role, part.domain)}
        return self

    @staticmethod
    def _check_membership(whose: str, part: Part, host: str, interfaces: dict[str, Any]) -> None:
        own = [ip_interface(text).ip for interface in interfaces.values() for text in interface["addresses"]]
        if part.address is not None and parse_address(part.address) not in own:
            raise ValueError(f"{whose}: {part.address} is no address of host {host}; give the one that members ask")
        if part.allocator is None:
            return
        if part.interface is not None and part.interface not in interfaces:
            raise ValueError(f"{whose}: host {host} has no interface {part.interface}; it has {', '.join(interfaces)}")
        allocator = parse_address(part.allocator)
        if allocator in own:
            raise ValueError(
                f"{whose}: {allocator} is host {host} itself, and what it sends to itself does not leave it; leave it out"
            )
        if all(address.version != allocator.version for address in own):
            raise ValueError(f"{whose}: host {host} has no address of IPv{allocator.version}, as {allocator} is; give it one")

    def _check_isolation(self) -> None:
        """Hosts of one station do not reach each other: between them a transfer would take no time, and would never end."""
        at = {
            interface["addresses"][position].partition("/")[0]: (name, host)
            for name, station in self.stations.items()
            for host, interface in station.interfaces(name).items()
            for position in range(len(interface["addresses"]))
        }
        for flow in self.flows:
            name, other = at.get(flow.destination or "", ("", ""))
            senders = self._group(flow.host) or [flow.host]
            if other and name in {own for host in senders for own in self.hosts[host]["interfaces"]}:
                raise ValueError(
                    f"flow {flow.name}: {flow.destination} is at station {name}, too, whose hosts do not reach each other; "
                    "have the other end at another station"
                )

    def _check_host(self, whose: str, host: str) -> None:
        if self._group(host) or host in self.hosts:
            return
        names = [name for own, station in self.stations.items() for name in {station.host or own, *station.host_names(own)}]
        near = difflib.get_close_matches(host, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self._told_hosts())}"
        raise ValueError(f"{whose}: there is no host {host}; {hint}")

    def _told_hosts(self) -> list[str]:
        """Their names, those of many hosts as one."""
        return [
            f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0]
            for names in (station.host_names(name) for name, station in self.stations.items())
        ]
