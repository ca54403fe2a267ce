# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames a second that a netbox carries through selective repeat over a link that loses each thousandth, and how late it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench import networks
from bench.ends import Ends
from bench.in_time import ATTEMPTS, LIMIT_US, best_of_attempts, late_us
from bench.labs import planned, up
from bench.outcome import Outcome, Table, rate
from bench.settings import Surroundings
from bench.trial import MOST_LOST
from bench.usage import cpu_s
from testbed.labs.lab import Lab

if TYPE_CHECKING:
    from testbed.documents.bench import Services

AIR = "air"
_SCHEMES = ("sr", "sr-m2")
_RATES = (50_000, 100_000, 200_000, 300_000, 400_000)
_TRIAL_S, _QUICK_S = 5.0, 0.5
#: Lost on the link, in each direction.
_LOSS = 0.001


def measure(around: Surroundings) -> Outcome:
    steps = {scheme: _steps(scheme, around) for scheme in _SCHEMES}
    rows = tuple(
        (
            scheme,
            rate(step["offered"]),
            f"{100 * step['carried']:.2f} %",
            f"{step['late_p99_us']:.0f}",
            f"{step['delay_p99_us']:.0f}",
            f"{100 * step['cpu']:.0f} %",
            "yes" if step["kept_up"] else "no",
        )
        for scheme, of in steps.items()
        for step in of
    )
    head = ("scheme", "offered frames/s", "delivered", "lateness p99, us", "delay p99, us", "CPU, share of a core", "kept up")
    note = (
        f"1 Gbit/s and 1 ms each way, {100 * _LOSS:g} % of frames lost; memory wires. It has kept up when fewer than 1 in "
        f"{1 / MOST_LOST:,.0f} frames are missing and 99 in 100 events and frames are at most {LIMIT_US:g} us late, in the best "
        f"of up to {ATTEMPTS} trials."
    )
    title = "A multiservice netbox that repairs losses, 64-byte frames"
    return Outcome(figures={"services": steps}, tables=(Table(title, head, rows, note),))


def _steps(scheme: str, around: Surroundings) -> list[Services]:
    cores = networks.assign_cores([AIR], around.cores)
    network = networks.network(f"bench-v-{scheme}", {AIR: _air(scheme)}, [f"{AIR}.near", f"{AIR}.far"], wire="memory")
    plan = planned(network, around, cores=cores, generator_is_a_tool=True)
    steps: list[Services] = []
    with up(plan, around) as lab, Ends.of(lab) as ends:
        ends.open_path()
        for offered in _RATES[::3] if around.settings.quick else _RATES:
            around.progress(f"{scheme}: {offered} frames/s")
            step = partial(_step, lab, ends, offered, around)
            steps.append(best_of_attempts(step, is_good=lambda step: step["kept_up"], badness=lambda step: 1 - step["carried"]))
            if not steps[-1]["kept_up"]:
                break
    return steps


def _step(lab: Lab, ends: Ends, offered: float, around: Surroundings) -> Services:
    lasts_s = _QUICK_S if around.settings.quick else _TRIAL_S
    with lab.control(AIR) as control:
        control.reset()
    before = cpu_s(lab, AIR)
    trial = ends.offer(offered, lasts_s)
    cpu = (cpu_s(lab, AIR) - before) / lasts_s
    late = late_us(lab, AIR)
    carried = 1 - trial.loss
    return {
        "offered": trial.kept,
        "carried": carried,
        "late_p99_us": late,
        "delay_p99_us": trial.delay_p99_us,
        "cpu": cpu,
        "kept_up": 1 - carried < MOST_LOST and late <= LIMIT_US,
    }


def _air(scheme: str) -> networks.Network:
    """Windows hold what is under way until a loss is repaired, at any of the rates."""
    service = {"class": "default", "scheme": scheme, "window": 8192, "sequence_bits": 16, "queue": 10_000, "timer": "10 ms"}
    return {
        "technology": "multiservice",
        "stations": {"near": {}, "far": {}},
        "rate": "1 Gbit/s",
        "delay": "1 ms",
        "frame": "1500 B",
        "accounting": "real",
        "errors": {"probability": _LOSS},
        "services": [service],
    }
