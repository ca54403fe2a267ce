# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured against another: a lab between a generator and a sink, and the rate that it carries without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.bisection import highest_good_rate
from bench.ends import Ends
from bench.labs import up
from bench.outcome import rate
from bench.settings import Surroundings
from bench.trial import Trial, Verdict
from contracts.plan import Plan
from testbed.labs.lab import Lab

if TYPE_CHECKING:
    from testbed.documents.bench import Searches
    from testbed.documents.bench import Trial as TrialTold

#: Steps of the search once the rate is known roughly, from the contestant's turn before.
_SMALL_STEP = 1.12
#: How much more than the loss-free rate overload is.
OVERLOAD = 2.0
#: What else took the generator's core may be over when it tries again.
_SHORT_ATTEMPTS = 2
#: And whether it was its limit shows when it is sought again from there.
_SEARCHES = 2


class _GeneratorsLimit(Exception):
    """The generator makes no higher rate, and the contestant carries all of it."""


@dataclass(frozen=True)
class Turn:
    """The highest rate (frames/s) that is good by the settings' criterion, and what became of twice as much."""

    loss_free: float
    overload: Trial

    @property
    def delivered(self) -> float:
        """Frames/s that arrive of the overload."""
        return self.overload.delivered


class Contestant:
    """Has its turns in a lab of its own, which is up for that long only; remembers all trials."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        around: Surroundings,
        *,
        start: float,
        prepare: Callable[[Lab], None] | None = None,
    ) -> None:
        """`start` is the first rate that it is offered; `prepare` does what is left to do when its lab is up."""
        self.name, self.plan = name, plan
        self._around, self._start, self._prepare = around, start, prepare
        self._trials: list[tuple[Trial, Verdict]] = []
        self._turns = 0
        #: A search ended where the generator could do no more.
        self.held_back_by_generator = False

    def turn(self) -> Turn:
        with up(self.plan, self._around) as lab, Ends.of(lab) as ends:
            if self._prepare:
                self._prepare(lab)
            ends.open_path()
            loss_free = self._search(ends)
            overload = ends.offer(OVERLOAD * loss_free, self._around.settings.trial_s)
        self._around.progress(
            f"{self.name}: {rate(loss_free)} frames/s; of {rate(overload.kept)} it delivers {rate(overload.delivered)}"
        )
        return Turn(loss_free, overload)

    def _search(self, ends: Ends) -> float:
        """The highest rate that was carried well, as the generator really made it."""
        search = self._around.settings.search.with_step(_SMALL_STEP) if self._turns else self._around.settings.search
        first = len(self._trials)
        self._turns += 1
        for _ in range(_SEARCHES):
            try:
                highest_good_rate(lambda offered: self._is_good(ends, offered), start=self._start, search=search)
                break
            except _GeneratorsLimit:
                search = search.with_step(_SMALL_STEP)
            finally:
                carried = [trial.kept for trial, verdict in self._trials[first:] if verdict in ("good", "short")]
                self._start = max(carried, default=self._start)
        return self._start

    def _is_good(self, ends: Ends, offered: float) -> bool:
        for _ in range(_SHORT_ATTEMPTS):
            trial = ends.offer(offered, self._around.settings.trial_s)
            verdict = self._around.settings.criterion.judge(trial)
            self._trials.append((trial, verdict))
            self._around.progress(
                f"{self.name}: {rate(offered)} frames/s: {verdict} (lost {trial.loss:.4%}; delay p99 {trial.delay_p99_us:.0f} us)"
            )
            if verdict != "short":
                return verdict == "good"
        self.held_back_by_generator = True
        raise _GeneratorsLimit

    def to_json(self) -> Searches:
        trials: list[TrialTold] = [
            {
                "asked": trial.rate,
                "kept": trial.kept,
                "loss": trial.loss,
                "delay_p50_us": trial.delay_p50_us,
                "delay_p99_us": trial.delay_p99_us,
                "verdict": verdict,
            }
            for trial, verdict in self._trials
        ]
        return {"trials": trials, "held_back_by_generator": self.held_back_by_generator}


def held_back(contestants: Iterable[Contestant]) -> str:
    """A remark for a table."""
    names = [contestant.name for contestant in contestants if contestant.held_back_by_generator]
    return f"The generator could do no more, so that the true rate is higher: {', '.join(names)}." if names else ""
