# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that people give, and the names, addresses and seeds that follow from them."""

from __future__ import annotations

import hashlib
import re
from ipaddress import IPv6Address

from contracts.errors import WrongInput

#: An interface's name has 15 characters at most (IFNAMSIZ of linux/if.h less the final NUL); nodes keep to the same.
PATTERN = r"^[a-z][a-z0-9-]{0,14}$"

#: How many a tunnel's identifier may be (24 bits), without 0.
TUNNEL_NUMBERS = 2**24 - 1
#: The WireGuard interface below the tunnels of a machine whose inventory has them sealed.
SEALED_INTERFACE = "netboxit"
#: The bridge of a switch, and by its name the interface with the switch's own address.
BRIDGE = "br0"

#: Names with a meaning of their own to the kernel or to name resolution.
_RESERVED = {
    "lo": "the loopback interface",
    "all": "every interface",
    "default": "what nothing else fits",
    "localhost": "the node itself",
}


class BadLabName(WrongInput):
    """A lab was given a name on the command line that it cannot have."""


def check_name(name: str) -> str:
    """Returns the name. Raises ValueError saying what a name is."""
    if name in _RESERVED:
        raise ValueError(f'the name "{name}" is taken: it stands for {_RESERVED[name]}; choose another')
    if len(name) > 15:
        raise ValueError(
            f'the name "{name}" has {len(name)} characters; use 15 at most, so that interfaces can be named after it'
        )
    if not re.fullmatch(PATTERN, name, re.ASCII) or name.endswith("\n"):
        remedy = "put a space after the colon" if ":" in name else "use small letters, digits and -, a letter first"
        raise ValueError(f'"{name}" is not a name; {remedy}')
    return name


def lab_name(name: str) -> str:
    """A lab's name from the command line. Raises BadLabName."""
    try:
        return check_name(name)
    except ValueError as error:
        raise BadLabName(f"lab name: {error}") from None


def container_name(lab: str, node: str) -> str:
    """Also the name of the node's network namespace. At most 35 characters."""
    return f"nbx-{lab}-{node}"


def monitors_namespace(lab: str) -> str:
    """The network of LXC's own processes for a lab; no node's namespace has a dot in its name."""
    return f"nbx-{lab}.lxc"


def mac_address(lab: str, node: str, interface: str) -> str:
    """A locally administered unicast address (IEEE 802-2014, 8.2), the same for the same names."""
    return (b"\x02" + _hash(5, lab, node, interface)).hex(":")


def interface_name(prefix: str, lab: str, equipment: str) -> str:
    """Of an interface that a lab makes on the host; no two labs make the same."""
    return prefix + _hash(5, lab, equipment).hex()


def tunnel_number(lab: str, wire: str) -> int:
    """The network identifier of a wire between machines, 1 … 2^24-1 (RFC 7348, 5): the same on both of them."""
    return int.from_bytes(_hash(8, lab, wire), "big") % TUNNEL_NUMBERS + 1


def sealed_address(machine: str) -> str:
    """Of a machine's WireGuard interface: a link-local one (RFC 4291, 2.5.6) of its name, so that each knows all others'.

    The role `sealed` in ansible/ makes the same.
    """
    digest = hashlib.sha256(f"netboxit {machine}".encode()).hexdigest()
    return str(IPv6Address(f"fe80::{':'.join(digest[at : at + 4] for at in range(0, 16, 4))}"))


def netbox_seed(seed: int, netbox: str) -> int:
    """The seed of one netbox, 1 … 2^31-1: independent of the other netboxes of the file."""
    return int.from_bytes(_hash(8, str(seed), netbox), "big") % (2**31 - 1) + 1


def traffic_seed(seed: int, traffic: str) -> int:
    """The seed of what an entry of the traffic draws, 1 … 2^31-1: independent of the other entries and of the netboxes."""
    return int.from_bytes(_hash(8, "traffic", str(seed), traffic), "big") % (2**31 - 1) + 1


def repetition_seed(seed: int, repetition: int) -> int:
    """The seed of a campaign's repetition, from 0: 1 … 2^31-1, another one for each seed of a campaign."""
    return int.from_bytes(_hash(8, "repetition", str(seed), str(repetition)), "big") % (2**31 - 1) + 1


def _hash(octets: int, *parts: str) -> bytes:
    return hashlib.blake2b("/".join(parts).encode(), digest_size=octets).digest()
