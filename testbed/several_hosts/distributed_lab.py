# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab over several machines as commands have it: each thing is done on the machine that has the node in question."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import NetBoxITError
from contracts.node_status import NetboxStatus, NodeStatus
from contracts.plan import NodePlan, Plan, WireEnd, WirePlan
from system.user_privileges import as_user
from testbed.back_ends.back_end import BackEnd, Capturing, OnSeveralMachines
from testbed.changing import apply_now, set_command
from testbed.description.targets import NotThere
from testbed.documents.changes import Change
from testbed.documents.status import EndStatus, LabStatus, WireStatus
from testbed.labs.lab_status import said_of
from testbed.observation.event_reader import status_with_events
from testbed.several_hosts.connection import at_a_time
from testbed.several_hosts.lab_parts import LabParts
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import PartsRecord

if TYPE_CHECKING:
    from testbed.several_hosts.measured_labs import MeasuredLabs

#: A router that is rebooted stays down for so long as somebody says.
_CHANGE_PATIENCE_S = 3600.0


class DistributedLab(BackEnd):
    def __init__(self, parts: LabParts) -> None:
        self.here, self.hosts, self._parts = parts.here, parts, parts

    @property
    def plan(self) -> Plan:
        return self._parts.plan

    def status(self) -> LabStatus:
        return merged(self._parts.record, status_with_events(self.here), statuses(self._parts))

    def change(self, target: str, text: str, progress: Callable[[str], None]) -> list[Change]:
        """A wire between two machines is changed at both of its ends."""
        targets = apply_now.targets_of(self.plan)
        set_command.change(targets, target, text)
        hosts, what = {node.host for node in self.plan.nodes if node.name == target}, target
        if not hosts:
            with suppress(NotThere):
                wire = targets.wire_of(target)
                ends = [end.node for end in (wire.left, wire.right) if end != wire.outside]
                hosts, what = set(map(self._parts.host, ends)), wire.name
        if hosts - {self._parts.record.here} and text.partition("=")[0].strip() == "configuration":
            raise OnSeveralMachines(f"{target} is on {hosts.pop()}, and reads its configuration there: call `netboxit set` there")
        changes: list[Change] = []
        for host in sorted(hosts):
            if host == self._parts.record.here:
                changes += apply_now.change(self.here, what, text, progress)
            else:
                with self._parts.connected(host) as part:
                    changes += part.ask("change", target=what, text=text).result(list[Change], _CHANGE_PATIENCE_S)
        return changes

    def put_back(self) -> tuple[str, list[Change]] | None:
        answers = [apply_now.put_back(self.here)]
        for machine in self._parts.record.machines:
            with self._parts.connected(machine.name) as part:
                answers.append(part.ask("put_back").result_if_any(tuple[str, list[Change]]))
        done = [answer for answer in answers if answer]
        return (" and ".join(drill for drill, _ in done), [change for _, changes in done for change in changes]) if done else None

    def continue_at(self, nodes: Iterable[str], verb: Sequence[str]) -> None:
        if (machine := self._place(nodes, f"netboxit {verb[0]}")) is not None:
            argv = machine.netboxit(verb, terminal=sys.stdin.isatty() and sys.stdout.isatty())
            os.execvp(argv[0], argv)

    def check_here(self, nodes: Iterable[str], command: str) -> None:
        named = list(nodes)
        if (machine := self._place(named, command)) is not None:
            where = f"{', '.join(named)}: on {machine.name}"
            raise OnSeveralMachines(f"{where}; call `{command}` there, with --lab {self.name}")

    def check_alone(self, command: str, instead: str) -> None:
        raise OnSeveralMachines(f"lab {self.name} is on several machines, and `{command}` is for labs on one; {instead}")

    def capture_elsewhere(self, nodes: Iterable[str], wanted: Capturing) -> int | None:
        if (machine := self._place(nodes, "netboxit capture")) is None:
            return None
        if not wanted.plain:
            raise OnSeveralMachines(
                f"frames come from {machine.name} as one stream; leave out --ring and --json, or call it there"
            )
        duration = ["--duration", wanted.duration] if wanted.duration else []
        verb = ["capture", "--live", "--lab", self.name, *duration, "--", *wanted.points]
        with as_user():
            target = nullcontext() if wanted.file is None else wanted.file.open("wb" if wanted.overwrite else "xb")
        with target as file:
            # Without a duration for as long as the user wants; ssh ends it when the machine is silent (ServerAliveInterval).
            return subprocess.run(machine.netboxit(verb), stdout=file, stdin=subprocess.DEVNULL, check=False).returncode

    def wait_ready(self, deadline_s: float) -> None:
        self._parts.wait_ready(deadline_s)

    def start_programs(self) -> None:
        self._parts.start_programs()

    def measured(self, folder: Path) -> MeasuredLabs:
        from testbed.several_hosts.measured_labs import MeasuredLabs

        return MeasuredLabs(self._parts, folder)

    def down(self, error: BaseException | None) -> None:
        self._parts.undo(error)

    def _place(self, nodes: Iterable[str], command: str) -> Machine | None:
        """The machine that has all of these nodes, None for this one. Raises OnSeveralMachines, NoSuchNode."""
        hosts = {node: self._parts.host(node) for node in nodes}
        if len(set(hosts.values())) > 1:
            places = ", ".join(f"{node} on {host}" for node, host in hosts.items())
            raise OnSeveralMachines(
                f"{command} works on one machine at a time, and these are on several: {places}; name those of one"
            )
        return next((machine for machine in self._parts.record.machines if machine.name in hosts.values()), None)


