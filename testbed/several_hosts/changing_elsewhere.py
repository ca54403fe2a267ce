# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes that somebody makes in a lab that is up on several machines: each is made on the machine that has what changes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.changes import Sequence
from ownership import state
from testbed.changing import now, said
from testbed.description.scene import NotThere, Scene
from testbed.labs.lab import Lab
from testbed.plan_part import node_of
from testbed.several_hosts.elsewhere import OnSeveralMachines, host_of, parts_of, plan_of
from testbed.several_hosts.part_connection import opened
from testbed.several_hosts.parts_file import Parts

if TYPE_CHECKING:
    from testbed.documents.changes import Change

#: A router that is rebooted stays down for so long as somebody says.
_CHANGE_PATIENCE_S = 3600.0


def change(lab: str | None, target: str, text: str) -> list[Change] | None:
    """What `netboxit set` does where a lab is on several machines, and what was made; None: all of it is here.

    A wire between two machines is changed at both of its ends. Raises BadChange before anything is done.
    """
    name = state.chosen(lab)
    if (parts := parts_of(lab)) is None:
        return None
    scene = scene_of(Lab.open(name))
    said.change(scene, target, text)
    hosts, what = {host_of(parts, target.partition(".")[0])} if _is_node(parts, target) else set(), target
    if not hosts:
        with suppress(NotThere):
            wire = scene.wire_of(target)
            ends = [end.node for end in (wire.left, wire.right) if end != wire.outside]
            hosts, what = {host_of(parts, node) for node in ends}, wire.name
    if hosts - {parts.here} and text.partition("=")[0].strip() == "configuration":
        raise OnSeveralMachines(f"{target} is on {hosts.pop()}, and reads its configuration there: call `netboxit set` there")
    made: list[Change] = []
    for host in sorted(hosts):
        if host == parts.here:
            made += now.change(Lab.open(name), what, text)
        else:
            with opened(parts, host, name) as connection:
                made += connection.request("change", target=what, text=text, patience_s=_CHANGE_PATIENCE_S)
    return made


def scene_of(lab: Lab) -> Scene:
    """Of the whole, too."""
    plan = plan_of(lab)
    return Scene.of(plan.nodes, plan.wires, plan.equipment)


def nodes_of(sequence: Sequence) -> list[str]:
    """Those at which it changes something."""
    changes = [*(step.change for step in sequence.steps), *sequence.undo]
    return list(dict.fromkeys(node_of(change) for change in changes))


def put_back(lab: str | None) -> tuple[str, list[Change]] | None:
    """As `now.put_back`, on each machine."""
    name, parts = state.chosen(lab), parts_of(lab)
    told: list[Any] = [now.put_back(Lab.open(name))]
    if parts is not None:
        for machine in parts.machines:
            with opened(parts, machine.name, name) as connection:
                told.append(connection.request("put_back"))
    done = [one for one in told if one]
    return (" and ".join(one[0] for one in done), [made for one in done for made in one[1]]) if done else None


def _is_node(parts: Parts, name: str) -> bool:
    return any(node["name"] == name for node in parts.plan["nodes"])
