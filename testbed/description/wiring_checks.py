# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be wrong between the parts of a topology when each part is right in itself.

Of switches: loops, and tunnels that lead nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from applications.application import ARRANGED_S, Ports
from contracts.addresses import Address, Interface, overlap
from contracts.errors import listed
from testbed.description.input_errors import nearest
from testbed.description.managed_link import MOST_BESIDE
from testbed.description.networks_beside import networks_beside, on_the_gateways_side
from testbed.description.topology import Topology, Traffic
from testbed.description.wiring import Draft, End, Problem, Wiring, address_reached, find_end, path_to, reached, tunnels
from testbed.description.yaml_source import Location

_SECTIONS = Topology.SECTIONS


def problems(draft: Draft) -> list[Problem]:
    """Everything that is wrong. What follows from another error is left out."""
    wires, wrong_wires, meant = _wires(draft)
    wiring = draft.wiring(list(wires.values()))
    wrong = [
        *_nothing(draft),
        *_names_used_twice(draft),
        *_centre(draft),
        *wrong_wires,
        *_memory_at_kernels(draft, wires),
        *_unwired(draft, wires, meant),
        *_addresses_used_twice(draft),
        *_networks_on_a_segment(draft, wiring),
        *_gateways(draft),
        *_traffic_ends(draft),
        *traffic_problems(draft.traffic),
        *_managed_hosts(draft),
        *_managed_netboxes(draft),
        *_told_by_nobody(draft, wires),
    ]
    if draft.whole and not wrong:
        wrong += [*_overlapping_networks(draft, wiring), *_gateways_that_nobody_is(draft, wiring), *_unreachable(draft, wiring)]
        wrong += _beside_the_link(draft, wiring)
        wrong += _beyond_a_group(draft, wiring)
    if draft.switches:
        wrong += [*_loops(draft), *_one_way_tunnels(draft)]
    return wrong


def _names_used_twice(draft: Draft) -> Iterator[Problem]:
    sections: dict[str, str] = {}
    for section, name, _ in draft.nodes():
        if name in sections:
            yield Problem(
                (section, name),
                f'"{name}" is the name of a {_SECTIONS[sections[name]].KIND} already',
                "give each node a name of its own",
                key=True,
            )
        sections.setdefault(name, section)


def _nothing(draft: Draft) -> Iterator[Problem]:
    if draft.whole and not any(draft.nodes()):
        yield Problem((), "the network has no node", "add hosts: or netboxes:")


def _centre(draft: Draft) -> Iterator[Problem]:
    if draft.whole and draft.traffic and draft.centre is None:
        yield Problem(
            ("traffic",),
            "there is traffic, but no centre to tell its directions by",
            f"add centre: {listed(list(draft.hosts)) if draft.hosts else '…'}",
            key=True,
        )
    if draft.centre is not None and draft.centre not in draft.hosts:
        yield Problem(("centre",), *_not_a_host(draft, draft.centre))


def _not_a_host(draft: Draft, name: str) -> tuple[str, str]:
    for section, node, _ in draft.nodes():
        if node == name:
            return f'"{name}" is a {_SECTIONS[section].KIND}, not a host', f"use {listed(list(draft.hosts))}"
    return f'there is no host "{name}"', nearest(name, draft.hosts)


def _wires(draft: Draft) -> tuple[dict[int, tuple[End, End]], list[Problem], set[str]]:
    """The wires that are right, what is wrong with the others, and the ends that these probably meant."""
    ports = draft.ports()
    right: dict[int, tuple[End, End]] = {}
    wrong: list[Problem] = []
    meant: set[str] = set()
    taken: dict[End, int] = {}
    for index, wire in draft.wires.items():
        ends: list[End] = []
        for side, text in enumerate(wire.ends):
            place: Location = ("wires", index, "ends", side)
            try:
                end = find_end(text, ports)
            except ValueError as error:
                wrong.append(Problem.of(place, str(error)))
                meant |= {*wrong[-1].remedy.split('"')[1::2], text}
                continue
            if end in taken and ports[end.node] is not None:
                wrong.append(Problem(place, f"{end} has a wire already: wires.{taken[end]}", "join each port once"))
            else:
                taken[end] = index
                ends.append(end)
        if len(ends) == 2 and ends[0].node == ends[1].node:
            wrong.append(Problem(("wires", index), f'the wire joins "{ends[0].node}" to itself', "join two nodes"))
        elif len(ends) == 2:
            right[index] = (ends[0], ends[1])
    return right, wrong, meant


