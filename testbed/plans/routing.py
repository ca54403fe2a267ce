# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of packets by the routes that hosts and routers of a plan will have.

Routers with OSPF find the least sum of the costs of the interfaces by which packets leave (RFC 2328, 16.1); others have the
routes of their configuration. Between two routers frames go the shortest path of their layer-2 segment.
"""

from __future__ import annotations

import heapq
import ipaddress
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from itertools import permutations

from contracts.addresses import Interface
from contracts.plan import NodePlan, Plan
from testbed.description.wiring import End, Wiring
from testbed.nodes import click_routes, frr, frr_routes, routers
from testbed.nodes.frr_routes import Network, Routes

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
        super().__init__(router)


class Routing:
    """Of a plan with this wiring, which may lack wires that have failed."""

    def __init__(self, plan: Plan, wiring: Wiring) -> None:
        self._wiring = wiring
        self._up = {end for wire in wiring.wires for end in wire}
        #: Click sends on by an interface whose wire is unplugged; a kernel has no route there then.
        self._click = {node.name for node in plan.nodes if node.kind == "router" and not node.forwards}
        self._segment = {end: number for number, ends in enumerate(wiring.segments()) for end in ends}
        self._interfaces = {node.name: _interfaces(node) for node in plan.nodes if node.kind in ("host", "router")}
        self._owner = {
            one.ip: End(node, name) for node, ports in self._interfaces.items() for name, own in ports.items() for one in own
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
        self._other = {near: far for wire in wiring.wires for near, far in (wire, wire[::-1])}
        #: What was found already: by router, by network of OSPF's, by node and address, by the ends of a segment.
        self._trees: dict[str, dict[str, tuple[int, Hops]]] = {}
        self._announced: dict[Address, dict[Network, list[End]]] = {}
        self._hops: dict[tuple[str, Address], Hops] = {}
        self._frames: dict[tuple[End, End], Wires | None] = {}

    def paths(self, source: str, address: Address) -> list[Wires]:
        """From a host to the node with an address; several where routes are equally good, none where no route leads there.

        Raises RoutesUnknown.
        """
        found = list[Wires]()
        waiting: list[tuple[str, Wires]] = [(source, ())]
        while waiting and len(found) < _MOST_PATHS:
            node, wires = waiting.pop()
            if (goal := self._owner.get(address)) is not None and goal.node == node:
                found.append(wires)
                continue
            if node in {out.node for out, _ in wires}:
                continue  # a loop: the packet never arrives
            for port, hop in self._next_hops(node, address):
                owner = self._owner.get(hop)
                if owner is not None and (step := self._by_frames(End(node, port), owner)) is not None:
                    waiting.append((owner.node, (*wires, *step)))
        return sorted(set(found), key=lambda wires: [str(end) for wire in wires for end in wire])

    def _next_hops(self, node: str, address: Address) -> Hops:
        """By which interfaces a node sends packets for an address, and to which neighbours; nothing without a route."""
        if (node, address) not in self._hops:
            self._hops[node, address] = self._best(node, address)
        return self._hops[node, address]

    def _best(self, node: str, address: Address) -> Hops:
        candidates = [(length, -trust, hops) for length, trust, hops in self._candidates(node, address)]
        if not candidates and node in self._click:
            raise RoutesUnknown(node)
        return max(candidates, key=lambda one: one[:2], default=(0, 0, Hops()))[2]

    def _candidates(self, node: str, address: Address) -> Iterator[tuple[int, int, Hops]]:
        """Length of the prefix, trust, and next hops of each route to an address."""
        connected = [
            (port, one.network)
            for port, own in self._interfaces[node].items()
            if End(node, port) in self._up or node in self._click
            for one in own
        ]
        for port, network in connected:
            if address in network:
                yield network.prefixlen, _CONNECTED, frozenset({(port, address)})
        if (routes := self._routes[node]) is None:
            raise RoutesUnknown(node)
        for network, gateway in routes.static:
            if address not in network:
                continue
            through = address
            with suppress(ValueError):  # the gateway is an interface
                through = ipaddress.ip_address(gateway)
            hops = {(port, through) for port, own in connected if through in own or port == gateway}
            if hops:
                yield network.prefixlen, _STATIC, frozenset(hops)
        yield from self._by_ospf(node, address)

    def _by_ospf(self, node: str, address: Address) -> Iterator[tuple[int, int, Hops]]:
        tree = self._tree(node) if node in self._neighbours else {}
        for network, ends in self._announcing(address).items():
            paths = [(tree[end.node][0] + self._speaking[end], tree[end.node][1]) for end in ends if end.node in tree]
            if paths and all(end.node != node for end in ends):
                least = min(cost for cost, _ in paths)
                yield network.prefixlen, _OSPF, Hops().union(*(hops for cost, hops in paths if cost == least))

    def _announcing(self, address: Address) -> dict[Network, list[End]]:
        """The networks with an address that routers announce by OSPF, and the interfaces that are on them."""
        if address not in self._announced:
            found: dict[Network, list[End]] = {}
            for end in self._speaking:
                for network in self._networks(end):
                    if address in network:
                        found.setdefault(network, []).append(end)
            self._announced[address] = found
        return self._announced[address]

    def _adjacent(self) -> dict[str, list[tuple[str, int, End]]]:
        """For each router with OSPF its neighbours: by which interface, at what cost, at which of theirs."""
        links: dict[tuple[int, Network], list[End]] = {}
        for end in self._speaking:
            if end.port not in (self._routes[end.node] or Routes()).passive:
                for network in self._networks(end):
                    links.setdefault((self._segment[end], network), []).append(end)
        found: dict[str, list[tuple[str, int, End]]] = {}
        for ends in links.values():
            for near, far in permutations(ends, 2):
                if near.node != far.node:
                    found.setdefault(near.node, []).append((near.port, self._speaking[near], far))
        return found

    def _networks(self, end: End) -> set[Network]:
        return {one.network for one in self._interfaces[end.node][end.port] if one.version == 4}

    def _tree(self, root: str) -> dict[str, tuple[int, Hops]]:
        """Of each router that one can reach by OSPF: the least cost, and the next hops of all paths that have it (Dijkstra)."""
        if root in self._trees:
            return self._trees[root]
        found: dict[str, tuple[int, Hops]] = {root: (0, Hops())}
        waiting, done = [(0, root)], set[str]()
        while waiting:
            distance, node = heapq.heappop(waiting)
            if node in done:
                continue
            done.add(node)
            for port, cost, far in self._neighbours.get(node, ()):
                hops = found[node][1] if node != root else frozenset({(port, self._address(End(root, port), far))})
                known, before = found.get(far.node, (distance + cost, frozenset()))
                if distance + cost < known:
                    before = frozenset()
                if distance + cost <= known and far.node not in done:
                    found[far.node] = (distance + cost, before | hops)
                    heapq.heappush(waiting, (distance + cost, far.node))
        self._trees[root] = found
        return found

    def _address(self, near: End, far: End) -> Address:
        """The address of a neighbour's interface on the network of both."""
        return next(one.ip for one in self._interfaces[far.node][far.port] if one.network in self._networks(near))

    def _by_frames(self, out: End, into: End) -> Wires | None:
        """The shortest path within a layer-2 segment; None when the two ends are in different ones."""
        if (out, into) not in self._frames:
            self._frames[out, into] = self._shortest(out, into)
        return self._frames[out, into]

    def _shortest(self, out: End, into: End) -> Wires | None:
        if self._segment.get(out) is None or self._segment.get(out) != self._segment.get(into):
            return None
        places = {end for end, _ in self._wiring.places[self._segment[out]]}
        waiting: deque[tuple[End, Wires]] = deque([(out, ())])
        seen = {out}
        while waiting:
            leaving, before = waiting.popleft()
            if (entering := self._other.get(leaving)) is None:
                continue
            wires = (*before, (leaving, entering))
            if entering == into:
                return wires
            if entering.node not in self._wiring.transparent and entering.node not in self._wiring.switches:
                continue
            for end in places:
                if end.node == entering.node and end not in seen and end != entering:
                    seen.add(end)
                    waiting.append((end, wires))
        return None


