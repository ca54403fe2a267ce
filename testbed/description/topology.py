# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology file: hosts, netboxes, routers and switches, the wires between them, and the traffic that crosses them.

`topology_file.load` reads one. docs/topology.md is the reference for users.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    InstanceOf,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema

from applications.application import ApplicationOptions
from applications.registry import applications
from contracts.addresses import Addresses, Gateways, Interface
from contracts.command_line import CommandLine
from contracts.errors import AtPlaces, listed
from contracts.name import Name
from contracts.quantities import TIME, Quantity
from netboxes.link_layer.link_layer import LinkLayer
from netboxes.stages.stage import NETBOX, Stages
from netboxes.technology import Technology, classes_of_queues, technologies
from testbed.description.equipment_section import Equipment, HostInterface, Replacement
from testbed.description.events import Event
from testbed.description.host_files import MOST_COPIES, MOST_PACKAGES, FileBeside, HostPath, Package, wrong_together
from testbed.description.input_errors import AtKey, nearest, one_of, read_part
from testbed.description.machines import KnownMachines, MachineName, Places
from testbed.description.managed_link import ManagedLink
from testbed.description.router import Router
from testbed.description.section import ContainerSection, Limits, NodeSection, Section
from testbed.description.switch import Switch
from testbed.description.traffic_class import Match, unknown_classes
from testbed.description.wire_ends import TwoEnds
from testbed.description.yaml_source import Location

#: The interface of a host that has one.
ONLY_INTERFACE = "eth0"

_LimitOfLateness = Annotated[float, Quantity(TIME, 1e-6, 10.0)]


class Realtime(Section):
    """How late the emulation may be, and what happens when it is later."""

    limit: _LimitOfLateness = Field(1e-3, description="Lateness that is still good, of an event or a departing frame.")
    policy: Literal["mark", "abort"] = Field("mark", description="Beyond it: mark the run, or end it.")
    priority: int = Field(50, ge=1, le=98, description="SCHED_FIFO priority of netboxes and routers, where the host grants it.")
    spin: Annotated[float, Quantity(TIME, 0.0, 1e-3)] = Field(
        50e-6, description="How long before an event a netbox stops sleeping and watches the clock; only with SCHED_FIFO."
    )
    timer_slack: Annotated[float, Quantity(TIME, 1e-9, 1e-3)] = Field(
        1e-9, description="How much later than asked the kernel may wake a netbox to save wake-ups (PR_SET_TIMERSLACK)."
    )
    keep_awake: bool = Field(
        False,
        description="Keep the netboxes' cores from halting when idle (PM QoS): less late, at full power while the lab is up.",
    )


class RealtimeOfNetbox(Section):
    """The same for one netbox; what is left out is as for the whole lab."""

    limit: _LimitOfLateness | None = Field(None, description="Lateness that is still good.")
    policy: Literal["mark", "abort"] | None = Field(None, description="Beyond it: mark the run, or end it.")