def _memory_at_kernels(draft: Draft, wires: dict[int, tuple[End, End]]) -> Iterator[Problem]:
    """Programs, and a kernel that passes frames or packets on, speak to interfaces of the kernel, which shared memory is not."""
    for index, ends in wires.items():
        for end in ends if draft.wire_kind(index) == "memory" else ():
            node = draft.node(end.node)
            if node and (why := node.needs_interface()):
                yield Problem(
                    ("wires", index, "wire"),
                    f"a memory wire joins emulators only, and {end.node} is a {node.KIND}, {why}",
                    f"write {{ends: [{', '.join(draft.wires[index].ends)}], wire: veth}}",
                )


def _unwired(draft: Draft, wires: dict[int, tuple[End, End]], meant: set[str]) -> Iterator[Problem]:
    if draft.lost_wires:
        return
    wired = (
        {text for wire in draft.wires.values() for text in wire.ends}
        | {str(end) for ends in wires.values() for end in ends}
        | meant
    )
    ports = draft.ports()
    for section, name, _ in draft.nodes():
        node_ports = ports[name] or ()
        for port in node_ports:
            by_name = wired if len(node_ports) == 1 else meant
            if f"{name}.{port}" in wired or name in by_name:
                continue
            kind, port_kind = _SECTIONS[section].KIND, _SECTIONS[section].PORT
            whole = section in ("hosts", "equipment") and len(node_ports) == 1
            place: Location = (section, name) if whole else (section, name, f"{port_kind}s", port)
            yield Problem(
                place,
                f"{kind} {name} has no wire" if whole else f"{port_kind} {name}.{port} has no wire",
                f"add - [{name if whole else f'{name}.{port}'}, …] to wires",
                key=True,
            )


def _addresses_used_twice(draft: Draft) -> Iterator[Problem]:
    owners: dict[object, End] = {}
    for end, interface, place in draft.interfaces():
        if interface.ip in owners:
            yield Problem(
                place, f"{interface.ip} is the address of {owners[interface.ip]} already", "give each interface its own"
            )
        owners.setdefault(interface.ip, end)


def _networks_on_a_segment(draft: Draft, wiring: Wiring) -> Iterator[Problem]:
    """All that can hear each other without a router must be in one network."""
    for segment in wiring.segments():
        first: dict[int, tuple[End, Interface]] = {}
        for end, interface, place in draft.interfaces():
            if end not in segment:
                continue
            other, theirs = first.setdefault(interface.version, (end, interface))
            if interface.network != theirs.network:
                yield Problem(
                    place,
                    f"{end} is in {interface.network}, "
                    f"but {other}, joined to it without a router between, is in {theirs.network}",
                    "give both one network, or put a router between",
                )


def _gateways(draft: Draft) -> Iterator[Problem]:
    for name, host in draft.hosts.items():
        for gateway in host.gateway if host else ():
            own = [
                interface for end, interface, _ in draft.interfaces() if end.node == name and interface.version == gateway.version
            ]
            if any(interface.ip == gateway for interface in own):
                yield Problem(("hosts", name, "gateway"), f"{gateway} is the host's own address", "give the router's")
            elif not any(gateway in interface.network for interface in own):
                networks = listed([str(interface.network) for interface in own]) if own else f"an IPv{gateway.version} network"
                yield Problem(
                    ("hosts", name, "gateway"),
                    f"gateway {gateway} is not in {networks}, where {name} is",
                    "give the router's address in the host's own network",
                )


def _traffic_ends(draft: Draft) -> Iterator[Problem]:
    for name, traffic in draft.traffic.items():
        for key, host in (("from", traffic.source), ("to", traffic.destination)):
            if host not in draft.hosts:
                yield Problem(("traffic", name, key), *_not_a_host(draft, host))


def _managed_hosts(draft: Draft) -> Iterator[Problem]:
    """A host has one part at most: budgets of two links would be at odds, and their messages have the same ports."""
    parts: dict[str, str] = {}
    for link, managed in draft.management.items():
        named: list[tuple[Location, str]] = [(("management", link, "gateway"), managed.gateway)]
        named += [(("management", link, "members", index), name) for index, name in enumerate(managed.members)]
        for place, host in named:
            if place[-1] == "gateway" and host in draft.routers:
                if (router := draft.routers[host]) is not None and router.engine != "linux":
                    yield Problem(place, f"{host} is a Click router, in which no program runs", "name a host, or a Linux router")
            elif host not in draft.hosts:
                yield Problem(place, *_not_a_host(draft, host))
            if parts.setdefault(host, link) != link:
                yield Problem(place, f'"{host}" has a part in the management of {parts[host]} already', "name another host")


