# SPDX-License-Identifier: GPL-2.0-or-later
"""What a netbox answers has a shape (docs/architecture.md, "Netbox process"). In its place may be another program of its node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from contracts.errors import printable


@dataclass(frozen=True)
class Each:
    """A mapping from words to values of this shape."""

    shape: Any


@dataclass(frozen=True)
class Pair:
    """Two values of this shape."""

    shape: Any


_NUMBER: Final = (int, float)
_PORT: Final = {
    "name": str,
    **dict.fromkeys(("received", "sent", "received_bytes", "sent_bytes", "delay_s"), _NUMBER),
    **dict.fromkeys(("overload_drops", "oversize_drops", "malformed", "send_drops"), _NUMBER),
}
_FRAMES: Final = {"lost": Each(_NUMBER), "delivered": _NUMBER, "inside": _NUMBER}
_LATENESS: Final = {"count": _NUMBER, "missed": _NUMBER, "sum": _NUMBER, "up_to": [Pair(_NUMBER)]}
_COUNTERS: Final = {
    "ports": [_PORT],
    "frames": _FRAMES,
    "lateness_us": {"event": _LATENESS, "frame": _LATENESS},
    "scheduler": {"cpu_s": _NUMBER},
}
_SHAPES: Final[dict[str, Any]] = {
    "status": {
        "ready": bool,
        "unlinked": Each(str),
        "technology": str,
        "simulated_s": _NUMBER,
        "ports": [{"name": str, "kind": str}],
        "scheduler": {"policy": str, "priority": _NUMBER, "reasons": [str]},
    },
    "statistics": {**_COUNTERS, "events": [{"at_s": _NUMBER, "event": str}]},
    "counters": _COUNTERS,
    "capture_stop": {"written": bool},
    "write_records": {"written": _NUMBER, "dropped": _NUMBER, "left": _NUMBER},
}


def checked(method: str, answer: Any) -> dict[str, Any]:
    """The answer, with what would spoil a terminal made visible. Raises ValueError when no netbox answers so."""
    if not isinstance(answer, dict) or not _fits(_SHAPES.get(method, {}), answer):
        raise ValueError(f"no answer to {method}")
    harmless: dict[str, Any] = _harmless(answer)
    return harmless


def _fits(shape: Any, value: Any) -> bool:
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(key in value and _fits(inside, value[key]) for key, inside in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(shape[0], one) for one in value)
    if isinstance(shape, Pair):
        return isinstance(value, list) and len(value) == 2 and all(_fits(shape.shape, one) for one in value)
    if isinstance(shape, Each):
        return isinstance(value, dict) and all(_fits(shape.shape, one) for one in value.values())
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))


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
