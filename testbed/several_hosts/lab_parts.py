# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab over several machines, as a whole: its part on this machine, and those on others through a connection to each.

While it is brought up, a part belongs to its connection until `keep`: whatever ends that before, also the end of this program,
takes the part down.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from subprocess import CompletedProcess
from types import NoneType
from typing import TypeVar

from contracts.plan import Plan, WireEnd, WirePlan
from ownership import state
from system.interruption import HeldBack
from system.node_files import OwnFiles
from system.processes import Process
from testbed import plan_part
from testbed.labs import deployment, removal
from testbed.labs.deployment import Progress
from testbed.labs.lab import Lab, NoSuchNode
from testbed.several_hosts.connection import Connection, close
from testbed.several_hosts.parts_file import PartsRecord, undo
from testbed.several_hosts.remote_part import MORE_S, UP_PATIENCE_S, RemoteFiles, RemotePart, RemoteProgram
from testbed.several_hosts.tunnel_probe import Prober, not_passed

T = TypeVar("T")


class LabParts:
    """`up` makes one. Of one that is up already, parts are reached by connections for a while (`connected`)."""

    def __init__(self, here: Lab, record: PartsRecord, remote: Mapping[str, RemotePart]) -> None:
        """`remote`: the parts whose connections last as long as this object."""
        self.here, self.record, self.remote = here, record, remote
        self.name, self.folder = here.name, here.folder
        self._prober = Prober(lambda: self.here)
        #: By the names of wires between machines: the round trip of a frame of full size, in nanoseconds.
        self.probes: dict[str, int] = {}
        #: Machines that may have been told to keep their parts.
        self._kept: list[str] = []

    @classmethod
    def up(cls, plan: Plan, connections: Mapping[str, Connection], progress: Progress = lambda _: None) -> LabParts:
        """Applies a plan on all of its machines at a time; `wait_ready` follows. What was done is undone when it fails.

        `connections` to all machines but this one, by name; they are closed with the lab.
        """
        own = next(host.name for host in plan.hosts if host.here)
        remote = {host.name: RemotePart(connections[host.name]) for host in plan.hosts if not host.here}
        record = PartsRecord(
            own, secrets.token_hex(16), tuple(part.connection.machine for part in remote.values()), plan.to_json()
        )
        deployment.check(plan_part.part(plan, own))
        with HeldBack():
            lab = cls(Lab(plan.lab, state.make_lab_folder(plan.lab)), record, remote)
            try:
                with state.locked(lab.folder):
                    record.write(lab.folder)
                    answers = [
                        part.ask("up", plan=plan_part.part(plan, name).to_json(), owner=record.owner)
                        for name, part in remote.items()
                    ]
                    deployment.deploy(plan_part.part(plan, own), lab.folder, progress)
                    for answer in answers:
                        answer.done(UP_PATIENCE_S)
                progress("wires between machines")
                lab.probes = lab.probe()
            except BaseException as error:
                lab.undo(error)
                raise
        return lab

    @classmethod
    def up_and_ready(cls, plan: Plan, connections: Mapping[str, Connection], progress: Progress = lambda _: None) -> LabParts:
        """Applies a plan and waits until traffic can flow; a lab that does not get there is taken down again."""
        with HeldBack() as held:
            lab = cls.up(plan, connections, progress)
            try:
                with held.allowed():
                    progress("waiting for the segments")
                    lab.wait_ready()
                    lab.begin()
                lab.keep()
            except BaseException as error:
                lab.undo(error)
                raise
        return lab

    def keep(self) -> None:
        """From now on the parts stay when their connections end."""
        for name, part in self.remote.items():
            self._kept.append(name)
            part.ask("keep").done()

    @classmethod
    def open(cls, here: Lab) -> LabParts:
        """A lab that is up. Raises NoSuchLab, DamagedRecord."""
        if (record := PartsRecord.of(here.folder)) is None:
            raise state.NoSuchLab(f"lab {here.name} is no more: somebody took it down just now")
        return cls(here, record, {})

    @contextmanager
    def connected(self, host: str) -> Iterator[RemotePart]:
        """The part on another machine. Raises NotConnected, NotThatLabs."""
        if host in self.remote:
            yield self.remote[host]
            return
        with Connection(next(machine for machine in self.record.machines if machine.name == host)) as connection:
            connection.begin("open", lab=self.name, owner=self.record.owner).done()
            yield RemotePart(connection)

    def undo(self, error: BaseException | None) -> None:
        """Takes the lab down. `error` is why, if it was one: its message then also names what could not be taken down."""
        left = close(part.connection for part in self.remote.values())
        try:
            # Parts went down with their connections, but for those that were kept, and those that could not say so.
            self.record.keep_only([*left, *self._kept], self.folder)
            removal.give_up(error, lambda: removal.take_down(self.name, undo))
            self.here.note_removal(error)
        except (state.NoSuchLab, FileNotFoundError):
            return  # `netboxit down` may have been why it did not get ready

    @cached_property
    def plan(self) -> Plan:
        """Of the whole."""
        return self.record.whole()

    # What applications use, wherever the node is.

    def run(
        self, node: str, argv: Sequence[str], *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None
    ) -> CompletedProcess[str]:
        return self.part_of(node).run(node, argv, timeout_s=timeout_s, env=env)

    def start(
        self, node: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, held: bool = False
    ) -> Process | RemoteProgram:
        return self.part_of(node).start(node, argv, log=log, env=env, held=held)

    def check_confined(self, node: str) -> None:
        """Labs over several machines are root's alone (`ownership.operators`)."""

    def own_files(self, node: str, name: str) -> OwnFiles | RemoteFiles:
        return self.part_of(node).own_files(node, name)

    def part_of(self, node: str) -> Lab | RemotePart:
        """Raises NoSuchNode."""
        return self.remote.get(self.host(node), self.here)

    def host(self, name: str) -> str:
        """The machine that has the node of that name. Raises NoSuchNode."""
        try:
            return self.plan.node(name).host
        except KeyError:
            names = ", ".join(node.name for node in self.plan.nodes)
            raise NoSuchNode(f"lab {self.name} has no node {name}; its nodes are {names}") from None

    # The same as of a lab on one machine, of all parts at a time.

    def wait_ready(self, deadline_s: float = 90.0) -> None:
        self.everywhere(
            "wait_ready", NoneType, lambda: self.here.wait_ready(deadline_s), deadline_s + MORE_S, deadline_s=deadline_s
        )

    def begin(self) -> None:
        self.everywhere("begin", NoneType, self.here.begin)

    def start_programs(self) -> None:
        self.everywhere("start_programs", NoneType, self.here.start_programs)

    def everywhere(
        self, method: str, shape: type[T], here: Callable[[], T], patience_s: float = 60.0, **parameters: object
    ) -> dict[str, T]:
        """Calls a method of all parts at a time. Returns their answers by machine; raises the first error."""
        answers = {name: part.ask(method, **parameters) for name, part in self.remote.items()}
        return {self.record.here: here()} | {name: answer.result(shape, patience_s) for name, answer in answers.items()}

    def wires_between(self) -> list[WirePlan]:
        """Those that lead from one machine to another."""
        return [wire for wire in self.plan.wires if self.host(wire.left.node) != self.host(wire.right.node)]

    def ends_on(self, machine: str) -> list[WireEnd]:
        """The ends of such wires that one machine has."""
        ends = [end for wire in self.wires_between() for end in (wire.left, wire.right)]
        return [end for end in ends if self.host(end.node) == machine]

    def probe(self) -> dict[str, int]:
        """Sends frames of full size through each wire between machines, both ways. Raises WireNotPassed."""
        return {wire.name: self._probe(wire) for wire in self.wires_between()}

    def _probe(self, wire: WirePlan) -> int:
        token = secrets.token_hex(16)
        self._ask_prober("answer_probes", wire.right, token=token)
        best = self._ask_prober("probe", wire.left, token=token, mtu=wire.mtu)
        questions = self._ask_prober("probes_answered", wire.right)
        if best is None:
            raise not_passed(wire.name, wire.mtu, self.host(wire.left.node), self.host(wire.right.node), questions or 0)
        return best

    def _ask_prober(self, method: str, end: WireEnd, **parameters: str | int) -> int | None:
        """Of the machine that has this end of a wire."""
        place = {"node": end.node, "interface": end.interface}
        if (part := self.remote.get(self.host(end.node))) is not None:
            return part.ask(method, **place, **parameters).result_if_any(int)
        return self._prober.methods()[method](**place, **parameters)
