# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants of TCP's congestion control by name: those that endpoints have (netboxes/endpoints/README.md)."""

from __future__ import annotations

import difflib
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator

_Variant = Literal[
    "newreno",
    "linux-reno",
    "cubic",
    "bbr",
    "vegas",
    "hybla",
    "westwood+",
    "bic",
    "highspeed",
    "dctcp",
    "reno-1999",
    "noordwijk",
]
VARIANTS: Final = get_args(_Variant)
#: No kernel has them.
VIRTUAL_ONLY: Final = frozenset({"reno-1999", "noordwijk"})
#: Their receivers have to know: dctcp's tells of every mark (RFC 8257, 3.2), the others' acknowledge every segment.
OF_BOTH_ENDS: Final = frozenset({"dctcp", "reno-1999", "noordwijk"})


def _variant(value: object) -> object:
    if value in VARIANTS:
        return value
    near = difflib.get_close_matches(str(value).casefold(), VARIANTS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(VARIANTS)}"
    raise ValueError(f"{value!r} is not a variant of TCP's congestion control; {hint}")


Variant = Annotated[_Variant, BeforeValidator(_variant)]
