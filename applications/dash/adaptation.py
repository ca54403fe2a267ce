# SPDX-License-Identifier: GPL-2.0-or-later
"""Which representation of a video a player fetches next. netboxes/endpoints/rate_adaptation.cc is the same rule, to the bit.

`throughput`: the highest rate that a part of the throughput carries, which is the harmonic mean of the latest five segments
(X. Yin et al., "A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP", SIGCOMM 2015, section 7).

`buffer`: BBA-0 (T.-Y. Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, algorithm 1). There, of a buffer
of 240 s the first 90 s are the reservoir, and from 216 s on the highest rate is taken; here of any buffer the same parts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal

Rule = Literal["throughput", "buffer"]

_SAMPLES = 5
_RESERVOIR, _FULL = 90.0 / 240.0, 216.0 / 240.0


class RateAdaptation:
    """Of `rates`, bit/s, which rise. `safety`: how much of the throughput is trusted; `longest` of the play-out buffer, s."""

    def __init__(self, rule: Rule, rates: Sequence[float], safety: float, longest: float) -> None:
        self._rule, self._rates, self._safety, self._longest = rule, rates, safety, longest
        self._throughputs = deque[float](maxlen=_SAMPLES)
        self._chosen = 0

    def add(self, throughput: float) -> None:
        """Of a segment that has come, bit/s."""
        self._throughputs.append(throughput)

    def estimate(self) -> float | None:
        """The throughput, bit/s; None before the first segment."""
        if not self._throughputs:
            return None
        inverse = 0.0
        for throughput in self._throughputs:
            inverse += 1 / throughput
        return len(self._throughputs) / inverse

    def choose(self, level: float) -> int:
        """The next representation, counted from 0, when the buffer holds `level` seconds."""
        self._chosen = self._by_throughput() if self._rule == "throughput" else self._by_buffer(level)
        return self._chosen

    def _by_throughput(self) -> int:
        carried = self._safety * (self.estimate() or 0.0)
        return max((number for number, rate in enumerate(self._rates) if rate <= carried), default=0)

    def _by_buffer(self, level: float) -> int:
        """The rate stays until the line from the lowest to the highest one reaches the next higher, or the next lower one."""
        rates, reservoir, full = self._rates, _RESERVOIR * self._longest, _FULL * self._longest
        last = len(rates) - 1
        if level <= reservoir:
            return 0
        if level >= full:
            return last
        line = rates[0] + (rates[-1] - rates[0]) * (level - reservoir) / (full - reservoir)
        if line >= rates[min(self._chosen + 1, last)]:
            return max((number for number, rate in enumerate(rates) if rate < line), default=0)
        if line <= rates[max(self._chosen - 1, 0)]:
            return min((number for number, rate in enumerate(rates) if rate > line), default=last)
        return self._chosen
