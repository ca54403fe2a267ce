# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of packets by the routes that hosts and routers of a plan will have.

Routers with OSPF find the least sum of the costs of the interfaces by which packets leave (RFC 2328, 16.1); others have the
routes of their configuration. Between two routers frames go the shortest path of their layer-2 segment.
"""

from __future__ import annotations

import heapq
import ipaddress
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from itertools import permutations

from contracts.addresses import Interface
from contracts.plan import NodePlan, Plan
from testbed.description.wiring import End, Wiring, both_ways, path_to, reached
from testbed.nodes import frr, routers
from testbed.nodes.frr import Network, Routes

Address = IPv4Address | IPv6Address
#: The wires of a path, each as the end that packets leave by and the one they enter by.
Wires = tuple[tuple[End, End], ...]

#: Next hops: the interface to leave by, and the neighbour's address.
Hops = frozenset[tuple[str, Address]]

#: Equal paths that are looked at.
_MOST_PATHS = 16
#: Where a route is from, the most trusted first (FRRouting's administrative distances).
_CONNECTED, _STATIC, _OSPF = 0, 1, 110


class RoutesUnknown(Exception):
    """A router finds its routes in a way that is not known before."""

    def __init__(self, router: str) -> None:
        self.router = router


class Routing:
    """Of a plan with this wiring, which may lack wires that have failed."""

    def __init__(self, plan: Plan, wiring: Wiring) -> None:
        self._wiring = wiring
        self._up = {end for wire in wiring.wires for end in wire}
        #: Click sends on by an interface whose wire is unplugged; a kernel has no route there then.
        self._click = {node.name for node in plan.nodes if routers.is_click(node)}
        self._segment = {end: number for number, ends in enumerate(wiring.segments()) for end in ends}
        self._interfaces = {node.name: _interfaces(node) for node in plan.nodes if node.kind in ("host", "router")}
        self._owner = {
            address.ip: End(node, name)
            for node, ports in self._interfaces.items()
            for name, own in ports.items()
            for address in own
        }
        self._routes = {node.name: _routes_of(node, self._interfaces[node.name]) for node in plan.nodes if node.kind == "router"}
        self._routes |= {node.name: Routes(static=_defaults(node)) for node in plan.nodes if node.kind == "host"}
        self._speaking = {
            End(node, port): cost
            for node, routes in self._routes.items()
            for port, cost in (routes.costs.items() if routes else ())
            if End(node, port) in self._up
        }
        self._neighbours = self._adjacent()
        self._other = dict(both_ways(wiring.wires))
        # What was found once is found again: by node and address, by router, by network of OSPF's, by the ends of a segment.
        self._next_hops, self._tree = cache(self._best_hops), cache(self._least_costs)
        self._announcing, self._by_frames = cache(self._announced), cache(self._shortest)

    def paths(self, source: str, address: Address) -> list[Wires]:
        """From a host to the node with an address; several where routes are equally good, none where no route leads there.

        Raises RoutesUnknown.
        """
        paths = list[Wires]()
        waiting: list[tuple[str, Wires]] = [(source, ())]
        while waiting and len(paths) < _MOST_PATHS:
            node, wires = waiting.pop()
            if (goal := self._owner.get(address)) is not None and goal.node == node:
                paths.append(wires)
            elif node not in {out.node for out, _ in wires}:  # else a loop: the packet never arrives
                for port, hop in self._next_hops(node, address):
                    owner = self._owner.get(hop)
                    if owner is not None and (step := self._by_frames(End(node, port), owner)) is not None:
                        waiting.append((owner.node, (*wires, *step)))
        return sorted(set(paths), key=lambda wires: [str(end) for wire in wires for end in wire])

    def next_hops(self, node: str, address: Address) -> Hops:
        """By which interfaces a node sends packets for an address, and to which neighbours; nothing without a route.

        Raises RoutesUnknown.
        """
        return self._next_hops(node, address)

    def networks(self) -> list[Network]:
        """All that hosts and routers are in."""
        return sorted(
            {address.network for ports in self._interfaces.values() for own in ports.values() for address in own}, key=str
        )

    def _best_hops(self, node: str, address: Address) -> Hops:
        """By which interfaces a node sends packets for an address, and to which neighbours; nothing without a route."""
        candidates = [(length, -trust, hops) for length, trust, hops in self._candidates(node, address)]
        if not candidates and node in self._click:
            raise RoutesUnknown(node)
        return max(candidates, key=lambda candidate: candidate[:2], default=(0, 0, Hops()))[2]

    def _candidates(self, node: str, address: Address) -> Iterator[tuple[int, int, Hops]]:
        """Length of the prefix, trust, and next hops of each route to an address."""
        connected = [
            (port, own.network)
            for port, addresses in self._interfaces[node].items()
            if End(node, port) in self._up or node in self._click
            for own in addresses
        ]
        for port, network in connected:
            if address in network:
                yield network.prefixlen, _CONNECTED, frozenset({(port, address)})
        if (routes := self._routes[node]) is None:
            raise RoutesUnknown(node)
        for network, gateway in routes.static:
            through = address
            with suppress(ValueError):  # the gateway is an interface
                through = ipaddress.ip_address(gateway)
            hops = Hops((port, through) for port, own in connected if through in own or port == gateway)
            if address in network and hops:
                yield network.prefixlen, _STATIC, hops
        yield from self._by_ospf(node, address)

    def _by_ospf(self, node: str, address: Address) -> Iterator[tuple[int, int, Hops]]:
        tree = self._tree(node) if node in self._neighbours else {}
        for network, ends in self._announcing(address).items():
            paths = [(tree[end.node][0] + self._speaking[end], tree[end.node][1]) for end in ends if end.node in tree]
            if paths and all(end.node != node for end in ends):
                least = min(cost for cost, _ in paths)
                yield network.prefixlen, _OSPF, Hops().union(*(hops for cost, hops in paths if cost == least))

    def _announced(self, address: Address) -> dict[Network, list[End]]:
        """The networks with an address that routers announce by OSPF, and the interfaces that are on them."""
        announced = defaultdict[Network, list[End]](list)
        for end in self._speaking:
            for network in self._networks(end):
                if address in network:
                    announced[network].append(end)
        return announced

    def _adjacent(self) -> dict[str, list[tuple[str, int, End]]]:
        """For each router with OSPF its neighbours: by which interface, at what cost, at which of theirs."""
        links = defaultdict[tuple[int, Network], list[End]](list)
        for end in self._speaking:
            if end.port not in (self._routes[end.node] or Routes()).passive:
                for network in self._networks(end):
                    links[self._segment[end], network].append(end)
        adjacent = defaultdict[str, list[tuple[str, int, End]]](list)
        for ends in links.values():
            for near, far in permutations(ends, 2):
                if near.node != far.node:
                    adjacent[near.node].append((near.port, self._speaking[near], far))
        return adjacent

    def _networks(self, end: End) -> set[Network]:
        return {address.network for address in self._interfaces[end.node][end.port] if address.version == 4}

    def _least_costs(self, root: str) -> dict[str, tuple[int, Hops]]:
        """Of each router that one can reach by OSPF: the least cost, and the next hops of all paths that have it (Dijkstra)."""
        tree: dict[str, tuple[int, Hops]] = {root: (0, Hops())}
        waiting, done = [(0, root)], set[str]()
        while waiting:
            distance, node = heapq.heappop(waiting)
            if node in done:
                continue
            done.add(node)
            for port, cost, far in self._neighbours.get(node, ()):
                hops = tree[node][1] if node != root else frozenset({(port, self._address(End(root, port), far))})
                least_cost, before = tree.get(far.node, (distance + cost, frozenset()))
                if distance + cost < least_cost:
                    before = frozenset()
                if distance + cost <= least_cost and far.node not in done:
                    tree[far.node] = (distance + cost, before | hops)
                    heapq.heappush(waiting, (distance + cost, far.node))
        return tree

    def _address(self, near: End, far: End) -> Address:
        """The address of a neighbour's interface on the network of both."""
        return next(own.ip for own in self._interfaces[far.node][far.port] if own.network in self._networks(near))

    def _shortest(self, out: End, into: End) -> Wires | None:
        """The shortest path within a layer-2 segment; None when the two ends are in different ones."""
        last = self._other.get(into)
        if last is None or out not in self._segment or self._segment[out] != self._segment.get(into):
            return None
        places = dict.fromkeys(end for end, _ in self._wiring.places[self._segment[out]])
        passing = self._wiring.transparent.union(self._wiring.switches)

        def onwards(leaving: End) -> Iterator[End]:
            """The ends by which the node that a frame enters sends it on."""
            entering = self._other.get(leaving)
            if entering is not None and entering.node in passing:
                yield from (end for end in places if end.node == entering.node and end != entering)

        path = path_to(last, reached(out, onwards))
        return tuple((leaving, self._other[leaving]) for leaving in path) or None


def _interfaces(node: NodePlan) -> dict[str, list[Interface]]:
    return {interface.name: [ipaddress.ip_interface(text) for text in interface.addresses] for interface in node.interfaces}


def _defaults(node: NodePlan) -> list[tuple[Network, str]]:
    """The kernel routes of a node."""
    every = {4: "0.0.0.0/0", 6: "::/0"}
    return [
        (
            ipaddress.ip_network(route.destination.replace("default", every[ipaddress.ip_address(route.gateway).version])),
            route.gateway,
        )
        for route in node.routes
    ]


def _routes_of(node: NodePlan, interfaces: dict[str, list[Interface]]) -> Routes | None:
    """Of a router; None when nothing is known of them."""
    if routers.is_click(node):
        text = node.files[routers.configuration_name(node)]
        static = routers.static_routes(text, routers.defines_in(node.command))
        return None if static is None else Routes(static=[(network, gateway) for network, gateway in static if gateway])
    routes = frr.read_routes(node.files.get(frr.CONFIGURATION, ""), interfaces)
    routes.static += _defaults(node)
    return None if routes.others else routes
