# SPDX-License-Identifier: GPL-2.0-or-later
"""All settings of an interface of the host, as data: read before it is moved, and put back when it returns.

Moved to another network namespace, an interface loses its addresses, routes, neighbours and sysctls; the rest a lab changes. What
an IPv6 router's advertisements made is left out: the kernel asks for them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any, Final, NotRequired, cast

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.ethtool.ioctl import IoctlEthtool  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]
from typing_extensions import TypedDict

#: linux/if.h: what a user sets of an interface's flags, besides IFF_UP.
_UP: Final = 0x1
_FLAGS: Final = 0x80 | 0x100 | 0x200 | 0x1000  # NOARP, PROMISC, ALLMULTI, MULTICAST
_PERMANENT: Final = 0x80  # linux/neighbour.h: NUD_PERMANENT
#: Routes (linux/rtnetlink.h) and addresses (linux/if_addr.h) that the kernel or an advertisement made.
_KERNEL_ROUTES: Final = (2, 9)
_KERNEL_ADDRESSES: Final = (1, 2, 3)
#: ifa_flags that say how an address is, not what somebody asked for: SECONDARY/TEMPORARY, DADFAILED, DEPRECATED, TENTATIVE.
_STATE_FLAGS: Final = 0x01 | 0x08 | 0x20 | 0x40
_FOREVER: Final = 0xFFFFFFFF


class Address(TypedDict):
    """An address, as `IPRoute.addr` takes it (linux/if_addr.h)."""

    family: int
    prefixlen: int
    scope: int
    address: str
    local: NotRequired[str]
    broadcast: NotRequired[str]
    label: NotRequired[str]
    IFA_RT_PRIORITY: NotRequired[int]
    IFA_FLAGS: NotRequired[int]
    #: In seconds; an address without them is for ever.
    preferred_lft: NotRequired[int]
    valid_lft: NotRequired[int]


class Route(TypedDict):
    """A route, as `IPRoute.route` takes it (linux/rtnetlink.h)."""

    family: int
    tos: int
    proto: int
    scope: int
    type: int
    table: int
    #: With its prefix's length; the default route has none.
    dst: NotRequired[str]
    gateway: NotRequired[str]
    priority: NotRequired[int]
    prefsrc: NotRequired[str]
    flags: NotRequired[int]
    #: By their names without RTAX_, in small letters; all are numbers but the congestion control.
    metrics: NotRequired[dict[str, int | str]]


class Neighbour(TypedDict):
    """A permanent neighbour, as `IPRoute.neigh` takes it (linux/neighbour.h). One that is reached without a MAC has none."""

    family: int
    dst: str
    lladdr: str | None


@dataclass(frozen=True)
class Settings:
    """Of one interface."""

    name: str
    index: int
    #: None: it has none, as a tunnel of IP packets.
    mac: str | None
    mtu: int
    queue: int
    flags: int
    group: int
    alias: str
    altnames: list[str]
    features: dict[str, bool]
    #: By their path below /proc/sys/net, `*` in place of the interface's name.
    sysctls: dict[str, str]
    addresses: list[Address]
    #: A route with several next hops is not one of the interface alone.
    routes: list[Route]
    neighbours: list[Neighbour]


def read(netlink: IPRoute, index: int) -> Settings:
    """What is set now, in the network namespace that the calling thread is in."""
    (link,) = netlink.get_links(index)
    name = link.get("ifname")
    return Settings(
        name=name,
        index=index,
        mac=link.get("address"),
        mtu=link.get("mtu"),
        queue=link.get("txqlen"),
        flags=link["flags"] & (_UP | _FLAGS),
        group=link.get("group"),
        alias=link.get("ifalias") or "",
        altnames=altnames(link),
        features={feature: bool(active) for feature, active, changeable, *_ in features(name) if changeable},
        sysctls=dict(_sysctls(name)),
        addresses=[_address(address) for address in _addresses(netlink, index) if address.get("proto") not in _KERNEL_ADDRESSES],
        routes=[_route(route) for route in _routes(netlink, index) if route["proto"] not in _KERNEL_ROUTES],
        neighbours=[
            {"family": neighbour["family"], "dst": neighbour.get("dst"), "lladdr": neighbour.get("lladdr")}
            for neighbour in netlink.get_neighbours(ifindex=index)
            if neighbour["state"] & _PERMANENT
        ],
    )


def restore(netlink: IPRoute, index: int, settings: Settings) -> list[str]:
    """Puts everything back, and returns what the kernel refused. The interface is down and has its name already."""
    refused: list[str] = []
    (link,) = netlink.get_links(index)
    change = partial(netlink.link, "set", index=index)
    for key, value in (("address", settings.mac), ("mtu", settings.mtu), ("txqlen", settings.queue), ("group", settings.group)):
        if link.get(key) != value:
            _try(refused, f"{key} {value}", partial(change, **{key: value}))
    if (link.get("ifalias") or "") != settings.alias:
        _try(refused, "alias", partial(change, ifalias=settings.alias))
    for altname in settings.altnames:
        if altname not in altnames(link):
            _try(refused, f"altname {altname}", partial(netlink.link, "property_add", index=index, altname=altname))
    for setting, text in settings.sysctls.items():
        file = Path("/proc/sys/net", setting.replace("*", settings.name, 1))
        with suppress(FileNotFoundError):
            if file.read_text() != text:
                _try(refused, f"sysctl {file.relative_to('/proc/sys')}", partial(file.write_text, text))
    _try(refused, "offloads", partial(_restore_features, settings))
    _try(refused, "flags", partial(change, flags=settings.flags & _FLAGS, change=_FLAGS))
    if settings.flags & _UP:
        _try(refused, "state up", partial(change, state="up"))
    for address in settings.addresses:
        what = f"address {address['address']}/{address['prefixlen']}"
        _try(refused, what, partial(netlink.addr, "replace", index=index, **address))
    # Those of a link first: the gateways of the others are reached by them.
    for route in sorted(settings.routes, key=lambda route: "gateway" in route):
        _try(refused, f"route {route.get('dst', 'default')}", partial(netlink.route, "replace", oif=index, **route))
    for neighbour in settings.neighbours:
        replace = partial(netlink.neigh, "replace", ifindex=index, state=_PERMANENT, **neighbour)
        _try(refused, f"neighbour {neighbour['dst']}", replace)
    return refused


def features(interface: str) -> list[Any]:
    """As `ethtool --show-features` lists them: their name, whether they are on, whether they can be changed, and more.

    None of a driver that has none.
    """
    with suppress(OSError), closing(IoctlEthtool(interface)) as ethtool:
        return list(ethtool.get_features())
    return []


def active_features(interface: str) -> list[str]:
    """Those that are on, whether they can be changed or not."""
    return [feature for feature, active, *_ in features(interface) if active]


def merging_features(interface: str) -> list[str]:
    """Those that are on and make one frame of several."""
    return [feature for feature in active_features(interface) if feature in ("rx-gro", "rx-lro", "rx-gro-hw")]


def altnames(link: Any) -> list[str]:
    """Of an interface as netlink tells of it."""
    properties = link.get("IFLA_PROP_LIST")
    return [value for key, value in properties["attrs"] if key == "IFLA_ALT_IFNAME"] if properties else []


def kind(link: Any) -> str | None:
    """The same: "veth", "bridge" and so on; None for hardware."""
    info = link.get("linkinfo")
    return dict(info["attrs"]).get("IFLA_INFO_KIND") if info else None


def _try(refused: list[str], what: str, change: Callable[[], object]) -> None:
    try:
        change()
    except (NetlinkError, OSError) as error:
        refused.append(f"{what} ({error.args[-1]})")


def _restore_features(settings: Settings) -> None:
    with closing(IoctlEthtool(settings.name)) as ethtool:
        now = ethtool.get_features() if settings.features else []
        changed = [name for name, active, *_ in now if settings.features.get(name, bool(active)) != bool(active)]
        for name in changed:
            now[name] = settings.features[name]
        if changed:
            ethtool.set_features(now)


def _sysctls(name: str) -> Iterator[tuple[str, str]]:
    for folder in ("ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh"):
        for file in sorted(Path("/proc/sys/net", folder, name).glob("*")):
            with suppress(OSError):  # some are for writing only, or hold nothing yet
                yield f"{folder}/*/{file.name}", file.read_text()


def _addresses(netlink: IPRoute, index: int) -> Iterator[Any]:
    """The oldest first: of IPv6 the kernel tells the newest first."""
    addresses = list(netlink.get_addr(index=index))
    yield from (address for address in addresses if address["family"] == AF_INET)
    yield from reversed([address for address in addresses if address["family"] != AF_INET])


def _address(message: Any) -> Address:
    address = {"family": message["family"], "prefixlen": message["prefixlen"], "scope": message["scope"]}
    wanted = {
        "address": message.get("IFA_ADDRESS"),
        "local": message.get("IFA_LOCAL"),
        "broadcast": message.get("IFA_BROADCAST"),
        "label": message.get("IFA_LABEL"),
        "IFA_RT_PRIORITY": message.get("IFA_RT_PRIORITY"),
        "IFA_FLAGS": (message.get("IFA_FLAGS") or 0) & ~_STATE_FLAGS,
    }
    times = message.get("IFA_CACHEINFO") or {}
    if times.get("ifa_valid", _FOREVER) != _FOREVER:
        wanted |= {"preferred_lft": times["ifa_preferred"], "valid_lft": times["ifa_valid"]}
    return cast("Address", address | {key: value for key, value in wanted.items() if value is not None})


def _routes(netlink: IPRoute, index: int) -> Iterator[Any]:
    routes = (route for family in (AF_INET, AF_INET6) for route in netlink.get_routes(family=family))
    return (route for route in routes if route.get("oif") == index and not route["flags"] & 0x200)


def _route(message: Any) -> Route:
    route = {key: message[key] for key in ("family", "tos", "proto", "scope", "type")}
    route["table"] = message.get("table") or message["table"]
    if message.get("dst"):
        route["dst"] = f"{message.get('dst')}/{message['dst_len']}"
    route |= {key: message.get(key) for key in ("gateway", "priority", "prefsrc") if message.get(key) is not None}
    if message["flags"] & 0x4:  # RTNH_F_ONLINK
        route["flags"] = 0x4
    if metrics := message.get("metrics"):
        route["metrics"] = {name.removeprefix("RTAX_").lower(): value for name, value in metrics["attrs"]}
    return cast("Route", route)
