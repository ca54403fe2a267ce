# SPDX-License-Identifier: GPL-2.0-or-later
"""What is different between two plans of one node, and what that asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any, Final, Literal, TypeVar

from contracts.changes import LiveChange, ParameterChange, StagesChange
from contracts.netbox_configuration import CONFIGURATION_FILE
from contracts.plan import InterfacePlan, NodePlan, Plan
from netboxes.link_layer.link_layer import LinkLayer
from netboxes.technology import Technology, technology_of
from testbed.description.live import station_models, written
from testbed.description.topology import Topology
from testbed.nodes import frr, host_program
from testbed.nodes.routers import STAGES_FILE, configuration_name, is_click

How = Literal["live", "restart", "replace"]

#: A longer value is not shown.
_LONGEST = 60


#: Written by a station model where a distance gives way to a place.
_PLACES: Final = ("position", "path", "wander")


@dataclass(frozen=True)
class Finding:
    """What is different, in words, and what that asks for: a change while the node runs, its restart, a new node in its place."""

    how: How
    words: str
    #: The live parameter that is to be set, if it is one.
    parameter: LiveChange | None = None


@dataclass(frozen=True)
class Wires:
    """The wires and equipment of both plans, and what is done to each, by the name that interfaces know them by."""

    before: Plan
    after: Plan
    actions: Mapping[str, str]

    def far_end(self, wire: str, node: str) -> str:
        """What a wire leads to from a node."""
        ends = {other.name: other.right if other.left.node == node else other.left for other in self.after.wires}
        if wire in ends:
            return f"{ends[wire].node}.{ends[wire].interface}"
        return next((port.words() for port in self.after.equipment if port.wire == wire), wire)


_Value = TypeVar("_Value")


def changed(before: Mapping[str, _Value], after: Mapping[str, _Value]) -> Iterator[tuple[str, _Value | None, _Value | None]]:
    """The keys whose values differ, with both values; None where there is none."""
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield key, before.get(key), after.get(key)


def is_another(before: NodePlan | None, after: NodePlan) -> bool:
    """Whether it is not the same node any more, so that its wires go with it."""
    if before is None or before.limits.disk != after.limits.disk:
        return True
    return any(getattr(before, name) != getattr(after, name) for name in _IDENTITY)


def compare(before: NodePlan, after: NodePlan, wires: Wires) -> Iterator[Finding]:
    """Field by field; one that nothing is known of asks for a restart."""
    for field in fields(after):
        if field.name == "interfaces":
            yield from _interfaces(before, after, wires)
        elif getattr(before, field.name) != getattr(after, field.name):
            yield from _FIELDS.get(field.name, _field(field.name, "restart", field.name.replace("_", " ")))(before, after)


def _field(name: str, how: How, words: str) -> Callable[[NodePlan, NodePlan], Iterator[Finding]]:
    def find(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
        yield Finding(how, two(words, getattr(before, name), getattr(after, name)))

    return find


def _command(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    if frr.waits_for(before.command, after.command):
        yield Finding("live", "the networks that it waits for when it starts")
        return
    old = [part for part in before.command if part not in after.command]
    new = [part for part in after.command if part not in before.command]
    yield Finding("restart", two("its command:", " ".join(old), " ".join(new)))


def _cores(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    # The threads of a netbox with two cores bind themselves to them when it starts.
    bound = CONFIGURATION_FILE in after.files and max(len(before.cores), len(after.cores)) > 1
    yield Finding("restart" if bound else "live", two("cores", before.cores, after.cores))


def _forwards(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    yield Finding("live", f"its kernel forwards packets {'from now on' if after.forwards else 'no longer'}")


def _ecn(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    words = "asks for ECN" if after.ecn else "refuses ECN" if after.ecn is False else "accepts ECN from those that ask"
    yield Finding("live", f"its TCP {words}")


def _limits(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    """A node has a disk of its size from its beginning; the others are its container's."""
    for name, old, new in changed(vars(before.limits), vars(after.limits)):
        yield Finding("replace" if name == "disk" else "restart", two(f"its limit of {name.replace('_', ' ')}", old, new))


