# SPDX-License-Identifier: GPL-2.0-or-later
"""A click-router between two hosts, each in a network namespace of its own."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pyroute2 import IPRoute

from contracts.plan import InterfacePlan
from contracts.run_files import read
from contracts.run_folder import STATISTICS_FILE
from contracts.statistics import RouterDevice, RouterStatistics
from testbed.nodes import routers
from tests.namespaces import DEADLINE_S, Namespace, ethernet, join, wait_for


class Router:
    """A click-router process; ended by SIGTERM, which must give exit status 0."""

    def __init__(self, space: Namespace, folder: Path, configuration: Path, defines: dict[str, str], *options: str) -> None:
        self.folder, self.control = folder, folder / routers.CONTROL
        command = routers.command(configuration, defines, folder=str(folder))
        self._command = space.command(command[0], *options, *command[1:])

    def __enter__(self) -> Router:
        self.log = (self.folder / "log").open("w+")
        self.process = subprocess.Popen(self._command, stderr=self.log, stdin=subprocess.DEVNULL)
        try:
            wait_for(lambda: self._answers() or self.process.poll() is not None, "the router's control socket")
            assert self.process.poll() is None, self.messages()
        except AssertionError:
            self.process.kill()
            self.process.wait()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=DEADLINE_S)
        self.log.close()
        assert status == 0, f"click-router ended with {status}"

    def _answers(self) -> bool:
        """The socket's file is there a moment before anybody listens."""
        try:
            with self.handlers():
                return True
        except routers.RouterUnreachable:
            return False

    def messages(self) -> str:
        return (self.folder / "log").read_text()

    def handlers(self) -> routers.Handlers:
        return routers.Handlers(self.control)


@dataclass(frozen=True)
class Meoc:
    """The hosts and the running router of the emergency network's middle: fr1 ── ian [meoc.click] jan ── eoc."""

    FR1_MAC: ClassVar = "02:00:00:00:01:11"
    IAN_MAC: ClassVar = "02:00:00:00:01:01"
    JAN_MAC: ClassVar = "02:00:00:00:02:01"
    EOC_MAC: ClassVar = "02:00:00:00:02:20"
    INTERFACES: ClassVar = (
        InterfacePlan("ian", "", IAN_MAC, ("10.10.0.1/24",)),
        InterfacePlan("jan", "", JAN_MAC, ("10.20.0.1/24",)),
    )

    fr1: Namespace
    eoc: Namespace
    router: Router

    def to_router(self, packet: bytes) -> bytes:
        """The Ethernet frame in which fr1 sends this packet on its way."""
        return ethernet(self.IAN_MAC, self.FR1_MAC, packet)


def address(space: Namespace, interface: str, address: str, gateway: str) -> None:
    with space.inside(), IPRoute() as netlink:
        index = netlink.link_lookup(ifname=interface)[0]
        netlink.link("set", index=netlink.link_lookup(ifname="lo")[0], state="up")
        netlink.addr("add", index=index, address=address, prefixlen=24)
        netlink.route("add", dst="default", gateway=gateway)


@contextmanager
def three_namespaces(
    mtu: int = 1500, interfaces: tuple[str, str] = ("ian", "jan")
) -> Iterator[tuple[Namespace, Namespace, Namespace]]:
    """fr1, the router's and eoc, wired as in Meoc; the router's interfaces may have other names."""
    with Namespace("fr1") as fr1, Namespace("meoc") as meoc, Namespace("eoc") as eoc:
        join(fr1, "eth0", Meoc.FR1_MAC, meoc, interfaces[0], Meoc.IAN_MAC, mtu)
        join(meoc, interfaces[1], Meoc.JAN_MAC, eoc, "eth0", Meoc.EOC_MAC, mtu)
        address(fr1, "eth0", "10.10.0.11", "10.10.0.1")
        address(eoc, "eth0", "10.20.0.20", "10.20.0.1")
        yield fr1, meoc, eoc


def counted(folder: Path) -> dict[str, RouterDevice]:
    """What a router that has ended counted at each of its interfaces."""
    found = read(folder / STATISTICS_FILE, RouterStatistics)
    assert found is not None
    return found["devices"]
