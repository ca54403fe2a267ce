# SPDX-License-Identifier: GPL-2.0-or-later
"""All that is set of an interface of the host, as data: read before it is moved, and put back when it returns.

Moved to another network namespace, an interface loses its addresses, routes, neighbours and sysctls; the rest a lab changes. What
an IPv6 router's advertisements made is left out: the kernel asks for them anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.ethtool.ioctl import IoctlEthtool  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

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


@dataclass(frozen=True)
class Settings:
    """Of one interface."""

    name: str
    index: int
    mac: str
    mtu: int
    queue: int
    flags: int
    group: int
    alias: str
    altnames: list[str]
    features: dict[str, bool]
    #: By their path below /proc/sys/net, `*` in place of the interface's name.
    sysctls: dict[str, str]
    addresses: list[dict[str, Any]]
    #: A route with several next hops is not one of the interface alone.
    routes: list[dict[str, Any]]
    neighbours: list[dict[str, Any]]

    def is_up(self) -> bool:
        return bool(self.flags & _UP)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


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
        features=_features(name),
        sysctls=dict(_sysctls(name)),
        addresses=[_address(one) for one in _addresses(netlink, index) if one.get("proto") not in _KERNEL_ADDRESSES],
        routes=[_route(one) for one in _routes(netlink, index) if one["proto"] not in _KERNEL_ROUTES],
        neighbours=[
            {"family": one["family"], "dst": one.get("dst"), "lladdr": one.get("lladdr")}
            for one in netlink.get_neighbours(ifindex=index)
            if one["state"] & _PERMANENT
        ],
    )


def restore(netlink: IPRoute, index: int, settings: Settings) -> list[str]:
    """Puts everything back, and returns what the kernel refused. The interface is down and has its name already."""
    refused: list[str] = []
    (link,) = netlink.get_links(index)
    wanted = {"address": settings.mac, "mtu": settings.mtu, "txqlen": settings.queue, "group": settings.group}
    for key, value in wanted.items():
        if link.get(key) != value:
            _try(refused, f"{key} {value}", lambda key=key, value=value: netlink.link("set", index=index, **{key: value}))
    if (link.get("ifalias") or "") != settings.alias:
        _try(refused, "alias", lambda: netlink.link("set", index=index, ifalias=settings.alias))
    for altname in settings.altnames:
        if altname not in altnames(link):
            _try(refused, f"altname {altname}", lambda one=altname: netlink.link("property_add", index=index, altname=one))
    refused += _restore_sysctls(settings)
    _try(refused, "offloads", lambda: _restore_features(settings))
    flags = settings.flags & _FLAGS
    _try(refused, "flags", lambda: netlink.link("set", index=index, flags=flags, change=_FLAGS))
    if settings.is_up():
        _try(refused, "state up", lambda: netlink.link("set", index=index, state="up"))
    for address in settings.addresses:
        told = f"address {address['address']}/{address['prefixlen']}"
        _try(refused, told, lambda one=address: netlink.addr("replace", index=index, **one))
    # Those of a link first: the gateways of the others are reached by them.
    for route in sorted(settings.routes, key=lambda one: "gateway" in one):
        _try(refused, f"route {route.get('dst', 'default')}", lambda one=route: netlink.route("replace", oif=index, **one))
    for neighbour in settings.neighbours:
        told = f"neighbour {neighbour['dst']}"
        _try(refused, told, lambda one=neighbour: netlink.neigh("replace", ifindex=index, state=_PERMANENT, **one))
    return refused


def altnames(link: Any) -> list[str]:
    """Of an interface as netlink tells of it."""
    properties = link.get("IFLA_PROP_LIST")
    return [value for key, value in properties["attrs"] if key == "IFLA_ALT_IFNAME"] if properties else []


def _try(refused: list[str], what: str, change: Any) -> None:
    try:
        change()
    except (NetlinkError, OSError) as error:
        refused.append(f"{what} ({error.args[-1]})")


def _features(name: str) -> dict[str, bool]:
    ethtool = IoctlEthtool(name)
    try:
        return {one: bool(active) for one, active, changeable, *_ in ethtool.get_features() if changeable}
    except OSError:
        return {}  # a driver that knows of none
    finally:
        ethtool.close()


def _restore_features(settings: Settings) -> None:
    ethtool = IoctlEthtool(settings.name)
    try:
        features = ethtool.get_features() if settings.features else []
        changed = [one for one, active, *_ in features if one in settings.features and bool(active) != settings.features[one]]
        for one in changed:
            features[one] = settings.features[one]
        if changed:
            ethtool.set_features(features)
    finally:
        ethtool.close()


def _sysctls(name: str) -> Iterator[tuple[str, str]]:
    top = Path("/proc/sys/net")
    for folder in (f"{family}/{kind}" for family in ("ipv4", "ipv6") for kind in ("conf", "neigh")):
        for file in sorted((top / folder / name).glob("*")):
            with suppress(OSError):  # some are for writing only, or hold nothing yet
                yield f"{folder}/*/{file.name}", file.read_text()


def _restore_sysctls(settings: Settings) -> list[str]:
    refused: list[str] = []
    for name, text in settings.sysctls.items():
        folder, _, key = name.partition("/*/")
        file = Path("/proc/sys/net") / folder / settings.name / key
        with suppress(FileNotFoundError):
            if file.read_text() != text:
                _try(refused, f"sysctl net/{folder}/{settings.name}/{key}", lambda file=file, text=text: file.write_text(text))
    return refused


def _addresses(netlink: IPRoute, index: int) -> Iterator[Any]:
    """The oldest first: of IPv6 the kernel tells the newest first."""
    found = list(netlink.get_addr(index=index))
    yield from (one for one in found if one["family"] == 2)
    yield from reversed([one for one in found if one["family"] != 2])


def _address(message: Any) -> dict[str, Any]:
    """As `IPRoute.addr` takes it."""
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
    return address | {key: value for key, value in wanted.items() if value is not None}


def _routes(netlink: IPRoute, index: int) -> Iterator[Any]:
    for family in (2, 10):  # AF_INET, AF_INET6
        yield from (one for one in netlink.get_routes(family=family) if one.get("oif") == index and not one["flags"] & 0x200)


def _route(message: Any) -> dict[str, Any]:
    """As `IPRoute.route` takes it."""
    keys = ("family", "tos", "proto", "scope", "type")
    route = {key: message[key] for key in keys} | {"table": message.get("table") or message["table"]}
    if message.get("dst"):
        route["dst"] = f"{message.get('dst')}/{message['dst_len']}"
    route |= {key: message.get(key) for key in ("gateway", "priority", "prefsrc") if message.get(key) is not None}
    if message["flags"] & 0x4:  # RTNH_F_ONLINK
        route["flags"] = 0x4
    if metrics := message.get("metrics"):
        route["metrics"] = {name.removeprefix("RTAX_").lower(): value for name, value in metrics["attrs"]}
    return route
