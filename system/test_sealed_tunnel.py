# SPDX-License-Identifier: GPL-2.0-or-later
"""Wires between machines when somebody else is in the network between them, who sends frames of his own into their tunnels."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.names import SEALED_INTERFACE, sealed_address
from contracts.plan import Plan
from system import interface_facts, tunnel
from system.test_tunnel import ADDRESSES, Machine, in_node, planned
from testbed import plan_part
from tests.namespaces import Namespace, Tap, ethernet, join, wait_for
from tests.own_interfaces import allow_ipv6, checked

pytestmark = pytest.mark.lab

_VNI = 4711
_ETHER_TYPE = 0x88B5  # IEEE 802, 12.2.3: for experiments
_MALLORY = {4: "192.0.2.66", 6: "2001:db8::66"}


class Between:
    """Machines alpha and beta, and mallory at the same switch."""

    def __init__(self, stack: ExitStack) -> None:
        self.alpha, self.beta, self.mallory, switch = (
            stack.enter_context(Namespace(role)) for role in ("alpha", "beta", "mallory", "switch")
        )
        checked(switch, "ip", "link", "add", "lan", "mtu", "1700", "type", "bridge")
        checked(switch, "ip", "link", "set", "lan", "up")
        for at, space in enumerate((self.alpha, self.beta, self.mallory)):
            allow_ipv6(space)
            join(space, "under", f"02:00:00:00:00:0{at}", switch, f"port{at}", f"02:00:00:00:01:0{at}", mtu=1700)
            checked(switch, "ip", "link", "set", f"port{at}", "master", "lan")
            for version, length in ((4, 24), (6, 64)):
                address = (*ADDRESSES[version], _MALLORY[version])[at]
                checked(space, "ip", "address", "add", f"{address}/{length}", "dev", "under")

    def seal_by_cable(self) -> None:
        """A cable of their own in WireGuard's place: an interface that mallory does not reach."""
        join(self.alpha, SEALED_INTERFACE, "02:00:00:00:02:01", self.beta, SEALED_INTERFACE, "02:00:00:00:02:02", mtu=1640)
        for name, space in (("alpha", self.alpha), ("beta", self.beta)):
            checked(space, "ip", "address", "add", f"{sealed_address(name)}/64", "dev", SEALED_INTERFACE)

    def seal_by_wireguard(self, folder: Path) -> None:
        """As the role `sealed` does, by the same program."""
        public: dict[str, str] = {}
        for name in ("alpha", "beta"):
            (folder / f"{name}.key").touch(0o600)
            (folder / f"{name}.key").write_text(subprocess.check_output(["wg", "genkey"], text=True))
            with (folder / f"{name}.key").open() as made:
                public[name] = subprocess.check_output(["wg", "pubkey"], stdin=made, text=True).strip()
        for at, (name, other) in enumerate((("alpha", "beta"), ("beta", "alpha"))):
            space = (self.alpha, self.beta)[at]
            checked(space, "ip", "link", "add", SEALED_INTERFACE, "type", "wireguard")
            key, peer = str(folder / f"{name}.key"), ("peer", public[other], "allowed-ips", f"{sealed_address(other)}/128")
            checked(space, "wg", "set", SEALED_INTERFACE, "private-key", key, "listen-port", "51820")
            checked(space, "wg", "set", SEALED_INTERFACE, *peer, "endpoint", f"{ADDRESSES[4][1 - at]}:51820")
            checked(space, "ip", "address", "add", f"{sealed_address(name)}/64", "dev", SEALED_INTERFACE)
            checked(space, "ip", "link", "set", SEALED_INTERFACE, "mtu", "1640", "up")
            checked(space, "ethtool", "-K", SEALED_INTERFACE, "gro", "off")

    def forge(self, frame: bytes) -> None:
        """Mallory sends it to all that leads to alpha, as if beta had: by his own addresses, and by beta's and their tunnel's."""
        vxlan = struct.pack("!II", 0x08000000, _VNI << 8) + frame  # RFC 7348, 5
        link_local = checked(self.alpha, "ip", "-6", "-o", "address", "show", "dev", "under", "scope", "link").split()[3]
        sealed = sealed_address("alpha")
        # Mallory knows where alpha is: whatever he sends there comes to it.
        self.mallory.run("ip", "neighbour", "replace", sealed, "lladdr", "02:00:00:00:00:00", "dev", "under")
        with self.mallory.inside():
            for address in (ADDRESSES[4][0], ADDRESSES[6][0], f"{link_local.partition('/')[0]}%under", f"{sealed}%under"):
                family, *_, where = socket.getaddrinfo(address, 4789, type=socket.SOCK_DGRAM)[0]
                for source in (None, sealed_address("beta")):
                    with socket.socket(family, socket.SOCK_DGRAM) as forging, suppress(OSError):
                        if source is not None and family == socket.AF_INET6:
                            forging.setsockopt(socket.IPPROTO_IPV6, 78, 1)  # linux/in6.h: IPV6_FREEBIND
                            forging.bind((source, 0, 0, socket.if_nametoindex("under")))
                        forging.sendto(vxlan, where)


