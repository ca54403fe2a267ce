# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of frames through a lab: which netboxes in which order, and what lies between them.

Routers choose the path of each frame, so it is not in the plan. It follows from the points that saw the frame: the netboxes'
records say by which station it came and by which it left, captures say which wires between machines it crossed. What nobody
recorded is taken to be the shortest chain of wires between the points.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from contracts.netbox_configuration import netbox_configuration
from contracts.plan import Plan, WireEnd

#: Kinds of wires whose ends are on two machines, and what they are called.
BETWEEN_MACHINES = {"vxlan": "tunnel", "port": "cable"}


@dataclass(frozen=True)
class Tunnel:
    """A wire between two machines, in the direction of a path."""

    wire: str
    kind: str
    near: str
    far: str

    @property
    def name(self) -> str:
        return f"{BETWEEN_MACHINES[self.kind]} {self.wire}"


@dataclass(frozen=True)
class Gap:
    """What a frame crosses between two points of measurement: only wires, or also routers, switches, something real."""

    before: str
    after: str
    routers: tuple[str, ...]
    equipment: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    #: In the order of the path.
    tunnels: tuple[Tunnel, ...] = ()

    @property
    def name(self) -> str:
        kinds = {"router": self.routers, "switch": self.switches, "equipment": self.equipment}
        between = [f"{kind} {name}" for kind, names in kinds.items() for name in names]
        return " and ".join(between) or f"wire {self.before} to {self.after}"


@dataclass(frozen=True)
class FlowPath:
    """From host to host; `netboxes` in the order in which a frame meets them, `gaps` before, between and after them.

    A netbox that a frame crosses twice, as that of a router with one interface, is there twice.
    """

    netboxes: tuple[str, ...]
    gaps: tuple[Gap, ...]

    @property
    def points(self) -> tuple[str, ...]:
        """The netboxes with the number of the crossing from the second one on, as columns of frames are named: cell, cell.2."""
        counts = [self.netboxes[: at + 1].count(netbox) for at, netbox in enumerate(self.netboxes)]
        return tuple(netbox if count == 1 else f"{netbox}.{count}" for netbox, count in zip(self.netboxes, counts, strict=True))

    @property
    def tunnels(self) -> tuple[Tunnel, ...]:
        return tuple(tunnel for gap in self.gaps for tunnel in gap.tunnels)


@dataclass(frozen=True)
class Crossing:
    """The crossing of a netbox, as its record of a frame says: by which stations, and whether it was lost (`Fate`)."""

    netbox: str
    entered: str
    left: str
    fate: int


@dataclass(frozen=True)
class Followed:
    """The path of a frame. `crossings`: for each netbox of it the place in the list of crossings, None where none is recorded.

    `lost_at` names the place where a frame that did not arrive was lost.
    """

    path: FlowPath
    crossings: tuple[int | None, ...]
    lost_at: str


class NoPath(ValueError):
    """No chain of wires joins the two hosts."""


#: Of a stretch of a path: points on it that should have seen the frame and did not, and its wires.
_Cost = tuple[int, int]
#: A stretch: the wires from port to port, each as the end by which a frame leaves and the one by which it comes.
_Steps = tuple[tuple[WireEnd, WireEnd], ...]
_Reached = dict[WireEnd, tuple[_Cost, _Steps]]


@dataclass(frozen=True)
class _Chain:
    """The best known chain of crossings that ends with one; `skipped` and `wires` as in _Cost."""

    skipped: int
    crossings: tuple[int, ...]
    wires: int
    steps: tuple[_Steps, ...]

    def followed_by(self, cost: _Cost, steps: _Steps, crossing: int | None) -> _Chain:
        crossings = self.crossings if crossing is None else (*self.crossings, crossing)
        return _Chain(self.skipped + cost[0], crossings, self.wires + cost[1], (*self.steps, steps))

    @property
    def order(self) -> tuple[int, int, int]:
        return self.skipped, -len(self.crossings), self.wires


