# SPDX-License-Identifier: GPL-2.0-or-later
"""Making a lab that is up what its topology file says now, and doing no more to it than that takes.

Every object is in the ledger before it is made, and every step may be made again: an alteration that does not end leaves a lab
that `down` removes, and that the next alteration brings to its end.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from contracts.changes import StagesChange
from contracts.errors import NetBoxITError
from contracts.names import lab_name
from contracts.plan import EquipmentPlan, NodePlan, Plan
from ownership import recorded, state
from ownership.ledger import Ledger, Record
from system import cores, namespaces, node_files, rootfs
from system.interruption import HeldBack
from system.realtime_support import realtime_support
from testbed.changing import comparison
from testbed.description.settings import Setting
from testbed.description.topology_file import load
from testbed.labs import measuring, restart
from testbed.labs.deployment import Deployment, Progress, check_programs
from testbed.labs.lab import Lab
from testbed.labs.removal import container_of, copies_of, ledger_file, nodes_folder, undoers
from testbed.nodes import routers
from testbed.nodes.control import Control, ParameterRefused
from testbed.plans import taking
from testbed.plans.difference import Action, Difference, NodeDifference
from testbed.plans.planning import plan_topology

#: So many parts are told by name.
_MOST_NAMED = 3


class StillAttached(NetBoxITError):
    """Something of the host's is attached to a node that would go."""


@dataclass(frozen=True)
class Applied:
    """What was done: the lab was brought up, or changed so."""

    lab: Lab
    plan: Plan
    difference: Difference | None


def apply(
    file: Path,
    name: str | None,
    progress: Progress = lambda _: None,
    take: Sequence[str] = (),
    settings: Sequence[Setting] = (),
) -> Applied:
    """Raises what planning, bringing up and changing raise; StillAttached and HalfUp before anything was changed.

    `take` names interfaces that the lab may have though they are in use. `settings` is what the command line
    says in place of the file.
    """
    topology = load(file, said=settings)
    lab = lab_name(topology.name if name is None else name)
    if lab not in state.lab_names():
        plan = taking.named(plan_topology(topology, lab=lab, realtime=realtime_support()), take)
        return Applied(Lab.up_and_ready(plan, progress, {recorded.ORIGIN: recorded.origin(file)}), plan, None)
    folder = state.lab_folder(lab)
    state.check_own(folder)
    with state.locked(folder):
        measuring.check(folder, "`apply`")
        plan, difference, states = comparison.against(topology, lab, folder)
        plan = taking.kept(taking.named(plan, take), [plan, *states])
        if difference.nothing():
            recorded.end(folder)  # whatever did not end has left nothing to do
            return Applied(Lab.open(lab), plan, difference)
        alteration = _Alteration(plan, difference, states, folder, progress)
        alteration.check()
        with HeldBack() as held:
            recorded.begin(folder, [*states, *([] if plan in states else [plan])])
            difference = alteration.run()
            recorded.write(folder, plan)
            recorded.keep_origin(folder, file)
            try:
                with held.allowed():
                    alteration.wait_ready()
            except BaseException as error:
                error.add_note(f"lab {lab} was changed, and not waited for; `netboxit apply` again does that")
                raise
            recorded.end(folder)
    return Applied(Lab.open(lab), plan, difference)


