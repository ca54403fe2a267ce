# SPDX-License-Identifier: GPL-2.0-or-later
"""The targets of changes: nodes and wires of a network that can be changed while it runs, be it a file's or a lab's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from contracts.changes import ManagedLinkChange, ParameterChange, StagesChange, WireChange, WireState
from contracts.errors import listed
from contracts.management import parts
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import EquipmentPlan, NodePlan, WireEnd, WirePlan
from contracts.quantities import RATE
from netboxes.stages.stage import NETBOX
from netboxes.technology import Technology, technology_of
from testbed.description.input_errors import nearest
from testbed.description.live import in_yaml, is_of_link_layer, read_stages, read_value, shown
from testbed.description.managed_link import ManagedRate
from testbed.description.router import FOLLOWS_NOTHING
from testbed.description.wire_ends import ends_of


class NotThere(ValueError):
    """What a change names is not there, or cannot be changed so. `key` is the one that names it, in the words of an event."""

    def __init__(self, key: str, cause: str, remedy: str) -> None:
        self.key, self.cause, self.remedy = key, cause, remedy
        super().__init__(f"{cause}; {remedy}")


@dataclass(frozen=True)
class NetboxTarget:
    #: Its technology's name.
    of: str
    stations: tuple[str, ...]
    #: Its parameters as they were at the start, in base units.
    values: Mapping[str, Any]
    #: The traffic classes that it declares, in their order.
    classes: tuple[str, ...] = ()
    has_link_layer: bool = False

    @property
    def technology(self) -> type[Technology]:
        return technology_of(self.of)

    def live(self, name: str, parameter: str, yaml_value: object, context: Mapping[str, Path] | None = None) -> ParameterChange:
        """The change that sets a live parameter to `yaml_value`, as in YAML; `name` is the netbox's. Raises ValueError."""
        if is_of_link_layer(self.technology, parameter) and not self.has_link_layer:
            raise ValueError(f"{parameter}: {name} has no link layer that could have them; say link_layer in its file")
        value = read_value(self.technology, parameter, yaml_value, context, self.classes)
        try:
            self.technology.check_live(self.values, parameter, value)
        except ValueError as error:
            raise ValueError(f"{parameter}: {error}") from None
        return ParameterChange(name, parameter, value, shown(self.technology, parameter, value, yaml_value))


@dataclass(frozen=True)
class RouterTarget:
    engine: Literal["click", "linux"]
    interfaces: tuple[str, ...] = ()

    def live(self, name: str, parameter: str, yaml_value: Any) -> StagesChange:
        """The change that gives an interface other stages, by the parameter "lan.stages", as in YAML. Raises ValueError.

        `name` is the router's.
        """
        interface, _, own = parameter.rpartition(".")
        if own != "stages" or not interface:
            one = self.interfaces[0] if self.interfaces else "INTERFACE"
            raise ValueError(f"{parameter} is not what a Click router can be set while it runs; that is {one}.stages")
        if interface not in self.interfaces:
            raise ValueError(f'{parameter}: router {name} has no interface "{interface}"; {nearest(interface, self.interfaces)}')
        value = read_stages(parameter, yaml_value)
        for index, stage in enumerate(yaml_value):
            if stage.get("rate") == NETBOX:
                raise ValueError(f"{parameter}[{index}].rate: {FOLLOWS_NOTHING}")
        return StagesChange(name, parameter, value, in_yaml(yaml_value))


@dataclass(frozen=True)
class WireTarget:
    name: str
    left: WireEnd
    right: WireEnd
    memory: bool = False
    #: The end that is equipment: the node at the other end has the only interface.
    outside: WireEnd | None = None

    def is_between(self, first: str, second: str) -> bool:
        ends = (self.left, self.right)
        return any(_is(left, first) and _is(right, second) for left, right in (ends, ends[::-1]))

    def has(self, end: str) -> bool:
        return _is(self.left, end) or _is(self.right, end)


@dataclass(frozen=True)
class ManagedLinkTarget:
    """A link whose rate is divided."""

    #: The allocator's node.
    gateway: str
    #: By host: whether its access is a rate that can be said.
    members: Mapping[str, bool]
    #: What is divided is what a netbox tells.
    follows: bool = False

    def live(self, name: str, member: str | None, key: str, written: object) -> ManagedLinkChange:
        """The change that sets `rate`, or the `access` of a member, as in YAML; `name` is the link's. Raises ValueError."""
        if member is not None and member not in self.members:
            raise NotThere("member", f'"{member}" is no member of the managed link {name}', nearest(member, self.members))
        parameter: Literal["rate", "access"] = "rate" if member is None else "access"
        if key != parameter:
            whose = f"a member of {name}" if member else f"the managed link {name}"
            raise ValueError(f'{whose} has no live parameter "{key}"; use {parameter}')
        if member is None and self.follows:
            raise ValueError(f"a netbox tells what {name} divides; change the rate there")
        if member is not None and not self.members[member]:
            raise ValueError(
                f"the access of {member} is not said by the topology: it has one with kind: dybra, unless a netbox tells it; "
                "change the rate of its link instead"
            )
        try:
            value = ManagedRate.parse(written)
        except ValueError as error:
            raise ValueError(f"{parameter}: {error}") from None
        return ManagedLinkChange(name, member or self.gateway, parameter, round(value), RATE.write(value))


