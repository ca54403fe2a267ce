# SPDX-License-Identifier: GPL-2.0-or-later
"""Bringing a plan up: each object is in the ledger before it is made, so that `testbed.labs.removal` can undo it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from contracts import durable
from contracts.errors import NetBoxITError, printable
from contracts.installation import INSTALLATION
from contracts.names import monitors_namespace
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import EquipmentPlan, NodePlan, Plan, WirePlan
from netboxes.technology import builds
from ownership import recorded, state
from ownership.ledger import Ledger, Record
from ownership.operators import NotConfined, operator
from system import (
    awake,
    containers,
    cores,
    file_trees,
    marks,
    namespaces,
    node_disks,
    node_files,
    package_layers,
    realtime_group,
    rings,
    rootfs,
    seccomp,
    users,
)
from system.containers import Container
from system.node_disks import NodeDisk
from testbed.labs import host_notes
from testbed.labs.removal import (
    ContainerDetails,
    RingsDetails,
    container_of,
    copies_of,
    disk_of,
    give_up,
    ledger_file,
    nodes_folder,
    undo,
)
from testbed.nodes import host_program

#: Is called with each step that begins, in words.
Progress = Callable[[str], None]


class ProgramMissing(NetBoxITError):
    """A netbox's program is not built here."""


class FilesChanged(NetBoxITError):
    """A file that a host gets a copy of has changed since the lab was planned."""


def bring_up(plan: Plan, progress: Progress, beside: Mapping[str, str]) -> Path:
    """Applies a plan and returns the lab's folder, which has the files `beside` from the beginning.

    Whatever goes wrong undoes what was done; callers hold Ctrl-C back.
    """
    check(plan)
    folder = state.make_lab_folder(plan.lab)
    with state.locked(folder):
        try:
            for name, text in beside.items():
                durable.put(folder / name, text)
            deploy(plan, folder, progress)
        except BaseException as error:
            give_up(error, lambda: undo(folder))
            raise
    return folder


def check(plan: Plan) -> None:
    """Raises ProgramMissing or EquipmentRefused if this machine cannot make the plan. Nothing is made."""
    check_programs(plan.nodes)
    if plan.equipment:
        from testbed.labs import equipment_here  # netlink, which nobody else needs so early

        equipment_here.check(plan)


def check_programs(nodes: Iterable[NodePlan]) -> None:
    """Raises ProgramMissing: a technology of another package is found before its program is built."""
    for node in nodes:
        program = Path(node.command[0])
        if node.kind == "netbox" and program.is_absolute() and not program.exists():
            raise ProgramMissing(
                f"netbox {node.name} cannot start: there is no {program}; "
                f"remedy: {builds(netbox_configuration(node)['technology'])}"
            )


def deploy(plan: Plan, folder: Path, progress: Progress) -> None:
    """Makes all of it; the folder is new, and the caller undoes what was done when this fails."""
    recorded.begin(folder, [])
    Deployment(plan, folder, progress).everything()
    recorded.end(folder)


