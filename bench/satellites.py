# SPDX-License-Identifier: GPL-2.0-or-later
"""How many satellite netboxes, each with a voice call, stay valid on this machine: their number grows until one is late."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from bench import networks
from bench.in_time import ATTEMPTS, LIMIT_US, best_of_attempts, late_us
from bench.labs import planned, up
from bench.networks import SOURCE
from bench.outcome import Outcome, Table
from bench.settings import Surroundings
from bench.usage import cpu_s

if TYPE_CHECKING:
    from testbed.documents.bench import Satellites

#: A call of the emergency network: 20 ms of speech in 124 bytes on Ethernet, in each direction.
_PACKETS_S, _FRAME_BYTES = 50, 128
_NUMBERS = (1, 2, 4, 8, 16, 32, 64)
_LASTS_S, _QUICK_S = 10.0, 2.0


def measure(around: Surroundings) -> Outcome:
    runs: list[Satellites] = []
    for number in _NUMBERS[:2] if around.settings.quick else _NUMBERS:
        runs.append(_best_of_attempts(number, around))
        if not runs[-1]["valid"]:
            break
    rows = tuple(
        (
            str(run["netboxes"]),
            f"{run['worst_p99_us']:.0f}",
            f"{100 * run['cpu']:.2f} %",
            "yes" if run["valid"] else "no",
        )
        for run in runs
    )
    valid = max((run["netboxes"] for run in runs if run["valid"]), default=0)
    head = ("netboxes", "worst lateness p99, us", "CPU of one, share of a core", "valid")
    title = f"Satellite netboxes with one voice call each (50 frames/s in each direction), best of up to {ATTEMPTS} attempts"
    return Outcome(figures={"satellites_valid": valid, "satellites": runs}, tables=(Table(title, head, rows),))


def _best_of_attempts(number: int, around: Surroundings) -> Satellites:
    attempt = partial(_calls, number, around)
    return best_of_attempts(attempt, is_good=lambda run: run["valid"], badness=lambda run: run["worst_p99_us"])


def _calls(number: int, around: Surroundings) -> Satellites:
    lasts_s = _QUICK_S if around.settings.quick else _LASTS_S
    cores = networks.assign_cores(_satellites(number), around.cores)
    plan = planned(_network(number), around, cores=cores | dict.fromkeys(_ENDS, around.cores[0]))
    with up(plan, around) as lab:
        around.progress(f"{number} satellite netboxes, a call each, for {lasts_s:g} s")
        for end in _ENDS:
            with lab.control(end) as control:
                control.set("active", True)
        time.sleep(1.0)  # the first frames find caches cold
        for satellite in _satellites(number):
            with lab.control(satellite) as control:
                control.reset()
        before = cpu_s(lab, _satellites(number)[0])
        time.sleep(lasts_s)
        cpu = (cpu_s(lab, _satellites(number)[0]) - before) / lasts_s
        worst = max(late_us(lab, satellite) for satellite in _satellites(number))
    return {"netboxes": number, "worst_p99_us": worst, "cpu": cpu, "valid": worst <= LIMIT_US}


#: A generator takes what arrives as well: both ends of each call are stations of two generators.
_ENDS = (SOURCE, "far")


def _satellites(number: int) -> list[str]:
    return [f"sat{index}" for index in range(1, number + 1)]


def _network(number: int) -> networks.Network:
    satellites = _satellites(number)
    near, far = (
        {
            "technology": "generator",
            "stations": {satellite: {} for satellite in satellites},
            "rate": f"{_PACKETS_S} pps",
            "size": f"{_FRAME_BYTES} B",
            "active": False,
            "source_mac": f"02:00:00:00:{mine}:00",
            "destination_mac": f"02:00:00:00:{theirs}:00",
        }
        for mine, theirs in (("01", "02"), ("02", "01"))
    )
    link = {
        "technology": "satellite",
        "stations": {"terminal": {"role": "terminal"}, "hub": {"role": "gateway"}},
        "return_rate": "2 Mbit/s",
        "forward_rate": "10 Mbit/s",
    }
    return {
        "name": f"bench-s-{number}",
        "netboxes": {SOURCE: near, **dict.fromkeys(satellites, link), "far": far},
        "wires": [
            pair
            for satellite in satellites
            for pair in ([f"{SOURCE}.{satellite}", f"{satellite}.terminal"], [f"{satellite}.hub", f"far.{satellite}"])
        ],
    }
