# SPDX-License-Identifier: GPL-2.0-or-later
"""How long it takes to cross a wire between two netboxes (the thesis's 6.2.4), both ends awake: veth and memory.

The ends are programs that use the netboxes' own ports but never sleep, each on a core of its own.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

from bench import networks
from bench.labs import planned, up
from bench.networks import DRAIN, SOURCE
from bench.outcome import Outcome, Table
from bench.settings import Surroundings
from contracts.installation import CHECKOUT
from contracts.plan import Plan
from system.processes import ProgramFailed
from system.rootfs import NODE_FOLDER
from testbed.labs.lab import Lab

if TYPE_CHECKING:
    from testbed.documents.bench import Crossing

PROGRAM = CHECKOUT / "build/bin/wire-crossing"

#: So far apart that each frame crosses alone.
_GAP_US = 50
#: Both ends may spin at real-time priority for nearly a second: this takes half of that.
_COUNT, _QUICK_COUNT = 10_000, 2_000
_DEADLINE_S = 15.0

#: The wires, and how a netbox reaches them.
_WIRES: dict[str, tuple[networks.WireKind, str]] = {
    "memory": ("memory", "auto"),
    "veth": ("veth", "auto"),
    "veth, AF_XDP": ("veth", "xdp"),
}


def measure(around: Surroundings) -> Outcome:
    turns: dict[str, list[Crossing]] = {name: [] for name in _WIRES}
    for _ in range(around.settings.pairs):
        for name in _WIRES:
            turns[name].append(_cross(name, around))
    crossing_us: dict[str, dict[str, float]] = {
        name: {level: median(turn[level] for turn in of) for level in _LEVELS} for name, of in turns.items()
    }
    rows = tuple(
        (name, turns[name][0]["port"], *(f"{levels[level]:.2f}" for level in _LEVELS)) for name, levels in crossing_us.items()
    )
    note = "The least of a machine's cores is two: with both busy with this, whatever else runs shows in the high percentiles."
    return Outcome(
        figures={"crossing_us": crossing_us, "crossing": turns},
        tables=(
            Table(
                "Crossing a wire, both ends awake, us (from just before hand-over until the receiving process has it)",
                ("wire", "port", "p50", "p90", "p99", "p99.9"),
                rows,
                note,
            ),
        ),
    )


_LEVELS: Final[tuple[Literal["p50", "p90", "p99", "p99_9"], ...]] = ("p50", "p90", "p99", "p99_9")


def _cross(name: str, around: Surroundings) -> Crossing:
    count = _QUICK_COUNT if around.settings.quick else _COUNT
    with up(_plan(name, count, around), around) as lab:
        around.progress(f"crossing: {name}")
        _lines(lab, DRAIN, 1)
        (lab.node_folder(SOURCE) / "go").touch()
        counts: Crossing = json.loads(_lines(lab, DRAIN, 2)[1])
    if counts["count"] < 0.99 * count:
        raise ProgramFailed(f"only {counts['count']} of {count} frames crossed the wire ({name})")
    return counts


def _plan(name: str, count: int, around: Surroundings) -> Plan:
    """The lab of a generator and a sink, with our program in the place of both: it opens their ports."""
    wire, io = _WIRES[name]
    network = networks.network("bench-crossing", {}, [], wire=wire)
    for netbox in network["netboxes"].values():
        netbox["io"] = io
    plan = planned(network, around, cores={SOURCE: around.cores[0], DRAIN: around.cores[-1]})
    roles = {SOURCE: "send", DRAIN: "receive"}
    nodes = (replace(node, kind="host", command=_command(roles[node.name], count)) for node in plan.nodes)
    return replace(plan, nodes=tuple(nodes))


def _command(role: str, count: int) -> tuple[str, ...]:
    # The container ends with its command, so that one is followed by rest.
    program = f"{PROGRAM} {NODE_FOLDER}/netbox.json {role} {count} {_GAP_US}"
    return ("/bin/sh", "-c", f"{program}; exec sleep infinity")


def _lines(lab: Lab, node: str, number: int) -> list[str]:
    """Waits until a node's log has so many lines."""
    log = lab.node_folder(node) / "log"
    deadline = time.monotonic() + _DEADLINE_S
    while (text := log.read_text()).count("\n") < number or "wire-crossing:" in text:
        if "wire-crossing:" in text or time.monotonic() > deadline:
            raise ProgramFailed(f"wire-crossing did not come to its end: {text.strip() or 'it says nothing'}")
        time.sleep(0.02)
    return text.splitlines()
