# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether an interface of the host may be taken: why not, as sentences that go on after its name, each with the remedy.

What uses it is a reason to leave it alone until a person says otherwise: a lab that takes it takes it away from its users.
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
from pyroute2.netlink.nfnetlink import nftsocket  # type: ignore[import-untyped]

from system import interface_facts, interface_settings, namespaces, processes

_LOOPBACK: Final = 0x8  # linux/if.h: IFF_LOOPBACK
#: Kinds of interfaces that stand for others.
_GROUPS: Final = ("bridge", "bond", "team", "vrf", "openvswitch")
#: What nftables is asked for: chains and flow tables, what a message calls them, and where their devices stand.
_FILTERS: Final = (
    (nftsocket.NFT_MSG_GETCHAIN, "chain", ("NFTA_HOOK_DEV", "NFTA_HOOK_DEVS")),
    (nftsocket.NFT_MSG_GETFLOWTABLE, "flow table", ("NFTA_FLOWTABLE_HOOK_DEVS",)),
)
#: linux/netfilter.h; `inet` has number 1, and 0 stands for all.
_FAMILIES: Final = {1: "inet", 2: "ip", 5: "netdev", 7: "bridge", 10: "ip6"}
_LINK_SCOPE: Final = 253  # linux/rtnetlink.h: RT_SCOPE_LINK
_UNICAST: Final = 1  # RTN_UNICAST
#: linux/if_ether.h: ETH_P_PPP_DISC, ETH_P_PPP_SES; a PPPoE client in user space, or looking for a server, has a packet socket.
_PPPOE: Final = ("8863", "8864")


def why_not_moved(netlink: IPRoute, link: Any, *, named: bool) -> Iterator[str]:
    """Why the interface cannot be moved whole; nothing is touched. `named`: the person says that it may be in use."""
    index, name = link["index"], link.get("ifname")
    yield from _why_never(link)
    if (kind := interface_settings.kind(link)) in _GROUPS:
        yield f"is a {kind}, into which nothing is plugged; name the interface that is"
    yield from _why_part_of_others(netlink, link)
    if "netns-local" in interface_settings.active_features(name):
        yield "cannot leave its network namespace: its driver does not let it (wireless and bridges, say); use another interface"
    if (xdp := link.get("xdp")) and dict(xdp["attrs"]).get("IFLA_XDP_ATTACHED"):
        yield f"has an XDP program: somebody reads its frames; end that, or remove it (ip link set {name} xdp off)"
    if own := [dict(qdisc["attrs"])["TCA_KIND"] for qdisc in netlink.get_qdiscs(index) if qdisc["handle"]]:
        yield f"has queueing of its own ({', '.join(own)}), which would be lost; remove it (tc qdisc), or name another interface"
    if filters := _filters(name):
        yield (
            f"is filtered by the {', the '.join(filters)}, which kernels before 6.16 remove when it leaves; remove that yourself "
            "(nft delete), or name another interface"
        )
    if any(index in _next_hops(route) for route in _unicast(netlink)):
        yield "is one of several next hops of a route, which would be changed; remove that route, or name another interface"
    if not named:
        yield from _unless_named(link, _of_this_machine(netlink, link), "this machine would lack it")


def why_not_below(netlink: IPRoute, link: Any, *, whole_frames: bool, alone: bool, named: bool) -> Iterator[str]:
    """Why no VLAN or macvlan can be made on the interface; `whole_frames` as they come are needed by emulators.

    `alone`: it gets all that comes in (a macvlan in passthru mode). `named`: the person says that the interface may be in use.
    """
    yield from _why_never(link)
    if alone:
        yield from _why_part_of_others(netlink, link)
    if not named and alone:
        yield from _unless_named(
            link, _of_this_machine(netlink, link), "a macvlan in passthru mode takes all that comes in there"
        )
    elif not named:
        yield from _unless_named(link, _default_routes(netlink, link["index"]), "what is made on it is in that network")
    if whole_frames and (features := interface_settings.merging_features(link.get("ifname"))):
        yield f"{interface_facts.merges(link.get('ifname'), features)}, or move the interface whole (nic)"
    if link["state"] != "up":
        yield f"is down, and what is made on it would be, too; set it up first (ip link set {link.get('ifname')} up)"


def managed_by(index: int, run: Path = Path("/run")) -> str | None:
    """The program that manages the interface of that number, and what to do about it; None when none is known."""
    if _has(run / "NetworkManager/devices" / str(index), "managed=true"):
        return "NetworkManager manages it, and may change it when it returns; `nmcli device set NIC managed no` keeps it off"
    if _has(run / "systemd/netif/links" / str(index), "ADMIN_STATE=configured"):
        return "systemd-networkd manages it, and may change it when it returns; `Unmanaged=yes` in its .network file keeps it off"
    return None


def _unless_named(link: Any, reasons: Iterator[str], so: str) -> Iterator[str]:
    """The first of them, with the remedy: only a person gives away what a machine uses, and says which by its name."""
    if (why := next(reasons, None)) is not None:
        yield f"is in use: it {why}, and {so}; use another interface, or say that you mean it: --take {link.get('ifname')}"


