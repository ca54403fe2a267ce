# SPDX-License-Identifier: GPL-2.0-or-later
"""How the ends of a wire are written in a topology file."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator


def _wire_end(value: object) -> str:
    if not isinstance(value, str) or value.count(".") > 1 or not all(value.split(".")):
        raise ValueError("an end of a wire is a host, or a node and its port; write fr1, field.responder or meoc.jan")
    return value


def _two_ends(value: object) -> object:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("a wire has two ends; write it like [fr1, field.responder]")
    return value


WireEnd = Annotated[str, BeforeValidator(_wire_end)]

TwoEnds = Annotated[tuple[WireEnd, WireEnd], BeforeValidator(_two_ends)]
