# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs of a campaign take on this machine before it has any: a few are computed for this, all at once, and not kept."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ALL_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from campaigns.campaign import Campaign
from campaigns.design import Point
from campaigns.engine import Done
from campaigns.local_workers import LocalWorkers
from campaigns.order import Order
from results.retention import size_of
from testbed.labs.deployment import Progress

#: What somebody waits who asks how long a campaign takes.
PATIENCE_S: Final = 30.0


@dataclass(frozen=True)
class TrialRun:
    """One that was over in time, and the size of its folder in bytes."""

    point: Point
    done: Done
    size: int


@dataclass(frozen=True)
class Trial:
    """`begun` runs at once, as many as the campaign makes at once. Those that are not in `over` were ended after `waited_s`."""

    begun: int
    over: Sequence[TrialRun]
    waited_s: float


def attempt(campaign: Campaign, points: Sequence[Point], progress: Progress) -> Trial:
    """Computes runs of points that are far from each other, two by each process, and tells of the second ones.

    The first one of a process takes longer, since it loads what the others find loaded. Raises NotWritten, WorkerLost, and what
    planning raises.
    """
    with tempfile.TemporaryDirectory(prefix="netboxit-trial-") as place, LocalWorkers() as workers:
        chosen = [points[number * len(points) // workers.slots] for number in range(workers.slots)]
        progress("computing runs to learn what they take")
        began_s = time.monotonic()
        first, second = ([_begun(workers, campaign, point, Path(place)) for point in chosen] for _ in range(2))
        over = wait([run.done for run in (*first, *second)], PATIENCE_S, ALL_COMPLETED).done
        waited_s = time.monotonic() - began_s
        told = second if any(run.done in over for run in second) else first
        return Trial(len(chosen), [run.over() for run in told if run.done in over], waited_s)


@dataclass(frozen=True)
class _Begun:
    point: Point
    folder: Path
    done: Future[Done]

    def over(self) -> TrialRun:
        return TrialRun(self.point, self.done.result(), size_of(self.folder))


def _begun(workers: LocalWorkers, campaign: Campaign, point: Point, place: Path) -> _Begun:
    folder = Path(tempfile.mkdtemp(dir=place))
    return _Begun(point, folder, workers.submit(Order.of(campaign, point, 0), folder))
