# SPDX-License-Identifier: GPL-2.0-or-later
"""LXC: a node's configuration as text, its start and its end.

A container's first process is LXC's own init, which starts the node's command, reaps what is orphaned and ends with it.
The monitor (lxc-execute) stays outside and writes the command's output to the node's log.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import NetBoxITError
from contracts.installation import SETUP
from contracts.plan import Limits, NodePlan
from system import apparmor, cores, kernel, limits, marks, monitors, namespaces, node_files, processes, rootfs, users
from system.package_layers import Layer

_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": rootfs.NODE_FOLDER,
    "LANG": "C.UTF-8",
}
_START_DEADLINE_S = 60.0
_HUNG_S = 1.0
#: Of looking whether what was killed has ended, which takes time from it.
_LONGEST_PAUSE_S = 0.1


class ContainerFailed(NetBoxITError):
    """A container could not be started or ended."""


@dataclass(frozen=True)
class HostFacts:
    """What the text of a configuration depends on besides the plan."""

    cgroup_version: int
    memory_nodes: str
    #: Whether LXC's profile can confine containers.
    apparmor: bool
    limits: limits.Support

    @classmethod
    def read(cls) -> HostFacts:
        if (cpuset := cores.hierarchy_of("cpuset")) is None:
            cause, remedy = cores.why_no_cpuset()
            raise ContainerFailed(f"{cause}, so nodes cannot be pinned to cores; {remedy}")
        return cls(
            cgroup_version=cpuset.version,
            memory_nodes=cores.memory_nodes(),
            apparmor=apparmor.read().refused is None,
            limits=limits.Support.read(),
        )


@dataclass(frozen=True)
class Container:
    """A node's container: `home` is LXC's folder of the lab's containers, `folder` the node's own one."""

    name: str
    home: Path
    folder: Path

    @property
    def configuration_file(self) -> Path:
        return self.home / self.name / "config"

    @property
    def seccomp_file(self) -> Path:
        return self.home / self.name / "seccomp"

    @property
    def lxc_log(self) -> Path:
        return self.home / self.name / "lxc.log"

    @property
    def log(self) -> Path:
        """The command's standard output and error."""
        return self.folder / "log"

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of its control groups, the one with its processes first."""
        return (self.name, f"{self.name}.monitor", f"{self.name}.pivot")


def configuration(
    node: NodePlan,
    lab: str,
    container: Container,
    root: Path,
    host: HostFacts,
    *,
    memory: Mapping[str, Path] | None = None,
    own: Mapping[str, Path] | None = None,
    layer: Layer | None = None,
    realtime_group: Path | None = None,
    user_namespace: Path | None = None,
    has_disk: bool = True,
) -> str:
    """The LXC configuration of a node.

    `memory` are the folders of its memory wires by interface; `own` are folders of its own besides /run/netboxit, by where it
    sees them (system.rootfs.HOST_FOLDERS), `layer` is what its packages are in; `realtime_group` is the group with a
    real-time budget, where the kernel rations it; `user_namespace` is the lab's, for a node that is in it; `has_disk` says
    whether the node's folder is a disk of its own (system.node_disks).
    """
    capabilities = users.capabilities(node, confined=user_namespace is not None)
    locks_all = "ipc_lock" in capabilities
    group = "lxc.cgroup" if host.cgroup_version == 1 else "lxc.cgroup2"
    payload, monitor, pivot = container.groups
    lines = [
        f"# Node {node.name} of the lab {lab}, written by NetBoxIT; `netboxit down {lab}` removes it.",
        f"lxc.uts.name = {node.name}",
        f"lxc.environment = NETBOXIT_LAB={lab}",
        *(f"lxc.environment = {name}={value}" for name, value in _ENVIRONMENT.items()),
        f"lxc.rootfs.path = dir:{root}",
        "lxc.rootfs.options = ro",
        "lxc.autodev = 1",
        "lxc.tty.max = 0",
        "lxc.pty.max = 16",
        "lxc.mount.auto = proc:mixed sys:ro",
        *(
            f"lxc.mount.entry = {line}"
            for line in rootfs.mounts(root, container.folder, memory or {}, node.limits.temporary, own or {}, layer)
        ),
        *(f"lxc.mount.entry = {device} {device[1:]} none bind,create=file 0 0" for device in node.devices),
        "lxc.hook.version = 1",
        f"lxc.hook.mount = {rootfs.restriction(memory or {}, own or {})}",
        f"lxc.namespace.share.net = {namespaces.path(node.namespace)}",
        *(_user_lines(node, user_namespace) if user_namespace else []),
        f"lxc.cap.keep = {' '.join(capabilities) or 'none'}",
        "lxc.no_new_privs = 1",
        f"lxc.seccomp.profile = {container.seccomp_file}",
        *([] if host.apparmor else ["lxc.apparmor.profile = unconfined"]),
        f"lxc.cgroup.dir.container = {payload}",
        f"lxc.cgroup.dir.monitor = {monitor}",
        f"lxc.cgroup.dir.monitor.pivot = {pivot}",
        f"{group}.cpuset.cpus = {','.join(map(str, node.cores))}",
        f"{group}.cpuset.mems = {host.memory_nodes}",
        *limits.lines(node.limits, host.limits, locks_all=locks_all, bounds_files=has_disk or not locks_all),
        *limits.remembering(payload, container.configuration_file.parent),
        # Groups of their own would have to divide one core's budget among them, though each may have a core of its own. LXC knows
        # no group for one controller alone, so the node's first process is moved before it becomes the command.
        *(
            [f"lxc.hook.start-host = echo $LXC_PID > '{realtime_group / 'cgroup.procs'}'"]
            if node.realtime_priority and realtime_group is not None
            else []
        ),
        f"lxc.log.file = {container.lxc_log}",
        "lxc.log.level = WARN",
    ]
    return "\n".join(lines) + "\n"


def _user_lines(node: NodePlan, user_namespace: Path) -> list[str]:
    """Its root is an unused user of the host. In a user namespace resource limits grant what capabilities would on the host."""
    numbers = f"0 {users.FIRST_ID} {users.IDS}"
    return [
        f"lxc.idmap = u {numbers}",
        f"lxc.idmap = g {numbers}",
        f"lxc.namespace.share.user = {user_namespace}",
        *([f"lxc.prlimit.rtprio = {node.realtime_priority}"] if node.realtime_priority else []),
        *(["lxc.prlimit.memlock = unlimited"] if "ipc_lock" in users.capabilities(node, confined=True) else []),
    ]


def start(container: Container, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts the container with that command and returns its monitor at once; `wait_started` follows."""
    (container.configuration_file.parent / limits.AT_THE_END).unlink(missing_ok=True)
    processes.keep_descriptors()
    try:
        with node_files.appended(container.log) as log, monitors.apart(container.home):
            return subprocess.Popen(
                [
                    *(monitors.PROGRAM, "-q", *monitors.options(container.home, container.name)),
                    *("-f", str(container.configuration_file), "--", *command),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_ENVIRONMENT,
                start_new_session=True,
                cwd="/",
                # The kernel closes them when it is LXC and not before: until then it holds the lab's lock, and so `down`
                # finds no lab of which somebody is still to start a container.
                close_fds=False,
            )
    except FileNotFoundError:
        raise ContainerFailed(f"lxc-execute is not installed; `{SETUP}` installs the package lxc") from None


def wait_started(container: Container, monitor: subprocess.Popen[bytes]) -> None:
    """Waits until the container's init has started the command. Raises ContainerFailed with what LXC wrote."""
    begun = seen_alive = time.monotonic()
    while True:
        inits, own = processes.children(monitor.pid), processes.executable(monitor.pid)
        # Its init starts others before, and hooks until it has given up new privileges; what then becomes another program is
        # the command.
        settled = filter(processes.has_no_new_privileges, inits)
        if any(processes.executable(child) not in (None, own) for init in settled for child in processes.children(init)):
            for group in container.groups:
                marks.put(cores.folders(group), marks.of_lab(container.home.parent))
            return
        now = time.monotonic()
        if (status := monitor.poll()) is not None:
            raise ContainerFailed(
                f"container {container.name} did not start (lxc-execute ended with {status}){_output(container)}"
            )
        if now > begun + _START_DEADLINE_S:
            raise ContainerFailed(f"container {container.name} did not start in {_START_DEADLINE_S:g} s{_output(container)}")
        if not inits or any(map(processes.ProcessIdentity.of, inits)):
            seen_alive = now
        elif now > seen_alive + _HUNG_S:
            # LXC 5.0 waits for ever for an init that was killed before it had told all that it has to tell.
            raise ContainerFailed(f"container {container.name} did not start: its first process was killed{_output(container)}")
        time.sleep(0.002)


def attach_argv(container: Container, argv: Sequence[str], env: Mapping[str, str] | None) -> list[str]:
    """What runs `argv` inside the container, with the environment of its nodes and `env`."""
    variables = [option for name, value in (_ENVIRONMENT | dict(env or {})).items() for option in ("-v", f"{name}={value}")]
    network = monitors.network(container.home)
    return [
        *(["nsenter", f"--net={namespaces.path(network)}"] if network else []),
        *("lxc-attach", *monitors.options(container.home, container.name), "--clear-env", *variables, "--", *argv),
    ]


def alive(container: Container) -> bool:
    """A container lives exactly as long as its command: with it, init and everything else in its control group ends."""
    return not cores.is_empty(container.groups[0])


def limits_reached(container: Container, of_node: Limits, disks: Mapping[str, Path]) -> list[str]:
    """Those of its limits that it has reached since it started, in words, also when it has ended. `disks` are folders of its own
    besides /run/netboxit, by what they are called."""
    return limits.reached(
        container.groups[0], container.configuration_file.parent, {"its folder": container.folder, **disks}, of_node
    )


def end(home: Path, names: Sequence[str]) -> None:
    """Kills these containers of a lab in whatever state they are, also half started, and their monitors.

    The monitors clean nothing up: `remove_traces` removes what they would, and a monitor hangs whose container ended too early.
    """
    deadline, pause = time.monotonic() + cores.ENDED_WITHIN_S, 0.002
    while True:
        # Monitors first: without one, no more processes come into a container.
        own_monitors = monitors.of(home, names)
        for monitor in own_monitors:
            monitor.kill()
        groups = [name for name in names if cores.folders(name) and not monitors.is_anothers(home, name, name)]
        left = [monitor.pid for monitor in own_monitors] + [process for group in groups for process in cores.kill_all(group)]
        if not left:
            return
        if time.monotonic() > deadline:
            raise ContainerFailed(
                f"{home}: what is left of its containers has not ended {cores.ENDED_WITHIN_S:g} s after it was killed: "
                f"{processes.states_of(left)}; `netboxit down` goes on when it has"
            )
        time.sleep(pause)
        pause = min(1.2 * pause, _LONGEST_PAUSE_S)


def command_of(container: Container, command: Sequence[str]) -> int | None:
    """The process that runs the container's command, as the host counts; None when it has ended."""
    words = [word.encode() for word in command]
    inside = sorted(cores.processes(container.groups[0]))
    return next((pid for pid in inside if processes.command_line(pid).split(b"\0")[: len(words)] == words), None)


def ask_to_end(container: Container) -> None:
    """SIGTERM to all but init, which ends after its command."""
    for process in cores.processes(container.groups[0]):
        if not processes.is_init(process):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)


def remove_traces(container: Container) -> None:
    """Control groups and the lock file, which LXC leaves behind."""
    for group in container.groups:
        if cores.folders(group) and not monitors.is_anothers(container.home, container.name, group):
            cores.end_all(group)
            cores.remove(group)
    locks, lock = Path("/run/lxc/lock"), Path(str(container.home)[1:], f".{container.name}")
    (locks / lock).unlink(missing_ok=True)
    kernel.remove_empty(*(locks / folder for folder in lock.parents[:-1]))


def log_tail(container: Container, lines: int = 12) -> str:
    """The last lines of the node's log, indented, for an error message."""
    try:
        text = node_files.read(container.log).splitlines()
    except FileNotFoundError:
        return ""
    except node_files.NodeFileInTheWay as error:
        text = [str(error)]
    return "".join(f"\n    {line}" for line in text[-lines:])


def _output(container: Container) -> str:
    log = container.lxc_log.read_text(errors="replace") if container.lxc_log.exists() else ""
    errors = [line for line in log.splitlines() if " ERROR " in line]
    return "; LXC and the command wrote:" + "".join(f"\n    {line}" for line in errors[:6]) + log_tail(container)
