# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces joined by veth pairs, and packet sockets in them: what lab tests without containers stand on."""

from __future__ import annotations

import ctypes
import itertools
import os
import select
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyroute2 import IPRoute  # type: ignore[import-untyped]

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
    """A network namespace, removed with everything in it at the end of the `with`.

    `ip netns` makes it: pyroute2's own child must answer within 2 s, which a slow guest does not always do.
    """

    def __init__(self, role: str) -> None:
        self.name = f"nbxtest-{os.getpid()}-{next(_numbers)}-{role}"

    def __enter__(self) -> Namespace:
        subprocess.run(("ip", "netns", "add", self.name), timeout=60, check=True)
        with self.inside():
            for scope in ("all", "default"):
                Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(("ip", "netns", "delete", self.name), timeout=60, check=True)

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


def join(
    left: Namespace, left_name: str, left_mac: str, right: Namespace, right_name: str, right_mac: str, mtu: int = 1500
) -> None:
    """A veth pair between two namespaces, up, without offloads."""
    with left.inside(), IPRoute() as netlink:
        netlink.link(
            "add", ifname=left_name, kind="veth", address=left_mac, mtu=mtu,
            peer={"ifname": right_name, "address": right_mac, "mtu": mtu, "net_ns_fd": right.name},
        )  # fmt: skip
    for space, name in ((left, left_name), (right, right_name)):
        with space.inside(), IPRoute() as netlink:
            netlink.link("set", index=netlink.link_lookup(ifname=name)[0], state="up")
    for space, name in ((left, left_name), (right, right_name)):
        result = space.run("ethtool", "-K", name, "tx", "off", "tso", "off", "gso", "off", "gro", "off", "txvlan", "off")
        assert result.returncode == 0, result.stderr


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
    total: int = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ipv4(
    source: str, destination: str, payload: bytes, *, protocol: int = 17, dscp: int = 0, ttl: int = 64, df: bool = False
) -> bytes:
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
