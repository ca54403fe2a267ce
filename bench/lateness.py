# SPDX-License-Identifier: GPL-2.0-or-later
"""Lateness in the emergency network under its call and its camera, by netbox, from the metrics of a run as users make it."""

from __future__ import annotations

from typing import Final, Literal

from bench import bare_timer
from bench.outcome import Outcome, Table
from bench.settings import Surroundings
from contracts.installation import CHECKOUT
from testbed import run

EMERGENCY = CHECKOUT / "topologies/emergency.yaml"
_LASTS_S, _QUICK_S = 30.0, 6.0
_LEVELS: Final[tuple[Literal["p50", "p90", "p99", "p99_9", "max"], ...]] = ("p50", "p90", "p99", "p99_9", "max")


def measure(around: Surroundings) -> Outcome:
    lasts_s = _QUICK_S if around.settings.quick else _LASTS_S
    around.progress(f"a bare timer for {lasts_s:g} s")
    core = around.cores[-1]
    bare = bare_timer.lateness_us(core, lasts_s, around.folder)
    outcome = run.run(EMERGENCY, lab="bench-late", duration_s=lasts_s, progress=around.progress, results=around.folder)
    lateness = outcome.metrics["lateness_us"]
    rows = tuple(
        (netbox, kind, *(f"{levels[level]:.1f}" for level in _LEVELS))
        for netbox, frames in lateness.items()
        for kind, levels in (("frames", frames), ("events", frames["event"]))
        if levels["count"]
    )
    rows += ((f"none: a bare timer on core {core}", "wake-ups", *(f"{bare[level]:.1f}" for level in _LEVELS)),)
    verdict = outcome.metrics["verdict"]
    note = "The last row is the machine itself, just before: cyclictest with SCHED_FIFO on a core that is kept awake. "
    note += f"Verdict: {verdict['status']}" + (f" ({'; '.join(verdict['reasons'])})" if verdict["reasons"] else "") + "."
    title = f"Lateness in the emergency network, {lasts_s:g} s of call and camera, us"
    return Outcome(
        figures={"lateness_us": lateness, "lateness_verdict": verdict, "lateness_of_a_bare_timer_us": bare},
        tables=(Table(title, ("netbox", "of", *(level.replace("_", ".") for level in _LEVELS)), rows, note),),
    )
