# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces around a netbox, for tests: two hosts, each on a wire of its own."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from netboxes.engine.real import DEADLINE_S
from system import namespaces

ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING = 0x0003, 263, 23


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextmanager
def namespace(name: str) -> Iterator[str]:
    namespaces.create([name])
    try:
        yield name
    finally:
        namespaces.delete(name)


@dataclass
class Lab:
    """Two hosts, 10.9.0.1 and 10.9.0.2, each on a wire (eth0) to the netbox's namespace (ports a and b)."""

    hosts: list[str]
    netbox: str

    def packet_socket(self, host: int) -> socket.socket:
        with namespaces.entered(self.hosts[host]):
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            opened.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
            opened.bind(("eth0", ETH_P_ALL))
            opened.settimeout(DEADLINE_S)
            return opened

    def raise_port(self, port: str) -> None:
        ip("-n", self.netbox, "link", "set", "dev", port, "up")


@contextmanager
def two_hosts() -> Iterator[Lab]:
    with ExitStack() as stack:
        prefix = f"nbe{os.getpid()}"
        netbox = stack.enter_context(namespace(f"{prefix}n"))
        hosts = [stack.enter_context(namespace(f"{prefix}{port}")) for port in "ab"]
        for number, (host, port) in enumerate(zip(hosts, "ab", strict=True), 1):
            ip("link", "add", "eth0", "netns", host, "type", "veth", "peer", "name", port, "netns", netbox)
            for place, interface in ((host, "eth0"), (netbox, port)):
                with namespaces.entered(place):
                    namespaces.write_settings({f"ipv6/conf/{interface}/disable_ipv6": "1"})
                    off = [word for offload in ("tx", "rx", "tso", "gso") for word in (offload, "off")]
                    subprocess.run(["ethtool", "-K", interface, *off], check=True, capture_output=True)
            ip("-n", host, "addr", "add", f"10.9.0.{number}/24", "dev", "eth0")
            ip("-n", host, "link", "set", "dev", "eth0", "up")
        yield Lab(hosts, netbox)