def _routes(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    gone, new = (
        [f"{route.destination} by {route.gateway}" for route in own if route not in other]
        for own, other in ((before.routes, after.routes), (after.routes, before.routes))
    )
    yield Finding("live", two("route", gone, new))


def _files(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    for name, old, new in changed(before.files, after.files):
        if name == host_program.TOLD:
            what = "new" if old is None else "gone" if new is None else "another"
            yield Finding("restart", f"the program that it starts is {what}")
        elif old is None or new is None:
            yield Finding("restart", f"file {name} is {'new' if old is None else 'gone'}")
        elif name == CONFIGURATION_FILE:
            yield from _netbox(after.name, old, new)
        elif is_click(after) and name == STAGES_FILE:
            yield from _stages_of_router(after, old, new)
        else:
            # A Click router's new configuration takes over from the old one, which hands on what its queues hold.
            how: How = "live" if is_click(after) and name == configuration_name(after) else "restart"
            yield Finding(how, f"{name} is another from line {_first_difference(old, new)} on")


def _copied(before: NodePlan, after: NodePlan) -> Iterator[Finding]:
    for place, old, new in changed(before.copied, after.copied):
        if old is None or new is None:
            yield Finding("restart", f"what is copied to {place} is {'new' if old is None else 'gone'}")
        elif old.digest != new.digest:
            yield Finding("restart", f"what is copied to {place} is another")
        else:
            yield Finding("live", two(f"what is copied to {place} is from another place:", old.source, new.source))


def _first_difference(old: str, new: str) -> int:
    lines = enumerate(zip_longest(old.splitlines(), new.splitlines()), start=1)
    return next((number for number, (was, becomes) in lines if was != becomes), 1)


def _interfaces(before: NodePlan, after: NodePlan, wires: Wires) -> Iterator[Finding]:
    old, new = ({interface.name: interface for interface in node.interfaces} for node in (before, after))
    for name in [name for name in old if name not in new]:
        yield Finding(_how(old[name], after), f"{_port(after, name)} is gone")
    for name, interface in new.items():
        if name not in old:
            words = f"{_port(after, name)} is new: it leads to {wires.far_end(interface.wire, after.name)}"
            yield Finding(_how(interface, after), words)
        else:
            yield from _interface(old[name], interface, after, wires)
    if [name for name in old if name in new] != [name for name in new if name in old]:
        # Only an order; but the ports of an emulator are numbered.
        restarts = any(_how(interface, after) == "restart" for interface in new.values())
        yield Finding("restart" if restarts else "live", "the order of its interfaces")


def _interface(old: InterfacePlan, new: InterfacePlan, node: NodePlan, wires: Wires) -> Iterator[Finding]:
    port = _port(node, new.name)
    how: How = "restart" if "restart" in (_how(old, node), _how(new, node)) else "live"
    if new.wire != old.wire or wires.actions.get(new.wire) in ("created", "replaced"):
        yield Finding(how, f"{port}: its wire to {wires.far_end(new.wire, node.name)} is new")
    # None where there is no such wire.
    mtus = wires.before.mtus().get(old.wire), wires.after.mtus().get(new.wire)
    if mtus[0] != mtus[1]:
        yield Finding(how, two(f"{port}: MTU", *mtus))
    for name, was, becomes in changed(vars(old), vars(new)):
        if name != "wire":
            yield Finding("live" if name in _LIVE else "restart", two(f"{port}: {_WORDS.get(name, name)}", was, becomes))


def _how(interface: InterfacePlan, node: NodePlan) -> How:
    """An interface comes and goes under a kernel that hosts and routes; a port is opened once, by a program that starts."""
    return "live" if interface.port == "kernel" and node.kind in ("host", "router") else "restart"


def _port(node: NodePlan, name: str) -> str:
    kinds = {section.KIND: section.PORT for section in Topology.SECTIONS.values()}
    return f"{kinds.get(node.kind, 'interface')} {name}"


def _netbox(netbox: str, before: str, after: str) -> Iterator[Finding]:
    """Between two texts of its `netbox.json` (docs/architecture.md, "Netbox process")."""
    was, becomes = json.loads(before), json.loads(after)
    for key, old, new in changed(was, becomes):
        if key == "stations":
            yield from _stations(was[key], becomes[key])
        elif key == "parameters" and was["technology"] == becomes["technology"]:
            yield from _parameters(netbox, technology_of(was["technology"]), was[key], becomes[key])
        elif key == "stages":
            stations = [station["name"] for station in becomes["stations"]]
            yield from _stages(ParameterChange, netbox, stations, old or {}, new or {})
        elif key == "link_layer" and old and new:
            yield from _link_layer(netbox, technology_of(becomes["technology"]), old, new)
        elif key != "parameters":
            yield from _any(key, old, new)


def _stages_of_router(router: NodePlan, before: str, after: str) -> Iterator[Finding]:
    """Between two texts of a Click router's `stages.json`."""
    for key, old, new in changed(json.loads(before), json.loads(after)):
        if key == "interfaces":
            ports = [interface.name for interface in router.interfaces]
            yield from _stages(StagesChange, router.name, ports, old or {}, new or {})
        else:
            yield from _any(f"{key} of stages", old, new)


def _stages(
    kind: type[ParameterChange | StagesChange],
    node: str,
    ports: Iterable[str],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> Iterator[Finding]:
    """Those of stations or interfaces that are there; with a new one its node starts anew."""
    for port in ports:
        old, new = before.get(port, []), after.get(port, [])
        if old != new:
            kinds = [", ".join(stage["stage"] for stage in stages) or "none" for stages in (old, new)]
            words = f"{port}.stages {kinds[0]} → {kinds[1]}" if kinds[0] != kinds[1] else f"{port}.stages are others"
            yield Finding("live", words, kind(node, f"{port}.stages", new, kinds[1]))


def _link_layer(
    netbox: str, technology: type[Technology], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Finding]:
    for key, old, new in changed(before, after):
        if key in LinkLayer.LIVE:
            yield Finding("live", f"{key} are others", ParameterChange(netbox, key, new, written(technology, key, new)))
        else:
            yield from _any(f"link_layer {key}", old, new)


def _stations(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[Finding]:
    """New and missing ones are the wires' to tell."""
    old, new = ({station["name"]: station for station in stations} for stations in (before, after))
    both = [name for name in new if name in old]
    if both != [name for name in old if name in new]:
        yield Finding("restart", "its stations are in another order")
    for name in both:
        for key, *values in changed(old[name], new[name]):
            yield from _any(f"station {name}: {key}", *values)


def _any(key: str, old: object, new: object) -> Iterator[Finding]:
    """What only a start reads; of a mapping, what is different in it."""
    if isinstance(old, dict) and isinstance(new, dict):
        for inner, *values in changed(old, new):
            yield from _any(f"{key} {inner}", *values)
    else:
        yield Finding("restart", two(key, old, new))


def _parameters(
    netbox: str, technology: type[Technology], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Finding]:
    """Those of the technology, and of its stations."""

    def finding(parameter: str, old: Any, new: Any, why_not: str | None) -> Finding:
        shown = ["none" if value is None else written(technology, parameter, value) for value in (old, new)]
        words = f"{parameter} {shown[0]} → {shown[1]}" if max(map(len, shown)) <= _LONGEST else f"{parameter} is another"
        if why_not is None and new is not None:
            return Finding("live", words, ParameterChange(netbox, parameter, new, shown[1]))
        return Finding("restart", words + (f", {why_not}" if why_not else ""))

    for name, old, new in changed(before, after):
        if name != "stations":
            yield finding(name, old, new, _why_not(technology, name, before, after))
    for station in (station for station in after["stations"] if station in before["stations"]):
        for own, old, new in changed(before["stations"][station], after["stations"][station]):
            yield finding(f"{station}.{own}", old, new, _why_not_of_station(technology, own, old))


def _why_not(technology: type[Technology], name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """Why a parameter of the netbox cannot be set live; "" where the technology says so. None: it can be."""
    if name not in technology.LIVE or before.get(name) is None:
        return ""
    for station, own in (station for parameters in (before, after) for station in parameters["stations"].items()):
        if _is_own(technology, name, own.get(name)) or (name == "distance" and any(own.get(place) for place in _PLACES)):
            return f"of which station {station} says its own"  # setting it live would be for all stations
    return None


def _why_not_of_station(technology: type[Technology], name: str, before: Any) -> str | None:
    # One that had none of its own had the netbox's.
    is_own = before is not None or name in technology.LIVE
    return None if is_own and any(name in model.LIVE for model in station_models(technology)) else ""


def _is_own(technology: type[Technology], name: str, value: Any) -> bool:
    """Whether a station's value is other than what a station has that says nothing."""
    defaults = [of.model_fields[name].default for of in station_models(technology) if name in of.model_fields]
    return value is not None and value not in defaults


def two(what: str, before: object, after: object) -> str:
    """Both values where they are short and there is one."""
    old, new = said(before), said(after)
    if max(len(old), len(new)) > _LONGEST or "{" in old + new:
        return f"{what} is another"
    return f"{what} {old} → {new}"


def said(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(said, value)) or "none"
    return "none" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)


_IDENTITY: Final = {"kind": "it is a", "container": "container", "namespace": "network namespace", "host": "machine"}
_FIELDS: Final[Mapping[str, Callable[[NodePlan, NodePlan], Iterator[Finding]]]] = {
    **{name: _field(name, "replace", words) for name, words in _IDENTITY.items()},
    "cores": _cores,
    "command": _command,
    "routes": _routes,
    "files": _files,
    "copied": _copied,
    "forwards": _forwards,
    "ecn": _ecn,
    "limits": _limits,
}
#: Of an interface: what changes while its node runs.
_LIVE: Final = ("addresses", "mac", "reason")
_WORDS: Final = {"mac": "MAC address", "reason": "by what it is reached, because:", "port": "reached by"}