@dataclass(frozen=True)
class Targets:
    """By the nodes' names."""

    netboxes: Mapping[str, NetboxTarget] = field(default_factory=dict)
    routers: Mapping[str, RouterTarget] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    wires: tuple[WireTarget, ...] = ()
    managed_links: Mapping[str, ManagedLinkTarget] = field(default_factory=dict)

    @staticmethod
    def of(nodes: Iterable[NodePlan], wires: Iterable[WirePlan], equipment: Iterable[EquipmentPlan]) -> Targets:
        """Of a plan's."""
        nodes = list(nodes)
        return Targets(
            {node.name: _netbox(node) for node in nodes if node.kind == "netbox"},
            {node.name: _router(node) for node in nodes if node.kind == "router"},
            tuple(node.name for node in nodes if node.kind == "host"),
            tuple(node.name for node in nodes if node.kind == "switch"),
            (
                *(WireTarget(wire.name, wire.left, wire.right, wire.kind == "memory") for wire in wires),
                *(_plugged(port) for port in equipment),
            ),
            _managed_links(nodes),
        )

    def names(self) -> list[str]:
        return [*self.netboxes, *self.routers, *self.hosts, *self.switches]

    def netbox(self, name: str) -> NetboxTarget:
        if name not in self.netboxes:
            raise NotThere("netbox", f'there is no netbox "{name}"', nearest(name, self.netboxes))
        return self.netboxes[name]

    def click_router(self, name: str) -> RouterTarget:
        self.power(name)
        if name not in self.routers or self.routers[name].engine != "click":
            click = [router for router, target in self.routers.items() if target.engine == "click"]
            kinds = {"a netbox": self.netboxes, "a router by the kernel": self.routers, "a host": self.hosts}
            kind = next((kind for kind, names in kinds.items() if name in names), "a switch")
            raise NotThere(
                "node", f"{name} is {kind}, no Click router", f"use {listed(click)}" if click else "the network has none"
            )
        return self.routers[name]

    def managed_link(self, name: str) -> ManagedLinkTarget:
        if name not in self.managed_links:
            raise NotThere("managed_link", f'there is no managed link "{name}"', nearest(name, self.managed_links))
        return self.managed_links[name]

    def power(self, name: str) -> None:
        """Checks that there is such a node: each has power. Raises NotThere."""
        if name not in self.names():
            raise NotThere("node", f'there is no node "{name}"', nearest(name, self.names()))

    def wire_of(self, text: str) -> WireTarget:
        """The wire that a text names: both of its ends (`wire_ends.ends_of`), or one, which has no other wire."""
        if (ends := ends_of(text)) is not None:
            return self.wire_between(*ends)
        ends_of_wires = [f"{end.node}.{end.interface}" for wire in self.wires for end in (wire.left, wire.right)]
        return _switchable(
            [wire for wire in self.wires if wire.has(text)],
            (f'"{text}" is the end of no wire', nearest(text, ends_of_wires)),
            f'"{text}" has several wires',
        )

    def wire_between(self, left: str, right: str) -> WireTarget:
        return _switchable(
            [wire for wire in self.wires if wire.is_between(left, right)],
            (f"no wire joins {left} and {right}", nearest(f"{left}--{right}", [wire.name for wire in self.wires])),
            f"several wires join {left} and {right}",
        )

    def switched(self, wire: WireTarget, state: WireState) -> WireChange:
        """An interface that is down loses its routes; its peer only its carrier. So it is an emulator's, where there is one."""
        order = {**dict.fromkeys((*self.netboxes, *self.switches), 0), **dict.fromkeys(self.routers, 1)}
        end = min((end for end in (wire.left, wire.right) if end != wire.outside), key=lambda end: order.get(end.node, 2))
        return WireChange(wire.name, state, end.node, end.interface)


def _switchable(wires: Sequence[WireTarget], none: tuple[str, str], several: str) -> WireTarget:
    """The only one of `wires`; `none` is cause and remedy where there is none, `several` the cause where there are more."""
    if not wires:
        raise NotThere("wire", *none)
    if len(wires) > 1:
        raise NotThere("wire", several, f"say {listed([wire.name for wire in wires])}")
    if wires[0].memory:
        raise NotThere(
            "wire", "between two emulators the wire is shared memory, which is never down", "write {ends: […], wire: veth} for it"
        )
    return wires[0]


def _plugged(equipment: EquipmentPlan) -> WireTarget:
    inside = f"{equipment.end.node}.{equipment.end.interface}"
    outside = WireEnd(*equipment.wire.removeprefix(f"{inside}--").removesuffix(f"--{inside}").split("."))
    return WireTarget(equipment.wire, outside, equipment.end, outside=outside)


def _netbox(node: NodePlan) -> NetboxTarget:
    netbox = netbox_configuration(node)
    return NetboxTarget(
        netbox["technology"],
        tuple(interface.name for interface in node.interfaces),
        netbox["parameters"],
        tuple(named["name"] for named in netbox["classes"]),
        "link_layer" in netbox,
    )


def _router(node: NodePlan) -> RouterTarget:
    return RouterTarget("linux" if node.forwards else "click", tuple(interface.name for interface in node.interfaces))


def _managed_links(nodes: Iterable[NodePlan]) -> dict[str, ManagedLinkTarget]:
    told = [(part, node.name) for node in nodes for part in parts(node)]
    return {
        part["name"]: ManagedLinkTarget(
            gateway,
            {
                host: own["kind"] == "dybra" and not own.get("telemetry")
                for own, host in told
                if own["role"] == "member" and own["name"] == part["name"]
            },
            "follows" in part,
        )
        for part, gateway in told
        if part["role"] == "allocator"
    }


def _is(end: WireEnd, text: str) -> bool:
    return text in (end.node, f"{end.node}.{end.interface}")