@pytest.fixture
def between() -> Iterator[Between]:
    with ExitStack() as stack:
        yield Between(stack)


def brought_up(stack: ExitStack, between: Between, plan: Plan, folder: Path) -> None:
    for name, network in (("alpha", between.alpha), ("beta", between.beta)):
        machine = Machine(network, plan_part.part(plan, name), folder)
        stack.callback(machine.down)
        machine.up()


def came(between: Between, plan: Plan) -> set[str]:
    """Whose frames reach alpha's node. Mallory's are sent before beta's, and again before beta's next ones."""
    honest, forged = (ethernet("ff:ff:ff:ff:ff:ff", "02:00:00:00:00:99", os.urandom(400), _ETHER_TYPE) for _ in range(2))
    whose = {honest: "beta", forged: "mallory"}
    found: set[str] = set()
    with Tap(in_node(plan, "a"), "eth0") as receiver, Tap(in_node(plan, "b"), "eth0") as sender:
        receiver.socket.settimeout(0.2)

        def beta_s_came() -> bool:
            """WireGuard's first packet waits for a handshake."""
            sender.send(honest)
            with suppress(TimeoutError):
                while (frame := receiver.socket.recv(65536)) != honest:
                    found.add(whose.get(frame, ""))
                return True
            return False

        for _ in range(2):
            between.forge(forged)
            wait_for(beta_s_came, "beta's frame")
    return (found & {"mallory"}) | {"beta"}


def test_whoever_reaches_the_port_of_an_open_tunnel_sends_into_it(between: Between, tmp_path: Path) -> None:
    plan = planned(tmp_path)
    with ExitStack() as stack:
        brought_up(stack, between, plan, tmp_path)
        assert came(between, plan) == {"beta", "mallory"}


def _has_wireguard() -> bool:
    with Namespace("probe") as probe:
        return probe.run("ip", "link", "add", "wg", "type", "wireguard").returncode == 0


@pytest.mark.parametrize("by", ["cable", "wireguard"])
def test_a_sealed_tunnel_takes_frames_of_the_other_machine_alone(between: Between, tmp_path: Path, by: str) -> None:
    if by == "wireguard":
        if not _has_wireguard():
            pytest.skip("this kernel has no WireGuard; that of tests/guest has")
        between.seal_by_wireguard(tmp_path)
        with between.alpha.inside():
            assert list(tunnel.sealed_problems(interface_facts.read(), "alpha", 1500, ADDRESSES[4][0])) == []
    else:
        between.seal_by_cable()
    open_plan = planned(tmp_path)
    plan = replace(open_plan, hosts=tuple(replace(host, sealed=True) for host in open_plan.hosts))
    with ExitStack() as stack:
        brought_up(stack, between, plan, tmp_path)
        assert came(between, plan) == {"beta"}
        ping = in_node(plan, "a").run("ping", "-c", "1", "-W", "5", "-M", "do", "-s", "1452", "fd00::2")
        assert ping.returncode == 0, ping.stdout
