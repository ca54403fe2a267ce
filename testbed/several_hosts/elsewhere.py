# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands on a lab that is up on several machines: each is carried out on the machine that has the node in question."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import NetBoxITError
from contracts.plan import Plan
from ownership import state
from system.own_rights import own_rights
from testbed.labs.lab import Lab, NoSuchNode
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import Parts

if TYPE_CHECKING:
    from testbed.documents.status import LabStatus


class OnSeveralMachines(NetBoxITError):
    """A command works on one machine only, and what it names is on several, or on another one."""

    exit_status = 2


def parts_of(lab: str | None) -> Parts | None:
    """The parts of the lab that is meant; None: all of it is on this machine. Raises NoSuchLab."""
    return Parts.of(state.lab_folder(state.chosen(lab)))


def status_of(lab: str) -> LabStatus:
    """Of any lab. One on several machines has its nodes' machines, and nulls for what is on one that does not answer."""
    from testbed.observation.status_now import status_with_events

    up = Lab.open(lab)
    own = status_with_events(up)
    if (parts := Parts.of(up.folder)) is None:
        return own
    from testbed.several_hosts import joined_status  # connections, which a lab on one machine does without

    return joined_status.joined(parts, own, joined_status.statuses(parts, lab))


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
    found = {node: host_of(parts, node) for node in nodes}
    if len(set(found.values())) > 1:
        told = ", ".join(f"{node} on {host}" for node, host in found.items())
        raise OnSeveralMachines(f"{command} works on one machine at a time, and these are on several: {told}; name those of one")
    return next((machine for machine in parts.machines if machine.name in found.values()), None)


def only_here(lab: str | None, nodes: Iterable[str], command: str) -> None:
    """For what is done with this machine's own things. Raises OnSeveralMachines, NoSuchNode."""
    if (machine := place(lab, nodes, command)) is not None:
        what = f"{', '.join(nodes)}: on {machine.name}"
        raise OnSeveralMachines(f"{what}; call `{command}` there, with --lab {state.chosen(lab)}")


def plan_of(lab: Lab) -> Plan:
    """Of the whole, wherever its nodes are."""
    parts = Parts.of(lab.folder)
    return lab.plan if parts is None else parts.whole()


def capture(
    machine: Machine,
    lab: str,
    points: Sequence[str],
    duration: str | None,
    file: Path | None,
    *,
    plain: bool,
    overwrite: bool = False,
) -> int:
    """Captures on another machine; the frames come here as they are captured, to a file or to standard output.

    Returns the exit status of the command there. Raises OnSeveralMachines unless it is a plain one.
    """
    if not plain:
        raise OnSeveralMachines(f"frames come from {machine.name} as one stream; leave out --ring and --json, or call it there")
    verb = ["capture", "--live", "--lab", lab, *(["--duration", duration] if duration else []), "--", *points]
    with own_rights():
        opened = nullcontext() if file is None else file.open("wb" if overwrite else "xb")
    with opened as kept:
        # Without a duration for as long as the user wants; ssh ends it when the machine has gone silent (ServerAliveInterval).
        return subprocess.run(machine.netboxit(verb), stdout=kept, stdin=subprocess.DEVNULL, check=False).returncode


def host_of(parts: Parts, node: str) -> str:
    """The machine that has a node. Raises NoSuchNode."""
    found = next((one["host"] for one in parts.plan["nodes"] if one["name"] == node), None)
    if found is None:
        names = ", ".join(one["name"] for one in parts.plan["nodes"])
        raise NoSuchNode(f"lab {parts.plan['lab']} has no node {node}; its nodes are {names}")
    return str(found)
