# SPDX-License-Identifier: GPL-2.0-or-later
"""Set-up A of the thesis (6.3): one emulated link of 1 Gbit/s, 64-byte frames; ours against stock ns-3."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from bench import networks
from bench.contestant import OVERLOAD, Contestant, Turn, held_back
from bench.labs import StockSide, planned, with_stock, with_stock_bridges
from bench.networks import DRAIN_ADDRESS, DRAIN_MAC
from bench.outcome import Outcome, Table, rate
from bench.pairs import alternate, ratio
from bench.settings import Surroundings
from contracts.names import mac_address
from contracts.plan import Plan

if TYPE_CHECKING:
    from testbed.documents.bench import SetupA

LINK = "link1"

#: Contestants, the first rate that each is offered, and what they are called.
_STARTS = {"veth": 120_000.0, "memory": 400_000.0, "stock": 55_000.0, "stock_bridges": 60_000.0}
_TITLES = {
    "veth": "NetBoxIT, veth wires",
    "memory": "NetBoxIT, memory wires",
    "stock": "stock ns-3, two IP routers",
    "stock_bridges": "stock ns-3, two bridges",
}


def measure(around: Surroundings) -> Outcome:
    contestants = {name: Contestant(name, _plan(name, around), around, start=start) for name, start in _STARTS.items()}
    turns = alternate({name: contestant.turn for name, contestant in contestants.items()}, around.settings.pairs)
    return _outcome(turns, contestants)


def _plan(name: str, around: Surroundings) -> Plan:
    lab = f"bench-a-{name.replace('stock_bridges', 'bridge')}"
    wire: networks.WireKind = "memory" if name == "memory" else "veth"
    towards = mac_address(lab, LINK, "left") if name == "stock" else DRAIN_MAC
    network = networks.chain(lab, 1, wire, towards)
    plan = planned(network, around, cores=networks.assign_cores([LINK], around.cores), generator_is_a_tool=True)
    if name == "stock":
        left, right = StockSide("left", "198.18.0.2/24"), StockSide("right", "198.19.0.2/24")
        return with_stock(plan, LINK, left, right, next_hop=DRAIN_ADDRESS, next_mac=DRAIN_MAC)
    return with_stock_bridges(plan, LINK, "left", "right") if name == "stock_bridges" else plan


def _outcome(turns: dict[str, list[Turn]], contestants: dict[str, Contestant]) -> Outcome:
    rates = {name: [turn.loss_free for turn in of] for name, of in turns.items()}
    kept = {name: ratio([turn.delivered for turn in of], rates[name]) for name, of in turns.items()}
    offered = {name: median(turn.overload.kept / turn.loss_free for turn in of) for name, of in turns.items()}
    rows = tuple(
        (
            _TITLES[name],
            rate(median(rates[name])),
            f"{rate(min(rates[name]))} … {rate(max(rates[name]))}",
            f"{ratio(rates[name], rates['stock']).median:.2f}",
            f"{offered[name]:.2f}",
            f"{100 * kept[name].median:.0f} %",
        )
        for name in turns
    )
    less = [name for name, factor in offered.items() if factor < 0.95 * OVERLOAD]
    notes = [held_back(contestants.values()), f"Less than twice as much could be offered: {', '.join(less)}." if less else ""]
    head = ("contestant", "loss-free frames/s", "spread", "ratio to stock", "overload offered", "delivered of loss-free")
    figures: dict[str, SetupA] = {
        name: {"loss_free": rates[name], "overload_offered": offered[name], **contestants[name].to_json()} for name in turns
    }
    return Outcome(
        ratios={
            "setup_a_veth": ratio(rates["veth"], rates["stock"]),
            "setup_a_memory": ratio(rates["memory"], rates["stock"]),
            "setup_a_veth_to_bridges": ratio(rates["veth"], rates["stock_bridges"]),
            "overload_delivered": kept["veth"],
            "overload_delivered_memory": kept["memory"],
            "overload_delivered_stock": kept["stock"],
        },
        figures={"setup_a": figures},
        tables=(Table("Set-up A: one emulated link of 1 Gbit/s, 64-byte frames", head, rows, " ".join(filter(None, notes))),),
    )