class Host(ContainerSection):
    """A container where applications run. With one wire it has an `address`, with several it has `interfaces`."""

    KIND: ClassVar = "host"
    PASSES: ClassVar = "nothing"

    address: Addresses | None = Field(None, description="Address with prefix length; a list for IPv4 and IPv6 both.")
    interfaces: dict[Name, Addresses] | None = Field(None, description="Name of each interface, and its address or addresses.")
    gateway: Gateways = Field((), description="Router for all other networks; a list for IPv4 and IPv6 both.")
    ecn: bool | None = Field(
        None,
        description="Whether its TCP asks for ECN (RFC 3168): true, or refuses it: false (tcp_ecn 1 and 0). Default: "
        "it accepts it from those that ask (2), as Linux.",
    )
    files: dict[HostPath, FileBeside] = Field(
        {},
        description="Files and folders from beside the topology, by where the host sees a copy of them: `{/srv/site: ./site}`.",
    )
    packages: tuple[Package, ...] = Field(
        (),
        max_length=MOST_PACKAGES,
        description="Debian packages that it has, and the machine need not have; with a version: `[nginx, darkstat=3.0.721-1]`.",
    )
    start: CommandLine | None = Field(
        None, description="What it runs by itself when the network is ready, as a shell reads it: `python3 -m http.server 80`."
    )
    restart: Literal["never", "on-failure", "always"] = Field(
        "never", description="When that is started again: never, when it ended with another status than 0, or whenever it ended."
    )

    @field_validator("files", mode="before")
    @classmethod
    def _are_few(cls, files: Any) -> Any:
        if isinstance(files, dict) and len(files) > MOST_COPIES:
            raise ValueError(
                f"{len(files)} files and folders are to be copied, and {MOST_COPIES} are the most; copy one folder with all"
            )
        return files

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if self.address is None and not self.interfaces:
            yield (), "a host needs an address; write address: 10.0.0.1/24"
        if self.address is not None and self.interfaces is not None:
            yield (), "a host has either address or interfaces; put the address into interfaces"
        yield from ((("files", path), message) for path, message in wrong_together(self.files, self.packages))
        if self.start is None and "restart" in self.model_fields_set:
            yield ("restart",), "there is no program that could be started again; add start: …"

    def ports(self) -> dict[str, tuple[Interface, ...]]:
        return self.interfaces or {ONLY_INTERFACE: self.address or ()}

    def place(self, port: str) -> Location:
        return super().place(port) if self.interfaces else ("address",)

    def needs_interface(self) -> str:
        return "whose programs need an interface of the kernel"


def _check_technology(name: str) -> str:
    return one_of(name, technologies(), "a technology")


