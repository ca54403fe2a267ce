# SPDX-License-Identifier: GPL-2.0-or-later
"""What checks of a whole topology find."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.description.yaml_source import Location


@dataclass(frozen=True)
class Problem:
    """Something wrong at a place of the file, or at the key of that place."""

    place: Location
    cause: str
    remedy: str = ""
    key: bool = False
