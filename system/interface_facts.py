# SPDX-License-Identifier: GPL-2.0-or-later
"""What there is of interfaces in a machine's own network, as data, for whoever plans what they carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface


@dataclass(frozen=True)
class InterfaceFacts:
    """`addresses` have their prefix lengths."""

    name: str
    mtu: int
    up: bool
    addresses: tuple[str, ...] = ()
    #: What is on that makes one frame of several that arrive.
    merging: tuple[str, ...] = ()


def read() -> tuple[InterfaceFacts, ...]:
    """All of the network that the calling thread is in."""
    from pyroute2 import IPRoute  # type: ignore[import-untyped]  # netlink, which planning does without

    from system import interface_settings

    with IPRoute() as netlink:
        # Of a point-to-point interface "address" is the other end's.
        addresses = [
            (address["index"], f"{address.get('local') or address.get('address')}/{address['prefixlen']}")
            for address in netlink.get_addr()
        ]
        return tuple(
            InterfaceFacts(
                link.get("ifname"),
                link.get("mtu"),
                link["state"] == "up",
                tuple(address for index, address in addresses if index == link["index"]),
                tuple(interface_settings.merging_features(link.get("ifname"))),
            )
            for link in netlink.get_links()
        )


def with_address(interfaces: Iterable[InterfaceFacts], address: str) -> InterfaceFacts | None:
    """The one that has it."""
    wanted = ip_address(address)
    return next((face for face in interfaces if any(ip_interface(own).ip == wanted for own in face.addresses)), None)


def merges(name: str, features: Sequence[str]) -> str:
    """What is wrong with an interface that has those of `merging` on."""
    return (
        f"merges frames that arrive ({', '.join(features)}), which an emulator must not see; turn that off "
        f"(ethtool -K {name} gro off lro off rx-gro-hw off)"
    )
