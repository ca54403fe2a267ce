# SPDX-License-Identifier: GPL-2.0-or-later
"""The cell beside the arithmetic of its frame, the closed forms of contention and errors, and the thresholds of the standard."""

from __future__ import annotations

from collections.abc import Iterator

from netboxes.validation import Chapter
from netboxes.wimax import validation_capacity, validation_delays, validation_radio, validation_sharing


def chapters() -> Iterator[Chapter]:
    for part in (validation_capacity, validation_delays, validation_radio, validation_sharing):
        yield from part.chapters()
