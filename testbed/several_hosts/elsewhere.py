# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands on a lab that is up on several machines: each is carried out on the machine that has the node in question."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from testbed.changes import Sequence as Changes
from testbed.changing import now, said
from testbed.description.scene import NotThere, Scene
from testbed.errors import NetBoxITError
from testbed.labs.lab import Lab, NoSuchNode
from testbed.ownership import state
from testbed.plan import Plan
from testbed.plan_part import node_of
from testbed.several_hosts.connection import Connection
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import Parts

#: A router that is rebooted stays down for so long as somebody says.
_CHANGE_PATIENCE_S = 3600.0


class OnSeveralMachines(NetBoxITError):
    """A command works on one machine only, and what it names is on several, or on another one."""

    exit_status = 2


def parts_of(lab: str | None) -> Parts | None:
    """The parts of the lab that is meant; None: all of it is on this machine. Raises NoSuchLab."""
    return Parts.of(state.lab_folder(state.chosen(lab)))


def continue_there(lab: str | None, nodes: Iterable[str], verb: Sequence[str]) -> None:
    """Returns when this machine has the nodes; else this program becomes the same command on the machine that has them.

    `verb` is the command there, which says by --lab which lab is meant. Raises OnSeveralMachines, NoSuchNode.
    """
    machine = place(lab, nodes, f"netboxit {verb[0]}")
    if machine is not None:
        argv = machine.netboxit(verb, terminal=sys.stdin.isatty() and sys.stdout.isatty())
        os.execvp(argv[0], argv)


def place(lab: str | None, nodes: Iterable[str], command: str) -> Machine | None:
    """The machine that has all of these nodes, None for this one. Raises OnSeveralMachines, NoSuchNode."""
    if (parts := parts_of(lab)) is None:
        return None
    found = {node: _host(parts, node) for node in nodes}
    if len(set(found.values())) > 1:
        told = ", ".join(f"{node} on {host}" for node, host in found.items())
        raise OnSeveralMachines(f"{command} works on one machine at a time, and these are on several: {told}; name those of one")
    return next((machine for machine in parts.machines if machine.name in found.values()), None)


def only_here(lab: str | None, nodes: Iterable[str], command: str) -> None:
    """For what is done with this machine's own things. Raises OnSeveralMachines, NoSuchNode."""
    if (machine := place(lab, nodes, command)) is not None:
        what = f"{', '.join(nodes)}: on {machine.name}"
        raise OnSeveralMachines(f"{what}; call `{command}` there, with --lab {state.chosen(lab)}")


def change(lab: str | None, target: str, text: str) -> list[dict[str, Any]] | None:
    """What `netboxit set` does where a lab is on several machines, and what was made; None: all of it is here.

    A wire between two machines is changed at both of its ends. Raises BadChange before anything is done.
    """
    name = state.chosen(lab)
    if (parts := parts_of(lab)) is None:
        return None
    scene = scene_of(Lab.open(name))
    said.change(scene, target, text)
    hosts, what = {_host(parts, target.partition(".")[0])} if _is_node(parts, target) else set(), target
    if not hosts:
        with suppress(NotThere):
            wire = scene.wire_of(target)
            ends = [end.node for end in (wire.left, wire.right) if end != wire.outside]
            hosts, what = {_host(parts, node) for node in ends}, wire.name
    if hosts - {parts.here} and text.partition("=")[0].strip() == "configuration":
        raise OnSeveralMachines(f"{target} is on {hosts.pop()}, and reads its configuration there: call `netboxit set` there")
    made: list[dict[str, Any]] = []
    for host in sorted(hosts):
        if host == parts.here:
            made += now.change(Lab.open(name), what, text)
        else:
            with _opened(parts, host, name) as connection:
                made += connection.request("change", target=what, text=text, patience_s=_CHANGE_PATIENCE_S)
    return made


def plan_of(lab: Lab) -> Plan:
    """Of the whole, wherever its nodes are."""
    parts = Parts.of(lab.folder)
    return lab.plan if parts is None else parts.whole()


def scene_of(lab: Lab) -> Scene:
    """Of the whole, too."""
    plan = plan_of(lab)
    return Scene.of(plan.nodes, plan.wires, plan.equipment)


def nodes_of(sequence: Changes) -> list[str]:
    """Those at which it changes something."""
    changes = [*(step.change for step in sequence.steps), *sequence.undo]
    return list(dict.fromkeys(node_of(change) for change in changes))


def put_back(lab: str | None) -> tuple[str, list[dict[str, Any]]] | None:
    """As `now.put_back`, on each machine."""
    name, parts = state.chosen(lab), parts_of(lab)
    told: list[Any] = [now.put_back(Lab.open(name))]
    for machine in parts.machines if parts else ():
        with _opened(parts, machine.name, name) as connection:
            told.append(connection.request("put_back"))
    done = [one for one in told if one]
    return (" and ".join(one[0] for one in done), [made for one in done for made in one[1]]) if done else None


def capture(machine: Machine, lab: str, points: Sequence[str], duration: str | None, file: Path | None, *, plain: bool) -> int:
    """Captures on another machine; the frames come here as they are captured, to a file or to standard output.

    Returns the exit status of the command there. Raises OnSeveralMachines unless it is a plain one.
    """
    if not plain:
        raise OnSeveralMachines(f"frames come from {machine.name} as one stream; leave out --ring and --json, or call it there")
    verb = ["capture", "--live", "--lab", lab, *(["--duration", duration] if duration else []), "--", *points]
    with file.open("wb") if file else nullcontext() as kept:
        return subprocess.run(machine.netboxit(verb), stdout=kept, stdin=subprocess.DEVNULL, check=False).returncode


def statuses(parts: Parts, lab: str) -> dict[str, dict[str, Any] | str]:
    """What each other machine says of its part, or why it says nothing."""

    def one(machine: Machine) -> dict[str, Any] | str:
        try:
            with _opened(parts, machine.name, lab) as connection:
                found: dict[str, Any] = connection.request("status")
                return found
        except NetBoxITError as error:
            return str(error)

    with ThreadPoolExecutor(max(1, len(parts.machines))) as workers:
        return dict(zip((machine.name for machine in parts.machines), workers.map(one, parts.machines), strict=True))


def _opened(parts: Parts | None, host: str, lab: str) -> Connection:
    assert parts is not None, "only labs on several machines have some elsewhere"
    connection = Connection(next(machine for machine in parts.machines if machine.name == host))
    try:
        connection.request("open", lab=lab, owner=parts.owner)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_node(parts: Parts, name: str) -> bool:
    return any(node["name"] == name for node in parts.plan["nodes"])


def _host(parts: Parts, node: str) -> str:
    found = next((one["host"] for one in parts.plan["nodes"] if one["name"] == node), None)
    if found is None:
        names = ", ".join(one["name"] for one in parts.plan["nodes"])
        raise NoSuchNode(f"lab {parts.plan['lab']} has no node {node}; its nodes are {names}")
    return str(found)
