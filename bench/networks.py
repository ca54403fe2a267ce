# SPDX-License-Identifier: GPL-2.0-or-later
"""The networks of the benchmarks, as topology files would say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Network = dict[str, Any]
WireKind = Literal["auto", "veth", "memory"]

#: Where traffic begins and ends.
SOURCE, DRAIN = "source", "drain"
#: Of the frames: RFC 2544's benchmark networks.
SOURCE_ADDRESS, DRAIN_ADDRESS = "198.18.0.1", "198.19.0.1"
#: The sink answers no ARP: who routes to it has to know.
DRAIN_MAC = "02:00:00:00:02:00"

#: Smallest Ethernet frame, with FCS.
SMALLEST = 64

ETHERNET = {"technology": "ethernet", "stations": {"left": {}, "right": {}}, "rate": "1 Gbit/s"}


def network(
    name: str,
    middle: Mapping[str, Any],
    path: Sequence[str],
    *,
    wire: WireKind = "veth",
    towards: str = DRAIN_MAC,
    size: int = SMALLEST,
    **sections: Any,
) -> Network:
    """A generator, the netboxes of `middle`, a sink; `path` names the ports on the way, two for each node passed.

    `towards` is the MAC address of the next hop, where a router is the first on the way.
    """
    source = {
        "technology": "generator",
        "stations": {"out": {}},
        "size": f"{size} B",
        "active": False,
        "source_address": SOURCE_ADDRESS,
        "destination_address": DRAIN_ADDRESS,
        "destination_mac": towards,
    }
    ends = [f"{SOURCE}.out", *path, f"{DRAIN}.in"]
    return {
        "name": name,
        "netboxes": {SOURCE: source, **middle, DRAIN: {"technology": "sink", "stations": {"in": {}}}},
        "wires": [list(pair) for pair in zip(ends[::2], ends[1::2], strict=True)],
        "wire": wire,
        **sections,
    }


def chain(name: str, length: int, wire: WireKind, towards: str = DRAIN_MAC) -> Network:
    """So many emulated links of 1 Gbit/s in a row, each in a netbox of its own: link1, link2, …"""
    links = [f"link{number}" for number in range(1, length + 1)]
    path = [f"{link}.{side}" for link in links for side in ("left", "right")]
    return network(name, dict.fromkeys(links, ETHERNET), path, wire=wire, towards=towards)


def assign_cores(nodes: Sequence[str], cores: Sequence[int]) -> dict[str, int]:
    """Traffic begins and ends on the first core; the nodes have the others one after the other, and the first one too
    when there are more nodes than others."""
    places = cores if len(nodes) > max(len(cores) - 1, 1) else cores[1:] or cores
    spread = list(reversed(places))
    assigned = {node: spread[number * len(spread) // len(nodes)] for number, node in enumerate(nodes)}
    return {SOURCE: cores[0], DRAIN: cores[0], **assigned}
