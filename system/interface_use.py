# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether an interface of the host may be taken: why not, as sentences that go on after its name, each with the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]
from pyroute2.netlink.nfnetlink import nftsocket  # type: ignore[import-untyped]

from system import interface_facts, interface_features, interface_settings, interface_traffic

_LOOPBACK: Final = 0x8  # linux/if.h: IFF_LOOPBACK
_RUN: Final = Path("/run")
#: Kinds of interfaces that stand for others.
_GROUPS: Final = ("bridge", "bond", "team", "vrf", "openvswitch")
#: What nftables is asked for: chains and flow tables, what a message calls them, and where their devices stand.
_FILTERS: Final = (
    (nftsocket.NFT_MSG_GETCHAIN, "chain", ("NFTA_HOOK_DEV", "NFTA_HOOK_DEVS")),
    (nftsocket.NFT_MSG_GETFLOWTABLE, "flow table", ("NFTA_FLOWTABLE_HOOK_DEVS",)),
)
#: linux/netfilter.h; `inet` has number 1.
_FAMILIES: Final = {1: "inet", 2: "ip", 5: "netdev", 7: "bridge", 10: "ip6"}
_ALL_FAMILIES: Final = 0


def why_not_moved(netlink: IPRoute, link: Any, *, named: bool) -> Iterator[str]:
    """Why the interface cannot be moved whole; nothing is touched. `named`: the person says that it may be in use."""
    index, name = link["index"], link.get("ifname")
    yield from _why_never(link)
    if (kind := interface_settings.kind(link)) in _GROUPS:
        yield f"is a {kind}, into which nothing is plugged; name the interface that is"
    yield from _why_part_of_others(netlink, link)
    if "netns-local" in interface_features.active(name):
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
    if any(index in interface_traffic.next_hops(route) for route in interface_traffic.unicast(netlink)):
        yield "is one of several next hops of a route, which would be changed; remove that route, or name another interface"
    if not named:
        yield from _unless_named(link, interface_traffic.of_this_machine(netlink, link), "this machine would lack it")


def why_not_below(netlink: IPRoute, link: Any, *, whole_frames: bool, alone: bool, named: bool) -> Iterator[str]:
    """Why no VLAN or macvlan can be made on the interface; `whole_frames` as they come are needed by emulators.

    `alone`: it gets all that comes in (a macvlan in passthru mode). `named`: the person says that the interface may be in use.
    """
    yield from _why_never(link)
    if alone:
        yield from _why_part_of_others(netlink, link)
    if not named and alone:
        reasons = interface_traffic.of_this_machine(netlink, link)
        yield from _unless_named(link, reasons, "a macvlan in passthru mode takes all that comes in there")
    elif not named:
        reasons = interface_traffic.default_routes(netlink, link["index"])
        yield from _unless_named(link, reasons, "what is made on it is in that network")
    if whole_frames and (found := interface_features.merging(link.get("ifname"))):
        yield f"{interface_facts.merges(link.get('ifname'), found)}, or move the interface whole (nic)"
    if link["state"] != "up":
        yield f"is down, and what is made on it would be, too; set it up first (ip link set {link.get('ifname')} up)"


def managed_by(index: int, run: Path = _RUN) -> str | None:
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
    if children := [*children, *interface_traffic.children_elsewhere(index)]:
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
    with suppress(NetlinkError, OSError), nftsocket.NFTSocket(nfgen_family=_ALL_FAMILIES) as netlink:
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
