# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run found: `run`, `report`."""

from __future__ import annotations

from typing_extensions import TypedDict

from results.metrics_document import Metrics


class Run(TypedDict):
    #: The run folder.
    folder: str
    #: What its metrics.json says.
    metrics: Metrics