class _Alteration:
    """The steps, in their order."""

    def __init__(self, plan: Plan, difference: Difference, states: Sequence[Plan], folder: Path, progress: Progress) -> None:
        self._plan, self._difference, self._states, self._folder, self._progress = plan, difference, states, folder, progress
        self._ledger, self._undoers = Ledger(ledger_file(folder)), undoers(folder)
        self._deployment = Deployment(plan, folder, progress)
        self._before: dict[str, list[NodePlan]] = {}
        for node in (node for was in states for node in was.nodes):
            self._before.setdefault(node.name, []).append(node)
        self._starting = self._nodes("created", "replaced", "restarted")
        self._touched = difference.wires_to_be("created", "removed", "replaced", "changed")

    def check(self) -> None:
        """Raises what would come in between, before anything was changed."""
        check_programs(self._starting)
        self._deployment.check_confined(self._starting)
        for node in self._nodes("changed", "restarted"):
            if not namespaces.path(node.namespace).exists():
                raise namespaces.NamespaceFailed(
                    f"the network of {node.name} is gone (a reboot?); "
                    f"`netboxit down {self._plan.lab}` and `up` bring the lab back"
                )
        going = {node.name for node in self._difference.nodes_to_be("removed", "replaced")}
        new_wires = self._difference.wires_to_be("created", "replaced")
        ends = {end for wire in self._plan.wires if wire.name in new_wires for end in (wire.left, wire.right)}
        for port in (port for was in self._states for port in was.equipment if port.attached):
            if port.end.node in going or port.end in ends:
                what = port.end.node if port.end.node in going else f"the wire at {port.end.node}.{port.end.interface}"
                raise StillAttached(f"{what} would go, and {port.words()} is attached there; `netboxit detach {port.name}` first")
        # What the lab has to give back first is looked at when it is back.
        held = {port.device for was in self._states for port in was.equipment}
        new = self._difference.wires_to_be("created")
        self._check_here(tuple(port for port in self._plan.equipment if port.wire in new and port.device not in held))

    def run(self) -> Difference:
        """Everything but waiting; returns what was really done."""
        if self._is_rewiring():
            # It takes long to import: now, and not while nodes are down.
            from testbed.changing import rewiring  # noqa: F401
        self._remove()
        self._make_common()
        self._progress("wires")
        self._make_wires()
        self._progress("containers")
        self._start()
        refused = self._change_live()
        self._release_common()
        return replace(self._difference, nodes=tuple(_refusing(node, refused.get(node.name)) for node in self._difference.nodes))

    def wait_ready(self) -> None:
        """Of what was started: until traffic can flow through it; then its time begins."""
        lab, started = Lab.open(self._plan.lab), {node.name for node in self._starting}
        if started:
            self._progress(f"waiting for {_named(sorted(started))}")
            lab.wait_ready(nodes=started)
            lab.begin(started)

    def _remove(self) -> None:
        """Stops what starts again, and removes what goes."""
        stopping = self._nodes("restarted")
        if stopping:
            self._progress(f"stopping {_named([node.name for node in stopping])}")
            restart.stop_all(self._folder, stopping)
        going = [self._before[node.name][0] for node in self._difference.nodes_to_be("removed", "replaced")]
        # A host that is to have other files or packages gets a new disk with them.
        copied_anew = [
            node
            for node in stopping
            if any((was.copied, was.packages) != (node.copied, node.packages) for was in self._before[node.name])
        ]
        names = {
            *(("container", node.container) for node in going),
            *(("disk", node.name) for node in going),
            *(("disk", copies_of(node.name)) for node in (*going, *copied_anew)),
            *(("namespace", node.namespace) for node in going),
            *product(("equipment", "wire", "rings"), self._difference.wires_to_be("removed", "replaced")),
        }
        there = [record for record in self._ledger.records() if (record.kind, record.name) in names]
        if there:
            self._progress(f"removing {_named([record.name for record in there])}")
        self._ledger.remove(there, {**self._undoers, "wire": self._remove_wires})
        for node in going:
            container = container_of(self._folder, node.name, node.container)
            shutil.rmtree(container.folder, ignore_errors=True)
            shutil.rmtree(container.configuration_file.parent, ignore_errors=True)
        for node in (*going, *copied_anew):
            shutil.rmtree(nodes_folder(self._folder) / copies_of(node.name), ignore_errors=True)

    def _remove_wires(self, records: Sequence[Record]) -> None:
        """By an end whose namespace stays; a pair of which both go is left to the kernel."""
        from testbed.changing import rewiring

        staying = {node.name: node for node in self._plan.nodes if node.name in self._before}
        for record in records:
            for wire in (wire for was in self._states for wire in was.wires if wire.name == record.name):
                for end in (wire.left, wire.right):
                    if end.node in staying and namespaces.path(staying[end.node].namespace).exists():
                        rewiring.delete(self._plan.lab, staying[end.node].namespace, end, wire.name)

    def _make_common(self) -> None:
        self._deployment.hold_realtime_group()
        awake = {record.name for record in self._ledger.records() if record.kind == "awake core"}
        self._deployment.keep_cores_awake([core for core in self._plan.awake_cores if str(core) not in awake])

    def _make_wires(self) -> None:
        new = self._nodes("created", "replaced")
        names = self._difference.wires_to_be("created", "replaced")
        new_wires = [wire for wire in self._plan.wires if wire.name in names]
        if new:
            self._deployment.make_namespaces(new)
        if new_wires:
            self._deployment.make_wires(new_wires)
        taken = tuple(port for port in self._plan.equipment if port.wire in names)
        self._check_here(taken)
        self._deployment.take_equipment(taken)
        moved = [node for node in self._nodes("changed", "restarted") if self._is_rewired(node)]
        if not new and not moved:
            return
        from testbed.changing import rewiring

        self._deployment.configure(new)
        for node in moved:
            rewiring.settle(self._plan, node, self._before[node.name], names)
        rewiring.forget_neighbours(self._plan, [node for node in self._plan.nodes if node not in new], self._states)

    def _check_here(self, taken: tuple[EquipmentPlan, ...]) -> None:
        if taken:
            from testbed.labs import equipment_here

            equipment_here.check(replace(self._plan, equipment=taken))

    def _is_rewiring(self) -> bool:
        """Whether netlink will be needed."""
        changed_parts = self._touched or self._nodes("created", "replaced")
        return bool(changed_parts) or any(map(self._is_rewired, self._nodes("changed", "restarted")))

    def _is_rewired(self, node: NodePlan) -> bool:
        """Whether there is anything to do in its network."""
        own = (node.interfaces, node.routes, node.forwards, node.ecn)
        return any((was.interfaces, was.routes, was.forwards, was.ecn) != own for was in self._before[node.name]) or any(
            interface.wire in self._touched for interface in node.interfaces
        )

    def _start(self) -> None:
        rootfs.write_hosts(self._folder / "root", self._plan)
        for node in self._nodes("restarted", "changed"):
            for name in {name for was in self._before[node.name] for name in was.files} - {*node.files}:
                node_files.remove(nodes_folder(self._folder) / node.name / name)
        self._deployment.write_files([*self._starting, *self._nodes("changed")])
        self._deployment.start_containers(self._starting)

    def _change_live(self) -> dict[str, str]:
        """Cores, parameters and configurations of what keeps running. Who refuses is started again; returns what they said."""
        refused: dict[str, str] = {}
        for difference in self._difference.nodes_to_be("changed"):
            node = self._plan.node(difference.name)
            if any(was.cores != node.cores for was in self._before[node.name]):
                cores.move(node.container, node.cores)
            try:
                # Interfaces that only the new configuration has may get stages.
                self._swap(node)
                self._set(difference)
            except (ParameterRefused, routers.HandlerRefused) as error:
                refused[node.name] = str(error)
        again = [self._plan.node(name) for name in refused]
        restart.stop_all(self._folder, again)
        self._deployment.start_containers(again)
        self._starting += again
        return refused

    def _set(self, difference: NodeDifference) -> None:
        folder = container_of(self._folder, difference.name, self._plan.node(difference.name).container).folder
        stages = [change for change in difference.parameters if isinstance(change, StagesChange)]
        parameters = [change for change in difference.parameters if not isinstance(change, StagesChange)]
        if parameters:
            with Control(difference.name, folder / "control.sock") as control:
                for change in parameters:
                    control.set(change.parameter, change.value)
        if stages:
            with routers.Handlers(folder / routers.CONTROL) as handlers:
                for own in stages:
                    handlers.set_stages(own.interface, own.value)

    def _swap(self, node: NodePlan) -> None:
        """A Click router's new configuration takes over; the router's folder has it already."""
        file = routers.configuration_name(node) if routers.is_click(node) else None
        if file is not None and any(was.files.get(file) != node.files[file] for was in self._before[node.name]):
            socket = container_of(self._folder, node.name, node.container).folder / routers.CONTROL
            with routers.Handlers(socket, routers.SWAP_TIMEOUT_S) as handlers:
                handlers.write("hotconfig", node.files[file])

    def _release_common(self) -> None:
        """What nobody of the lab needs any more."""
        awake = {str(core) for core in self._plan.awake_cores}
        unneeded = [
            record
            for record in self._ledger.records()
            if (record.kind == "awake core" and record.name not in awake)
            or (record.kind == "realtime group" and not self._plan.realtime_budget_us)
        ]
        self._ledger.remove(unneeded, self._undoers)

    def _nodes(self, *actions: Action) -> list[NodePlan]:
        """Those of the new plan to which one of these is done."""
        return [self._plan.node(node.name) for node in self._difference.nodes_to_be(*actions)]


def _named(names: Sequence[str]) -> str:
    """A few by name, more as their number."""
    return " and ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} of the lab"


def _refusing(node: NodeDifference, refusal: str | None) -> NodeDifference:
    """What was really done to a node that may have refused a change."""
    reasons = (*node.reasons, f"it refused that while it ran ({refusal})")
    return node if refusal is None else replace(node, action="restarted", reasons=reasons)
