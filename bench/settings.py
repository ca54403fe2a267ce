# SPDX-License-Identifier: GPL-2.0-or-later
"""How much is measured: enough for a table, or a quick look at whether everything works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.bisection import Search
from bench.trial import Criterion

if TYPE_CHECKING:
    from testbed.documents.bench import Settings as SettingsTold

#: Told what is being done, for whoever draws it.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    #: How many pairs of trials each ratio is made of.
    pairs: int = 5
    #: How long frames are offered in one trial.
    trial_s: float = 1.2
    search: Search = field(default_factory=Search)
    criterion: Criterion = field(default_factory=Criterion)
    #: A few seconds each instead of minutes: to see that it works, not for figures.
    quick: bool = False

    def to_json(self) -> SettingsTold:
        search = self.search
        return {
            "pairs": self.pairs,
            "trial_s": self.trial_s,
            "search": {"resolution": search.resolution, "step": search.step, "attempts": search.attempts},
            "criterion": {"delay_p99_us": self.criterion.delay_p99_us},
            "quick": self.quick,
        }


def quick(pairs: int) -> Settings:
    return Settings(pairs=pairs, trial_s=0.4, search=Search(resolution=0.15, step=2.0, attempts=1), quick=True)


@dataclass(frozen=True)
class Surroundings:
    """What each benchmark is run with."""

    settings: Settings
    #: The cores that labs may use, lowest first: traffic begins and ends on the first.
    cores: tuple[int, ...]
    #: For topology files and what runs leave; it goes with the bench.
    folder: Path
    progress: Progress = field(default=lambda _: None)
