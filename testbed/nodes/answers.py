# SPDX-License-Identifier: GPL-2.0-or-later
"""What a netbox answers has a shape (contracts.control). In its place may be another program of its node."""

from __future__ import annotations

import math
from typing import Any

from contracts.errors import printable
from contracts.shapes import Shape, check


def checked(answer: object, shape: type[Shape]) -> Shape:
    """The answer with all of its keys, and what would spoil a terminal made visible. Raises OtherShape, ValueError."""
    check(answer, shape)
    harmless: Shape = _harmless(answer)
    return harmless


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isprintable() else printable(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number of a netbox, nor of JSON")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("no netbox has an integer of more than 64 bits")
    if isinstance(value, list):
        return [_harmless(one) for one in value]
    if isinstance(value, dict):
        return {_harmless(key): _harmless(one) for key, one in value.items()}
    return value
