# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for something to become true, not for a time to pass."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], what: str = "the awaited condition", deadline_s: float = 30.0) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, f"did not come true: {what}"
        time.sleep(0.01)
