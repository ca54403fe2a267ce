# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for something to become true, not for a time to pass."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], deadline_s: float = 10.0) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "the awaited condition did not come true"
        time.sleep(0.01)