def merged(record: PartsRecord, own: LabStatus, others: Mapping[str, LabStatus | str]) -> LabStatus:
    """`others`: what each other machine said of its part, or why it said nothing."""
    plan = record.whole()
    parts = {record.here: own} | {name: part for name, part in others.items() if not isinstance(part, str)}
    silent = {name: why for name, why in others.items() if isinstance(why, str)}
    nodes: dict[str, NodeStatus] = {
        node["name"]: {**node, "host": name} for name, part in parts.items() for node in part["nodes"]
    }
    between = [wire for wire in plan.wires if plan.node(wire.left.node).host != plan.node(wire.right.node).host]
    names = {wire.name for wire in between}
    return {
        **own,
        "nodes": [nodes.get(node.name) or _unknown(node) for node in plan.nodes],
        "wires": [
            *(wire for part in parts.values() for wire in part["wires"]),
            *(_between(plan, wire, nodes) for wire in between),
        ],
        "equipment": [port for part in parts.values() for port in part["equipment"] if port["name"] not in names],
        "events": sorted((event for part in parts.values() for event in part["events"]), key=lambda event: float(event["at_s"])),
        "notes": [
            *plan.notes,
            *(f"{name}: {note}" for name, part in parts.items() for note in part["notes"]),
            *silent.values(),
        ],
        "hosts": {"here": record.here, "reached": list(parts), "not_reached": list(silent)},
    }


def statuses(lab: LabParts) -> dict[str, LabStatus | str]:
    """What each other machine says of its part, or why it says nothing."""

    def status(machine: Machine) -> LabStatus | str:
        try:
            with lab.connected(machine.name) as part:
                return part.ask("status").result(LabStatus)
        except NetBoxITError as error:
            return str(error)

    machines = lab.record.machines
    return dict(zip((machine.name for machine in machines), at_a_time(status, machines), strict=True))


def _unknown(node: NodePlan) -> NodeStatus:
    """Of a node on a machine that does not answer: what was planned."""
    return {
        "name": node.name,
        "kind": node.kind,
        "alive": None,
        "confined": None,
        "cores": list(node.cores),
        "limits_reached": [],
        "network_changes": [],
        "awake": None,
        "addresses": [address for interface in node.interfaces for address in interface.addresses],
        "netbox": None,
        "program": None,
        "management": None,
        "switch": None,
        "host": node.host,
    }


def _between(plan: Plan, wire: WirePlan, nodes: Mapping[str, NodeStatus]) -> WireStatus:
    netboxes = {name: node["netbox"] for name, node in nodes.items()}
    return {
        "name": wire.name,
        "kind": wire.kind,
        "reason": wire.reason,
        "mtu": wire.mtu,
        "ends": [_end(plan, end, netboxes.get(end.node)) for end in (wire.left, wire.right)],
    }


def _end(plan: Plan, end: WireEnd, netbox: NetboxStatus | None) -> EndStatus:
    """By what its node reaches it: as a netbox says, else as planned."""
    planned = next(interface for interface in plan.node(end.node).interfaces if interface.name == end.interface)
    port, reason = said_of(netbox, end.interface) or (planned.port, None)
    return {"node": end.node, "interface": end.interface, "port": port, "reason": reason or planned.reason or None}
