# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a host sent nothing: the emulated network lost every request for the link-layer address of its next hop.

Requests and answers are those of ARP (RFC 826) and of neighbour discovery (RFC 4861, 4.3 and 4.4), as the host's captures have
them. A request that no netbox lost and nobody answered is not explained by the network: an address is wrong, or a node is away.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface, ip_network
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contracts.errors import listed
from contracts.flow import Flow
from contracts.plan import NodePlan, Plan
from results.captured_frames import IPV6, Frames
from results.records import Fate

_ARP: Final = 0x0806
#: Hardware type Ethernet, protocol IPv4, and their lengths.
_ARP_OF_ETHERNET: Final = (1, 0x0800, 6, 4)
_REQUEST, _REPLY = 1, 2
_ICMPV6: Final = 58
_IPV6_HEADER: Final = 40
_SOLICITATION, _ADVERTISEMENT = 135, 136


@dataclass
class AddressRequests:
    """What a host's captures have of address resolution: who answered, and the requests' identities by who asks and for what."""

    asked: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def add(self, frames: Frames, of_frames: NDArray[np.uint64]) -> None:
        """Captured frames with their identities; all but requests and answers are left out."""
        kind, at = frames.network_layers
        is_discovery = (kind == IPV6) & (at + _IPV6_HEADER <= frames.end) & (frames.at(at + 6) == _ICMPV6)
        for place in np.flatnonzero(is_discovery | (kind == _ARP)).tolist():
            identity = int(of_frames[place])
            packet = frames.content[at[place] : frames.end[place]]
            if kind[place] == _ARP:
                self._add_arp(identity, packet[:28])
            else:
                self._add_discovery(identity, packet[8:24], packet[_IPV6_HEADER : _IPV6_HEADER + 24])

    def unanswered(self, askers: Sequence[str], address: str) -> list[int]:
        """The identities of their requests for an address that never answered."""
        return [] if address in self.answered else [one for asker in askers for one in self.asked.get((asker, address), ())]

    def _add_arp(self, identity: int, packet: bytes) -> None:
        if len(packet) < 28 or struct.unpack_from(">HHBB", packet) != _ARP_OF_ETHERNET:
            return
        sender, target = (str(ip_address(packet[at : at + 4])) for at in (14, 24))
        operation = int.from_bytes(packet[6:8])
        if operation == _REQUEST:
            self.asked.setdefault((sender, target), []).append(identity)
        elif operation == _REPLY:
            self.answered.add(sender)

    def _add_discovery(self, identity: int, source: bytes, message: bytes) -> None:
        if len(message) < 24 or message[0] not in (_SOLICITATION, _ADVERTISEMENT):
            return
        target = str(ip_address(message[8:24]))
        if message[0] == _SOLICITATION:
            self.asked.setdefault((str(ip_address(source)), target), []).append(identity)
        else:
            self.answered.add(target)


def unreached(flow: Flow, plan: Plan, requests: Mapping[str, AddressRequests], passages: pl.DataFrame) -> str | None:
    """Which end of a flow without frames could not reach the other one, and which netboxes lost its requests, in words.

    The sender has nothing to answer where the receiver could not ask. `requests` are those of each host, `passages` those of all
    netboxes (`results.frames.together`). None: the network does not explain it.
    """
    hosts = {node.name: node for node in plan.nodes if node.kind == "host"}
    for name, peer in ((flow.source, flow.destination_address), (flow.destination, flow.source_address)):
        if (host := hosts.get(name)) is None or name not in requests or (hop := _next_hop(host, peer)) is None:
            continue
        asked = requests[name].unanswered([str(ip_interface(one).ip) for one in _addresses(host)], hop)
        lost = passages.filter(pl.col("identity").is_in(asked) & (pl.col("fate") != Fate.DELIVERED))
        if asked and lost.height >= len(asked):
            netboxes = listed(sorted(set(lost["netbox"])), "and")
            many = "once" if len(asked) == 1 else f"{len(asked)} times"
            return f"{name} asked {many} for the link-layer address of {hop}, and {netboxes} lost every request"
    return None


def _next_hop(host: NodePlan, address: str) -> str | None:
    """The address itself on a link of the host's, else the gateway of the route with the longest prefix."""
    wanted = ip_address(address)
    if any(wanted in ip_interface(one).network for one in _addresses(host)):
        return address
    routes = [
        (0 if route.destination == "default" else ip_network(route.destination).prefixlen, route.gateway)
        for route in host.routes
        if ip_address(route.gateway).version == wanted.version
        and (route.destination == "default" or wanted in ip_network(route.destination))
    ]
    return max(routes, default=(0, None))[1]


def _addresses(host: NodePlan) -> list[str]:
    return [address for interface in host.interfaces for address in interface.addresses]
