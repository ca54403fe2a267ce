# SPDX-License-Identifier: GPL-2.0-or-later
"""What uses an interface of the host, as sentences that go on after its name.

Each is a reason to leave the interface alone until a person says otherwise: a lab that takes it takes it away from its users.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any, Final

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from system import interface_settings, namespaces

_LINK_SCOPE: Final = 253  # linux/rtnetlink.h: RT_SCOPE_LINK
_UNICAST: Final = 1  # RTN_UNICAST
#: linux/if_ether.h: ETH_P_PPP_DISC, ETH_P_PPP_SES; a PPPoE client in user space, or looking for a server, has a packet socket.
_PPPOE: Final = ("8863", "8864")
_NETWORK: Final = Path("/proc/thread-self/net")
_PROCESSES: Final = Path("/proc")
_MOUNTS: Final = Path("/proc/thread-self/mountinfo")


def default_routes(netlink: IPRoute, index: int) -> Iterator[str]:
    """The machine reaches by it what it knows no other way to."""
    for route in unicast(netlink):
        if route["dst_len"] == 0 and (route.get("oif") == index or index in next_hops(route)):
            family = "IPv4" if route["family"] == AF_INET else "IPv6"
            yield f"has the {family} default route (table {route.get('table') or route['table']})"
            return


def of_this_machine(netlink: IPRoute, link: Any) -> Iterator[str]:
    """What of the machine's own traffic goes by it."""
    index = link["index"]
    yield from default_routes(netlink, index)
    for client, server in ssh_connections():
        if index in _interfaces_of(netlink, client, server):
            yield f"carries the SSH connection from {client}, by which you work"
    settings = interface_settings.read(netlink, index)
    if addresses := [address["address"] for address in settings.addresses if address["scope"] < _LINK_SCOPE]:
        yield f"has the address {', '.join(addresses)}"
    elif settings.routes:
        yield f"has routes that lead to it ({', '.join(route.get('dst', 'default') for route in settings.routes)})"
    if _has_pppoe(link.get("ifname"), index):
        yield "carries a PPPoE session"


def children_elsewhere(index: int) -> list[str]:
    """VLANs, macvlans and others on an interface of the calling thread's network that are in another one (a container's, say)."""
    children = []
    with open("/proc/thread-self/ns/net") as home:  # noqa: PTH123
        own = os.fstat(home.fileno()).st_ino
        for identity, place in _namespaces().items():
            if identity != own:
                with suppress(OSError), namespaces.entered_at(place), IPRoute() as netlink:  # it may end just now
                    children += [f"{link.get('ifname')} in {place}" for link in _children_of(netlink, index, home.fileno())]
    return children


def ssh_connections() -> list[tuple[str, str]]:
    """Addresses of client and server of the SSH connections by which somebody works here: this process's, or one's above it.

    sudo takes the variable away, so that of the shell before counts.
    """
    connections, pid = [], os.getpid()
    while pid > 0:
        try:
            environment = (_PROCESSES / str(pid) / "environ").read_bytes()
            status = (_PROCESSES / str(pid) / "status").read_bytes()
        except OSError:
            break
        for entry in environment.split(b"\0"):
            name, _, value = entry.partition(b"=")
            words = value.decode(errors="replace").split()
            if name == b"SSH_CONNECTION" and len(words) == 4:
                with suppress(ValueError):  # anybody may write anything into an environment
                    for address in (words[0], words[2]):
                        ipaddress.ip_address(address)
                    connections.append((words[0], words[2]))
        pid = int(status.split(b"\nPPid:")[1].split()[0])
    return list(dict.fromkeys(connections))


def unicast(netlink: IPRoute) -> Iterator[Any]:
    routes = (route for family in (AF_INET, AF_INET6) for route in netlink.get_routes(family=family))
    return (route for route in routes if route["type"] == _UNICAST)


def next_hops(route: Any) -> set[int]:
    """Of a route that has several."""
    return {hop["oif"] for hop in route.get("multipath") or ()}


def _interfaces_of(netlink: IPRoute, client: str, server: str) -> set[int]:
    """Those that have the server's address, and the one by which the client is reached."""
    indices = {address["index"] for address in netlink.get_addr() if address.get("address") == server.partition("%")[0]}
    remote, _, zone = client.partition("%")
    if zone:
        indices &= set(netlink.link_lookup(ifname=zone))  # link-local addresses may be the same at each interface
    elif not ipaddress.ip_address(remote).is_link_local:
        with suppress(NetlinkError):  # no route: it was another network's
            indices |= {route.get("oif") for route in netlink.route("get", dst=remote)}
    return indices


def _has_pppoe(name: str, index: int) -> bool:
    sockets = [line.split() for line in (_NETWORK / "packet").read_text().splitlines()[1:]]
    sessions = _NETWORK / "pppoe"
    named = [line.split() for line in sessions.read_text().splitlines()[1:]] if sessions.exists() else []
    return any(words[3] in _PPPOE and int(words[4]) == index for words in sockets) or any(words[-1] == name for words in named)


def _namespaces() -> dict[int, Path]:
    """All networks that are bound to a file (`ip netns`, Docker) or that a process is in, by their number."""
    lines = (line.split() for line in _MOUNTS.read_text(errors="surrogateescape").splitlines())
    places = [Path(words[4]) for words in lines if words[3].startswith("net:[")]
    networks: dict[int, Path] = {}
    for place in (*places, *_PROCESSES.glob("[0-9]*/ns/net")):
        with suppress(OSError):
            networks.setdefault(place.stat().st_ino, place)
    return networks


def _children_of(netlink: IPRoute, index: int, home: int) -> list[Any]:
    """Links of the calling thread's network on an interface with that number of the network `home`."""
    there = [link for link in netlink.get_links() if link.get("link") == index and link.get("link_netnsid") is not None]
    if not there:
        return []
    known = netlink.get_netnsid(fd=home)["nsid"]
    # The other end of a veth pair is named in the same attribute, and is nothing below it.
    return [link for link in there if link.get("link_netnsid") == known and interface_settings.kind(link) != "veth"]
