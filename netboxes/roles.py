# SPDX-License-Identifier: GPL-2.0-or-later
"""Roles that exactly one station has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.errors import AtPlaces


def the_only(role: str, stations: Mapping[str, Any], whole: str, otherwise: str = "") -> str:
    """The name of the one station with this role. Raises AtPlaces, at the last one of several.

    `whole` is what has one ("a satellite link"), `otherwise` a remedy besides.
    """
    names = [name for name, station in stations.items() if station.role == role]
    if len(names) != 1:
        problem = f"{whole} has exactly one station with `role: {role}` (found: {', '.join(names) or 'none'}){otherwise}"
        raise AtPlaces({("stations", names[-1], "role") if names else ("stations",): problem})
    return names[0]
