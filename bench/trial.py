# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial: so many frames offered at a rate, and whether what came out of it is good. The same rule for every contestant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Fewer than 1 in 10 000 frames may be lost.
MOST_LOST = 1e-4
#: How much of the asked rate the generator must have kept.
LEAST_KEPT = 0.98

#: What became of a trial. "short": all that was offered was carried well, but that was less than asked.
Verdict = Literal["good", "lossy", "late", "short"]


@dataclass(frozen=True)
class Trial:
    """What was offered at `rate` (frames a second), what the sink got of it, and how late.

    Delays are one-way, from the generator's stamp in the frame to the stamp of its arrival at the sink's port, in microseconds.
    """

    rate: float
    sent: int
    #: From the first departure to the last.
    lasted_s: float
    received: int
    delay_p50_us: float
    delay_p99_us: float
    #: Frames a second at the sink, from the first arrival to the last.
    delivered: float

    @property
    def kept(self) -> float:
        """The rate that the generator really made."""
        return self.sent / self.lasted_s if self.lasted_s > 0 else self.rate

    @property
    def loss(self) -> float:
        return 1 - self.received / self.sent if self.sent else 0.0


@dataclass(frozen=True)
class Criterion:
    """When a trial is good.

    A queue that only grows hides that a contestant is too slow, for as long as a short trial lasts: so the delay counts as well.
    It is asked of 99 in 100 frames, as a run's verdict asks it, since a virtual machine's host stops either contestant at times.
    """

    #: Beyond what the emulated link itself takes.
    delay_p99_us: float = 10_000.0

    def judge(self, trial: Trial) -> Verdict:
        if trial.sent - trial.received >= MOST_LOST * trial.sent:
            return "lossy"
        if trial.delay_p99_us > self.delay_p99_us:
            return "late"
        return "good" if trial.kept >= LEAST_KEPT * trial.rate else "short"
