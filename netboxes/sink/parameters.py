# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a sink in YAML: nothing but its stations."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from netboxes.technology import StationParameters, Technology


class Station(StationParameters):
    """One station: a port that takes whatever comes."""


class Parameters(Technology):
    """Where test traffic ends: takes every frame, and counts what a generator sent by flow, loss, order and delay."""

    ABSORBS: ClassVar[bool] = True

    stations: dict[str, Station] = Field(min_length=1, description="Any names.")
