# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that is up: its nodes, programs run inside them, its netboxes' control, its end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from contracts.errors import NetBoxITError, WrongInput
from contracts.management import parts
from contracts.node_status import NetboxStatus
from contracts.plan import NodePlan, Plan
from contracts.run_folder import EVENTS_FILE
from ownership import recorded, state
from ownership.operators import NotConfined, operator
from system import containers, cores, namespaces, node_files, processes, rootfs, users
from system.containers import Container
from system.interruption import HeldBack
from system.node_files import OwnFiles
from system.processes import Process, ProgramFailed
from testbed.labs import removal
from testbed.labs.event_log import EventLog
from testbed.nodes import host_program, management, routers
from testbed.nodes.control import Control, ControlFailed
from testbed.nodes.host_program import ProgramState
from testbed.nodes.management import PartState

Standard = IO[bytes] | int | None

#: In the node's folder of a switch, and of a router with FRRouting: exists as soon as frames pass.
READY: Final = "ready"

#: How long a run waits for another command, such as a `netboxit set` that restarts a node, before it ends the nodes.
_FINISHED_WITHIN_S = 30.0
#: How long the last output of a killed program is read.
_LAST_WORDS_S = 1.0
#: Becomes the command after the node's name, and says in a sentence when the node has no such program, as a shell's status 127.
#: The kernel ends it when lxc-attach ends, which would leave it running (prctl(2), PR_SET_PDEATHSIG).
_ATTENDED: Final = (
    *("setpriv", "--pdeathsig", "TERM", "--", "sh", "-c"),
    'command -v -- "$1" >/dev/null || { echo "netboxit: node $0 has no program $1" >&2; exit 127; }; exec "$@"',
)
_SHELL: Final = ("bash", "--norc", "--noprofile")


class NodeFailed(NetBoxITError):
    """A node ended, or does not get ready; the message holds the end of its log."""


class NoSuchNode(WrongInput):
    """The lab has no node of that name, or it is of another kind."""


