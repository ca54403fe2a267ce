# SPDX-License-Identifier: GPL-2.0-or-later
"""What is set of an interface is the same after it was in another network namespace, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from pyroute2 import IPRoute  # type: ignore[import-untyped]

from system import interface_settings
from system.interface_settings import Settings
from tests.namespaces import Namespace
from tests.own_interfaces import OwnInterfaces, checked, own_interfaces

pytestmark = pytest.mark.lab

#: Everything that somebody may have set of an interface.
SET = """
link set eth2 address 02:00:00:00:aa:01 mtu 1400 txqueuelen 77 promisc on allmulticast on alias modem group 5
link property add dev eth2 altname enp3s0
link property add dev eth2 altname the-port-with-a-name-that-is-longer
link set eth2 up
address add 192.0.2.1/24 dev eth2 label eth2:office brd +
address add 192.0.2.2/24 dev eth2
address add 198.51.100.7/32 dev eth2 scope link noprefixroute
address add 10.5.0.1 peer 10.5.0.2/32 dev eth2 metric 30
address add 2001:db8::1/64 dev eth2
address add fd00::7/64 dev eth2 noprefixroute
route add 10.7.0.0/16 via 192.0.2.9 dev eth2 metric 50 src 192.0.2.2
route add 10.8.0.0/16 dev eth2 scope link
route add 10.9.0.0/16 via 192.0.2.9 dev eth2 table 77 mtu 1200
route add 172.16.0.0/12 via 203.0.113.1 dev eth2 onlink
-6 route add fd07::/64 via 2001:db8::9 dev eth2 metric 9
neighbour add 192.0.2.9 lladdr 02:00:00:00:aa:09 dev eth2 nud permanent
-6 neighbour add 2001:db8::9 lladdr 02:00:00:00:aa:09 dev eth2 nud permanent
"""


@pytest.fixture
def interfaces() -> Iterator[OwnInterfaces]:
    with own_interfaces(["eth2"]) as made:
        yield made


def moved_and_back(interfaces: OwnInterfaces) -> list[str]:
    """eth2; returns what the kernel refused."""
    with Namespace("node") as node, interfaces.host.inside(), IPRoute() as netlink:
        (index,) = netlink.link_lookup(ifname="eth2")
        saved = Settings(**asdict(interface_settings.read(netlink, index)))
        netlink.link("set", index=index, net_ns_fd=f"/run/netns/{node.name}", ifname="port")
        with Path("/proc/thread-self/ns/net").open() as home, node.inside(), IPRoute() as there:
            (moved,) = there.link_lookup(ifname="port")
            for line in ("mtu 1300 txqueuelen 9 address 02:00:00:00:bb:01 promisc off", "up", "down"):
                checked(node, "ip", "link", "set", "port", *line.split())
            checked(node, "ethtool", "-K", "port", "gso", "off", "tx", "off", "gro", "on")
            there.link("set", index=moved, net_ns_fd=home.fileno(), ifname="eth2", new_ifindex=saved.index)
        (index,) = netlink.link_lookup(ifname="eth2")
        return interface_settings.restore(netlink, index, saved)


def test_everything_that_is_set_comes_back(interfaces: OwnInterfaces) -> None:
    for line in SET.strip().splitlines():
        interfaces.run("ip", *line.split())
    interfaces.run("ethtool", "-K", "eth2", "gso", "off")
    with interfaces.host.inside():
        for name, value in {"ipv4/conf": "rp_filter=2", "ipv6/conf": "hop_limit=9", "ipv4/neigh": "gc_stale_time=99"}.items():
            key, _, text = value.partition("=")
            Path(f"/proc/sys/net/{name}/eth2/{key}").write_text(text)
    before = interfaces.state()
    assert moved_and_back(interfaces) == []
    interfaces.becomes(before)


def test_an_interface_that_is_down_comes_back_down(interfaces: OwnInterfaces) -> None:
    interfaces.run("ip", "address", "add", "192.0.2.1/24", "dev", "eth2")
    before = interfaces.state()
    assert moved_and_back(interfaces) == []
    interfaces.becomes(before)


def test_what_cannot_be_put_back_is_told(interfaces: OwnInterfaces) -> None:
    with interfaces.host.inside(), IPRoute() as netlink:
        (index,) = netlink.link_lookup(ifname="eth2")
        saved = asdict(interface_settings.read(netlink, index)) | {"mtu": 70000}
        (refused,) = interface_settings.restore(netlink, index, Settings(**saved))
        assert refused.startswith("mtu 70000 (")
