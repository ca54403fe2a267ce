# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes changes in a running lab, by connections, netlink sockets and containers that are opened before they are needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import PurePath
from typing import TYPE_CHECKING

from contracts.changes import (
    Change,
    ConfigurationChange,
    FreezeChange,
    HandlerWrite,
    ManagedLinkChange,
    ParameterChange,
    PowerChange,
    StagesChange,
    WireChange,
)
from system import containers, node_files
from testbed.changing import handlers
from testbed.changing.freeze import Freeze, FreezeFailed
from testbed.labs import restart
from testbed.labs.removal import container_of
from testbed.nodes import management
from testbed.nodes.routers import SWAP_TIMEOUT_S

if TYPE_CHECKING:
    from system.wires import Switch
    from testbed.labs.lab import Lab
    from testbed.nodes.control import Control


class Executor:
    """A connection to each netbox, a netlink socket for each interface; open until the stack ends. Belongs to one thread."""

    def __init__(self, lab: Lab, open_ones: ExitStack, sample_s: float | None = None) -> None:
        """`sample_s`: a run measures the lab, and has each netbox's statistics in its journal so often."""
        self._lab, self._open, self._sample_s = lab, open_ones, sample_s
        self._controls: dict[str, Control] = {}
        self._switches: dict[tuple[str, str], Switch] = {}
        self._freezes: list[Freeze] = []
        #: Nodes that are without power.
        self.away: set[str] = set()

    def step(self, change: Change) -> Callable[[], object]:
        """The change, to be called when it is due."""
        match change:
            case ParameterChange():
                self._control(change.netbox)
                return lambda: self._control(change.netbox).set(change.parameter, change.value)
            case WireChange():
                switch = self._switch(change.node, change.interface)
                return lambda: switch.set(change.state)
            case PowerChange():
                switches = self._switches_of(change.node)
                return lambda: self._power(change, switches)
            case FreezeChange():
                return lambda: self._freeze(change)
            case ConfigurationChange():
                return lambda: self._swap(change)
            case ManagedLinkChange():
                return lambda: self._manage(change)
            case HandlerWrite():
                return lambda: handlers.write(self._lab, change.router, change.handler, change.value)
            case StagesChange():
                return lambda: handlers.set_stages(self._lab, change)

    def wait(self) -> None:
        """Until all that was frozen goes on by itself."""
        for freeze in self._freezes:
            freeze.join()

    def _control(self, netbox: str) -> Control:
        if netbox not in self._controls:
            self._controls[netbox] = self._open.enter_context(self._lab.control(netbox))
        return self._controls[netbox]

    def _switch(self, node: str, interface: str) -> Switch:
        from system.wires import Switch  # netlink is only needed where a wire is switched

        if (node, interface) not in self._switches:
            switch = self._switches[node, interface] = Switch(self._lab.node(node), interface)
            self._open.callback(switch.close)
        return self._switches[node, interface]

    def _switches_of(self, node: str) -> list[Switch]:
        """Of a node's veth wires, each where it is unplugged."""
        from testbed.description.targets import Targets

        targets = Targets.of(self._lab.plan.nodes, self._lab.plan.wires, self._lab.plan.equipment)
        wires = [wire for wire in targets.wires if not wire.memory and node in (wire.left.node, wire.right.node)]
        return [self._switch(change.node, change.interface) for change in (targets.switched(wire, "down") for wire in wires)]

    def _power(self, change: PowerChange, switches: list[Switch]) -> None:
        """As with real equipment: the carrier goes with the power, and is there again before the system is."""
        node = self._lab.node(change.node)
        if change.power == "off":
            self.away.add(node.name)
            if node.kind == "netbox" and self._sample_s is not None:
                restart.end_measured(self._lab.folder, node)
            else:
                restart.stop(self._lab.folder, node)
        for switch in switches:
            switch.set("down" if change.power == "off" else "up")
        if change.power == "on":
            if not self._lab.alive()[node.name]:
                # Whoever took the power may have been killed while doing so.
                restart.stop(self._lab.folder, node)
                restart.start(self._lab.folder, node)
                if node.kind == "netbox":
                    self._begin_again(node.name)
                self._lab.start_programs({node.name})
            self.away.discard(node.name)

    def _begin_again(self, netbox: str) -> None:
        """Its time begins when it is ready."""
        if (ended := self._controls.pop(netbox, None)) is not None:
            ended.close()
        others = {node.name for node in self._lab.plan.nodes} - {netbox}  # somebody else may reboot one just now
        self._lab.wait_ready(nodes={netbox}, besides=others)
        self._control(netbox).begin(self._sample_s)

    def _freeze(self, change: FreezeChange) -> None:
        node = self._lab.netbox(change.netbox)
        pid = containers.command_of(container_of(self._lab.folder, node.name, node.container), node.command)
        if pid is None:
            raise FreezeFailed(f"netbox {change.netbox} does not run, so it cannot be frozen; `netboxit status` shows what does")
        freeze = Freeze(pid, change.for_s)
        freeze.start()
        self._open.callback(freeze.end)
        self._freezes.append(freeze)

    def _manage(self, change: ManagedLinkChange) -> None:
        """By a connection of its own: the program may have been started again."""
        with self._lab.manager(change.host) as manager:
            manager.set_of(change.link, management.PARAMETERS[change.parameter], change.value)

    def _swap(self, change: ConfigurationChange) -> None:
        """The router's own file gets the new text, too: with it the router starts when it is rebooted."""
        node = self._lab.node(change.router)
        with handlers.of(self._lab, change.router, SWAP_TIMEOUT_S) as router:
            router.write("hotconfig", change.text)
        node_files.write(self._lab.node_folder(change.router) / PurePath(node.command[-1]).name, change.text)