def _managed_netboxes(draft: Draft) -> Iterator[Problem]:
    for link, managed in draft.management.items():
        if managed.of is not None and managed.of not in draft.netboxes:
            yield Problem(("management", link, "of"), f'there is no netbox "{managed.of}"', nearest(managed.of, draft.netboxes))


def _beside_the_link(draft: Draft, wiring: Wiring) -> Iterator[Problem]:
    """A member whose packets do not cross the netbox would have a budget that holds nothing."""
    for link, managed in draft.management.items():
        if managed.of is None:
            continue
        sides = [on_the_gateways_side(wiring, managed, member) for member in managed.members]
        for index, member in enumerate(managed.members):
            if managed.rate == "netbox" and sides[index] != sides[0]:
                yield Problem(
                    ("management", link, "members", index),
                    f"{member} sends over {managed.of} in the other direction than {managed.members[0]}, which has another rate",
                    "leave it out, or give a rate instead of netbox",
                )
            elif wiring.beside(managed.of, member) >= wiring.distances(member).keys() - {managed.of}:
                yield Problem(
                    ("management", link, "members", index),
                    f"{member} reaches nothing by way of {managed.of}, so a budget of its rate would hold nothing",
                    f"leave {member} out, or name another netbox in `of`",
                )
            elif (count := len(networks_beside(draft, wiring, managed.of, member))) > MOST_BESIDE:
                yield Problem(
                    ("management", link, "of"),
                    f"{member} reaches {count} networks and addresses without {managed.of}, and its queue can leave out "
                    f"{MOST_BESIDE} of them",
                    "leave `of` out, so that all takes from budgets, or give what is on either side a network of its own",
                )


def _beyond_a_group(draft: Draft, wiring: Wiring) -> Iterator[Problem]:
    """Announcements by multicast reach the hosts of one network: no router forwards them."""
    for link, managed in draft.management.items():
        if managed.announcements != "multicast":
            continue
        first: tuple[str, Address] | None = None
        for index, member in enumerate(managed.members):
            host = draft.hosts.get(member)
            address = address_reached(draft, wiring, member, managed.gateway) if host and draft.node(managed.gateway) else None
            if host is None or address is None:
                continue  # others tell it
            place: Location = ("management", link, "members", index)
            near = [interface.network for addresses in host.ports().values() for interface in addresses]
            if address.version != 4 or not any(address in network for network in near):
                yield Problem(
                    place,
                    f"{member} is in no IPv4 network with {managed.gateway}, which it reaches at {address}, and announcements by "
                    "multicast reach no other",
                    "write announcements: copies",
                )
            elif first is None:
                first = member, address
            elif address != first[1]:
                yield Problem(
                    place,
                    f"{member} reaches {managed.gateway} at {address}, and {first[0]} at {first[1]}: announcements by multicast "
                    "leave by one interface",
                    f"write announcements: copies, or join {member} to the network of {first[0]}",
                )


def _told_by_nobody(draft: Draft, wires: Mapping[int, tuple[End, End]]) -> Iterator[Problem]:
    """Who follows what a netbox at an interface tells has one there that does."""
    near = defaultdict[str | End, list[str]](list)
    for own, far in [pair for left, right in wires.values() for pair in ((left, right), (right, left))]:
        if far.node in draft.netboxes:
            near[own].append(far.node)
            near[own.node].append(far.node)

    def is_told(place: str | End) -> bool:
        return any((netbox := draft.netboxes[name]) is None or netbox.telemetry for name in near[place])

    for router, of in draft.routers.items():
        for interface in [name for name, cost in of.ospf.costs.items() if cost == "netbox"] if of is not None and of.ospf else ():
            if not is_told(end := End(router, interface)):
                yield Problem(
                    ("routers", router, "ospf", "costs", interface),
                    f"no netbox at {router}.{interface} tells what its link is like",
                    f"add telemetry: true to {listed(near[end])}" if near[end] else "give a number",
                )
    for link, managed in draft.management.items():
        if managed.rate == "netbox" and managed.of is not None and managed.of in draft.netboxes:
            place = ("management", link, "rate")
            if (there := near[managed.gateway].count(managed.of)) != 1:
                yield Problem(
                    place,
                    f"{managed.of} is at {there or 'none'} of the interfaces of {managed.gateway}, and can tell the rate of one",
                    "name a gateway that is wired to it once, or give a rate",
                )
            elif (netbox := draft.netboxes[managed.of]) is not None and not netbox.telemetry:
                yield Problem(
                    ("management", link, "rate"), f"{managed.of} tells no rates", f"add telemetry: true to {managed.of}"
                )
        for member in [name for name, access in managed.access.items() if access == "netbox"]:
            if not is_told(member):
                yield Problem(
                    ("management", link, "access", member),
                    f"no netbox at {member} tells what its link is like",
                    f"add telemetry: true to {listed(near[member])}" if near[member] else "give a rate",
                )


