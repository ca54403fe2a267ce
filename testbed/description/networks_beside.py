# SPDX-License-Identifier: GPL-2.0-or-later
"""What a member of a managed link reaches without the link's netbox: IP networks, and the gateway."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from ipaddress import IPv4Network, collapse_addresses, ip_network
from typing import cast

from contracts.addresses import Network
from testbed.description.managed_link import ManagedLink
from testbed.description.wiring import Draft, Wiring


def on_the_gateways_side(wiring: Wiring, link: ManagedLink, member: str) -> bool:
    """Whether a member and the gateway are on one side of the netbox `of`, which the link names."""
    return link.of is not None and link.gateway in wiring.beside(link.of, member)


def networks_beside(draft: Draft, wiring: Wiring, netbox: str, member: str) -> list[str]:
    """Whole networks, and of a network that is on both sides the addresses that are nearer without the netbox."""
    near = wiring.beside(netbox, member)
    networks: dict[Network, dict[bool, set[Network]]] = defaultdict(lambda: {True: set(), False: set()})
    for end, address, _ in draft.interfaces():
        networks[address.network][end.node in near].add(ip_network(address.ip))
    whole = [network for network, sides in networks.items() if sides[True] and not sides[False]]
    some = [address for sides in networks.values() if sides[False] for address in sides[True]]
    return [str(network) for version in (4, 6) for network in _collapsed([*whole, *some], version)]


def _collapsed(networks: Iterable[Network], version: int) -> Iterable[Network]:
    """The fewest prefixes with the same addresses, of one version of IP."""
    return collapse_addresses(cast(Iterable[IPv4Network], (network for network in networks if network.version == version)))
