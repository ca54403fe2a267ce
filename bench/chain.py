# SPDX-License-Identifier: GPL-2.0-or-later
"""Set-up E of the thesis (6.3): eight netboxes in a row, each with one link of 1 Gbit/s, against eight processes of stock ns-3.

And how the rate of each falls with their number.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from bench import networks
from bench.contestant import Contestant, Turn, held_back
from bench.labs import StockSide, planned, with_stock
from bench.networks import DRAIN_ADDRESS, DRAIN_MAC
from bench.outcome import Outcome, Table, rate
from bench.pairs import alternate, ratio
from bench.settings import Surroundings
from contracts.names import mac_address
from contracts.plan import Plan

if TYPE_CHECKING:
    from testbed.documents.bench import Chain

LENGTH = 8
#: Lengths that are measured once besides.
_SHORTER = (1, 2, 4)

#: The first rates offered to a chain of one; a longer one is offered less, by the netboxes that share a core.
_START_OURS, _START_STOCK = 400_000.0, 55_000.0


def measure(around: Surroundings) -> Outcome:
    ours, stock = (_contestant(kind, LENGTH, around) for kind in ("memory", "stock"))
    turns = alternate({"memory": ours.turn, "stock": stock.turn}, around.settings.pairs)
    by_length = {} if around.settings.quick else {length: _once(length, around) for length in _SHORTER}
    by_length[LENGTH] = {name: median(turn.loss_free for turn in of) for name, of in turns.items()}
    return _outcome(turns, by_length, {"memory": ours, "stock": stock})


def _once(length: int, around: Surroundings) -> dict[str, float]:
    return {kind: _contestant(kind, length, around).turn().loss_free for kind in ("memory", "stock")}


def _contestant(kind: str, length: int, around: Surroundings) -> Contestant:
    plan = _ours(length, around) if kind == "memory" else _stock(length, around)
    start = _START_OURS if kind == "memory" else _START_STOCK
    sharing = -(-length // max(len(around.cores) - 1, 1))
    return Contestant(f"{kind}, chain of {length}", plan, around, start=start / sharing)


def _ours(length: int, around: Surroundings) -> Plan:
    return planned(
        networks.chain(f"bench-c-{length}", length, "memory"), around, cores=_cores(length, around), generator_is_a_tool=True
    )


def _stock(length: int, around: Surroundings) -> Plan:
    """Process n routes from network 10.0.n-1.0/24 to 10.0.n.0/24; each asks the next by ARP, the last knows the sink."""
    lab = f"bench-c-{length}-stock"
    network = networks.chain(lab, length, "veth", mac_address(lab, "link1", "left"))
    plan = planned(network, around, cores=_cores(length, around), generator_is_a_tool=True)
    for number in range(1, length + 1):
        last = number == length
        plan = with_stock(
            plan,
            f"link{number}",
            StockSide("left", f"10.0.{number - 1}.2/24"),
            StockSide("right", "198.19.0.2/24" if last else f"10.0.{number}.1/24"),
            next_hop=DRAIN_ADDRESS if last else f"10.0.{number}.2",
            next_mac=DRAIN_MAC if last else None,
        )
    return plan


def _cores(length: int, around: Surroundings) -> dict[str, int]:
    return networks.assign_cores([f"link{number}" for number in range(1, length + 1)], around.cores)


def _outcome(turns: dict[str, list[Turn]], by_length: dict[int, dict[str, float]], contestants: dict[str, Contestant]) -> Outcome:
    rates = {name: [turn.loss_free for turn in of] for name, of in turns.items()}
    rows = tuple(
        (
            str(length),
            rate(of["memory"]),
            rate(length * of["memory"]),
            rate(of["stock"]),
            rate(length * of["stock"]),
            f"{of['memory'] / of['stock']:.2f}",
        )
        for length, of in sorted(by_length.items())
    )
    head = ("netboxes", "ours: frames/s each", "in all", "stock: frames/s each", "in all", "ratio")
    figures: Chain = {
        "by_length": {str(length): of for length, of in sorted(by_length.items())},
        "searches": {name: contestant.to_json() for name, contestant in contestants.items()},
    }
    return Outcome(
        ratios={"chain_of_8": ratio(rates["memory"], rates["stock"])},
        figures={"chain": figures},
        tables=(
            Table(
                "Netboxes in a chain on the cores there are, 64-byte frames, loss-free (memory wires; stock by veth)",
                head,
                rows,
                held_back(contestants.values()),
            ),
        ),
    )
