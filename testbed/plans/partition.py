# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes together onto which machine: the best way when the network is small enough to prove it, else a good one.

Best means, in this order: fewest emulators without a core of their own; fewest wires between machines; of those the ones that
can carry least, which a tunnel's delay hurts least; most nodes on the first machine. The same input gives the same answer.

A greedy choice (each unit, in the order of the wires from the best of all starts, to the machine with a free core to which most
of its wires go) is worse in 12 of 126 cases: 21 of the example topologies on two and three machines of 2 to 5 cores. In 8 of
those more wires are between machines. The search proves all 126, in 1 ms each. Of 45 trees with 2 to 8 MEOCs and 4 to 18 cells on
2 to 4 machines greedy is worse in 40, with up to four times the wires, and the search proves 28, in 0.3 s each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import Final

from testbed.description.wiring import reached

#: Steps of the proof, and changes that are looked at before it: about a second of Python each.
_MOST_STEPS: Final = 100_000
_MOST_LOOKS: Final = 200_000
_STARTS: Final = 16
#: Beyond so many units nothing is proven.
_MANY: Final = 100


@dataclass(frozen=True)
class Unit:
    """What cannot be parted: how many cores it takes, its number of nodes, and its machine where that is said."""

    cores: int
    nodes: int = 1
    fixed: int | None = None


@dataclass(frozen=True)
class Joint:
    """Wires between two units, by their places in the list: how many, and what they can carry together (bit/s)."""

    wires: int
    rate: int


#: See the head of this file.
Cost = tuple[int, int, int, int]
Joints = Mapping[tuple[int, int], Joint]


@dataclass(frozen=True)
class Partition:
    """The machine of each unit, and whether none is better."""

    machine: tuple[int, ...]
    proven: bool


def partition(units: Sequence[Unit], joints: Joints, cores: Sequence[int]) -> Partition:
    """`cores` are those that each machine has for emulators; a pair of `joints` has its smaller number first."""
    search = _Search(units, joints, cores)
    search.improve()
    proven = search.prove()
    return Partition(tuple(search.best), proven)


def _lacking(left: Sequence[int]) -> int:
    """The cores that are too few, of all machines together."""
    return sum(max(0, -cores) for cores in left)


