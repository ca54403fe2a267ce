# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether machines can carry the wires that a plan has between them: asked of what is known of each, before anything is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address

from contracts.errors import NetBoxITError
from contracts.plan import Plan, WirePlan
from system import tunnel
from testbed.description.topology import Topology
from testbed.description.wiring import Wiring
from testbed.plans.sites import Site


class MachinesUnfit(NetBoxITError):
    """Machines lack what wires between them need; nothing was touched."""


def check(topology: Topology, plan: Plan, sites: Sequence[Site]) -> None:
    """Raises MachinesUnfit with everything that speaks against it."""
    if wrong := problems(topology, plan, sites):
        raise MachinesUnfit("\n".join(wrong))


def problems(topology: Topology, plan: Plan, sites: Sequence[Site]) -> list[str]:
    """What is missing, each with its machine and the remedy."""
    site_of = {site.name: site for site in sites}
    wires = [
        (wire, site_of[plan.node(wire.left.node).host], site_of[plan.node(wire.right.node).host])
        for wire in plan.wires
        if wire.kind in ("vxlan", "port")
    ]
    tunnels = [between for between in wires if between[0].kind == "vxlan"]
    complaints = [complaint for wire, left, right in tunnels for complaint in _pair(left, right)]
    # A full packet may have a tag besides where frames of VLANs pass.
    tagged = {str(end) for places in Wiring.of(topology).places for end, tag in places if tag is not None}
    largest: dict[str, int] = {}
    for wire, *ends in tunnels:
        packet = wire.mtu + (tunnel.TAG if f"{wire.left.node}.{wire.left.interface}" in tagged else 0)
        largest |= {site.name: max(packet, largest.get(site.name, 0)) for site in ends}
    for name, packet in largest.items():
        site = site_of[name]
        interfaces, address = site.facts.interfaces, site.address
        if site.sealed:
            complaints += [f"{name}: {problem}" for problem in tunnel.sealed_problems(interfaces, name, packet, address)]
        elif address:
            complaints += [f"{name}: {problem}" for problem in tunnel.problems(interfaces, address, packet)]
    complaints += [complaint for wire, *ends in wires for complaint in _ports(wire, ends)]
    return list(dict.fromkeys(complaints))


def _pair(left: Site, right: Site) -> Iterator[str]:
    for site in (left, right):
        if not site.address:
            yield f"{site.name}: no address is known that carries wires to it; say it in the inventory (netboxit_address)"
    if not left.address or not right.address:
        return
    if ip_address(left.address).version != ip_address(right.address).version:
        cause = f"{left.name} has the address {left.address} and {right.name} {right.address}: one is IPv4 and one IPv6"
        yield f"{cause}; give both one kind in the inventory (netboxit_address)"
    if left.address == right.address:
        yield f"{left.name} and {right.name} have one address, {left.address}; correct the inventory (netboxit_address)"
    if left.sealed != right.sealed:
        yield (
            f"{left.name} and {right.name}: only one of them has its tunnels sealed, "
            f"{(right if left.sealed else left).name} has not; say "
            "netboxit_tunnels: wireguard of all machines in the inventory, or of none"
        )
    if left.vxlan_port != right.vxlan_port:
        yield (
            f"{left.name} and {right.name} have different UDP ports for tunnels ({left.vxlan_port}, {right.vxlan_port}); "
            "give all machines one in the inventory (netboxit_vxlan_port)"
        )


def _ports(wire: WirePlan, ends: Sequence[Site]) -> Iterator[str]:
    for site, device in zip(ends, wire.over or (), strict=False):
        if device not in {interface.name for interface in site.facts.interfaces}:
            yield f"{site.name}: there is no interface {device} for the wire {wire.name}; see `ip link` there"
