# SPDX-License-Identifier: GPL-2.0-or-later
"""What belongs to a traffic class of a netbox: conditions on a frame's headers, all of which must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from applications.dscp import parse_dscp
from contracts.addresses import NetworkText
from netboxes.queueing.queue import OTHERS
from testbed.description.input_errors import nearest
from testbed.description.section import Section
from testbed.description.yaml_source import Location

#: Protocols by name; other ones by their number (IANA, Assigned Internet Protocol Numbers).
PROTOCOLS = ("udp", "tcp", "icmp")

#: EtherTypes by name (IEEE Registration Authority).
ETHER_TYPES = {"ipv4": 0x0800, "arp": 0x0806, "ipv6": 0x86DD}

T = TypeVar("T")

_ONE_OR_LIST = {"type": ["string", "integer", "array"]}


def one_or_several(
    parse: Callable[[object], T],
    none: str = "an empty list fits nothing; give at least one value, or leave the condition out",
) -> Callable[[object], tuple[T, ...]]:
    """A validator of one value or of a list of them, each of which `parse` reads; `none` is what is told of an empty list."""

    def parse_all(value: object) -> tuple[T, ...]:
        items = value if isinstance(value, list) else [value]
        if not items:
            raise ValueError(none)
        return tuple(map(parse, items))

    return parse_all


def _protocol(value: object) -> str | int:
    if isinstance(value, str) and value.lower() in PROTOCOLS:
        return value.lower()
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    raise ValueError(f"{value!r} is not a protocol; use {', '.join(PROTOCOLS)} or a number from 0 to 255")


def _port_range(value: object) -> tuple[int, int]:
    ends = [end.strip() for end in str(value).split("-")]
    if len(ends) > 2 or not all(end.isascii() and end.isdigit() and len(end) <= 5 for end in ends):
        raise ValueError(f"{value!r} is not a port; write one like 5060, or a range like 5004-5010")
    low, high = int(ends[0]), int(ends[-1])
    if not (1 <= low <= 65535 and 1 <= high <= 65535):
        raise ValueError(f"{value!r} is not a port; ports are 1 to 65535")
    if low > high:
        raise ValueError(f"{value!r} is not a range of ports; write the lower one first")
    return low, high


def _ether_type(value: object) -> int:
    if isinstance(value, str) and value.lower() in ETHER_TYPES:
        return ETHER_TYPES[value.lower()]
    # IEEE 802.3-2022, 3.2.6: smaller values are lengths.
    if isinstance(value, int) and not isinstance(value, bool) and 0x600 <= value <= 0xFFFF:
        return value
    raise ValueError(f"{value!r} is not an EtherType; use {', '.join(ETHER_TYPES)} or a number from 0x0600 to 0xffff")


_dscps = one_or_several(parse_dscp)
_port_ranges = one_or_several(_port_range)
_ether_types = one_or_several(_ether_type)


class Match(Section):
    """The first class whose conditions all hold gets the frame; what fits none is of class `default`."""

    dscp: Annotated[tuple[int, ...], BeforeValidator(_dscps), WithJsonSchema(_ONE_OR_LIST)] | None = Field(
        None, description="Differentiated services code point: a name (ef, af41, cs5, be), a number, or a list of them."
    )
    protocol: Annotated[str | int, BeforeValidator(_protocol), WithJsonSchema({"type": ["string", "integer"]})] | None = Field(
        None, description="udp, tcp, icmp (of either IP version), or the protocol's number."
    )
    ports: Annotated[tuple[tuple[int, int], ...], BeforeValidator(_port_ranges), WithJsonSchema(_ONE_OR_LIST)] | None = Field(
        None, description="Source or destination port: one, a range like 5004-5010, or a list of both."
    )
    source: NetworkText | None = Field(None, description="Network of the source address, like 10.10.0.0/24.")
    destination: NetworkText | None = Field(None, description="Network of the destination address.")
    ether_type: Annotated[tuple[int, ...], BeforeValidator(_ether_types), WithJsonSchema(_ONE_OR_LIST)] | None = Field(
        None, description="ipv4, ipv6, arp, a number like 0x88cc, or a list of them; a VLAN tag is looked behind."
    )

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if not self.model_dump(exclude_none=True):
            yield (), "a class without a condition; give one, like dscp: ef (what fits no class is of class default)"
        if self.ports and self.protocol not in (None, "udp", "tcp", 6, 17):
            yield (), f"protocol {self.protocol} has no ports; use udp or tcp, or leave one of the two out"

    def rule(self) -> dict[str, Any]:
        """The conditions as the netbox's classifier reads them (docs/architecture.md, "Netbox process")."""
        return self.model_dump(mode="json", exclude_none=True)


def unknown_classes(used: Mapping[Location, str], classes: Sequence[str]) -> dict[Location, str]:
    """What is wrong, by place, of the classes that a netbox's parameters name: it declares `classes`."""
    remedy = "it declares none; add classes, like {{{name}: {{dscp: ef}}}}, to the netbox"
    return {
        at: f'the netbox has no class "{name}"; {nearest(name, [*classes, OTHERS]) if classes else remedy.format(name=name)}'
        for at, name in used.items()
        if name not in (*classes, OTHERS)
    }