def _why_part_of_others(netlink: IPRoute, link: Any) -> Iterator[str]:
    """What stands on it, or it is a part of, would not be as before when it comes back."""
    index, name = link["index"], link.get("ifname")
    if master := link.get("master"):
        (upper,) = netlink.get_links(master)
        kind = interface_settings.kind(upper) or "device"
        yield f"is a port of the {kind} {upper.get('ifname')}; take it out (ip link set {name} nomaster), or use another one"
    children = [other.get("ifname") for other in netlink.get_links() if _is_upper(other, index)]
    if children := [*children, *_children_elsewhere(index)]:
        yield f"carries {', '.join(children)}, which would be lost; use one of these, a VLAN or a macvlan of it, or remove them"


def _why_never(link: Any) -> Iterator[str]:
    if link["flags"] & _LOOPBACK:
        yield "is a loopback interface; name the one that the equipment is plugged into"
    if marks := [name for name in interface_settings.altnames(link) if name.startswith("netboxit:")]:
        yield f"belongs to a lab ({marks[0]}); `netboxit down` or `detach` gives it back"


def _filters(interface: str) -> list[str]:
    """Packet filters that hang on the interface, in words: chains at its ingress or egress, and flow tables that use it.

    Kernels before 6.16 remove such a chain with all its rules when the interface leaves its network namespace (NETDEV_UNREGISTER
    in net/netfilter/nft_chain_filter.c); later ones keep it and bind it again when the interface is back. Without root's rights,
    and in a kernel without nftables, none is seen.
    """
    with suppress(NetlinkError, OSError), nftsocket.NFTSocket(nfgen_family=0) as netlink:
        return [
            f"{what} {entry.get('name')} of table {_FAMILIES.get(entry['nfgen_family'], '?')} {entry.get('table')}"
            for message, what, places in _FILTERS
            for entry in netlink.request_get(nftsocket.nfgen_msg(), message)
            if interface in _devices(entry.get("hook"), places)
        ]
    return []


def _devices(hook: Any, places: tuple[str, ...]) -> Iterator[str]:
    for key, value in dict(hook["attrs"]).items() if hook else ():
        if key in places:
            yield from [value] if isinstance(value, str) else [device for _, device in value["attrs"]]


def _is_upper(link: Any, index: int) -> bool:
    """Whether it stands on the interface of that number. A veth pair's other end is named in the same attribute, and is none."""
    kind = interface_settings.kind(link)
    if kind == "vxlan":
        data = dict(link.get("linkinfo")["attrs"]).get("IFLA_INFO_DATA") or {"attrs": ()}
        return bool(dict(data["attrs"]).get("IFLA_VXLAN_LINK") == index)
    return link.get("link") == index and link.get("link_netnsid") is None and kind != "veth"


def _has(file: Path, line: str) -> bool:
    try:
        return line in file.read_text().splitlines()
    except OSError:
        return False


def _default_routes(netlink: IPRoute, index: int) -> Iterator[str]:
    """The machine reaches by it what it knows no other way to."""
    for route in _unicast(netlink):
        if route["dst_len"] == 0 and (route.get("oif") == index or index in _next_hops(route)):
            family = "IPv4" if route["family"] == AF_INET else "IPv6"
            yield f"has the {family} default route (table {route.get('table') or route['table']})"
            return


def _of_this_machine(netlink: IPRoute, link: Any) -> Iterator[str]:
    """What of the machine's own traffic goes by it."""
    index = link["index"]
    yield from _default_routes(netlink, index)
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


def _children_elsewhere(index: int) -> list[str]:
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
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            status = Path(f"/proc/{pid}/status").read_bytes()
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


def _unicast(netlink: IPRoute) -> Iterator[Any]:
    for family in (AF_INET, AF_INET6):
        yield from (route for route in netlink.get_routes(family=family) if route["type"] == _UNICAST)


def _next_hops(route: Any) -> set[int]:
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
    sockets = [line.split() for line in Path("/proc/thread-self/net/packet").read_text().splitlines()[1:]]
    sessions = Path("/proc/thread-self/net/pppoe")
    named = [line.split() for line in sessions.read_text().splitlines()[1:]] if sessions.exists() else []
    return any(words[3] in _PPPOE and int(words[4]) == index for words in sockets) or any(words[-1] == name for words in named)


def _namespaces() -> dict[int, Path]:
    """All networks that are bound to a file (`ip netns`, Docker) or that a process is in, by their number."""
    lines = (line.split() for line in Path("/proc/thread-self/mountinfo").read_text(errors="surrogateescape").splitlines())
    places = [Path(words[4]) for words in lines if words[3].startswith("net:[")]
    networks: dict[int, Path] = {}
    for place in (*places, *(Path(f"/proc/{pid}/ns/net") for pid in processes.all_of_them())):
        with suppress(OSError):
            networks.setdefault(place.stat().st_ino, place)
    return networks


def _children_of(netlink: IPRoute, index: int, home: int) -> list[Any]:
    """Links of the calling thread's network on an interface with that number of the network `home`."""
    there = [link for link in netlink.get_links() if link.get("link") == index and link.get("link_netnsid") is not None]
    if not there:
        return []
    home_id = netlink.get_netnsid(fd=home)["nsid"]
    # The other end of a veth pair is named in the same attribute, and is nothing below it.
    return [link for link in there if link.get("link_netnsid") == home_id and interface_settings.kind(link) != "veth"]
