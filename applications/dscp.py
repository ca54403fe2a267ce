# SPDX-License-Identifier: GPL-2.0-or-later
"""Differentiated services code points by name (RFC 2474, RFC 2597, RFC 3246, RFC 5865)."""

from __future__ import annotations

import difflib
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

DSCP: dict[str, int] = {
    "be": 0,
    **{f"cs{precedence}": precedence << 3 for precedence in range(8)},
    **{f"af{group}{drop}": (group << 3) | (drop << 1) for group in range(1, 5) for drop in range(1, 4)},
    "va": 44,
    "ef": 46,
}


def parse_dscp(value: object) -> int:
    """The six-bit code point of a name or a number. Raises ValueError naming the nearest that exists."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 64:
        return value
    name = str(value).strip().lower()
    if name not in DSCP:
        near = difflib.get_close_matches(name, DSCP, n=1)
        raise ValueError(
            f"{value!r} is not a DSCP; " + (f"did you mean {near[0]}?" if near else f"use 0 … 63 or one of {', '.join(DSCP)}")
        )
    return DSCP[name]


Dscp = Annotated[int, BeforeValidator(parse_dscp), WithJsonSchema({"type": ["integer", "string"]})]
