# SPDX-License-Identifier: GPL-2.0-or-later
"""The routes in a Click configuration, from the arguments of its routing table."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from ipaddress import IPv4Network
from typing import Final

_TABLE: Final = re.compile(
    r"\b(?:StaticIPLookup|LinearIPLookup|RadixIPLookup|DirectIPLookup|RangeIPLookup|SortedIPLookup)\s*\(([^()]*)\)"
)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)(?:-([^}]*))?\})")


def static_routes(text: str, defines: Mapping[str, str]) -> list[tuple[IPv4Network, str | None]] | None:
    """Each network with the gateway to it, None for a network that the router itself is in or drops what is for it.

    None when the configuration has no routing table of its own or several, so that it does not say where packets go.
    """
    tables = _TABLE.findall(_COMMENT.sub(" ", text))
    return list(_routes(_replaced(tables[0], defines))) if len(tables) == 1 else None


def _replaced(text: str, defines: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: defines.get(found[1] or found[2], found[3] or ""), text)


def _routes(arguments: str) -> Iterator[tuple[IPv4Network, str | None]]:
    """`ADDRESS/LENGTH [GATEWAY] OUTPUT`; addresses that Click looks up by name are broadcasts and the like."""
    for argument in arguments.split(","):
        match argument.split():
            case [network, gateway, _]:
                told = None if gateway in ("-", "0.0.0.0") else gateway
            case [network, _]:
                told = None
            case _:
                continue
        with suppress(ValueError):
            yield ipaddress.IPv4Network(network, strict=False), told
