# SPDX-License-Identifier: GPL-2.0-or-later
"""A router between two hosts, each in a network namespace of its own: what the lab tests of Click stand on."""

from __future__ import annotations

import ctypes
import itertools
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyroute2 import IPRoute, NetNS, netns

from testbed import routers
from testbed.plan import InterfacePlan

CLICK = Path(__file__).resolve().parent
ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
DEADLINE_S = 15.0
_numbers = itertools.count()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Polls a condition until it holds; fails the test when it does not in time."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE_S} s in vain for {what}"
        time.sleep(0.005)


class Namespace:
    """A network namespace, removed with everything in it at the end of the `with`."""

    def __init__(self, role: str) -> None:
        self.name = f"nbxclick-{os.getpid()}-{next(_numbers)}-{role}"

    def __enter__(self) -> Namespace:
        netns.create(self.name)
        with self.inside():
            for scope in ("all", "default"):
                Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")
        return self

    def __exit__(self, *_: object) -> None:
        netns.remove(self.name)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """This thread's new sockets belong to the namespace."""
        libc = ctypes.CDLL(None, use_errno=True)
        before = os.open(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            assert libc.setns(there, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            yield
        finally:
            assert libc.setns(before, CLONE_NEWNET) == 0
            os.close(before)
            os.close(there)

    def command(self, *words: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.name, *words)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=60, check=False)


def join(left: Namespace, left_name: str, left_mac: str, right: Namespace, right_name: str, right_mac: str, mtu: int = 1500) -> None:
    """A veth pair between two namespaces, up, without offloads."""
    with left.inside(), IPRoute() as netlink, NetNS(right.name) as remote:
        netlink.link(
            "add", ifname=left_name, kind="veth", address=left_mac, mtu=mtu,
            peer={"ifname": right_name, "address": right_mac, "mtu": mtu, "net_ns_fd": right.name},
        )  # fmt: skip
        for where, name in ((netlink, left_name), (remote, right_name)):
            where.link("set", index=where.link_lookup(ifname=name)[0], state="up")
    for space, name in ((left, left_name), (right, right_name)):
        result = space.run("ethtool", "-K", name, "tx", "off", "tso", "off", "gso", "off", "gro", "off", "txvlan", "off")
        assert result.returncode == 0, result.stderr


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
            wait_for(lambda: self.control.exists() or self.process.poll() is not None, "the router's control socket")
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

    def messages(self) -> str:
        return (self.folder / "log").read_text()

    def handlers(self) -> routers.Handlers:
        return routers.Handlers(self.control)


class Tap:
    """A packet socket on an interface: sends and receives whole Ethernet frames."""

    def __init__(self, space: Namespace, interface: str) -> None:
        with space.inside():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            self.socket.bind((interface, ETH_P_ALL))
            self.socket.setblocking(False)

    def __enter__(self) -> Tap:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, frame: bytes) -> None:
        self.socket.send(frame)

    def frames(self, seconds: float) -> Iterator[tuple[float, bytes]]:
        """(time of arrival, frame) of all that comes in until nothing has for `seconds`."""
        while select.select([self.socket], [], [], seconds)[0]:
            frame, address = self.socket.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING:
                yield time.monotonic(), frame

    def expect(self, wanted: Callable[[bytes], bool]) -> bytes:
        """The first frame that is wanted; fails when none comes in time."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            for _, frame in self.frames(0.5):
                if wanted(frame):
                    return frame
        raise AssertionError(f"no such frame came within {DEADLINE_S} s")


def checksum(data: bytes) -> int:
    """RFC 1071."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ipv4(source: str, destination: str, payload: bytes, *, protocol: int = 17, dscp: int = 0, ttl: int = 64, df: bool = False) -> bytes:
    def header(check: int) -> bytes:
        return struct.pack(
            "!BBHHHBBH4s4s", 0x45, dscp << 2, 20 + len(payload), 7, 0x4000 if df else 0, ttl, protocol, check,
            socket.inet_aton(source), socket.inet_aton(destination),
        )  # fmt: skip

    return header(checksum(header(0))) + payload


def udp(payload: bytes, port: int = 9000) -> bytes:
    return struct.pack("!HHHH", port, port, 8 + len(payload), 0) + payload


def ethernet(destination: str, source: str, packet: bytes, kind: int = 0x0800) -> bytes:
    return bytes.fromhex(destination.replace(":", "") + source.replace(":", "")) + struct.pack("!H", kind) + packet


@dataclass(frozen=True)
class Meoc:
    """The hosts and the running router of the emergency network's middle: fr1 ── ian [meoc.click] jan ── eoc."""

    FR1_MAC = "02:00:00:00:01:11"
    IAN_MAC = "02:00:00:00:01:01"
    JAN_MAC = "02:00:00:00:02:01"
    EOC_MAC = "02:00:00:00:02:20"
    INTERFACES = (
        InterfacePlan("ian", "", IAN_MAC, ("10.10.0.1/24",)),
        InterfacePlan("jan", "", JAN_MAC, ("10.20.0.1/24",)),
    )

    fr1: Namespace
    eoc: Namespace
    router: Router

    def to_router(self, packet: bytes) -> bytes:
        """The Ethernet frame in which fr1 sends this packet on its way."""
        return ethernet(self.IAN_MAC, self.FR1_MAC, packet)


def _address(space: Namespace, interface: str, address: str, gateway: str, neighbours: dict[str, str]) -> None:
    with space.inside(), IPRoute() as netlink:
        index = netlink.link_lookup(ifname=interface)[0]
        netlink.link("set", index=netlink.link_lookup(ifname="lo")[0], state="up")
        netlink.addr("add", index=index, address=address, prefixlen=24)
        netlink.route("add", dst="default", gateway=gateway)
        for neighbour, mac in neighbours.items():
            netlink.neigh("add", dst=neighbour, lladdr=mac, ifindex=index, state=0x80)  # NUD_PERMANENT


@contextmanager
def three_namespaces(mtu: int = 1500) -> Iterator[tuple[Namespace, Namespace, Namespace]]:
    """fr1, the router's and eoc, wired as in Meoc."""
    with Namespace("fr1") as fr1, Namespace("meoc") as meoc, Namespace("eoc") as eoc:
        join(fr1, "eth0", Meoc.FR1_MAC, meoc, "ian", Meoc.IAN_MAC, mtu)
        join(meoc, "jan", Meoc.JAN_MAC, eoc, "eth0", Meoc.EOC_MAC, mtu)
        _address(fr1, "eth0", "10.10.0.11", "10.10.0.1", {})
        _address(eoc, "eth0", "10.20.0.20", "10.20.0.1", {})
        yield fr1, meoc, eoc


@pytest.fixture(scope="module")
def meoc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meoc]:
    defines = routers.defines(Meoc.INTERFACES)
    with three_namespaces() as (fr1, space, eoc):
        with Router(space, tmp_path_factory.mktemp("meoc"), CLICK / "meoc.click", defines) as router:
            yield Meoc(fr1, eoc, router)
