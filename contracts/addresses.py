# SPDX-License-Identifier: GPL-2.0-or-later
"""IP addresses of a lab: one or several to an interface, private ones only, because a lab is a closed network."""

from __future__ import annotations

import re
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

Interface = IPv4Interface | IPv6Interface
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

#: RFC 1918; RFC 5737 (documentation); RFC 2544 (benchmarks); RFC 4193 (unique local); RFC 3849 and RFC 9637 (documentation).
PRIVATE = tuple(
    ip_network(text)
    for text in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15"),
        *("fc00::/7", "2001:db8::/32", "3fff::/20"),
    )
)


_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def parse_interface(text: object) -> Interface:
    """An address with the length of its network's prefix. Raises ValueError when it is none, or not one for a closed network."""
    if not isinstance(text, str):
        raise ValueError(f"{text} is not an address; write one with its prefix length, like 10.0.0.1/24")
    try:
        interface = ip_interface(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an address with a prefix length; write it like 10.0.0.1/24 or fd00::1/64") from None
    if "/" not in text:
        raise ValueError(f"{text} has no prefix length; write it like {text}/{24 if interface.version == 4 else 64}")
    network = interface.network
    for kind in ("loopback", "multicast", "link_local"):
        if getattr(interface.ip, f"is_{kind}"):
            raise ValueError(
                f"{text} is a {kind.replace('_', '-')} address, which is given to no interface; "
                "use one of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7"
            )
    if not any(network.version == private.version and network.subnet_of(private) for private in PRIVATE):  # type: ignore[arg-type]
        raise ValueError(
            f"{text} is not private, and a lab must not use addresses of others; "
            "use 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7"
        )
    hosts_follow = network.prefixlen < network.max_prefixlen - 1  # RFC 3021, RFC 6164: both of a pair can be used
    if hosts_follow and interface.ip == network.network_address:
        raise ValueError(f"{text} is the network's own address; use one after it, like {interface.ip + 1}/{network.prefixlen}")
    if hosts_follow and network.version == 4 and interface.ip == network.broadcast_address:
        raise ValueError(f"{text} is the broadcast address of {network}; use one before it")
    return interface


def parse_address(text: object) -> Address:
    """An address alone. Raises ValueError."""
    try:
        return ip_address(str(text))
    except ValueError:
        hint = "; leave the prefix length out" if "/" in str(text) else "; write it like 10.0.0.1 or fd00::1"
        raise ValueError(f"{str(text)!r} is not an IP address{hint}") from None


def parse_ipv4(text: object) -> IPv4Address:
    """An IPv4 address alone. Raises ValueError."""
    address = parse_address(text)
    if not isinstance(address, IPv4Address):
        raise ValueError(f"{text} is not an IPv4 address; write one like 10.0.0.1")
    return address


def parse_mac(text: object) -> str:
    """A MAC address, in small letters. Raises ValueError."""
    if not isinstance(text, str) or not _MAC.fullmatch(text.lower()):
        raise ValueError(f"{text!r} is not a MAC address; write it like 02:00:00:00:01:00")
    return text.lower()


def parse_network(text: object) -> str:
    """A network in CIDR, its host bits cleared. Raises ValueError."""
    try:
        return str(ip_network(str(text), strict=False))
    except ValueError:
        raise ValueError(f"{str(text)!r} is not a network; write it like 10.0.0.0/8 or fd00::/64") from None


def overlap(first: Interface, second: Interface) -> bool:
    """Whether the networks of two interfaces share an address."""
    return first.version == second.version and first.network.overlaps(second.network)


def _interfaces(value: object) -> tuple[Interface, ...]:
    interfaces = tuple(parse_interface(item) for item in (value if isinstance(value, list) else [value]))
    if not interfaces:
        raise ValueError("an interface needs an address; write it like 10.0.0.1/24")
    for version in (4, 6):
        if sum(interface.version == version for interface in interfaces) > 1:
            raise ValueError(f"two IPv{version} addresses on one interface; keep one, and one of IPv{10 - version} if wanted")
    return interfaces


def _gateways(value: object) -> tuple[Address, ...]:
    gateways = tuple(parse_address(item) for item in (value if isinstance(value, list) else [value]))
    if len({gateway.version for gateway in gateways}) < len(gateways):
        raise ValueError("two gateways of one IP version; keep one")
    return gateways


def _one_or_list(example: str) -> WithJsonSchema:
    text_schema: dict[str, Any] = {"type": "string", "examples": [example]}
    return WithJsonSchema({"anyOf": [text_schema, {"type": "array", "items": text_schema, "minItems": 1, "maxItems": 2}]})


_as_text = PlainSerializer(lambda addresses: [str(address) for address in addresses], return_type=list[str])

Addresses = Annotated[tuple[Any, ...], BeforeValidator(_interfaces), _as_text, _one_or_list("10.0.0.1/24")]
Gateways = Annotated[tuple[Any, ...], BeforeValidator(_gateways), _as_text, _one_or_list("10.0.0.1")]
NetworkText = Annotated[str, BeforeValidator(parse_network)]
Ipv4 = Annotated[IPv4Address, BeforeValidator(parse_ipv4), PlainSerializer(str)]
Mac = Annotated[str, BeforeValidator(parse_mac)]
