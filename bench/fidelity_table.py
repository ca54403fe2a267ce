# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulation against simulation, as a benchmark: the figures of `bench.fidelity` and their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import fidelity
from bench.outcome import Outcome, Table
from bench.settings import Surroundings

if TYPE_CHECKING:
    from testbed.documents.bench import FidelityOfDirection

_LASTS_S, _QUICK_S = 10.0, 2.0


def measure(around: Surroundings) -> Outcome:
    lasts_s = _QUICK_S if around.settings.quick else _LASTS_S
    around.progress(f"each segment in real and in virtual time: {lasts_s:g} s of traffic")
    result = fidelity.measure(duration_s=lasts_s, folder=around.folder / "fidelity", lab="bench-fidelity")
    rows = tuple(_row(name, direction) for name, segment in result["segments"].items() for direction in segment["directions"])
    head = (
        "segment",
        "from",
        "frames",
        "mean delay, us",
        "in virtual time",
        "difference",
        "of a frame, p99",
        "share of tolerance",
    )
    note = f"Tolerance: {fidelity.MOST_US:g} us or {100 * fidelity.MOST_SHARE:g} % of the mean delay, whichever is larger."
    title = "Emulation against simulation: the same frames in real and in virtual time"
    return Outcome(figures={"fidelity": result}, tables=(Table(title, head, rows, note),))


def _row(segment: str, direction: FidelityOfDirection) -> tuple[str, ...]:
    return (
        segment,
        direction["sender"],
        str(direction["frames"]),
        f"{direction['mean_real_us']:.1f}",
        f"{direction['mean_virtual_us']:.1f}",
        f"{direction['difference_us']:+.1f}",
        f"{direction['frame_p99_us']:.1f}",
        f"{100 * direction['share']:.0f} %",
    )