class Netbox(ContainerSection):
    """One emulated segment. Keys other than these are parameters of its technology."""

    KIND: ClassVar = "netbox"
    PORT: ClassVar = "station"
    PASSES: ClassVar = "frames"
    OWN_KEYS: ClassVar = (
        *("host", "limits", "technology", "stations", "classes", "stages", "link_layer", "telemetry", "realtime", "io", "cores"),
        "share",
    )

    technology: Annotated[str, AfterValidator(_check_technology)] = Field(description="What kind of segment it is.")
    stations: dict[Name, Any] = Field(min_length=1, description="Its ends: name, and what the technology says of a station.")
    classes: dict[Name, Match] = Field({}, description="Traffic classes by name, the first that fits first.")
    stages: dict[Name, Stages] = Field(
        {},
        description="By station: [stages](#stages) between its port and the segment, in the order in which packets from its node "
        "pass them.",
    )
    link_layer: LinkLayer | None = Field(
        None,
        description="Between the ports and the segment: its [services](../netboxes/link_layer/README.md) recover the frames that "
        "the technology loses.",
    )
    telemetry: bool = Field(
        False,
        description="It tells the node at each port the rates and the latency of its link, by frames of its own: [telemetry]"
        "(#telemetry).",
    )
    realtime: RealtimeOfNetbox | None = Field(None, description="Limit and policy of lateness for this netbox alone.")
    io: Literal["auto", "packet", "xdp"] = Field(
        "auto",
        description="How it reaches its veth wires: by packet sockets or by AF_XDP; auto: packet sockets, with fewer rights.",
    )
    cores: int = Field(1, ge=1, le=2, description="2: a core for the simulation, and one for its frames in and out.")
    share: Name | None = Field(None, description="Netboxes with the same word here share one core.")
    parameters: SkipJsonSchema[InstanceOf[Technology]]

    @model_validator(mode="before")
    @classmethod
    def _gather_parameters(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        own = {key: value for key, value in data.items() if key in cls.OWN_KEYS}
        if isinstance(stations := data.get("stations"), dict):
            own["stations"] = {name: {} if station is None else station for name, station in stations.items()}
        parameters = {key: value for key, value in data.items() if key not in own} | {"stations": own.get("stations")}
        return {**own, "parameters": parameters}

    @field_validator("parameters", mode="plain")
    @classmethod
    def _read_parameters(cls, parameters: dict[str, Any], info: ValidationInfo) -> Technology:
        if "technology" not in info.data:
            return Technology()  # that is reported already, and there is nothing to check against
        skipped = () if "stations" in info.data else ("stations",)
        read = read_part(technologies()[info.data["technology"]], parameters, info.context, cls.OWN_KEYS, skipped)
        classes = info.data.get("classes")  # none where those are wrong, which is reported already
        used = {**read.classes_used(), **dict(classes_of_queues(read))}
        if classes is not None and (wrong := unknown_classes(used, [*classes])):
            raise AtPlaces(wrong)
        if classes is not None and (unfit := read.unfit_classes({name: match.rule() for name, match in classes.items()})):
            raise AtPlaces(unfit)
        return read

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        for station in self.stages.keys() - self.stations.keys():
            yield ("stages", station), f'there is no station "{station}"; {nearest(station, self.stations)}'
        if self.link_layer is not None:
            yield from ((("link_layer", *place), why) for place, why in self._wrong_link_layer(self.link_layer))
        if not self.parameters.TELLS_LINKS:
            able = listed([name for name, kind in technologies().items() if kind.TELLS_LINKS])
            why = f"a netbox of {self.technology} has no rates of links to tell, {able} have"
            if self.telemetry:
                yield ("telemetry",), f"{why}; leave telemetry out"
            for station, stages in self.stages.items():
                for index in (index for index, stage in enumerate(stages) if stage.rate == NETBOX):
                    yield ("stages", station, index, "rate"), f"{why}; say a rate"
        if self.share is not None and self.cores > 1:
            yield ("cores",), f"a netbox that shares a core has no second one; leave out cores or share: {self.share}"

    def _wrong_link_layer(self, layer: LinkLayer) -> Iterator[tuple[Location, str]]:
        if self.parameters.TELLS_SERVICES:
            yield (), f"{self.technology} has a link layer of its own; say its services without link_layer"
        if self.parameters.TYPICAL is None or len(self.stations) < 2:
            yield (), "it is between stations, and these are ends of the network; leave link_layer out"
        if layer.base is not None and layer.base not in self.stations:
            yield ("base",), f'there is no station "{layer.base}"; {nearest(layer.base, self.stations)}'
        yield from unknown_classes(layer.classes_used(), [*self.classes]).items()
        yield from layer.unfit_classes({name: match.rule() for name, match in self.classes.items()}).items()

    def ports(self) -> dict[str, tuple[Interface, ...]]:
        return dict.fromkeys(self.stations, ())


def _check_application(name: str) -> str:
    return one_of(name, applications(), "an application")


class Traffic(Section):
    """One application between two hosts. Keys other than these are options of the application."""

    OWN_KEYS: ClassVar = ("application", "from", "to")

    application: Annotated[str, AfterValidator(_check_application)] = Field(description="What makes its packets.")
    source: str = Field(alias="from", description="The host that it starts from.")
    destination: str = Field(alias="to", description="The host that it goes to.")
    options: SkipJsonSchema[InstanceOf[ApplicationOptions]]

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        own = {key: value for key, value in data.items() if key in cls.OWN_KEYS}
        return {**own, "options": {key: value for key, value in data.items() if key not in own}}

    @field_validator("options", mode="plain")
    @classmethod
    def _read_options(cls, options: dict[str, Any], info: ValidationInfo) -> ApplicationOptions:
        if "application" not in info.data:
            return ApplicationOptions()  # the error is reported already
        return read_part(applications()[info.data["application"]].OPTIONS, options, info.context, cls.OWN_KEYS)


WireKind = Literal["auto", "veth", "memory"]


class Wire(Section):
    """What joins two ends. Written as the pair of them, or as a mapping to say of which kind it is."""

    ends: TwoEnds = Field(description="Its two ends, as [fr1, field.responder] or fr1--field.responder.")
    wire: WireKind | None = Field(None, description="Its kind; as for the whole file by default.")
    mtu: int | None = Field(
        None,
        ge=1280,
        le=1500,
        description="The longest packet of the segment that it is of, when that is to be less than what the segment could carry.",
    )
    over: Annotated[dict[MachineName, HostInterface], Field(min_length=2, max_length=2)] | None = Field(
        None,
        description="Between two machines: the interface of each, by its name, with a cable between them; a tunnel by default.",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_a_pair(cls, data: Any) -> Any:
        return data if isinstance(data, dict | Wire) else {"ends": data}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        mapping = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [mapping["properties"]["ends"], mapping]}


#: Keys that have a section in the plural beside them: what its value is, which they never have, and how that is told.
SINGULAR: Final[dict[str, tuple[type, str]]] = {
    "host": (dict, "the name of a machine, and this is a mapping"),
    "wire": (list, "the kind of all wires, and this is a list"),
}


class Topology(Section):
    """The whole file."""

    name: Name = Field(description="Name of the network; its lab has the same unless another is given.")
    description: str = Field("", description="What it is, for the report.")
    seed: int = Field(1, ge=0, le=2**31 - 1, description="All randomness follows from it: same seed, same run in virtual time.")
    centre: str | None = Field(
        None, description='The host that "return" is towards; "forward" is away from it. Needed where there is traffic.'
    )
    host: MachineName | None = Field(
        None,
        description="The machine of all nodes that say none, by its name in the inventory; `auto`: where they fit best. "
        "By default this one.",
    )
    hosts: dict[Name, Host] = Field({}, description="Where applications run.")
    netboxes: dict[Name, Netbox] = Field({}, description="Emulated segments, transparent at layer 2.")
    routers: dict[Name, Router] = Field({}, description="What joins IP networks.")
    switches: dict[Name, Switch] = Field({}, description="Ethernet switches with VLANs, by Open vSwitch.")
    equipment: dict[Name, Equipment] = Field({}, description="Real things and virtual machines at ports of this machine.")
    replace: dict[Name, Replacement] = Field(
        {}, description="Netboxes in whose place a real network is, by name: what each of their stations is on this machine."
    )
    wires: list[Wire] = Field(
        [],
        description="Pairs of ends: `host`, `host.interface`, `netbox.station`, `router.interface`, `switch.port`, `equipment`.",
    )
    wire: WireKind = Field(
        "auto", description="Kind of all wires that say none: auto takes shared memory between emulators, and veth at hosts."
    )
    traffic: dict[Name, Traffic] = Field({}, description="What crosses the network in a run.")
    management: dict[Name, ManagedLink] = Field(
        {}, description="Links by name, whose rates are divided among the hosts that send over them."
    )
    events: list[Event] = Field([], description="What changes during a run, and when.")
    realtime: Realtime = Field(Realtime(), description="Limit and policy of lateness.")
    limits: Limits = Field(Limits(), description="The most that each node may take of its machine.")

    @field_validator(*SINGULAR, mode="before")
    @classmethod
    def _is_in_the_plural(cls, value: Any, info: ValidationInfo) -> Any:
        kind, words = SINGULAR[str(info.field_name)]
        if isinstance(value, kind):
            raise AtKey(f'here stands {words}; did you mean "{info.field_name}s"?')
        return value

    _path: Path = PrivateAttr(default=Path())
    _notes: tuple[str, ...] = PrivateAttr(default=())

    #: The sections with nodes, and what their nodes are.
    SECTIONS: ClassVar[dict[str, type[NodeSection]]] = {
        "hosts": Host,
        "netboxes": Netbox,
        "routers": Router,
        "switches": Switch,
        "equipment": Equipment,
    }

    def sections(self) -> dict[str, Mapping[str, NodeSection]]:
        return {section: getattr(self, section) for section in self.SECTIONS}

    def places(self, known: KnownMachines | None = None) -> Places:
        """Where its nodes are to be."""
        machines = {name: node.host for nodes in self.sections().values() for name, node in nodes.items()}
        return Places(machines, self.host, known)

    def node(self, name: str) -> NodeSection:
        """The node of that name; KeyError when there is none."""
        return ChainMap(*map(dict, self.sections().values()))[name]

    @property
    def path(self) -> Path:
        """The file that it was read from."""
        return self._path

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of it on the way from the file, for the user."""
        return self._notes

    def read_from(self, path: Path, notes: tuple[str, ...] = ()) -> Self:
        """Remembers its file."""
        self._path, self._notes = path, notes
        return self
