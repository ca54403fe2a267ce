# SPDX-License-Identifier: GPL-2.0-or-later
"""Which interfaces of the host are refused, and with what words."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroute2 import IPRoute  # type: ignore[import-untyped]

from system import interface_use
from tests.own_interfaces import OwnInterfaces, own_interfaces

pytestmark = pytest.mark.lab


@pytest.fixture
def interfaces() -> Iterator[OwnInterfaces]:
    with own_interfaces(["eth2", "eth3"]) as made:
        yield made


def refused(interfaces: OwnInterfaces, *, named: bool = False) -> list[str]:
    with interfaces.host.inside(), IPRoute() as netlink:
        (index,) = netlink.link_lookup(ifname="eth2")
        return list(interface_use.why_not_moved(netlink, netlink.get_links(index)[0], named=named))


def refused_below(interfaces: OwnInterfaces, *, alone: bool, named: bool = False) -> list[str]:
    with interfaces.host.inside(), IPRoute() as netlink:
        link = netlink.get_links(netlink.link_lookup(ifname="eth2")[0])[0]
        return list(interface_use.why_not_below(netlink, link, whole_frames=False, alone=alone, named=named))


def test_an_interface_that_nobody_uses_is_not_refused(interfaces: OwnInterfaces) -> None:
    assert refused(interfaces) == []


@pytest.mark.parametrize(
    ("lines", "why", "also_named"),
    [
        ("address add 192.0.2.1/24 dev eth2", "is in use: it has the address 192.0.2.1, and", False),
        ("address add fd00::1/64 dev eth2", "is in use: it has the address fd00::1, and", False),
        (
            "link set eth2 up|route add 198.51.100.0/24 dev eth2",
            "is in use: it has routes that lead to it (198.51.100.0/24)",
            False,
        ),
        ("link set eth2 up|route add default dev eth2 table 9", "is in use: it has the IPv4 default route (table 9)", False),
        ("link set eth2 up|-6 route add default dev eth2", "is in use: it has the IPv6 default route (table 254)", False),
        (
            "link set eth2 up|link set eth3 up|route add 198.51.100.0/24 nexthop dev eth2 nexthop dev eth3",
            "is one of several next hops of a route",
            True,
        ),
        (
            "link set eth2 up|link set eth3 up|route add default nexthop dev eth2 nexthop dev eth3",
            "is in use: it has the IPv4 default route (table 254)",
            True,
        ),
        ("link add br9 type bridge|link set eth2 master br9", "is a port of the bridge br9", True),
        ("link add below link eth2 type macvlan", "carries below, which would be lost", True),
        ("link add tunnel type vxlan id 7 dev eth2 dstport 4789 group 239.1.1.1", "carries tunnel, which would be lost", True),
        ("link property add dev eth2 altname netboxit:other:w", "belongs to a lab (netboxit:other:w)", True),
    ],
)
def test_an_interface_that_is_in_use_is_refused(interfaces: OwnInterfaces, lines: str, why: str, also_named: bool) -> None:
    for line in lines.split("|"):
        interfaces.run("ip", *line.split())
    assert any(reason.startswith(why) for reason in refused(interfaces)), refused(interfaces)
    assert bool(refused(interfaces, named=True)) == also_named
    if why.startswith("is in use"):
        assert refused(interfaces)[-1].endswith("say that you mean it: --take eth2")


def test_an_interface_is_refused_on_which_others_stand_elsewhere(interfaces: OwnInterfaces) -> None:
    """As container managers give their containers a macvlan."""
    other = interfaces.outside["eth3"]
    interfaces.run("ip", "link", "add", "below", "link", "eth2", "netns", other.name, "type", "macvlan")
    (why,) = refused(interfaces, named=True)
    assert why.startswith(f"carries below in /run/netns/{other.name}, which would be lost")
    assert refused_below(interfaces, alone=True, named=True)[0] == why


def test_the_interface_by_which_somebody_works_here_is_refused(
    interfaces: OwnInterfaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    interfaces.run("ip", "address", "add", "fe80::7/64", "dev", "eth2", "nodad")
    interfaces.run("ip", "link", "set", "eth2", "up")
    interfaces.run("ip", "address", "add", "fe80::7/64", "dev", "eth3", "nodad")
    assert refused(interfaces) == [], "every interface has such an address"
    monkeypatch.setenv("SSH_CONNECTION", "fe80::9%eth2 50000 fe80::7 22")
    ran = "from system.interface_use import ssh_connections; print(ssh_connections())"
    done = subprocess.run(["env", "-u", "SSH_CONNECTION", sys.executable, "-c", ran], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", "of a process only what it began with is known"
    script = f"env -u SSH_CONNECTION {sys.executable} -c '{ran}'; true"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[('fe80::9%eth2', 'fe80::7')]\n", "sudo takes it out of the environment"
    monkeypatch.setattr(interface_use, "ssh_connections", lambda: [("fe80::9%eth2", "fe80::7")])
    (why,) = refused(interfaces)
    assert why.startswith("is in use: it carries the SSH connection from fe80::9%eth2, by which you work")
    monkeypatch.setattr(interface_use, "ssh_connections", lambda: [("fe80::9%eth3", "fe80::7")])
    assert refused(interfaces) == []
    assert refused(interfaces, named=True) == []


@pytest.mark.parametrize("protocol", [0x8863, 0x8864])
def test_an_interface_below_pppoe_is_refused(interfaces: OwnInterfaces, protocol: int) -> None:
    with interfaces.host.inside(), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as client:
        client.bind(("eth2", protocol))
        (why,) = refused(interfaces)
        assert why.startswith("is in use: it carries a PPPoE session")
        assert refused(interfaces, named=True) == []


def test_a_macvlan_that_takes_all_that_comes_in_needs_an_interface_that_nobody_uses(interfaces: OwnInterfaces) -> None:
    interfaces.run("ip", "link", "set", "eth2", "up")
    interfaces.run("ip", "address", "add", "192.0.2.1/24", "dev", "eth2")
    assert refused_below(interfaces, alone=False) == [], "the machine goes on using it"
    assert refused_below(interfaces, alone=True)[0].startswith(
        "is in use: it has the address 192.0.2.1, and a macvlan in passthru"
    )
    assert refused_below(interfaces, alone=True, named=True) == []
    interfaces.run("ip", "route", "add", "default", "dev", "eth2")
    assert refused_below(interfaces, alone=False)[0].startswith("is in use: it has the IPv4 default route")
    assert refused_below(interfaces, alone=False, named=True) == []


def test_an_interface_with_queueing_of_its_own_is_refused(interfaces: OwnInterfaces) -> None:
    interfaces.run(
        "tc", "qdisc", "add", "dev", "eth2", "root", "handle", "1:", "tbf", "rate", "1mbit", "burst", "10k", "limit", "9k"
    )
    assert [reason.startswith("has queueing of its own (tbf)") for reason in refused(interfaces)] == [True]


@pytest.mark.parametrize(
    ("hook", "filters"),
    [
        ("netdev t in { type filter hook ingress device eth2 priority 0; }", ["chain in of table netdev t"]),
        ("netdev t out { type filter hook egress device eth2 priority 0; }", ["chain out of table netdev t"]),
        ("inet t in { type filter hook ingress devices = { eth2, eth3 } priority 0; }", ["chain in of table inet t"]),
        ("netdev t in { type filter hook ingress device eth3 priority 0; }", []),
        ("inet t every { type filter hook input priority 0; }", []),
    ],
)
def test_an_interface_that_a_packet_filter_hangs_on_is_refused(interfaces: OwnInterfaces, hook: str, filters: list[str]) -> None:
    interfaces.run("nft", "add", "table", *hook.split()[:2])
    interfaces.run("nft", f"add chain {hook}")
    told = refused(interfaces, named=True)
    assert [why.startswith(f"is filtered by the {', '.join(filters)}, which") for why in told] == [True] * len(filters)


def test_loopback_and_bridges_are_refused(interfaces: OwnInterfaces) -> None:
    interfaces.run("ip", "link", "add", "br9", "type", "bridge")
    with interfaces.host.inside(), IPRoute() as netlink:
        links = [netlink.get_links(netlink.link_lookup(ifname=name)[0])[0] for name in ("lo", "br9")]
        told = [next(interface_use.why_not_moved(netlink, link, named=True)) for link in links]
    assert told[0].startswith("is a loopback interface")
    assert told[1].startswith("is a bridge")


def test_what_is_made_on_an_interface_needs_it_up_and_whole_frames_for_emulators(interfaces: OwnInterfaces) -> None:
    interfaces.run("ethtool", "-K", "eth2", "gro", "on")
    with interfaces.host.inside(), IPRoute() as netlink:
        link = netlink.get_links(netlink.link_lookup(ifname="eth2")[0])[0]
        told = list(interface_use.why_not_below(netlink, link, whole_frames=True, alone=False, named=False))
        assert [why.split(",")[0].split(" (")[0] for why in told] == ["merges frames that arrive", "is down"]
        assert len(list(interface_use.why_not_below(netlink, link, whole_frames=False, alone=False, named=False))) == 1


def test_whoever_manages_an_interface_is_named_with_the_remedy(tmp_path: Path) -> None:
    assert interface_use.managed_by(7, tmp_path) is None
    for folder, text, who in (
        ("systemd/netif/links", "ADMIN_STATE=configured\n", "systemd-networkd"),
        ("NetworkManager/devices", "[device]\nmanaged=true\n", "NetworkManager"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "7").write_text(text)
        assert str(interface_use.managed_by(7, tmp_path)).startswith(who)
