# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of conferencing over one or two wireless links in virtual time (Xylomenos 1999, 5.1.1 and 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Any, Literal

import numpy as np

from contracts.names import repetition_seed
from netboxes.multiservice.profiles import ProfileName
from netboxes.multiservice.validation import arrivals, conference, over, wire
from reproductions.experiment import Experiment
from results.intervals import Interval, mean_interval

Topology = Literal["LAN1", "WAN1", "LAN2", "WAN2"]
Scheme = Literal["none", "xor", "xor-adaptive", "rlp", "rlp-oos", "sr-m2", "go-back-n", "snoop"]
LEVELS = (1, 2, 3, 4)
#: Rate and delay of a LAN and of a WAN (3.3.1).
_WIRES = {"LAN": ("10 Mbit/s", "1 ms"), "WAN": ("2 Mbit/s", "50 ms")}


@dataclass(frozen=True)
class Cell:
    """A scenario of the source with one scheme on all of its wireless links."""

    link: ProfileName
    topology: Topology
    scheme: Scheme
    level: int
    #: Of its retransmissions, where it is not the technology's own.
    timer: str | None = None


@dataclass(frozen=True)
class Heard:
    """Of one run: the share of lost packets, and mean and two standard deviations of the delays of the others."""

    loss: float
    delay_ms: float


class Conferences:
    """Runs of cells, each with several seeds of its errors. What is sent is the same in all, as in the source."""

    def __init__(self, runs: Mapping[Cell, Sequence[Heard]]) -> None:
        self._runs = runs

    @classmethod
    def held(cls, seeds: int, cells: Iterable[Cell]) -> Conferences:
        wanted = list(cells)
        tasks = [(cell, seed) for cell in wanted for seed in range(1, seeds + 1)]
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            heard = list(pool.map(hear, *zip(*tasks, strict=True), chunksize=8))
        return cls({cell: heard[number * seeds : (number + 1) * seeds] for number, cell in enumerate(wanted)})

    def loss(self, cell: Cell) -> Interval:
        return self.derived(lambda run: run.loss, cell)

    def delay_ms(self, cell: Cell) -> Interval:
        return self.derived(lambda run: run.delay_ms, cell)

    def derived(self, of: Callable[..., float], *cells: Cell) -> Interval:
        """Of what follows from the runs of several cells that have the same seed."""
        interval = mean_interval([of(*runs) for runs in zip(*(self._runs[cell] for cell in cells), strict=True)])
        assert interval is not None, "there is a seed"
        return interval

    def record(self) -> dict[str, list[dict[str, Any]]]:
        """Each value of each run."""
        return {
            measure: [
                {**asdict(cell), "repetition": number, "value": value}
                for cell, runs in self._runs.items()
                for number, run in enumerate(runs)
                for value in (getattr(run, measure),)
            ]
            for measure in ("loss", "delay_ms")
        }


@dataclass(frozen=True)
class ConferenceExperiment(Experiment):
    """Minutes at most, so that runs are made anew each time."""

    seeds: int = 6
    #: As many as the source has.
    full_seeds: int = 30

    def held(self, cells: Iterable[Cell], *, full: bool, few: int | None) -> tuple[int, Conferences]:
        """How many runs of each cell, and these."""
        seeds = few or (self.full_seeds if full else self.seeds)
        return seeds, Conferences.held(seeds, cells)


def hear(cell: Cell, seed: int) -> Heard:
    """One run. Before one wireless link is a LAN or a WAN, between two of them, each with errors of its own, as well (3.3.1)."""
    packets = conference(cell.link)
    # The first packet was sent at 1 s, and came out of the LAN so much later.
    lan_s = packets[0][0] - 1
    # RLP asks three times by default, which is for TCP.
    once = {"attempts": 1} if cell.scheme.startswith("rlp") else {}
    settings = {"scheme": cell.scheme, **once, **({"timer": cell.timer} if cell.timer else {})}

    def air(frames: Sequence[tuple[float, bytes]], link: int) -> Any:
        # ns-3's generator, with small seeds as they are, makes runs alike: the losses of seeds 1 and 3 correlate by 0.45.
        return over(cell.link, frames, settings, errors={"level": cell.level}, seed=repetition_seed(seed, link))

    begun_s, wired = 0.0, _WIRES[cell.topology[:3]]
    match cell.topology:
        case "LAN1":
            begun_s, ran = lan_s, air(packets, 0)
        case "WAN1":
            begun_s, ran = lan_s, air(wire([(at - lan_s, data) for at, data in packets], *wired), 0)
        case "LAN2" | "WAN2":
            ran = air(wire(air(packets, 0).received["mobile"], *wired), 1)
    late_ms = np.array([1e3 * (at - packets[number][0] + begun_s) for number, at in arrivals(ran).items()])
    return Heard(1 - len(late_ms) / len(packets), float(late_ms.mean() + 2 * late_ms.std()))
