# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of a campaign that is to be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from campaigns.campaign import Campaign
from campaigns.design import Point
from results.retention import Keep
from testbed import virtual_run
from testbed.description.settings import Setting
from testbed.virtual_run import Computation


@dataclass(frozen=True)
class Order:
    """What is run, with which values, how long, what of it counts, and what is kept of it."""

    #: Of its folder: the numbers of its point and its repetition.
    name: str
    topology: Path
    settings: Sequence[Setting]
    #: Of the traffic, seconds; None: as the topology says.
    duration_s: float | None
    #: From the beginning of the run, seconds.
    warm_up_s: float
    keep: Keep

    def planned(self) -> Computation:
        """In virtual time. Raises what `virtual_run.planned` raises."""
        return virtual_run.planned(self.topology, None, self.duration_s, self.settings, self.warm_up_s)

    @classmethod
    def of(cls, campaign: Campaign, point: Point, repetition: int) -> Order:
        return cls(
            f"{point.number:04}-{repetition:02}",
            campaign.topology(point),
            campaign.settings(point, repetition),
            campaign.file.duration,
            campaign.file.warm_up,
            campaign.file.keep,
        )
