# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether an interface of the host may be taken: why not, as sentences that go on after its name, each with the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.ethtool.ioctl import IoctlEthtool  # type: ignore[import-untyped]

from testbed.system import interface_facts, interface_filters, interface_settings
from testbed.system.interface_settings import Settings

_UP: Final = 0x1  # linux/if.h: IFF_UP
_LOOPBACK: Final = 0x8
_LINK_SCOPE: Final = 253  # linux/rtnetlink.h: RT_SCOPE_LINK
_UNICAST: Final = 1  # RTN_UNICAST
_RUN: Final = Path("/run")
#: Kinds of interfaces that stand for others.
_GROUPS: Final = ("bridge", "bond", "team", "vrf", "openvswitch")


def why_not_moved(netlink: IPRoute, link: Any, *, take_addresses: bool) -> Iterator[str]:
    """Why the interface cannot be moved whole; nothing is touched."""
    index, name = link["index"], link.get("ifname")
    yield from _why_never(netlink, link)
    if (kind := _kind(link)) in _GROUPS:
        yield f"is a {kind}, into which nothing is plugged; name the interface that is"
    if master := link.get("master"):
        (upper,) = netlink.get_links(master)
        kind = _kind(upper) or "device"
        yield f"is a port of the {kind} {upper.get('ifname')}; take it out (ip link set {name} nomaster), or use another one"
    if children := [other.get("ifname") for other in netlink.get_links() if other.get("link") == index and _is_upper(other)]:
        yield f"carries {', '.join(children)}, which would be lost; use one of these, a VLAN or a macvlan of it, or remove them"
    if _is_bound(name):
        yield "cannot leave its network namespace: its driver does not let it (wireless and bridges, say); use another interface"
    if (xdp := link.get("xdp")) and dict(xdp["attrs"]).get("IFLA_XDP_ATTACHED"):
        yield f"has an XDP program: somebody reads its frames; end that, or remove it (ip link set {name} xdp off)"
    if own := [dict(one["attrs"])["TCA_KIND"] for one in netlink.get_qdiscs(index) if one["handle"]]:
        yield f"has queueing of its own ({', '.join(own)}), which would be lost; remove it (tc qdisc), or name another interface"
    if filters := interface_filters.on(name):
        yield (
            f"is filtered by the {', the '.join(filters)}, which kernels before 6.16 remove when it leaves; remove that yourself "
            "(nft delete), or name another interface"
        )
    if any(index in _next_hops(route) for route in _unicast(netlink)):
        yield "is one of several next hops of a route, which would be changed; remove that route, or name another interface"
    if not take_addresses:
        yield from _why_in_use(interface_settings.read(netlink, index))


def why_not_below(netlink: IPRoute, link: Any, *, whole_frames: bool) -> Iterator[str]:
    """Why no VLAN or macvlan can be made on the interface; `whole_frames` as they come are needed by emulators."""
    yield from _why_never(netlink, link)
    if whole_frames and (found := merging(link.get("ifname"))):
        yield f"{interface_facts.merges(link.get('ifname'), found)}, or move the interface whole (nic)"
    if not link["flags"] & _UP:
        yield f"is down, and what is made on it would be, too; set it up first (ip link set {link.get('ifname')} up)"


def merging(name: str) -> list[str]:
    """What is on of an interface that makes one frame of several."""
    return [one for one in _active(name) if one in ("rx-gro", "rx-lro", "rx-gro-hw")]


def managed_by(index: int, run: Path = _RUN) -> str | None:
    """Who will meddle with the interface of that number, and what to do about it; None: nobody that is known."""
    manager = run / "NetworkManager/devices" / str(index)
    if _has(manager, "managed=true"):
        return "NetworkManager manages it, and may change it when it returns; `nmcli device set NIC managed no` keeps it off"
    if _has(run / "systemd/netif/links" / str(index), "ADMIN_STATE=configured"):
        return "systemd-networkd manages it, and may change it when it returns; `Unmanaged=yes` in its .network file keeps it off"
    return None


def _why_never(netlink: IPRoute, link: Any) -> Iterator[str]:
    index = link["index"]
    if link["flags"] & _LOOPBACK:
        yield "is a loopback interface; name the one that the equipment is plugged into"
    if marks := [one for one in interface_settings.altnames(link) if one.startswith("netboxit:")]:
        yield f"belongs to a lab ({marks[0]}); `netboxit down` or `detach` gives it back"
    for route in _unicast(netlink):
        if route["dst_len"] == 0 and (route.get("oif") == index or index in _next_hops(route)):
            family = "IPv4" if route["family"] == 2 else "IPv6"
            table = route.get("table") or route["table"]
            yield (f"has the {family} default route (table {table}), and this machine would be cut off; use another interface")
            return


def _why_in_use(settings: Settings) -> Iterator[str]:
    remedy = "remove them, or say take_addresses (--take-addresses) to have them put away, and back when it is given back"
    if addresses := [one["address"] for one in settings.addresses if one["scope"] < _LINK_SCOPE]:
        yield f"is in use: it has the address {', '.join(addresses)}; {remedy}"
    elif settings.routes:
        yield f"is in use: routes lead to it ({', '.join(route.get('dst', 'default') for route in settings.routes)}); {remedy}"


def _unicast(netlink: IPRoute) -> Iterator[Any]:
    for family in (2, 10):  # AF_INET, AF_INET6
        yield from (route for route in netlink.get_routes(family=family) if route["type"] == _UNICAST)


def _next_hops(route: Any) -> set[int]:
    """Of a route that has several."""
    return {hop["oif"] for hop in route.get("multipath") or ()}


def _kind(link: Any) -> str | None:
    info = link.get("linkinfo")
    return dict(info["attrs"]).get("IFLA_INFO_KIND") if info else None


def _is_upper(link: Any) -> bool:
    """A veth pair's other end is named in the same attribute, and is none."""
    return link.get("link_netnsid") is None and _kind(link) != "veth"


def _is_bound(name: str) -> bool:
    return "netns-local" in _active(name)


def _active(name: str) -> list[str]:
    """The features that are on, whether they can be changed or not."""
    ethtool = IoctlEthtool(name)
    try:
        return [one for one, active, *_ in ethtool.get_features() if active]
    except OSError:
        return []
    finally:
        ethtool.close()


def _has(file: Path, line: str) -> bool:
    try:
        return line in file.read_text().splitlines()
    except OSError:
        return False
