# SPDX-License-Identifier: GPL-2.0-or-later
"""The plain link beside the closed forms of what it claims to be."""

from __future__ import annotations

from collections.abc import Iterator

from netboxes.link import validation_delays, validation_losses, validation_queues, validation_traces
from netboxes.validation import Chapter


def chapters() -> Iterator[Chapter]:
    for part in (validation_losses, validation_delays, validation_queues, validation_traces):
        yield from part.chapters()