class Network:
    """The nodes and wires of a plan. `unrecorded` are netboxes that left no records."""

    def __init__(self, plan: Plan, unrecorded: Iterable[str] = ()) -> None:
        self._kinds = kinds(plan)
        self._other = {end: other for left, right in ends(plan) for end, other in ((left, right), (right, left))}
        self._tunnels = {
            end: (wire.name, wire.kind) for wire in plan.wires if wire.kind in BETWEEN_MACHINES for end in (wire.left, wire.right)
        }
        self._ports: dict[str, list[WireEnd]] = {}
        for port in self._other:
            self._ports.setdefault(port.node, []).append(port)
        self._recorded = {name for name, kind in self._kinds.items() if kind == "netbox"}.difference(unrecorded)
        #: In the order of their numbers in frame records; each is an interface of the same name.
        self._stations = {
            node.name: [station["name"] for station in netbox_configuration(node)["stations"]]
            for node in plan.nodes
            if node.kind == "netbox"
        }
        self._searched = cache(self._search)

    @property
    def tunnel_ends(self) -> list[tuple[str, str]]:
        """Wire and node of each end of each wire between machines."""
        return sorted({(wire, port.node) for port, (wire, _) in self._tunnels.items()})

    def shortest(self, source: str, destination: str) -> FlowPath:
        """The path with the fewest netboxes, and of those with the fewest wires. Raises NoPath."""
        return self.follow(source, destination, (), frozenset(), arrived=True).path

    def distances(self, source: str) -> dict[tuple[str, str], int]:
        """Wires from a node to each station of a netbox: frames that enter several at the same time enter the nearest first."""
        return {(port.node, port.interface): cost[1] for port, (cost, _) in self._reach(self._ports[source], frozenset()).items()}

    def crossing(self, netbox: str, entered: int, left: int, fate: int) -> Crossing:
        """From the numbers of a record; a station that the netbox has not is called "", and no path has it."""
        names = self._stations.get(netbox, ())
        entered_by, left_by = (names[number] if number < len(names) else "" for number in (entered, left))
        return Crossing(netbox, entered_by, left_by, fate)

    def follow(
        self, source: str, destination: str, crossings: Sequence[Crossing], seen: Set[tuple[str, str]], *, arrived: bool
    ) -> Followed:
        """The path of a frame from its crossings, in the order of their times, and the ends of tunnels (wire, node) that saw it.

        Of several chains the one on which the fewest points miss it; a flooded frame has crossings that are on none. Beyond the
        last crossing of a frame that did not arrive, the path is the one that `shortest` would take from there. Raises NoPath.
        """
        chain = self._chain(source, destination, crossings, seen, arrived=arrived)
        flat = [step for steps in chain.steps for step in steps]
        crossed = dict(zip(accumulate(map(len, chain.steps)), chain.crossings, strict=False))
        stops = [at for at, (_, into) in enumerate(flat[:-1], 1) if self._kinds[into.node] == "netbox"]
        gaps = tuple(self._gap(flat[begin:end]) for begin, end in pairwise((0, *stops, len(flat))))
        path = FlowPath(tuple(flat[at - 1][1].node for at in stops), gaps)
        places = tuple(crossed.get(at) for at in stops)
        return Followed(path, places, self._lost_at(path, places, crossings, seen))

    def _chain(
        self, source: str, destination: str, crossings: Sequence[Crossing], seen: Set[tuple[str, str]], *, arrived: bool
    ) -> _Chain:
        goals = self._ports.get(destination, [])
        start = _Chain(0, (), 0, ())
        best = [(start, self._reach(self._ports.get(source, []), seen))]
        whole_chains = list[tuple[tuple[int, ...], _Chain]]()
        for at in range(-1, len(crossings)):
            fate = 0
            if at >= 0:
                entry, exit_ = (WireEnd(crossings[at].netbox, station) for station in (crossings[at].entered, crossings[at].left))
                before = [chain.followed_by(*there[entry], at) for chain, there in best if entry in there]
                if not before or exit_ not in self._other:
                    continue
                chain, there = min(before, key=lambda candidate: candidate.order), self._reach([exit_], seen)
                if not (fate := crossings[at].fate):
                    best.append((chain, there))
            else:
                chain, there = best[0]
            if paths_to_goals := [there[goal] for goal in goals if goal in there]:
                cost, steps = min(paths_to_goals)
                whole = chain.followed_by(cost, steps, None)
                if not arrived:
                    whole_chains.append(((-len(chain.crossings), chain.skipped, *cost, fate == 0), whole))
                elif not fate:
                    whole_chains.append((whole.order, whole))
        if not whole_chains:
            raise NoPath(f"no wires lead from {source} to {destination} in this plan")
        return min(whole_chains, key=lambda ranked_chain: ranked_chain[0])[1]

    def _reach(self, starts: Iterable[WireEnd], seen: Set[tuple[str, str]]) -> _Reached:
        """How a frame that leaves by one of these ports comes to each port, at the least cost."""
        return self._searched(tuple(starts), frozenset(seen))

    def _search(self, starts: Sequence[WireEnd], seen: frozenset[tuple[str, str]]) -> _Reached:
        """Dijkstra's algorithm. Each port is come to by one wire, so what that costs may be added when its turn has come."""
        reached: _Reached = {}
        waiting: list[tuple[_Cost, WireEnd, WireEnd, _Steps]] = [((0, 0), out, self._other[out], ()) for out in starts]
        heapq.heapify(waiting)
        while waiting:
            (skipped, wires), out, into, before = heapq.heappop(waiting)
            if into in reached:
                continue
            if (tunnel := self._tunnels.get(out)) is not None:
                skipped += not {(tunnel[0], out.node), (tunnel[0], into.node)} & seen
            steps = (*before, (out, into))
            reached[into] = ((skipped, wires + 1), steps)
            if (kind := self._kinds[into.node]) == "host":
                continue
            beyond = skipped + (into.node in self._recorded)
            for port in self._ports[into.node]:
                # A router can send a packet back where it came from, to another node there.
                if port != into or kind == "router":
                    heapq.heappush(waiting, ((beyond, wires + 1), port, self._other[port], steps))
        return reached

    def _gap(self, steps: Sequence[tuple[WireEnd, WireEnd]]) -> Gap:
        between = [into.node for _, into in steps[:-1]]
        routers, real, switches = (
            tuple(node for node in between if self._kinds[node] == kind) for kind in ("router", "equipment", "switch")
        )
        tunnels = tuple(Tunnel(*self._tunnels[out], out.node, into.node) for out, into in steps if out in self._tunnels)
        return Gap(steps[0][0].node, steps[-1][1].node, routers, real, switches, tunnels)

    def _lost_at(
        self,
        path: FlowPath,
        places: Sequence[int | None],
        crossings: Sequence[Crossing],
        seen: Set[tuple[str, str]],
    ) -> str:
        """The netbox whose record says that it lost the frame, or else the tunnel or the gap after the last point that saw it."""
        reached = max((at + 1 for at, place in enumerate(places) if place is not None), default=0)
        if reached and (last := places[reached - 1]) is not None and crossings[last].fate:
            return crossings[last].netbox
        place = path.gaps[reached].name
        for gap in path.gaps[reached:]:
            for tunnel in gap.tunnels:
                if (tunnel.wire, tunnel.far) in seen:
                    place = gap.name
                elif (tunnel.wire, tunnel.near) in seen:
                    place = tunnel.name
        return place


def kinds(plan: Plan) -> dict[str, str]:
    """What each node is, and each piece of equipment ("equipment"), by name, in the plan's order."""
    pieces = dict.fromkeys((port.name.partition(".")[0] for port in plan.equipment), "equipment")
    return {node.name: str(node.kind) for node in plan.nodes} | pieces


def ends(plan: Plan) -> list[tuple[WireEnd, WireEnd]]:
    """Those of each wire, and of what joins a node to each port of equipment."""
    wires = [(wire.left, wire.right) for wire in plan.wires]
    return wires + [(port.end, WireEnd(*port.name.partition(".")[::2])) for port in plan.equipment]
