# SPDX-License-Identifier: GPL-2.0-or-later
"""What metrics.json says of calls; docs/measuring.md says what the figures mean."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from contracts.flow import Direction


class Heard(TypedDict):
    """What was heard against what was spoken; null where it could not be rated, and `reason` says why."""

    pesq: float | None
    pesq_min: float | None
    stoi: float | None
    intelligible: bool | None
    pieces: NotRequired[int]
    reason: str | None


class PlannedVoice(TypedDict):
    """What the E-model says of a call from its delay and loss."""

    mos_e_model: float | None
    r: float | None
    mouth_to_ear_ms: float | None
    late_ratio: float | None
    codec: str
    impairment: str
    reason: str | None


class Voice(PlannedVoice):
    """A call in one direction. Files are in the run folder."""

    flow: str
    direction: Direction
    heard: Heard
    spoken_file: str
    heard_file: str
