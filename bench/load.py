# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's load test (6.2.2): CPU of a Wi-Fi and a WiMAX netbox under a one-way flow of 64-byte frames, up to saturation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import networks
from bench.ends import Ends
from bench.labs import planned, up
from bench.outcome import Outcome, Table, rate
from bench.settings import Surroundings
from bench.usage import cpu_s
from testbed.labs.lab import Lab

if TYPE_CHECKING:
    from testbed.documents.bench import Load

#: Of the emergency network, in its direction from the field.
_CELLS: dict[str, tuple[networks.Network, tuple[str, str]]] = {
    "wifi": (
        {
            "technology": "wifi",
            "standard": "802.11a",
            "stations": {"responder": {"role": "station"}, "commander": {"role": "access-point"}},
            "distance": "80 m",
            "tx_power": "16 dBm",
        },
        ("responder", "commander"),
    ),
    "wimax": (
        {
            "technology": "wimax",
            "stations": {"commander": {"role": "subscriber"}, "meoc": {"role": "base"}},
            "distance": "2.5 km",
            "tx_power": "30 dBm",
        },
        ("commander", "meoc"),
    ),
}
_RATES = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
#: Saturated: less than this is delivered of what is offered, at this rate and the next one.
_SATURATED = 0.9
_TRIAL_S = 2.0


def measure(around: Surroundings) -> Outcome:
    steps_of = {cell: _steps(cell, around) for cell in _CELLS}
    rows = tuple(
        (
            cell,
            rate(step["offered"]),
            rate(step["delivered"]),
            f"{100 * step['cpu']:.1f} %",
            f"{100 * step['spin']:.1f} %",
            f"{1e6 * (step['cpu'] - step['spin']) / step['delivered']:.1f}" if step["delivered"] else "",
        )
        for cell, steps in steps_of.items()
        for step in steps
    )
    head = (
        "technology",
        "offered frames/s",
        "delivered frames/s",
        "CPU, share of a core",
        "of it spinning",
        "us a delivered frame",
    )
    note = "Spinning is what a netbox does of its own will, to be in time; it is not in the time of a frame."
    return Outcome(
        figures={"load": steps_of}, tables=(Table("CPU of a netbox against a load of 64-byte frames", head, rows, note),)
    )


def _steps(cell: str, around: Surroundings) -> list[Load]:
    middle, (entry, leave) = _CELLS[cell]
    network = networks.network(f"bench-l-{cell}", {cell: middle}, [f"{cell}.{entry}", f"{cell}.{leave}"])
    plan = planned(network, around, cores=networks.assign_cores([cell], around.cores), generator_is_a_tool=True)
    steps: list[Load] = []
    with up(plan, around) as lab, Ends.of(lab) as ends:
        ends.open_path()
        for offered in _RATES[::3] if around.settings.quick else _RATES:
            around.progress(f"{cell}: {offered} frames/s")
            before = _taken(lab, cell)
            trial = ends.offer(offered, _TRIAL_S)
            # What the netbox takes while the last frames drain belongs to them too.
            cpu, spin = ((after - earlier) / _TRIAL_S for after, earlier in zip(_taken(lab, cell), before, strict=True))
            steps.append({"offered": trial.kept, "delivered": trial.delivered, "cpu": cpu, "spin": spin})
            if sum(step["delivered"] < _SATURATED * step["offered"] for step in steps) > 1:
                break
    return steps


def _taken(lab: Lab, cell: str) -> tuple[float, float]:
    """CPU time so far, and that part of it for which the netbox watched the clock."""
    with lab.control(cell) as control:
        return cpu_s(lab, cell), float(control.statistics()["scheduler"]["spin_s"])