def _interfaces(node: NodePlan) -> dict[str, list[Interface]]:
    return {one.name: [ipaddress.ip_interface(text) for text in one.addresses] for one in node.interfaces}


def _defaults(node: NodePlan) -> list[tuple[Network, str]]:
    """The kernel routes of a node."""
    found = list[tuple[Network, str]]()
    for route in node.routes:
        version = ipaddress.ip_address(route.gateway).version
        every = "0.0.0.0/0" if version == 4 else "::/0"
        found.append((ipaddress.ip_network(every if route.destination == "default" else route.destination), route.gateway))
    return found


def _routes_of(node: NodePlan, interfaces: dict[str, list[Interface]]) -> Routes | None:
    """Of a router; None when nothing is known of them."""
    if not node.forwards:
        return _of_click(node, interfaces)
    found = Routes()
    if (text := node.files.get(frr.CONFIGURATION)) is not None:
        found = frr_routes.read(text, interfaces)
    found.static += _defaults(node)
    return None if found.others else found


def _of_click(node: NodePlan, interfaces: dict[str, list[Interface]]) -> Routes | None:
    (text,) = node.files.values()
    if (routes := click_routes.static_routes(text, routers.defines_in(node.command))) is None:
        return None
    return Routes(static=[(network, gateway) for network, gateway in routes if gateway is not None])
