# SPDX-License-Identifier: GPL-2.0-or-later
"""Where frames can be captured in a lab: what a user names, and what is then opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from contracts.errors import WrongInput
from contracts.plan import NodePlan, Plan, WireEnd
from testbed.description.input_errors import nearest
from testbed.description.wire_ends import ends_of


class BadPoint(WrongInput):
    """What is to be captured is not there, or cannot be captured."""


@dataclass(frozen=True)
class CapturePoint:
    """`name` is the user's word for it, and that of the capture. `by`: the netbox itself, or a packet socket at its interface."""

    name: str
    node: str
    interface: str
    by: Literal["netbox", "kernel"]

    def words(self) -> str:
        by = "by the netbox itself" if self.by == "netbox" else "by a packet socket"
        return f"at {self.node}.{self.interface}, {by}; 'in' is into {self.node}"


@dataclass(frozen=True)
class CapturedPoint:
    """What was captured at a point, and how many frames there was no room for on the way."""

    point: CapturePoint
    frames: int
    dropped: int


def points(plan: Plan, words: Sequence[str]) -> list[CapturePoint]:
    """What each word names: NODE (all that it has), NODE.PORT, or a wire (`wire_ends.ends_of`).

    A wire has one point, at an end that is a netbox's where there is one. Raises BadPoint.
    """
    named = [point for word in words for point in _named(plan, word)]
    seen: dict[tuple[str, str], str] = {}
    for point in named:
        place = (point.node, point.interface)
        if place in seen:
            raise BadPoint(
                f"{point.name} and {seen[place]} are both captured at {point.node}.{point.interface}; name one of them"
            )
        seen[place] = point.name
    return named


def _named(plan: Plan, word: str) -> Iterable[CapturePoint]:
    try:
        # A name of a node may look like a wire.
        ends = None if any(word == node.name for node in plan.nodes) else ends_of(word)
    except ValueError:
        raise BadPoint(f"{word!r} is neither a node, nor NODE.PORT, nor a wire by its two ends, like fr1--field") from None
    return _at_node(plan, word.strip()) if ends is None else [_on_wire(plan, "--".join(ends), *ends)]


def _at_node(plan: Plan, word: str) -> list[CapturePoint]:
    name, dot, port = word.partition(".")
    node = next((node for node in plan.nodes if node.name == name), None)
    if node is None:
        raise BadPoint(f'there is no node "{name}"; {nearest(name, [node.name for node in plan.nodes])}')
    interfaces = [interface.name for interface in node.interfaces]
    if dot and port not in interfaces:
        raise BadPoint(f'{name} has no port "{port}"; {nearest(port, interfaces)}')
    return [_point(plan, f"{name}.{interface}", WireEnd(name, interface)) for interface in ([port] if dot else interfaces)]


def _on_wire(plan: Plan, name: str, left: str, right: str) -> CapturePoint:
    wires = [
        wire
        for wire in plan.wires
        if (_is(wire.left, left) and _is(wire.right, right)) or (_is(wire.left, right) and _is(wire.right, left))
    ]
    if not wires:
        ports = [f"{end.node}.{end.interface}" for wire in plan.wires for end in (wire.left, wire.right)]
        raise BadPoint(f"no wire joins {left} and {right}; {nearest(left, ports)}")
    if len(wires) > 1:
        raise BadPoint(f"{len(wires)} wires join {left} and {right}; name them with their ports: {wires[0].name}")
    ends = (wires[0].left, wires[0].right)
    return _point(plan, name, next((end for end in ends if plan.node(end.node).kind == "netbox"), ends[0]))


def _point(plan: Plan, name: str, end: WireEnd) -> CapturePoint:
    """At that end of a wire, or at the other one where that one does not show all its frames.

    Click's ports do not: shared memory and AF_XDP are past the kernel, and what its packet sockets send on a wire within the
    machine is past all others.
    """
    ends = [other for wire in plan.wires for other in (wire.left, wire.right) if end in (wire.left, wire.right) and other != end]
    for place in (end, *ends):
        if (by := _captured_by(plan.node(place.node), place)) is not None:
            return CapturePoint(name, place.node, place.interface, by)
    raise BadPoint(
        f"{name} cannot be captured: both ends of its wire are Click routers or switches in user space, which the kernel "
        "does not see; capture at a host, netbox or router by the kernel behind them"
    )


def _captured_by(node: NodePlan, end: WireEnd) -> Literal["netbox", "kernel"] | None:
    if node.kind == "netbox":
        return "netbox"
    port = next(interface.port for interface in node.interfaces if interface.name == end.interface)
    return "kernel" if port == "kernel" else None


def _is(end: WireEnd, text: str) -> bool:
    return text in (end.node, f"{end.node}.{end.interface}")
