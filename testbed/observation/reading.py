# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab that is up has counted until now, read so that it disturbs nobody.

Netboxes say it between two frames (control method `counters`). Interfaces are read in each node's network without a program
being run in it; of switches alone programs of Open vSwitch must ask.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from typing_extensions import TypedDict

from contracts.control import NetboxCounters
from contracts.errors import NetBoxITError
from contracts.netbox_configuration import netbox_configuration
from contracts.node_status import PartStatus
from contracts.plan import NodePlan
from contracts.statistics import Details
from netboxes.technology import technology_of
from system import foreign_text, namespaces
from testbed.labs import switch_statistics
from testbed.labs.lab import Lab
from testbed.nodes import routers
from testbed.nodes.control import Control, ControlFailed
from testbed.observation.services import Services, services
from testbed.observation.stages import Stages, stages

#: Of a core: what may be spent on asking Open vSwitch, whose programs take 0.1 s for each switch.
_SWITCH_SHARE: Final = 0.02
_TIMEOUT_S: Final = 1.0
_SWITCH_DEADLINE_S: Final = 10.0
#: Of the kernel's IP layer, what is lost there.
_IP_LOSSES: Final = {"InDiscards": "in_discards", "OutDiscards": "out_discards", "OutNoRoutes": "no_route"}


Answer = TypeVar("Answer")


class Traffic(TypedDict):
    """What a port of a netbox and an interface of the kernel count alike. Bytes are those of Ethernet frames without FCS."""

    received_bytes: int
    #: Frames.
    received: int
    sent_bytes: int
    sent: int


class InterfaceCounters(Traffic):
    """Of an interface of the kernel."""

    receive_drops: int
    send_drops: int


@dataclass(frozen=True)
class NodeReading:
    """One node's. `at_s` is on the monotonic clock; the counters are those since it came up, and absent where it has none."""

    at_s: float
    alive: bool
    #: A netbox's answer; None while it does not answer.
    netbox: NetboxCounters | None = None
    #: Of the kernel's interfaces, by their names.
    interfaces: Mapping[str, InterfaceCounters] = field(default_factory=dict)
    #: What a router, switch or host lost, by reason: for a Click router the handlers named `drops`.
    lost: Mapping[str, int] = field(default_factory=dict)
    #: How a host does in the management of links.
    parts: Sequence[PartStatus] = ()
    #: Of a netbox whose link layer has services.
    services: Services = field(default_factory=dict)
    stages: Stages = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A lab's, at CLOCK_REALTIME `at_ns`."""

    at_ns: int
    nodes: Mapping[str, NodeReading]


