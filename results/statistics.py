# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics that every measured quantity is told with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from results.metrics_document import Summary

Values = NDArray[np.float64]


def summary(values: Values | Sequence[float]) -> Summary | None:
    """`count`, `mean`, `deviation`, `min`, `max`, `p50`, `p99`, `p99_9`; None when there is nothing to tell.

    A percentile is the smallest value that at least so many per cent of all do not exceed, so it is one that occurred.
    """
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        return None
    p50, p99, p99_9 = np.percentile(array, [50, 99, 99.9], method="inverted_cdf")
    return {
        "count": int(array.size),
        "mean": float(array.mean()),
        "deviation": float(array.std()),
        "min": float(array.min()),
        "max": float(array.max()),
        "p50": float(p50),
        "p99": float(p99),
        "p99_9": float(p99_9),
    }


def joined(arrays: Iterable[Values]) -> Values:
    """All of them as one."""
    return np.concatenate([np.zeros(0), *arrays])
