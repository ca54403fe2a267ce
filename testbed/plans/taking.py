# SPDX-License-Identifier: GPL-2.0-or-later
"""Which interfaces that are in use may be taken for a lab: a person says so of each, by its name, and never a file.

A topology comes from a colleague, or was written on another machine: by itself it cuts no machine off from its network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from contracts.errors import WrongInput
from contracts.plan import Plan


class NotTaken(WrongInput):
    """The person names an interface that the lab does not take."""


def named(plan: Plan, names: Sequence[str]) -> Plan:
    """The plan with the interfaces that the person named: `eth2`, or `beta:eth2` of another machine. Raises NotTaken."""
    taken = list(dict.fromkeys(_taken(plan)))
    for name in names:
        if name not in taken:
            interfaces = ", ".join(taken) or "none"
            raise NotTaken(f"--take {name}: lab {plan.lab} takes no interface of that name; those that it takes: {interfaces}")
    return replace(plan, take=tuple(dict.fromkeys(names)))


def kept(plan: Plan, states: Sequence[Plan]) -> Plan:
    """The plan with what was said of interfaces that a lab, which is in one of these states, has already."""
    own = set(_taken(plan))
    had = [name for was in states for name in was.take if name in own and name in set(_taken(was))]
    return replace(plan, take=tuple(dict.fromkeys((*plan.take, *had))))


def _taken(plan: Plan) -> Iterator[str]:
    """The interfaces that a lab takes, as a person names them."""
    here = {"", *(host.name for host in plan.hosts if host.here)}
    places = {node.name: node.host for node in plan.nodes}

    def name(node: str, device: str) -> str:
        return device if places[node] in here else f"{places[node]}:{device}"

    yield from (name(port.end.node, port.device) for port in plan.equipment if port.kind in ("nic", "vlan", "macvlan"))
    for wire in plan.wires:
        if wire.over is not None:
            yield from (name(end.node, device) for end, device in zip((wire.left, wire.right), wire.over, strict=True))
