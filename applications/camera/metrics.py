# SPDX-License-Identifier: GPL-2.0-or-later
"""What metrics.json says of video streams; docs/measuring.md says what the figures mean."""

from __future__ import annotations

from typing_extensions import TypedDict

from contracts.flow import Direction
from results.metrics_document import Summary


class Likeness(TypedDict):
    """Pictures as decoded against those that were sent."""

    frames_sent: int
    frames_decoded: int
    frames_damaged: int
    identical_ratio: float | None
    ssim: Summary | None
    #: Of pictures that are not identical.
    psnr_db: Summary | None


class Freezes(TypedDict):
    pictures_sent: int
    pictures_complete: int
    interval_ms: Summary | None
    freezes: int
    frozen_s: float


class Video(Freezes):
    """A video stream. Files are in the run folder."""

    flow: str
    direction: Direction
    #: Null where it could not be decoded, and `reason` says why.
    decoded: Likeness | None
    reason: str | None
    sent_file: str
    received_file: str