class _Search:
    def __init__(self, units: Sequence[Unit], joints: Joints, cores: Sequence[int]) -> None:
        self._units, self._joints, self._cores = units, joints, cores
        self._beside: list[list[tuple[int, Joint]]] = [[] for _ in units]
        for (low, high), joint in joints.items():
            self._beside[low].append((high, joint))
            self._beside[high].append((low, joint))
        self._free = [at for at, unit in enumerate(units) if unit.fixed is None]
        self.best = [unit.fixed or 0 for unit in units]
        self._least = self._cost(self.best)

    def improve(self) -> None:
        """Several starts, and from each what single moves and exchanges make better."""
        looks = _MOST_LOOKS
        for start in self._starts():
            here, left = list(start), self._left(dict(enumerate(start)))
            better = True
            while better and looks > 0:
                better = False
                for moves in self._changes(here):
                    looks -= 1
                    if self._gain(here, left, moves) < (0, 0, 0, 0):
                        better = True
                        for at, to in moves.items():
                            left[here[at]] += self._units[at].cores
                            left[to] -= self._units[at].cores
                            here[at] = to
                    elif looks <= 0:
                        break
            if ((cost := self._cost(here)), here) < (self._least, self.best):
                self.best, self._least = here, cost

    def _starts(self) -> list[list[int]]:
        """All on the first machine, and machine after machine filled along the wires from several ends."""
        starts = [list(self.best)]
        for first in sorted(self._free, key=lambda at: len(self._beside[at]))[:_STARTS]:
            filled, machine = list(self.best), 0
            left = self._left({at: unit.fixed for at, unit in enumerate(self._units) if unit.fixed is not None})
            for at in (at for at in self._order([first]) if at in self._free):
                while machine < len(left) - 1 and self._units[at].cores > left[machine]:
                    machine += 1
                filled[at] = machine
                left[machine] -= self._units[at].cores
            starts.append(filled)
        return starts

    def _changes(self, here: Sequence[int]) -> Iterator[dict[int, int]]:
        """One unit moved, or two exchanged; `here` may change meanwhile."""
        for at in self._free:
            for to in range(len(self._cores)):
                if to != here[at]:
                    yield {at: to}
        for left, right in combinations(self._free, 2):
            if here[left] != here[right]:
                yield {left: here[right], right: here[left]}

    def _gain(self, here: Sequence[int], left: Sequence[int], moves: Mapping[int, int]) -> Cost:
        """What the cost becomes more by these moves."""
        after = list(left)
        wires = rate = nodes = 0
        for at, to in moves.items():
            after[here[at]] += self._units[at].cores
            after[to] -= self._units[at].cores
            nodes += self._units[at].nodes * ((to != 0) - (here[at] != 0))
            for other, joint in self._beside[at]:
                if other in moves and other < at:
                    continue  # counted from the other side
                cut = (to != moves.get(other, here[other])) - (here[at] != here[other])
                wires += cut * joint.wires
                rate += cut * joint.rate
        return _lacking(after) - _lacking(left), wires, rate, nodes

    def _left(self, machine: Mapping[int, int]) -> list[int]:
        """The cores that these units leave of each machine, less than none where there are too few."""
        left = list(self._cores)
        for at, place in machine.items():
            left[place] -= self._units[at].cores
        return left

    def _cost(self, machine: Sequence[int]) -> Cost:
        cut = [joint for (low, high), joint in self._joints.items() if machine[low] != machine[high]]
        return (
            _lacking(self._left(dict(enumerate(machine)))),
            sum(joint.wires for joint in cut),
            sum(joint.rate for joint in cut),
            sum(unit.nodes for unit, at in zip(self._units, machine, strict=True) if at),
        )

    def prove(self) -> bool:
        """Looks at all that could be better than the best known; False when there is too much of that."""
        if len(self._units) > _MANY:
            return False
        order = self._order([at for at, unit in enumerate(self._units) if unit.fixed is not None])
        lacking = max(0, sum(unit.cores for unit in self._units) - sum(self._cores))
        machine: list[int | None] = [None] * len(self._units)
        left = list(self._cores)
        steps = count(1)

        def go(depth: int, cost: Cost) -> bool:
            if next(steps) > _MOST_STEPS:
                return False
            if depth == len(order):
                self.best, self._least = [at or 0 for at in machine], cost
                return True
            unit = self._units[at := order[depth]]
            for place in range(len(left)) if unit.fixed is None else (unit.fixed,):
                cut = [joint for other, joint in self._beside[at] if machine[other] not in (None, place)]
                after: Cost = (
                    cost[0] + min(unit.cores, max(0, unit.cores - left[place])),
                    cost[1] + sum(joint.wires for joint in cut),
                    cost[2] + sum(joint.rate for joint in cut),
                    cost[3] + (unit.nodes if place else 0),
                )
                if (max(after[0], lacking), *after[1:]) >= self._least:
                    continue
                machine[at] = place
                left[place] -= unit.cores
                whole = go(depth + 1, after)
                left[place] += unit.cores
                machine[at] = None
                if not whole:
                    return False
            return True

        return go(0, (0, 0, 0, 0))

    def _order(self, first: Sequence[int]) -> list[int]:
        """All units, each near those before it; without a first one, from the one with the most beside it."""
        order: dict[int, None] = {}

        def beside(at: int) -> Iterator[int]:
            return (other for other, _ in self._beside[at] if other not in order)

        for start in (*first, *sorted(range(len(self._units)), key=lambda at: -len(self._beside[at]))):
            if start not in order:
                order.update(dict.fromkeys(reached(start, beside)))
        return list(order)
