# SPDX-License-Identifier: GPL-2.0-or-later
"""OSPF and BFD of a configuration of FRRouting, with the timers that it would have: for routers in virtual time."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from contracts.addresses import Interface
from contracts.plan import NodePlan
from testbed.nodes import frr

#: What FRRouting's ospfd and bfdd take where the configuration says nothing: RFC 2328, appendix C.3, and the manuals of both.
_HELLO_S: Final = 10.0
_DEAD_S: Final = 40.0
_RETRANSMIT_S: Final = 5.0
_LSA_INTERVAL_S: Final = 5.0
_SPF_S: Final = (0.0, 0.05, 5.0)
_BFD: Final = {"interval_s": 0.3, "multiplier": 3}


def ospf_of(node: NodePlan) -> dict[str, Any] | None:
    """As endpoints read it (netboxes/endpoints/README.md); None where the node's FRRouting speaks none."""
    if frr.CONFIGURATION not in node.files:
        return None
    text = node.files[frr.CONFIGURATION]
    interfaces: dict[str, list[Interface]] = {
        port.name: [ipaddress.ip_interface(address) for address in port.addresses] for port in node.interfaces
    }
    routes = frr.read_routes(text, interfaces)
    if not routes.costs:
        return None
    neighbours, networks = frr.awaited(node.command)
    sections = dict(_sections(text))
    follow = json.loads(node.files.get(frr.LINK_COSTS, "{}"))
    references = dict.fromkeys(follow.get("interfaces", ()), follow.get("reference_bps"))
    return {
        "router": str(_router_id(sections, interfaces)),
        **_timers(sections),
        "neighbours": neighbours,
        "networks": networks,
        "interfaces": {
            name: {**_of_interface(sections, name, cost, name in routes.passive), "reference_bps": references.get(name)}
            for name, cost in routes.costs.items()
            if any(address.version == 4 for address in interfaces[name])
        },
    }


def _sections(text: str) -> Iterator[tuple[tuple[str, ...], list[list[str]]]]:
    """Each by its first words, with the words of its lines."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    section: list[list[str]] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] in (["interface"], ["router"], ["profile"]):
            section = found.setdefault(tuple(words[:2]), [])
        elif words:
            section.append(words)
    yield from found.items()


_Sections = Mapping[tuple[str, ...], Sequence[list[str]]]


def _router_id(sections: _Sections, interfaces: Mapping[str, Sequence[Interface]]) -> ipaddress.IPv4Address:
    """zebra takes the highest address where none is said."""
    for words in sections.get(("router", "ospf"), ()):
        if words[:2] in (["ospf", "router-id"], ["router-id", *words[1:2]]):
            return ipaddress.IPv4Address(words[-1])
    return max(own.ip for addresses in interfaces.values() for own in addresses if own.version == 4)


def _timers(sections: _Sections) -> dict[str, float]:
    lsa_s, spf_s = _LSA_INTERVAL_S, _SPF_S
    for words in sections.get(("router", "ospf"), ()):
        match words:
            case ["timers", "throttle", "spf", delay, hold, most]:
                spf_s = (float(delay) / 1e3, float(hold) / 1e3, float(most) / 1e3)
            case ["timers", "throttle", "lsa", "all", interval]:
                lsa_s = float(interval) / 1e3
    return {"lsa_interval_s": lsa_s, "spf_delay_s": spf_s[0], "spf_hold_s": spf_s[1], "spf_most_s": spf_s[2]}


def _of_interface(sections: _Sections, name: str, cost: int, passive: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"cost": cost, "passive": passive, "point_to_point": False}
    told |= {"hello_s": _HELLO_S, "dead_s": _DEAD_S, "retransmit_s": _RETRANSMIT_S, "bfd": None}
    for words in sections.get(("interface", name), ()):
        match words:
            case ["ip", "ospf", "network", kind]:
                told["point_to_point"] = kind == "point-to-point"
            case ["ip", "ospf", "hello-interval", seconds]:
                told["hello_s"] = float(seconds)
            case ["ip", "ospf", "dead-interval", seconds]:
                told["dead_s"] = float(seconds)
            case ["ip", "ospf", "retransmit-interval", seconds]:
                told["retransmit_s"] = float(seconds)
            case ["ip", "ospf", "bfd"]:
                told["bfd"] = told["bfd"] or _BFD
            case ["ip", "ospf", "bfd", "profile", profile]:
                told["bfd"] = _profile(sections, profile)
    return told


def _profile(sections: _Sections, name: str) -> dict[str, Any]:
    """The slower of its two intervals: that at which both ends of a session with this profile send."""
    bfd, intervals_s = dict(_BFD), list[float]()
    for words in sections.get(("profile", name), ()):
        match words:
            case ["detect-multiplier", number]:
                bfd["multiplier"] = int(number)
            case ["receive-interval" | "transmit-interval", milliseconds]:
                intervals_s.append(float(milliseconds) / 1e3)
    return bfd | ({"interval_s": max(intervals_s)} if intervals_s else {})
