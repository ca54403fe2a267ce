# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast one netbox generates in a container and outside of one, and several at once (the thesis's 4.3 and 6.2.1).

Frames end at hosts, whose kernel throws them away as they come: only the generators are measured.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.labs import planned, up
from bench.outcome import Outcome, Table, rate
from bench.pairs import alternate
from bench.settings import Surroundings
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import Plan
from testbed.nodes.control import Control, ControlFailed

_SIZES = (64, 512)
#: More than can be done: what it cannot do, a generator passes over.
_RATE = 20e6
#: No more frames than this, whatever happens.
_MOST = 20_000_000
_START_S = 10.0


def measure(around: Surroundings) -> Outcome:
    rounds = around.settings.pairs if around.settings.quick else 3
    places = {
        (place, size): (lambda inside=place == "container", size=size: _single(inside, size, around))
        for size in _SIZES
        for place in ("container", "none")
    }
    single = {
        key: median(of)
        for key, of in alternate({f"{place} {size}": turn for (place, size), turn in places.items()}, rounds).items()
    }
    several = {number: _in_containers(number, _SIZES[0], around) for number in range(1, len(around.cores) + 1)}
    rows = tuple(
        (
            f"{size} bytes",
            *(rate(single[f"{place} {size}"]) for place in ("container", "none")),
            *(f"{single[f'{place} {size}'] * 8 * size / 1e6:.0f}" for place in ("container", "none")),
        )
        for size in _SIZES
    )
    return Outcome(
        figures={"generation": single, "generation_by_netboxes": {str(number): rates for number, rates in several.items()}},
        tables=(
            Table(
                "Generating as fast as it goes, one netbox, a veth wire",
                ("frames", "frames/s in a container", "in none", "Mbit/s in a container", "in none"),
                rows,
            ),
            Table(
                "Netboxes that generate at once, a core each, 64-byte frames",
                ("netboxes", "frames/s of each", "in all"),
                tuple((str(number), ", ".join(map(rate, rates)), rate(sum(rates))) for number, rates in several.items()),
            ),
        ),
    )


def _single(inside: bool, size: int, around: Surroundings) -> float:
    return _in_containers(1, size, around)[0] if inside else _outside(size, around)


def _in_containers(number: int, size: int, around: Surroundings) -> list[float]:
    plan = _plan(number, size, around)
    with up(plan, around) as lab, ExitStack() as stack:
        around.progress(f"{number} generating, {size} bytes")
        controls = [stack.enter_context(lab.control(_generator(index))) for index in range(1, number + 1)]
        return _generate(controls, around)


def _outside(size: int, around: Surroundings) -> float:
    """The same program in the same network, as any process of the host."""
    plan = _plan(1, size, around)
    generator = plan.node(_generator(1))
    # The node's container stays, so that all else is the same; only its command is idle.
    idle = replace(generator, command=("/usr/bin/sleep", "infinity"), kind="host")
    nodes = tuple(idle if node is generator else node for node in plan.nodes)
    with up(replace(plan, nodes=nodes), around) as lab:
        around.progress(f"1 generating outside of a container, {size} bytes")
        folder = lab.node_folder(generator.name)
        configuration = netbox_configuration(generator)
        configuration["control"] = str(folder / Path(configuration["control"]).name)
        configuration["statistics"] = str(folder / Path(configuration["statistics"]).name)
        file = folder / "outside.json"
        file.write_text(json.dumps(configuration))
        pinned = ["taskset", "--cpu-list", str(generator.cores[0]), generator.command[0], str(file)]
        program = lab.in_namespace(generator.name, pinned, log=folder / "log")
        try:
            with _reached(generator.name, folder / "control.sock") as control:
                return _generate([control], around)[0]
        finally:
            program.kill()
            program.wait(_START_S)


def _generate(controls: Sequence[Control], around: Surroundings) -> list[float]:
    for control in controls:
        control.reset()
        control.set("count", _MOST)
        control.set("rate", _RATE)
    before = [control.statistics()["ports"][0]["sent"] for control in controls]
    for control in controls:
        control.set("active", True)
    time.sleep(around.settings.trial_s)
    for control in controls:
        control.set("active", False)
    return [_rate(control.statistics(), sent) for control, sent in zip(controls, before, strict=True)]


def _rate(statistics: Mapping[str, Any], sent_before: int) -> float:
    """Frames a second that the wire took, from the first to the last that was due."""
    stream = statistics["segment"]["stations"]["out"]
    sent: int = statistics["ports"][0]["sent"] - sent_before
    return float(sent * 1e9 / (stream["last_ns"] - stream["first_ns"]))


@contextmanager
def _reached(netbox: str, socket: Path) -> Iterator[Control]:
    """A netbox's control socket as soon as it is there."""
    deadline = time.monotonic() + _START_S
    while True:
        try:
            control = Control(netbox, socket)
            break
        except ControlFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    with control:
        yield control


def _plan(number: int, size: int, around: Surroundings) -> Plan:
    generator = {"technology": "generator", "stations": {"out": {}}, "size": f"{size} B", "active": False}
    numbers = range(1, number + 1)
    network = {
        "name": f"bench-g-{number}",
        "netboxes": {_generator(index): generator for index in numbers},
        "hosts": {f"drain{index}": {"address": f"10.0.{index}.1/24"} for index in numbers},
        "wires": [[f"{_generator(index)}.out", f"drain{index}"] for index in numbers],
    }
    cores = list(reversed(around.cores))
    return planned(network, around, cores={_generator(index): cores[index - 1] for index in numbers})


def _generator(number: int) -> str:
    return f"source{number}"
