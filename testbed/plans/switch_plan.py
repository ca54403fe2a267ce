# SPDX-License-Identifier: GPL-2.0-or-later
"""What moves the frames of each switch of a lab, and why; its node in the plan."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.errors import WrongInput
from contracts.names import BRIDGE, container_name, mac_address
from contracts.plan import Limits, NodePlan
from testbed.description.switch import Switch
from testbed.description.wiring import Wiring, both_ways
from testbed.nodes import switches
from testbed.nodes.switches import Datapath
from testbed.plans.planned_wires import PlannedWires

_AF_XDP = 44  # linux/socket.h; Python 3.11 does not name it
#: What each end of a wire is reached by.
_PORTS: Mapping[Datapath, Any] = {"kernel": "kernel", "userspace": "packet", "xdp": "xdp"}


class NoDatapath(WrongInput):
    """A switch asks for a datapath that this host does not have."""


@dataclass(frozen=True)
class Datapaths:
    """What this host has besides packet sockets."""

    kernel: bool
    xdp: bool
    #: The device by which user space makes interfaces.
    tun: bool = True

    @classmethod
    def found(cls) -> Datapaths:
        try:
            socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
            xdp = True
        except OSError as error:
            xdp = isinstance(error, PermissionError)  # it is there, and who brings labs up may use it
        return cls(switches.kernel_datapath(), xdp, switches.TUN.exists())


class PlannedSwitches:
    """The switches that a lab has on one machine."""

    def __init__(self, switches: Mapping[str, Switch], datapaths: Datapaths | None) -> None:
        """`datapaths` are those of the machine; None: it is this one, which is asked."""
        self._switches = switches
        # A network without switches has no need of the host's answer.
        self._datapaths = datapaths or (Datapaths.found() if switches else Datapaths(kernel=False, xdp=False))
        self.datapath = {name: self._chosen(name, switch) for name, switch in switches.items()}

    def polling(self) -> tuple[str, ...]:
        """Those with a core that polls for AF_XDP: an emulator's, as far as cores are shared out."""
        return tuple(name for name, (datapath, _) in self.datapath.items() if datapath == "xdp")

    def node(
        self,
        lab: str,
        name: str,
        wiring: Wiring,
        wires: PlannedWires,
        cores: Sequence[int],
        housekeeping: int,
        limits: Limits,
    ) -> NodePlan:
        switch, (datapath, reason) = self._switches[name], self.datapath[name]
        polling = cores[0] if datapath == "xdp" else None
        edges = [
            here.port
            for here, there in both_ways(wiring.wires)
            if here.node == name and there.node not in {*wiring.transparent, *wiring.switches}
        ]
        return NodePlan(
            name=name,
            kind="switch",
            container=container_name(lab, name),
            namespace=container_name(lab, name),
            # What polls leaves nothing of its core to Open vSwitch's other threads.
            cores=tuple(dict.fromkeys((*cores, *([] if polling is None else [housekeeping])))),
            command=switches.COMMAND,
            interfaces=wires.interfaces(name, switch.ports(), _PORTS[datapath], reason),
            files={
                switches.CONFIGURATION: switches.configuration(switch, datapath, mac_address(lab, name, BRIDGE), edges, polling)
            },
            capabilities=switches.CAPABILITIES_XDP if datapath == "xdp" else switches.CAPABILITIES,
            devices=() if datapath == "kernel" else (str(switches.TUN),),
            limits=limits,
        )

    def notes(self) -> Iterator[str]:
        for name, (datapath, _) in self.datapath.items():
            if datapath == "userspace" and not self._datapaths.kernel:
                yield (
                    f"switch {name} takes 0.1 to 0.3 ms for a frame, in user space and by packet sockets: this kernel has no "
                    "module openvswitch; where a core can poll for it, datapath: xdp is faster"
                )

    def _chosen(self, name: str, switch: Switch) -> tuple[Datapath, str]:
        datapath = switch.datapath
        if datapath == "kernel" and not self._datapaths.kernel:
            raise NoDatapath(f"switch {name}: datapath: kernel needs the module openvswitch, which this kernel lacks; write auto")
        if datapath == "xdp" and not self._datapaths.xdp:
            raise NoDatapath(f"switch {name}: datapath: xdp needs AF_XDP, which this kernel lacks; write auto")
        if datapath == "auto" and self._datapaths.kernel:
            return "kernel", "auto: the kernel has Open vSwitch's module"
        if datapath != "kernel" and not self._datapaths.tun:
            raise NoDatapath(f"switch {name}: there is no {switches.TUN}, which Open vSwitch needs in user space; `modprobe tun`")
        if datapath != "auto":
            return datapath, "the topology says so"
        return "userspace", "auto: this kernel has no module openvswitch, and AF_XDP takes a core and more rights"