def traffic_problems(traffic: Mapping[str, Traffic]) -> Iterator[Problem]:
    """What is wrong between entries of which each is right in itself."""
    for name, entry in traffic.items():
        if entry.source == entry.destination:
            yield Problem(("traffic", name, "to"), f'the traffic ends at "{entry.source}", where it starts', "give another host")
    told = set[Location]()
    for (name, earlier), (later_name, later) in combinations(traffic.items(), 2):
        first, second = sorted((earlier.options, later.options), key=lambda options: options.start)
        if second.start - ARRANGED_S < first.start + first.duration:
            # Ten entries with one port are nine to be changed, not forty-five.
            new = [problem for problem in _ports_of_both(name, earlier, later_name, later) if problem.place not in told]
            told |= {problem.place for problem in new}
            yield from new


def _ports_of_both(name: str, earlier: Traffic, other_name: str, later: Traffic) -> Iterator[Problem]:
    """No host has a port twice. The later entry of the file is told to give way, once for each of its options."""
    for theirs in later.options.ports():
        for ours in earlier.options.ports():
            shared = _hosts(earlier, ours) & _hosts(later, theirs)
            if not (ours.alone or theirs.alone) and (earlier.source, earlier.destination) != (later.source, later.destination):
                continue
            if shared and ours.first <= theirs.last and theirs.first <= ours.last:
                yield Problem(
                    ("traffic", other_name, theirs.option),
                    f"{min(shared)} has port {max(ours.first, theirs.first)} of the traffic {name} already, at the same time",
                    f"give it another {theirs.option}",
                )
                break


def _hosts(traffic: Traffic, ports: Ports) -> set[str]:
    return {traffic.destination, *([traffic.source] if ports.at_source else [])}


def _overlapping_networks(draft: Draft, wiring: Wiring) -> Iterator[Problem]:
    for (end, first, _), (other, second, place) in combinations(draft.interfaces(), 2):
        if overlap(first, second) and not wiring.same_segment(end, other):
            yield Problem(
                place,
                f"the network {second.network} of {other} overlaps with {first.network} of {end}, which is on another segment",
                "give each segment a network of its own",
            )


def _gateways_that_nobody_is(draft: Draft, wiring: Wiring) -> Iterator[Problem]:
    for name, host in draft.hosts.items():
        for gateway in host.gateway if host else ():
            if any(end.node in draft.sections["equipment"] for end in _near(draft, wiring, name)):
                continue  # it may well be something real
            near = _routers_near(draft, wiring, name)
            if gateway not in [address for _, address in near]:
                there = [f"{address} ({end})" for end, address in near if address.version == gateway.version]
                yield Problem(
                    ("hosts", name, "gateway"),
                    f"no router on the segment of {name} has the address {gateway}",
                    f"use {listed(there)}" if there else "there is no router on the host's segment: leave the gateway out",
                )


def _unreachable(draft: Draft, wiring: Wiring) -> Iterator[Problem]:
    told = set[str]()
    for place, source, destination in _conversations(draft):
        if draft.node(source) is None or draft.node(destination) is None:
            continue
        if destination not in wiring.distances(source):
            yield Problem(place, f"no wires lead from {source} to {destination}", "join them through netboxes and routers")
        elif not _versions(draft, source) & _versions(draft, destination):
            yield Problem(
                place,
                f"{source} and {destination} have no IP version in common",
                "give both an IPv4 address, or both one of IPv6",
            )
        elif address_reached(draft, wiring, source, destination) is None:
            hosts = [(name, draft.hosts[name]) for name in (source, destination) if name in draft.hosts]
            lacking = [name for name, host in hosts if host is not None and not host.gateway]
            yield from (_without_gateway(draft, wiring, host) for host in lacking if host not in told)
            told |= {*lacking}
            if not lacking:
                yield Problem(
                    place,
                    f"{source} and {destination} are in different networks, whose gateways share no IP version",
                    "give both an IPv4 address and gateway",
                )


