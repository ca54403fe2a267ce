# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong between the switches of a topology when each is right in itself: loops, and tunnels that lead nowhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.errors import listed
from testbed.description.wiring import Draft, End, Problem, path_to, reached, tunnels
from testbed.description.yaml_source import Location


def switch_problems(draft: Draft) -> list[Problem]:
    """Everything that is wrong."""
    if not draft.switches:
        return []
    return [*_loops(draft), *_one_way_tunnels(draft)]


@dataclass(frozen=True)
class _Hub:
    """What a node is for the frames of one VLAN, or of one tag: from each of its ports they get to all others."""

    node: str
    vlan: int | None


def _loops(draft: Draft) -> Iterator[Problem]:
    """A frame that is flooded in a loop goes round for ever, and another of its copies with each round."""
    wiring = draft.wiring([*draft.joined.values()])
    beside: dict[_Hub, list[_Hub]] = defaultdict(list)
    reported: set[frozenset[str]] = set()
    for place, left, right in _joints(draft):
        tags = {tag for places in wiring.places for end, tag in places if end == left}
        for tag in tags:
            near, far = _hub(draft, left, tag), _hub(draft, right, tag)
            if near is None or far is None:
                continue
            nodes = [hub.node for hub in path_to(near, reached(far, lambda hub: beside.get(hub, ())))]
            if not nodes:
                beside[near].append(far)
                beside[far].append(near)
                continue
            deaf = [name for name in dict.fromkeys(nodes) if name in draft.switches and not draft.switches[name].rstp]
            if deaf and frozenset(nodes) not in reported:
                reported.add(frozenset(nodes))
                vlan = f" of VLAN {near.vlan or far.vlan}" if near.vlan or far.vlan else ""
                yield Problem(
                    place,
                    f"{left} and {right} close a loop{vlan} ({' - '.join([*nodes, nodes[0]])}): a frame would go round for ever",
                    f"write rstp: true in {listed(deaf, 'and')}, or take a wire out",
                )


def _joints(draft: Draft) -> Iterator[tuple[Location, End, End]]:
    """Wires and tunnels, and where the file tells of them."""
    for index, (left, right) in draft.joined.items():
        yield ("wires", index), left, right
    for left, right in tunnels(draft.switches):
        yield ("switches", right.node, "tunnels", right.port), left, right


def _hub(draft: Draft, end: End, tag: int | None) -> _Hub | None:
    """Where a frame with a tag gets to that enters at an end; None when the node does not pass it on."""
    if (switch := draft.switches.get(end.node)) is not None:
        port = switch.vlans().get(end.port)
        vlan = port.enters(tag) if port else None
        return None if vlan is None else _Hub(end.node, vlan)
    return _Hub(end.node, tag) if end.node in draft.netboxes else None


def _one_way_tunnels(draft: Draft) -> Iterator[Problem]:
    """A switch that is at the far address, but has no tunnel back, drops all that comes out of this one."""
    paired = {end for pair in tunnels(draft.switches) for end in pair}
    for name, switch in draft.switches.items():
        for port, tunnel in switch.tunnels.items():
            far = next((other for other, there in draft.switches.items() if there.is_at(tunnel.remote)), None)
            if End(name, port) not in paired and far is not None and switch.own is not None:
                own = switch.own.address[0].ip
                yield Problem(
                    ("switches", name, "tunnels", port),
                    f"{far} has the address {tunnel.remote}, but no {tunnel.kind} tunnel with key {tunnel.key} back to {own}",
                    f"add it to tunnels of {far}",
                    key=True,
                )
