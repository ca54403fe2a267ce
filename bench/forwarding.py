# SPDX-License-Identifier: GPL-2.0-or-later
"""Loss-free rates of IP forwarding on the same wires: by the kernel, and by Click with veth and with memory wires."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from bench import networks
from bench.contestant import Contestant, held_back
from bench.labs import planned
from bench.networks import DRAIN_ADDRESS, DRAIN_MAC, WireKind
from bench.outcome import Outcome, Table, rate
from bench.pairs import alternate
from bench.settings import Surroundings
from contracts.installation import CHECKOUT
from contracts.names import mac_address
from system import namespaces
from system.processes import ProgramFailed
from testbed.labs.lab import Lab

ROUTER = "router"
_INTERFACES = {"left": "198.18.0.2/24", "right": "198.19.0.2/24"}
_START = 150_000.0

_CLICK: Mapping[str, Any] = {
    "routers": {ROUTER: {"configuration": str(CHECKOUT / "bench/forward.click"), "interfaces": _INTERFACES}}
}
_KERNEL: Mapping[str, Any] = {"hosts": {ROUTER: {"interfaces": _INTERFACES}}}


def measure(around: Surroundings) -> Outcome:
    contestants = {
        "Click, veth wires": _contestant("click", "veth", _CLICK, around),
        "Click, memory wires": _contestant("memory", "memory", _CLICK, around),
        "kernel, veth wires": _contestant("kernel", "veth", _KERNEL, around),
    }
    rounds = 1 if around.settings.quick else 2
    turns = alternate({name: contestant.turn for name, contestant in contestants.items()}, rounds)
    rows = tuple(
        (name, rate(median(turn.loss_free for turn in of)), f"{median(turn.delivered / turn.loss_free for turn in of):.0%}")
        for name, of in turns.items()
    )
    head = ("router", "loss-free frames/s", "delivered of twice as many")
    note = "The kernel forwards in the softirq of whoever sends: on the generator's core. Click has a core of its own."
    return Outcome(
        figures={"forwarding": {name: [turn.loss_free for turn in of] for name, of in turns.items()}},
        tables=(Table("IP forwarding, 64-byte frames", head, rows, f"{note} {held_back(contestants.values())}".strip()),),
    )


def _contestant(name: str, wire: WireKind, router: Mapping[str, Any], around: Surroundings) -> Contestant:
    lab = f"bench-f-{name}"
    path = [f"{ROUTER}.left", f"{ROUTER}.right"]
    network = networks.network(lab, {}, path, wire=wire, towards=mac_address(lab, ROUTER, "left"), **router)
    plan = planned(network, around, cores=networks.assign_cores([ROUTER], around.cores), generator_is_a_tool=True)
    prepare = _let_kernel_forward if router is _KERNEL else None
    return Contestant(name, plan, around, start=_START, prepare=prepare)


def _let_kernel_forward(lab: Lab) -> None:
    with namespaces.entered(lab.node(ROUTER).namespace):
        namespaces.write_settings({"ipv4/ip_forward": "1"})
    neighbour = ["ip", "neighbour", "replace", DRAIN_ADDRESS, "lladdr", DRAIN_MAC, "dev", "right", "nud", "permanent"]
    log = lab.node_folder(ROUTER) / "log"
    if lab.in_namespace(ROUTER, neighbour, log=log).wait(10.0) != 0:
        raise ProgramFailed(f"{' '.join(neighbour)} failed: {log.read_text()}")
