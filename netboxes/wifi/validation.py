# SPDX-License-Identifier: GPL-2.0-or-later
"""Wi-Fi beside the arithmetic of its standards, Bianchi's model, and closed forms of errors and fading."""

from __future__ import annotations

from collections.abc import Iterator

from netboxes.validation import Chapter
from netboxes.wifi import (
    validation_aggregation,
    validation_contention,
    validation_distance,
    validation_fading,
    validation_goodput,
    validation_hidden,
    validation_mesh,
    validation_priority,
)


def chapters() -> Iterator[Chapter]:
    yield from validation_goodput.chapters()
    yield from validation_aggregation.chapters()
    yield from validation_distance.chapters()
    yield from validation_contention.chapters()
    yield from validation_hidden.chapters()
    yield from validation_priority.chapters()
    yield from validation_fading.chapters()
    yield from validation_mesh.chapters()