class LabReader:
    """Reads one lab time and again; it keeps its connections."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._controls: dict[str, Control] = {}
        self._routers: dict[str, _Router] = {}
        self._switches: dict[str, _Switch] = {}

    def close(self) -> None:
        readers: list[Control | _Router | _Switch] = [
            *self._controls.values(),
            *self._routers.values(),
            *self._switches.values(),
        ]
        for reader in readers:
            reader.close()
        self._controls, self._routers, self._switches = {}, {}, {}

    def read(self) -> Reading:
        alive = self.lab.alive()
        return Reading(time.time_ns(), {node.name: self._node(node, alive[node.name]) for node in self.lab.plan.nodes})

    def _node(self, node: NodePlan, alive: bool) -> NodeReading:
        if not alive:
            return NodeReading(time.monotonic(), False)
        ports = [interface.name for interface in node.interfaces]
        if node.kind == "netbox":
            counters = self._counters(node.name)
            own = stages(counters["stages"], ports) if counters else {}
            return NodeReading(time.monotonic(), True, counters, services=self._services(node), stages=own)
        interfaces, lost = _kernel(self.lab, node)
        told: Mapping[str, Sequence[Details]] = {}
        if node.kind == "switch":
            lost = self._switches.setdefault(node.name, _Switch(self.lab, node.name)).lost()
        elif routers.is_click(node):
            router = self._routers.setdefault(node.name, _Router(self.lab.node_folder(node.name) / routers.CONTROL))
            lost, told = router.read()
        parts = [part.status() for part in self.lab.management(node.name) or ()]
        return NodeReading(time.monotonic(), True, None, interfaces, lost, parts, stages=stages(told, ports))

    def _counters(self, netbox: str) -> NetboxCounters | None:
        return self._asked(netbox, Control.counters)

    def _services(self, node: NodePlan) -> Services:
        configuration = netbox_configuration(node)
        if "link_layer" not in configuration and not technology_of(configuration["technology"]).TELLS_SERVICES:
            return {}
        statistics = self._asked(node.name, Control.statistics)
        return {} if statistics is None else services(statistics["segment"])

    def _asked(self, netbox: str, question: Callable[[Control], Answer]) -> Answer | None:
        """None while it does not answer."""
        try:
            if netbox not in self._controls:
                self._controls[netbox] = self.lab.control(netbox, _TIMEOUT_S)
            return question(self._controls[netbox])
        except ControlFailed:
            if (broken := self._controls.pop(netbox, None)) is not None:
                broken.close()
            return None


class _Router:
    """A Click router: what the stages of its interfaces tell, and the handlers `drops`, which tell what elements lost."""

    def __init__(self, socket: Path) -> None:
        self._socket, self._connected = socket, ExitStack()
        self._handlers: routers.Handlers | None = None
        self._elements: list[str] = []
        self._addresses: list[str] = []

    def close(self) -> None:
        self._connected.close()
        self._handlers = None

    def read(self) -> tuple[dict[str, int], dict[str, list[Details]]]:
        """What was lost, by handler, and what stages tell, by interface.

        Nothing from a router that does not answer, or whose configuration is being changed.
        """
        try:
            if self._handlers is None:
                self._handlers = self._connected.enter_context(routers.Handlers(self._socket, _TIMEOUT_S))
            lost = self._lost(self._handlers)
            try:
                devices = self._handlers.counters()["devices"]
            except routers.HandlerRefused:  # by a router of an earlier version
                return lost, {}
            own = {name: device["stages"] for name, device in devices.items() if "stages" in device}
            policed = {"policed": sum(device["policed"] for device in devices.values())} if own else {}
            return lost | policed, own
        except (routers.RouterUnreachable, routers.HandlerRefused, OSError, ValueError):
            self.close()
            return {}, {}

    def _lost(self, handlers: routers.Handlers) -> dict[str, int]:
        """Which elements have one is asked anew when the configuration has other elements than before."""
        if (elements := handlers.elements()) != self._elements:
            self._addresses = [f"{name}.drops" for name in elements if "drops\tr" in handlers.read(f"{name}.handlers")]
            self._elements = elements
        return {address: int(handlers.read(address)) for address in self._addresses}


class _Switch:
    """An Open vSwitch, asked beside the readings, which do not wait for it, and as often as its share of a core allows."""

    def __init__(self, lab: Lab, switch: str) -> None:
        self._lab, self._switch = lab, switch
        self._next_s = 0.0
        self._asking: threading.Thread | None = None
        self._lost: dict[str, int] = {}

    def close(self) -> None:
        if self._asking is not None:
            self._asking.join(_SWITCH_DEADLINE_S)

    def lost(self) -> dict[str, int]:
        """As last heard; nothing before it has answered."""
        if time.monotonic() >= self._next_s and (self._asking is None or not self._asking.is_alive()):
            self._asking = threading.Thread(target=self._ask, daemon=True)
            self._asking.start()
        return self._lost

    def _ask(self) -> None:
        began = time.monotonic()
        with suppress(NetBoxITError, OSError, ValueError):  # it may go meanwhile
            if (status := switch_statistics.of(self._lab, self._switch)) is not None:
                ports = status["ports"].values()
                self._lost = {
                    "policed": sum(port["policed"] for port in ports),
                    "in_queues": sum(port["queue_drops"] for port in ports),
                    "at_ports": sum(port["receive_drops"] + port["send_drops"] for port in ports),
                    "unserved": status["unserved"] or 0,
                }
        self._next_s = time.monotonic() + (time.monotonic() - began) / _SWITCH_SHARE


def _kernel(lab: Lab, node: NodePlan) -> tuple[dict[str, InterfaceCounters], dict[str, int]]:
    wanted = {interface.name for interface in lab.plan.kernel_interfaces(node)}
    with suppress(namespaces.NamespaceFailed), namespaces.entered(node.namespace):
        own = Path("/proc/thread-self/net")
        return parse_dev(foreign_text.read(own / "dev"), wanted), parse_snmp((own / "snmp").read_text())
    return {}, {}


def parse_dev(text: str, wanted: set[str]) -> dict[str, InterfaceCounters]:
    """/proc/net/dev (proc(5)): what its interfaces counted."""
    lines = (line.partition(":") for line in text.removesuffix("\n").split("\n")[2:])
    counted = {name.strip(): list(map(int, values.split())) for name, _, values in lines}
    return {
        name: {
            "received_bytes": columns[0],
            "received": columns[1],
            "receive_drops": columns[3],
            "sent_bytes": columns[8],
            "sent": columns[9],
            "send_drops": columns[11],
        }
        for name, columns in counted.items()
        if name in wanted
    }


def parse_snmp(text: str) -> dict[str, int]:
    """/proc/net/snmp: what the IP layer lost, by reason."""
    names, values = (line.split()[1:] for line in text.splitlines() if line.startswith("Ip:"))
    counters = dict(zip(names, map(int, values), strict=True))
    return {reason: counters[name] for name, reason in _IP_LOSSES.items()}
