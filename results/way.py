# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of a flow through a lab: which netboxes in which order, and what lies between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

#: Kinds of wires whose ends are on two machines, and what they are called.
BETWEEN_MACHINES = {"vxlan": "tunnel", "port": "cable"}


@dataclass(frozen=True)
class Tunnel:
    """A wire between two machines, in the direction of a way."""

    wire: str
    kind: str
    near: str
    far: str

    @property
    def name(self) -> str:
        return f"{BETWEEN_MACHINES[self.kind]} {self.wire}"


@dataclass(frozen=True)
class Gap:
    """What a frame crosses between two points of measurement: only wires, or also routers, switches, something real."""

    before: str
    after: str
    routers: tuple[str, ...]
    equipment: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    #: In the order of the way.
    tunnels: tuple[Tunnel, ...] = ()

    @property
    def name(self) -> str:
        kinds = {"router": self.routers, "switch": self.switches, "equipment": self.equipment}
        between = [f"{kind} {name}" for kind, names in kinds.items() for name in names]
        return " and ".join(between) or f"wire {self.before} to {self.after}"


@dataclass(frozen=True)
class Way:
    """From host to host; `netboxes` in the order in which a frame meets them, `gaps` before, between and after them."""

    netboxes: tuple[str, ...]
    gaps: tuple[Gap, ...]

    @property
    def tunnels(self) -> tuple[Tunnel, ...]:
        return tuple(tunnel for gap in self.gaps for tunnel in gap.tunnels)


class NoWay(ValueError):
    """No chain of wires joins the two hosts."""


def find_way(plan: dict[str, Any], source: str, destination: str) -> Way:
    """The shortest chain of nodes by the wires of a plan (as in plan.json). Raises NoWay."""
    nodes = list(nodes_between(plan, source, destination))
    kinds = {node["name"]: node["kind"] for node in plan["nodes"]} | dict.fromkeys(equipment(plan), "equipment")
    points = [at for at, node in enumerate(nodes) if at in (0, len(nodes) - 1) or kinds[node] == "netbox"]
    gaps = tuple(_gap(plan, nodes[first : second + 1], kinds) for first, second in pairwise(points))
    return Way(tuple(nodes[at] for at in points[1:-1]), gaps)


def _gap(plan: Mapping[str, Any], nodes: Sequence[str], kinds: Mapping[str, str]) -> Gap:
    first, *between, last = nodes
    routers, real, switches = (
        tuple(node for node in between if kinds[node] == kind) for kind in ("router", "equipment", "switch")
    )
    tunnels = (tunnel for near, far in pairwise(nodes) for tunnel in _tunnels(plan, near, far))
    return Gap(first, last, routers, real, switches, tuple(tunnels))


def _tunnels(plan: Mapping[str, Any], near: str, far: str) -> Iterator[Tunnel]:
    for wire in plan["wires"]:
        if wire.get("kind") in BETWEEN_MACHINES and {wire["left"]["node"], wire["right"]["node"]} == {near, far}:
            yield Tunnel(wire["name"], wire["kind"], near, far)


def equipment(plan: Mapping[str, Any]) -> dict[str, None]:
    """The names of the pieces of equipment, in the plan's order."""
    return dict.fromkeys(port["name"].partition(".")[0] for port in plan.get("equipment", ()))


def joined(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The two nodes of each wire, and each node that has a port of equipment with that."""
    wires = [(wire["left"]["node"], wire["right"]["node"]) for wire in plan["wires"]]
    return wires + [(port["end"]["node"], port["name"].partition(".")[0]) for port in plan.get("equipment", ())]


def nodes_between(plan: dict[str, Any], source: str, destination: str) -> Iterator[str]:
    """The nodes of the shortest chain of wires, both hosts included. Raises NoWay."""
    beside: dict[str, list[str]] = {name: [] for name in (*(node["name"] for node in plan["nodes"]), *equipment(plan))}
    for left, right in joined(plan):
        beside[left].append(right)
        beside[right].append(left)
    came_from = {destination: destination}
    waiting = deque([destination])
    while waiting and source not in came_from:
        node = waiting.popleft()
        for other in beside.get(node, ()):
            if other not in came_from:
                came_from[other] = node
                waiting.append(other)
    if source not in came_from:
        raise NoWay(f"no wires lead from {source} to {destination} in this plan")
    node = source
    yield node
    while node != destination:
        node = came_from[node]
        yield node
