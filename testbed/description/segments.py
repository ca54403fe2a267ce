# SPDX-License-Identifier: GPL-2.0-or-later
"""Where frames get to without a router: along wires and tunnels, through netboxes, and through switches by their VLANs."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from testbed.description.switch import Switch

T = TypeVar("T")


@dataclass(frozen=True)
class End:
    """One end of a wire: an interface of a host or router, a station of a netbox, a port of a switch."""

    node: str
    port: str

    def __str__(self) -> str:
        return f"{self.node}.{self.port}"

    def is_written(self, text: str) -> bool:
        """Whether the file means this end by it: a node alone is one with a single port, or `find_end` would have refused it."""
        return text in (str(self), self.node)


#: Where a frame is, and the VLAN that its tag says.
Place = tuple[End, int | None]


def connected(
    wires: Sequence[tuple[End, End]], transparent: frozenset[str], switches: Mapping[str, Switch]
) -> list[tuple[Place, ...]]:
    """The places that frames without a tag reach from each end and from each switch itself, and those with a tag on the way.

    `transparent` nodes pass frames from each of their ports to the others, `switches` do it by VLANs.
    """
    joints: dict[End, list[End]] = defaultdict(list)
    joints |= {End(name, port): [] for name, switch in switches.items() for port in switch.own_interfaces()}
    for end, other in both_ways([*wires, *tunnels(switches)]):
        joints[end].append(other)
    ports: dict[str, list[End]] = defaultdict(list)
    for end in joints:
        ports[end.node].append(end)

    def beside(place: Place) -> Iterator[Place]:
        end, tag = place
        yield from ((other, tag) for other in joints.get(end, ()))
        if (switch := switches.get(end.node)) is not None:
            yield from ((End(end.node, port), left) for port, left in switch.passed(end.port, tag))
        elif end.node in transparent:
            yield from ((other, tag) for other in ports[end.node] if other != end)

    found: list[tuple[Place, ...]] = []
    seen: set[Place] = set()
    for end in joints:
        start: Place = (end, None)
        if start not in seen:
            found.append(tuple(reached(start, beside)))
            seen.update(found[-1])
    return found


def tunnels(switches: Mapping[str, Switch]) -> Iterator[tuple[End, End]]:
    """The two ends of each tunnel between two switches."""
    ends = [(name, port, switch, tunnel) for name, switch in switches.items() for port, tunnel in switch.tunnels.items()]
    for (name, port, switch, tunnel), (other, far, there, back) in combinations(ends, 2):
        if (tunnel.kind, tunnel.key) == (back.kind, back.key) and switch.is_at(back.remote) and there.is_at(tunnel.remote):
            yield End(name, port), End(other, far)


def both_ways(wires: Iterable[tuple[End, End]]) -> Iterator[tuple[End, End]]:
    """Each wire as the end that a frame leaves by and the one that it enters by, for both directions."""
    for left, right in wires:
        yield left, right
        yield right, left


def reached(start: T, beside: Callable[[T], Iterable[T]]) -> dict[T, T | None]:
    """Everything that can be reached from `start`, the nearest first, each with what comes before it on a shortest path."""
    before: dict[T, T | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        new = [near for near in dict.fromkeys(beside(here)) if near not in before]
        before.update(dict.fromkeys(new, here))
        waiting.extend(new)
    return before


def path_to(goal: T, before: Mapping[T, T | None]) -> list[T]:
    """The path that `reached` found, both of its ends included; [] when there is none."""
    path: list[T] = []
    here: T | None = goal if goal in before else None
    while here is not None:
        path.insert(0, here)
        here = before[here]
    return path
