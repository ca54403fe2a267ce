# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs with switches, and packet sockets at their hosts: which frames came where."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from contracts.plan import Plan
from contracts.statistics import SwitchStatus
from system import namespaces
from system.realtime_support import realtime_support
from testbed.labs import switch_statistics
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file
from tests.traces import traces

#: The wire between x and y is not needed, as long as both reach z, the root.
RING = """\
name: ring
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
switches:
  x: {rstp: true, ports: {host: , y: , z: }}
  y: {rstp: true, ports: {host: , x: , z: }}
  z: {rstp: true, priority: 4096, ports: {x: , y: }}
wires: [[a, x.host], [b, y.host], [x.y, y.x], [y.z, z.y], [z.x, x.z]]
"""

BROADCAST = "ff:ff:ff:ff:ff:ff"
#: IEEE 802 local experimental EtherType: nobody answers it.
_EXPERIMENTAL = 0x88B5
ETH_P_ALL = 3


def planned(folder: Path, text: str, lab: str) -> Plan:
    file = folder / "network.yaml"
    file.write_text(text)
    return plan_file(file, lab=f"{lab}-{os.getpid()}", realtime=realtime_support())


@contextmanager
def clean_lab(folder: Path, text: str, name: str) -> Iterator[Lab]:
    """A lab that is ready; after it the host has what it had before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETBOXIT_STATE", str(folder / "state"))
        (folder / "state").mkdir()
        before = traces(folder / "state")
        with Lab.up(planned(folder, text, name)) as lab:
            lab.wait_ready()
            yield lab
        assert traces(folder / "state") == before


class Wiretaps:
    """A packet socket on an interface of each of several nodes: sends frames there, and keeps those that came in."""

    def __init__(self, lab: Lab, interfaces: Mapping[str, str]) -> None:
        self._open = ExitStack()
        self._sockets: dict[str, socket.socket] = {}
        self.came: dict[str, list[bytes]] = {node: [] for node in interfaces}
        self._macs = {node: lab.node(node).interfaces[0].mac for node in interfaces}
        for node, interface in interfaces.items():
            with namespaces.entered(lab.node(node).namespace):
                tap = self._open.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)))
                tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
                tap.bind((interface, ETH_P_ALL))
            self._sockets[node] = tap

    def __enter__(self) -> Wiretaps:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def send(self, node: str, payload: bytes, to: str = BROADCAST, size: int = 60) -> None:
        addresses = _octets(self._macs.get(to, to)) + _octets(self._macs[node])
        self._sockets[node].send((addresses + _EXPERIMENTAL.to_bytes(2, "big") + payload).ljust(size, b"\0"))

    def look(self) -> None:
        """Takes what is there now; frames that went out are left out."""
        names = {tap: node for node, tap in self._sockets.items()}
        while ready := select.select(list(names), [], [], 0)[0]:
            for tap in ready:
                frame, address = tap.recvfrom(65536)
                if address[2] != 4:  # PACKET_OUTGOING
                    self.came[names[tap]].append(frame)

    def saw(self, payload: bytes) -> set[str]:
        self.look()
        return {node for node, frames in self.came.items() if any(payload in frame for frame in frames)}

    def count(self, node: str, payload: bytes) -> int:
        self.look()
        return sum(payload in frame for frame in self.came[node])


def _octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def statistics(lab: Lab, switch: str) -> SwitchStatus:
    found = switch_statistics.of(lab, switch)
    assert found is not None
    return found
