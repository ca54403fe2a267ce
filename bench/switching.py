# SPDX-License-Identifier: GPL-2.0-or-later
"""What a switch takes and carries: Open vSwitch by packet sockets, AF_XDP and the kernel's module, and a bridge of the kernel."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any, Literal

from bench import networks
from bench.contestant import Contestant, held_back
from bench.labs import planned, up
from bench.outcome import Outcome, Table, rate
from bench.pairs import alternate
from bench.settings import Surroundings
from contracts.plan import Plan
from system import namespaces
from system.processes import ProgramFailed
from testbed.labs.lab import Lab
from testbed.nodes.switches import kernel_datapath
from testbed.plans.resolve import IDLE

Kind = Literal["bridge", "userspace", "xdp", "kernel"]

SWITCH = "switch"
_START = 20_000.0
_PINGS, _QUICK_PINGS = 500, 50
_ROUND_TRIP = re.compile(r"rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/")


def measure(around: Surroundings) -> Outcome:
    kinds: dict[str, Kind] = {
        "bridge of the kernel": "bridge",
        "Open vSwitch, packet sockets": "userspace",
        "Open vSwitch, AF_XDP": "xdp",
    }
    if kernel_datapath():
        kinds["Open vSwitch, module of the kernel"] = "kernel"
    contestants = {name: _contestant(kind, around) for name, kind in kinds.items()}
    rounds = 1 if around.settings.quick else 2
    trips = alternate({name: partial(_round_trip, kind, around) for name, kind in kinds.items()}, rounds)
    turns = alternate({name: contestant.turn for name, contestant in contestants.items()}, rounds)
    rows = tuple(
        (
            name,
            f"{median(least for least, _ in trips[name]):.3f}",
            f"{median(mean for _, mean in trips[name]):.3f}",
            rate(median(turn.loss_free for turn in of)),
            f"{median(turn.delivered / turn.loss_free for turn in of):.0%}",
        )
        for name, of in turns.items()
    )
    head = ("switch", "least round trip, ms", "mean, ms", "loss-free frames/s", "delivered of twice as many")
    note = "The round trip is ping's between two hosts, so twice through the switch. AF_XDP has a core that polls without end."
    return Outcome(
        figures={
            "switching": {name: [turn.loss_free for turn in of] for name, of in turns.items()},
            "switch_round_trip_ms": {name: [mean for _, mean in of] for name, of in trips.items()},
        },
        tables=(Table("Switches, 64-byte frames", head, rows, f"{note} {held_back(contestants.values())}".strip()),),
    )


def _contestant(kind: Kind, around: Surroundings) -> Contestant:
    path = [f"{SWITCH}.left", f"{SWITCH}.right"]
    network = networks.network(f"sw-{kind}", {}, path, switches=_switches(kind))
    cores = networks.assign_cores([SWITCH], around.cores)
    plan = planned(network, around, cores=_but_polling(cores, kind), generator_is_a_tool=True)
    return Contestant(kind, _with(kind, plan), around, start=_START, prepare=_bridge if kind == "bridge" else None)


def _round_trip(kind: Kind, around: Surroundings) -> tuple[float, float]:
    """Least and mean, ms."""
    network = {
        "name": f"trip-{kind}",
        "hosts": {"near": {"address": "198.18.0.11/24"}, "far": {"address": "198.18.0.12/24"}},
        "switches": _switches(kind),
        "wires": [["near", f"{SWITCH}.left"], [f"{SWITCH}.right", "far"]],
    }
    first, *others = around.cores
    cores = {"near": first, "far": first, SWITCH: others[0]}
    with up(_with(kind, planned(network, around, cores=_but_polling(cores, kind))), around) as lab:
        if kind == "bridge":
            _bridge(lab)
        pings = _QUICK_PINGS if around.settings.quick else _PINGS
        # The first ones wait for addresses to be asked for and learnt.
        lab.run("near", ["ping", "-q", "-c", "5", "-i", "0.05", "198.18.0.12"])
        ping = lab.run("near", ["ping", "-q", "-c", str(pings), "-i", "0.01", "198.18.0.12"])
    if (round_trip := _ROUND_TRIP.search(ping.stdout)) is None:
        raise ProgramFailed(f"no answer through the switch ({kind}): {ping.stdout} {ping.stderr}")
    around.progress(f"{kind}: {round_trip[0]} ms")
    return float(round_trip[1]), float(round_trip[2])


def _switches(kind: Kind) -> dict[str, Any]:
    return {SWITCH: {"datapath": "userspace" if kind == "bridge" else kind, "ports": {"left": {}, "right": {}}}}


def _but_polling(cores: dict[str, int], kind: Kind) -> dict[str, int]:
    """A switch that polls has a core for that from its plan, and another one for the rest of it."""
    return {name: core for name, core in cores.items() if (name, kind) != (SWITCH, "xdp")}


def _with(kind: Kind, plan: Plan) -> Plan:
    """The same lab, with a node at the switch's place where the kernel is to bridge."""
    if kind != "bridge":
        return plan
    nodes = (
        replace(node, kind="host", command=IDLE, files={}, devices=(), capabilities=()) if node.name == SWITCH else node
        for node in plan.nodes
    )
    return replace(plan, nodes=tuple(nodes))


def _bridge(lab: Lab) -> None:
    """Has the kernel of the node bridge its two interfaces."""
    calls = [["add", "name", "bridge", "type", "bridge"], ["set", "dev", "bridge", "up"]]
    calls += [["set", "dev", interface, "master", "bridge"] for interface in ("left", "right")]
    with namespaces.entered(lab.node(SWITCH).namespace):
        for call in calls:
            subprocess.run(["ip", "link", *call], check=True, capture_output=True)