class Lab(AbstractContextManager["Lab"]):
    """`Lab.up(plan)` makes one, `Lab.open(name)` finds one. As a context manager it is taken down at the end of the block."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder

    @classmethod
    def up(cls, plan: Plan, progress: Callable[[str], None] = lambda _: None, beside: Mapping[str, str] | None = None) -> Lab:
        """Applies a plan; `wait_ready` follows. What was done is undone when it fails.

        `beside`: files that the lab's folder has from the beginning, besides its own.
        """
        # Netlink and what it imports are needed by nobody who finds a lab that is up.
        from testbed.labs.deployment import bring_up

        return cls(plan.lab, bring_up(plan, progress, beside or {}))

    @classmethod
    def up_and_ready(
        cls, plan: Plan, progress: Callable[[str], None] = lambda _: None, beside: Mapping[str, str] | None = None
    ) -> Lab:
        """As `up`, and waits until traffic can flow; a lab that does not get there is taken down again."""
        with HeldBack() as held:
            lab = cls.up(plan, progress, beside)
            try:
                with held.allowed():
                    progress("waiting for the segments")
                    lab.wait_ready()
                    lab.begin()
            except BaseException as error:
                with suppress(state.NoSuchLab):  # `netboxit down` may have been why it did not get ready
                    lab.give_up(error)
                raise
        return lab

    @classmethod
    def open(cls, name: str) -> Lab:
        return cls(name, state.lab_folder(name))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.give_up(error)

    def give_up(self, error: BaseException | None) -> None:
        """Takes the lab down because of `error`, if it was one, or because it is over. Raises as `removal.give_up`."""
        removal.give_up(error, self.down)
        self.note_removal(error)

    def note_removal(self, error: BaseException | None) -> None:
        """Adds to the error that ended the lab, if there was one, that the lab was removed: the user reads it."""
        if error is not None:
            error.add_note(f"lab {self.name} was removed")

    def begin(self, nodes: Collection[str] | None = None) -> None:
        """The network's time begins now: stations set out on their paths, profiles and traces start, and programs of hosts.

        `nodes`: only of these.
        """
        for node in self._chosen(nodes):
            if node.kind == "netbox":
                with self.control(node.name) as control:
                    control.begin(None)
        if nodes is None:
            EventLog(self.folder / EVENTS_FILE, self.folder).begin()
        self.start_programs(nodes)

    def start_programs(self, nodes: Collection[str] | None = None) -> None:
        """The network is ready: hosts start the programs that they run by themselves. `nodes`: only these."""
        for node in filter(host_program.programs, self._chosen(nodes)):
            node_files.write(self.node_folder(node.name) / host_program.GO, "")

    def program(self, node: str, name: str = host_program.OF_USER) -> ProgramState | None:
        """The state of a program that a host runs by itself; None where it has none of that name, or reports nothing."""
        return ProgramState.read(self.node_folder(node), name) if name in host_program.programs(self.node(node)) else None

    def management(self, node: str) -> list[PartState] | None:
        """How a host does in the management of links; None where it has no part in any, or reports nothing."""
        return PartState.read(self.node_folder(node)) if parts(self.node(node)) else None

    def down(self) -> None:
        removal.take_down(self.name)

    @cached_property
    def plan(self) -> Plan:
        try:
            return recorded.plan(self.folder)
        except FileNotFoundError as error:
            raise NodeFailed(
                f"lab {self.name} is half up: its plan is missing; `netboxit down {self.name}` removes it"
            ) from error

    def node(self, name: str) -> NodePlan:
        try:
            return self.plan.node(name)
        except KeyError:
            names = ", ".join(node.name for node in self.plan.nodes)
            raise NoSuchNode(f"lab {self.name} has no node {name}; its nodes are {names}") from None

    def node_folder(self, node: str) -> Path:
        """The host's side of the node's /run/netboxit."""
        return self._container(self.node(node)).folder

    def own_files(self, node: str, name: str) -> OwnFiles:
        """Files in a subfolder of the node's folder, where its programs can write. Makes the subfolder if needed."""
        folder = self.node_folder(node) / name
        node_files.make_folder(folder, users.FIRST_ID if self.is_confined(node) else None)
        return OwnFiles(folder)

    def is_confined(self, node: str) -> bool:
        """Whether the node's root is nobody on the host (system.users)."""
        return any(map(users.is_own, cores.processes(self.node(node).container)))

    def run(
        self, node: str, argv: Sequence[str], *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program inside a node to its end, with its output as text. ProgramFailed after `timeout_s`."""
        carrier = self._attach(node, argv, env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program = processes.program_inside(carrier, argv)
        try:
            output, errors = carrier.communicate(timeout=timeout_s)
        except BaseException as error:
            program.kill()
            # A child of it in the node may hold the pipes for ever.
            with suppress(subprocess.TimeoutExpired):
                carrier.communicate(timeout=_LAST_WORDS_S)
            if isinstance(error, subprocess.TimeoutExpired):
                raise ProgramFailed(f"{' '.join(argv)}: killed, still running after {timeout_s:g} s") from None
            raise
        return subprocess.CompletedProcess(
            argv, program.wait(0.0), output.decode(errors="replace"), errors.decode(errors="replace")
        )

    def start(
        self,
        node: str,
        argv: Sequence[str],
        *,
        log: Path | IO[bytes],
        env: Mapping[str, str] | None = None,
        stdin: Standard = subprocess.DEVNULL,
        held: bool = False,
    ) -> Process:
        """Starts a program inside a node. It ends with its container at the latest.

        Its output is appended to `log` on the host, or goes into what is open already, say a pipe. One that is `held` waits in
        the node until it is released; then its standard input is empty.
        """
        if held:
            argv, stdin = [*processes.HELD, *argv], subprocess.PIPE
        with log.open("ab") if isinstance(log, Path) else nullcontext(log) as output:
            return processes.program_inside(self._attach(node, argv, env, stdin=stdin, stdout=output, stderr=output), argv)

    def in_namespace(self, node: str, argv: Sequence[str], *, log: Path) -> Process:
        """Starts a program of the host in the node's network only: it sees the host's files, as a capture must."""
        with log.open("ab") as output, namespaces.entered(self.node(node).namespace):
            try:
                program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
            except OSError as error:
                raise ProgramFailed(f"{argv[0]}: {error.strerror}; `netboxit doctor` says what is missing") from error
        return Process(program, program.pid, argv)

    def exec_argv(self, node: str, argv: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
        """What a person's terminal runs to be inside a node; a shell without `argv`.

        Raises NotConfined, NamespaceFailed, NodeFailed: LXC would not say that a node has ended, or is out of reach.
        """
        namespaces.check_seen(self.node(node).namespace)
        if not containers.alive(self._container(self.node(node))):
            raise NodeFailed(f"node {node} does not run; `netboxit status {self.name}` says more; after a reboot it comes back")
        self.check_confined(node)
        return containers.attach_argv(
            self._container(self.node(node)),
            [*_ATTENDED, node, *(argv or _SHELL)],
            {**(env or {}), "PS1": f"{node}:\\w\\$ "},
        )

    def check_confined(self, node: str) -> None:
        """Raises NotConfined where an operator would run programs in a node as the host's root."""
        if operator() is not None and not self.is_confined(node):
            raise NotConfined(
                f"root of node {node} is the host's own (`netboxit status` says why), which an operator cannot be; "
                "what is confined are nodes in the lab's user namespace, as hosts are"
            )

    def netbox(self, name: str) -> NodePlan:
        """The netbox of that name. Raises NoSuchNode."""
        node = self.node(name)
        if node.kind != "netbox":
            raise NoSuchNode(f"{name} is a {node.kind}; only netboxes have a control socket")
        return node

    def control(self, netbox: str, timeout_s: float = 5.0) -> Control:
        self.netbox(netbox)
        return Control(netbox, self.node_folder(netbox) / "control.sock", timeout_s)

    def manager(self, host: str) -> Control:
        """The program of a host that has its part in managed links."""
        return Control(host, self.node_folder(host) / management.CONTROL, kind="the manager of host")

    def alive(self) -> dict[str, bool]:
        """Whether each node's command still runs."""
        return {node.name: containers.alive(self._container(node)) for node in self.plan.nodes}

    def check_alive(self, besides: Collection[str] = ()) -> None:
        """Raises NodeFailed when a node has ended that is not one of those, with the limits that it reached and its log's end."""
        for name, alive in self.alive().items():
            if not alive and name not in besides:
                why = "".join(f"; it has reached its limit of {limit}" for limit in self.limits_reached(name))
                raise NodeFailed(f"node {name} has ended{why}; its log says:{self._log_tail(name)}")

    def limits_reached(self, node: str) -> list[str]:
        """Those of its limits that a node has reached since it started, in words."""
        planned = self.node(node)
        folders = [*rootfs.own_folders(planned.copied), *(("its packages' /etc and /var",) if planned.packages else ())]
        copies = removal.nodes_folder(self.folder) / removal.copies_of(node)
        disks = {f"the disk with {' and '.join(folders)}": copies} if folders else {}
        return containers.limits_reached(self._container(planned), planned.limits, disks)

    def network_changes(self, node: str) -> list[str]:
        """How a host's or router's network differs from the plan, in words."""
        # Netlink takes long to import, and most commands need none of it.
        from system import wires

        return wires.differences(self.plan, self.node(node))

    @contextmanager
    def finished(self, deadline_s: float = 5.0) -> Iterator[list[str]]:
        """Ends every node's command by SIGTERM, so that it writes what it still holds; the lab itself stays.

        In the block nothing runs in the nodes, and no command can start one again: their files stay as they are. The block gets
        the nodes that did not end in time and were killed. Raises LabBusy when another command does not let go of the lab.
        """
        with state.locked(self.folder, _FINISHED_WITHIN_S):
            for node in self.plan.nodes:
                containers.ask_to_end(self._container(node))
            deadline = time.monotonic() + deadline_s
            while (left := [name for name, alive in self.alive().items() if alive]) and time.monotonic() < deadline:
                time.sleep(0.01)
            containers.end(self.folder / "containers", [node.container for node in self.plan.nodes])
            yield left

    def wait_ready(self, deadline_s: float = 90.0, nodes: Collection[str] | None = None, besides: Collection[str] = ()) -> None:
        """Returns when every netbox says that it is ready and every router answers; of `nodes`, where they are given.

        Raises NodeFailed as soon as a node ends that is not one of `besides`, or after the deadline.
        """
        deadline = time.monotonic() + deadline_s
        waiting = [node for node in self._chosen(nodes) if node.kind != "host"]
        while True:
            self.check_alive(besides)
            waiting = [node for node in waiting if not self._ready(node)]
            if not waiting:
                return
            if time.monotonic() > deadline:
                kind, name = waiting[0].kind, waiting[0].name
                raise NodeFailed(f"{kind} {name} is not ready after {deadline_s:g} s; its log says:{self._log_tail(name)}")
            time.sleep(0.01)

    def netbox_status(self, netbox: str) -> NetboxStatus | None:
        """The status that a netbox reports; None while it does not answer."""
        with suppress(ControlFailed), self.control(netbox) as control:
            return control.status()
        return None

    def _ready(self, node: NodePlan) -> bool:
        folder = self.node_folder(node.name)
        if node.kind == "netbox":
            status = self.netbox_status(node.name)
            return status is not None and bool(status["ready"])
        if node.kind == "switch":
            return node_files.exists(folder / READY)
        if node.forwards:
            from testbed.nodes import frr

            return frr.CONFIGURATION not in node.files or node_files.exists(folder / READY)
        with suppress(routers.RouterUnreachable), routers.Handlers(folder / routers.CONTROL):
            return True
        return False

    def _attach(self, node: str, argv: Sequence[str], env: Mapping[str, str] | None, **standard: Any) -> subprocess.Popen[bytes]:
        container = self._container(self.node(node))
        if not containers.alive(container):
            raise NodeFailed(f"node {node} has ended, so {argv[0]} cannot run in it; its log says:{self._log_tail(node)}")
        return subprocess.Popen(containers.attach_argv(container, argv, env), start_new_session=True, cwd="/", **standard)

    def _log_tail(self, node: str) -> str:
        return containers.log_tail(self._container(self.node(node)))

    def _chosen(self, nodes: Collection[str] | None) -> list[NodePlan]:
        """Those of these names; all of them where there are none."""
        return [node for node in self.plan.nodes if nodes is None or node.name in nodes]

    def _container(self, node: NodePlan) -> Container:
        return removal.container_of(self.folder, node.name, node.container)