def _conversations(draft: Draft) -> Iterator[tuple[Location, str, str]]:
    """Hosts that speak to each other, or to the router of a managed link, and where the file says so."""
    for name, traffic in draft.traffic.items():
        yield ("traffic", name, "to"), traffic.source, traffic.destination
    for link, managed in draft.management.items():
        for index, member in enumerate(managed.members):
            yield ("management", link, "members", index), member, managed.gateway


def _versions(draft: Draft, host: str) -> set[int]:
    """Of its addresses."""
    return {interface.version for end, interface, _ in draft.interfaces() if end.node == host}


def _without_gateway(draft: Draft, wiring: Wiring, name: str) -> Problem:
    there = [str(address) for _, address in _routers_near(draft, wiring, name)]
    return Problem(
        ("hosts", name),
        f"host {name} has no gateway, but traffic to or from another network",
        f"add gateway: {listed(there) if there else '…'}",
        key=True,
    )


def _routers_near(draft: Draft, wiring: Wiring, name: str) -> list[tuple[End, Address]]:
    """The routers' addresses on the segments of a host."""
    near = _near(draft, wiring, name)
    return [(end, interface.ip) for end, interface, _ in draft.interfaces() if end.node in draft.routers and end in near]


def _near(draft: Draft, wiring: Wiring, name: str) -> set[End]:
    """All ends on the segments of a host."""
    own = {End(name, port) for port in draft.ports()[name] or ()}
    return {end for segment in wiring.segments() if not own.isdisjoint(segment) for end in segment}


@dataclass(frozen=True)
class _Hub:
    """What a node is for the frames of one VLAN, or of one tag: from each of its ports they get to all others."""

    node: str
    vlan: int | None


def _loops(draft: Draft) -> Iterator[Problem]:
    """A frame that is flooded in a loop goes round for ever, and another of its copies with each round."""
    wiring = draft.wiring([*draft.joined.values()])
    beside: dict[_Hub, list[_Hub]] = defaultdict(list)
    reported: set[frozenset[str]] = set()
    for place, left, right in _joints(draft):
        for tag in {tag for places in wiring.places for end, tag in places if end == left}:
            near, far = _hub(draft, left, tag), _hub(draft, right, tag)
            if near is None or far is None:
                continue
            nodes = [hub.node for hub in path_to(near, reached(far, lambda hub: beside.get(hub, ())))]
            if not nodes:
                beside[near].append(far)
                beside[far].append(near)
                continue
            deaf = [name for name in dict.fromkeys(nodes) if name in draft.switches and not draft.switches[name].rstp]
            if deaf and frozenset(nodes) not in reported:
                reported.add(frozenset(nodes))
                vlan = f" of VLAN {near.vlan or far.vlan}" if near.vlan or far.vlan else ""
                yield Problem(
                    place,
                    f"{left} and {right} close a loop{vlan} ({' - '.join([*nodes, nodes[0]])}): a frame would go round for ever",
                    f"write rstp: true in {listed(deaf, 'and')}, or take a wire out",
                )


def _joints(draft: Draft) -> Iterator[tuple[Location, End, End]]:
    """Wires and tunnels, and where the file tells of them."""
    for index, (left, right) in draft.joined.items():
        yield ("wires", index), left, right
    for left, right in tunnels(draft.switches):
        yield ("switches", right.node, "tunnels", right.port), left, right


def _hub(draft: Draft, end: End, tag: int | None) -> _Hub | None:
    """Where a frame with a tag gets to that enters at an end; None when the node does not pass it on."""
    if (switch := draft.switches.get(end.node)) is not None:
        port = switch.vlans().get(end.port)
        vlan = port.enters(tag) if port else None
        return None if vlan is None else _Hub(end.node, vlan)
    return _Hub(end.node, tag) if end.node in draft.netboxes else None


def _one_way_tunnels(draft: Draft) -> Iterator[Problem]:
    """A switch that is at the far address, but has no tunnel back, drops all that comes out of this one."""
    paired = {end for pair in tunnels(draft.switches) for end in pair}
    for name, switch in draft.switches.items():
        for port, tunnel in switch.tunnels.items():
            far = next((other for other, there in draft.switches.items() if there.is_at(tunnel.remote)), None)
            if End(name, port) not in paired and far is not None and switch.own is not None:
                own = switch.own.address[0].ip
                yield Problem(
                    ("switches", name, "tunnels", port),
                    f"{far} has the address {tunnel.remote}, but no {tunnel.kind} tunnel with key {tunnel.key} back to {own}",
                    f"add it to tunnels of {far}",
                    key=True,
                )
