# SPDX-License-Identifier: GPL-2.0-or-later
"""Interarrival jitter as RFC 3550 defines it (section 6.4.1, algorithm in appendix A.8)."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from results.statistics import Values

#: The estimate forgets with a time constant of 16 packets and starts at 0; after four of them less than 2 % of the start is left.
WARM_UP = 64


def running_jitter(transit: Values) -> Values:
    """The estimate J after each packet but the first, in the unit of `transit` (arrival minus sending, in order of arrival)."""
    differences = np.abs(np.diff(transit)).tolist()
    estimates = accumulate(differences, lambda jitter, difference: jitter + (difference - jitter) / 16.0, initial=0.0)
    return np.fromiter(estimates, float)[1:]


def settled(estimates: Values) -> Values:
    """Without the time that the estimate needs to settle; all of a flow too short for that."""
    return estimates[WARM_UP:] if estimates.size > 2 * WARM_UP else estimates


def unwrap_timestamps(timestamps: NDArray[np.uint32]) -> NDArray[np.int64]:
    """RTP timestamps as they would be without the limit of 32 bits."""
    # As signed 32-bit differences: a step of more than half the range is one back over the edge.
    steps = np.diff(timestamps.astype(np.uint32)).astype(np.int32).astype(np.int64)
    return np.cumsum(np.concatenate(([np.int64(timestamps[0])], steps)), dtype=np.int64)
