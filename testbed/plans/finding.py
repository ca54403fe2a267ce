# SPDX-License-Identifier: GPL-2.0-or-later
"""One thing that is different between what a node is and what it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from contracts.changes import ParameterChange

How = Literal["live", "restart", "replace"]

#: A longer value is not shown.
_LONGEST = 60


@dataclass(frozen=True)
class Finding:
    """What is different, in words, and what that asks for: a change while the node runs, its restart, a new node in its place."""

    how: How
    words: str
    #: The live parameter that is to be set, if it is one.
    parameter: ParameterChange | None = None


def two(what: str, before: object, after: object) -> str:
    """Both values where they are short and there is one."""
    old, new = said(before), said(after)
    if max(len(old), len(new)) > _LONGEST or "{" in old + new:
        return f"{what} is another"
    return f"{what} {old} → {new}"


def said(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(said, value)) or "none"
    return "none" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