class Deployment:
    """The steps from plan to running containers, each object in the ledger before it is made.

    Each takes the nodes or wires that it makes: all of them when a lab comes up, the new ones in a lab that is up.
    """

    def __init__(self, plan: Plan, folder: Path, progress: Progress) -> None:
        self._plan, self._folder, self._progress = plan, folder, progress
        self._ledger = Ledger(ledger_file(folder))
        self._root = folder / "root"
        self._mark = marks.of_lab(folder)
        self._users = users.support([folder, INSTALLATION])

    def everything(self) -> None:
        nodes = self._plan.nodes
        recorded.write(self._folder, self._plan)
        rootfs.build(self._root, self._plan)
        if self._users.refused is None:  # also when none of its nodes can be in it
            self._ledger.add(Record("user namespace", self._mark))
            users.create(self._mark)
        users.enclose(nodes_folder(self._folder), self._users)
        self.write_files(nodes)
        self._progress("wires")
        # Where LXC's own processes are, and nobody else (`system.monitors`).
        self._add_namespaces([monitors_namespace(self._plan.lab)], None)
        self.make_namespaces(nodes)
        self.make_wires(self._plan.wires)
        self.take_equipment(self._plan.equipment)
        self.configure(nodes)
        self.keep_cores_awake(self._plan.awake_cores)
        self._progress("containers")
        self.hold_realtime_group()
        self.start_containers(nodes)

    def write_files(self, nodes: Collection[NodePlan]) -> None:
        """Each node's own files, on a disk of its own, and the configuration of its container."""
        host = containers.HostFacts.read()
        self.check_confined(nodes)
        new = [node for node in nodes if not _has_files(self._container(node).folder)]
        copying = [node for node in nodes if (node.copied or node.packages) and not _has_files(self._copies(node))]
        self._make_disks(
            [(node.name, self._container(node).folder, node.limits.disk) for node in new]
            + [(copies_of(node.name), self._copies(node), node.limits.disk) for node in copying]
        )
        for node in copying:
            self._copy(node)
        for node in nodes:
            container = self._container(node)
            container.configuration_file.parent.mkdir(parents=True, exist_ok=True)
            container.folder.mkdir(parents=True, exist_ok=True)
            for name, text in node.files.items():
                node_files.write(container.folder / name, text)
            text = containers.configuration(
                node,
                self._plan.lab,
                container,
                self._root,
                host,
                memory=self._memory_of(node),
                own=self._own_folders(node),
                layer=rootfs.layer_of(self._copies(node)),
                realtime_group=realtime_group.path() if self._plan.realtime_budget_us else None,
                user_namespace=users.path(self._mark) if self._in_users(node) else None,
                has_disk=container.folder.is_mount(),
            )
            durable.write(container.configuration_file, text)
            durable.write(container.seccomp_file, seccomp.profile(users.capabilities(node, confined=self._in_users(node))))
            durable.write(container.lxc_log, "")  # on a full disk LXC could not make it, and would not say why
            if self._in_users(node):
                users.give(container.folder)

    def check_confined(self, nodes: Iterable[NodePlan]) -> None:
        """Raises NotConfined where an operator's file would start programs as the host's root."""
        for node in nodes if operator() is not None else ():
            if host_program.of_user(node) and not self._in_users(node):
                raise NotConfined(
                    f"node {node.name} would start a program as the machine's own root, which an operator's file cannot have: "
                    f"{self._users.keeps_out(node) or 'the lab has no user namespace'}; leave its start out"
                )

    def _copy(self, node: NodePlan) -> None:
        """Copies the files of its packages, and the user's files that it is to have.

        Raises PackagesNotInstalled, NotToBeCopied, NoRoom, FilesChanged.
        """
        owner = users.FIRST_ID if self._in_users(node) else None
        self._copies(node).mkdir(exist_ok=True)  # it exists where it has a disk of its own
        self._copies(node).chmod(0o755)  # for the node's root, which passes it when its container starts
        if node.packages:
            self._progress(f"installing packages for {node.name}")
            with file_trees.room_on_disk(self._copies(node)):
                rootfs.copy_packages(package_layers.layer(node.packages), self._copies(node), self._root, owner or 0)
        if node.copied:
            self._progress(f"copying files to {node.name}")
        for place, copied in node.copied.items():
            target = self._copies(node) / place[1:]
            for folder in reversed([parent for parent in target.parents if parent.is_relative_to(self._copies(node))][:-1]):
                folder.mkdir(exist_ok=True)
                if owner is not None:
                    os.chown(folder, owner, owner)
            if node.packages:
                package_layers.remove(target)  # the user's file takes the place of what they have put there
            if file_trees.copy(Path(copied.source), target, owner) != copied.digest:
                raise FilesChanged(f"{printable(copied.source)} has changed since the lab was planned; repeat the command")

    def _copies(self, node: NodePlan) -> Path:
        return nodes_folder(self._folder) / copies_of(node.name)

    def _own_folders(self, node: NodePlan) -> dict[str, Path]:
        """The folders with the node's copies, by the paths at which it sees them. Adds each path to the root as a mount point."""
        places = dict.fromkeys((*rootfs.own_folders(node.copied), *rootfs.places_of_packages(self._copies(node))))
        own = {place: self._copies(node) / place[1:] for place in places}
        rootfs.add_mount_points(self._root, own)
        return own

    def _make_disks(self, wanted_disks: Collection[tuple[str, Path, int]]) -> None:
        """By their names, folders and sizes. Where the host allows none, the folders are on its own disk, and a note says so."""
        if not wanted_disks or node_disks.refused() is not None:
            return
        self._ledger.add(*(Record("disk", name) for name, _, _ in wanted_disks))
        disks = [NodeDisk(disk_of(self._folder, name), folder, size) for name, folder, size in wanted_disks]
        try:
            node_disks.create(disks)
        except node_disks.NotMounted as error:
            for disk in disks:
                node_disks.delete(disk.image, disk.folder)
            host_notes.add(self._folder, f"nodes' folders have no disks of their own: {error}")

    def _in_users(self, node: NodePlan) -> bool:
        return users.of(self._mark) is not None and self._users.keeps_out(node) is None

    def make_namespaces(self, nodes: Collection[NodePlan]) -> None:
        self._add_namespaces([node.namespace for node in nodes], users.of(self._mark))
        # Netlink takes long to import, and who only starts a node again needs none of it.
        from system import wires

        for node in nodes:
            wires.prepare_namespace(node)

    def _add_namespaces(self, names: Sequence[str], owner: Path | None) -> None:
        """`owner` is the user namespace that they belong to, where it is not the host's."""
        for name in names:
            if namespaces.path(name).exists():
                # Recorded, it would be removed with the lab, though it is somebody else's.
                raise namespaces.NamespaceFailed(f"network namespace {name} exists already and is not this lab's; see `ip netns`")
        self._ledger.add(*(Record("namespace", name) for name in names))
        namespaces.create(names, owner, self._mark)

    def configure(self, nodes: Iterable[NodePlan]) -> None:
        """All interfaces and routes of new nodes, once their wires are there."""
        from system import wires

        for node in nodes:
            wires.configure(self._plan, node)

    def make_wires(self, wire_plans: Collection[WirePlan]) -> None:
        """Veth pairs, whose interfaces are then to be configured, and memory wires."""
        from system import wires

        pairs = [wire for wire in wire_plans if wire.kind == "veth"]
        self._ledger.add(*(Record("wire", wire.name) for wire in pairs))
        for wire in pairs:
            wires.create(self._plan, wire)
        in_memory = [wire.name for wire in wire_plans if wire.kind == "memory"]
        for name in in_memory:
            rings.check_free(self._plan.lab, name, self._folder)
        self._ledger.add(*(Record("rings", name, RingsDetails(lab=self._plan.lab)) for name in in_memory))
        if in_memory and (note := rings.claim()):
            host_notes.add(self._folder, note)
        for name in in_memory:
            rings.create(self._plan.lab, name, owner=users.FIRST_ID if users.of(self._mark) else None, lab_folder=self._folder)

    def take_equipment(self, taken: Collection[EquipmentPlan]) -> None:
        """Interfaces of the host, which are then to be configured as those of wires."""
        if taken:
            from system import equipment

            equipment.take(self._plan, taken, self._ledger)

    def hold_realtime_group(self) -> None:
        if self._plan.realtime_budget_us:
            self._ledger.add(Record("realtime group", cores.REALTIME_GROUP))
            granted_us = realtime_group.hold(self._plan.realtime_budget_us, self._folder)
            if granted_us != self._plan.realtime_budget_us:
                planned, granted = (f"{us / cores.SECOND_US:.0%}" for us in (self._plan.realtime_budget_us, granted_us))
                host_notes.add(
                    self._folder,
                    f"netboxes and routers may use {granted} of each core at real-time priority, not {planned}: "
                    "what else has real-time budget on this machine changed while the lab came up",
                )

    def keep_cores_awake(self, kept: Collection[int]) -> None:
        self._ledger.add(*(Record("awake core", str(core)) for core in kept))
        for core in kept:
            awake.hold(core, self._folder)

    def start_containers(self, nodes: Collection[NodePlan]) -> None:
        for node in nodes:
            for group in self._container(node).groups:
                cores.check_free(group)
        self._ledger.add(*(Record("container", node.container, ContainerDetails(node=node.name)) for node in nodes))
        monitors = [containers.start(self._container(node), node.command) for node in nodes]
        for node, monitor in zip(nodes, monitors, strict=True):
            containers.wait_started(self._container(node), monitor)

    def _memory_of(self, node: NodePlan) -> dict[str, Path]:
        """The folders of a node's memory wires on the host, by its interfaces."""
        of_kernel = self._plan.kernel_interfaces(node)
        return {end.name: rings.folder(self._plan.lab, end.wire) for end in node.interfaces if end not in of_kernel}

    def _container(self, node: NodePlan) -> Container:
        return container_of(self._folder, node.name, node.container)


def _has_files(folder: Path) -> bool:
    """Whether a node's folder was made before; one that is empty was about to be."""
    return folder.is_dir() and (folder.is_mount() or any(folder.iterdir()))
