# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet filters that hang on one interface: nftables' chains at its ingress or egress, and flow tables that use it.

Kernels before 6.16 remove such a chain with all its rules when the interface leaves its network namespace (NETDEV_UNREGISTER in
net/netfilter/nft_chain_filter.c); later ones keep it and bind it again when the interface is back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]
from pyroute2.netlink.nfnetlink import nftsocket  # type: ignore[import-untyped]

#: Of what is asked: chains and flow tables, where their devices stand, and what a message calls them.
_ASKED: Final = (
    (nftsocket.NFT_MSG_GETCHAIN, "chain", ("NFTA_HOOK_DEV", "NFTA_HOOK_DEVS")),
    (nftsocket.NFT_MSG_GETFLOWTABLE, "flow table", ("NFTA_FLOWTABLE_HOOK_DEVS",)),
)
#: linux/netfilter.h; `inet` has number 1.
_FAMILIES: Final = {1: "inet", 2: "ip", 5: "netdev", 7: "bridge", 10: "ip6"}
_ALL_FAMILIES: Final = 0


def on(name: str) -> list[str]:
    """Those on the interface, each in words. Without root's rights, and in a kernel without nftables, none is seen."""
    try:
        with nftsocket.NFTSocket(nfgen_family=_ALL_FAMILIES) as netlink:
            return [
                f"{what} {entry.get('name')} of table {_FAMILIES.get(entry['nfgen_family'], '?')} {entry.get('table')}"
                for asked, what, places in _ASKED
                for entry in netlink.request_get(nftsocket.nfgen_msg(), asked)
                if name in _devices(entry.get("hook"), places)
            ]
    except (NetlinkError, OSError):
        return []


def _devices(hook: Any, places: tuple[str, ...]) -> Iterator[str]:
    for key, value in dict(hook["attrs"]).items() if hook else ():
        if key in places:
            yield from [value] if isinstance(value, str) else [device for _, device in value["attrs"]]
