# SPDX-License-Identifier: GPL-2.0-or-later
"""How wires are written: by their two ends, `fr1--field.responder`, in files, on the command line, and in all that is shown.

In a file, and where YAML is read, a list of the two ends means the same.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

#: A node, or a node and its port.
_END: Final = re.compile(r"[A-Za-z0-9][\w-]*(?:\.\w[\w-]*)?", re.ASCII)
_HOW: Final = "a wire has two ends; write it like fr1--field.responder"


def ends_of(text: str) -> tuple[str, str] | None:
    """The two ends of "fr1--field.responder" or "[fr1, field.responder]"; None for what names no wire so. Raises ValueError."""
    stripped = text.strip()
    if stripped.startswith("[") or "," in stripped:
        listed = [end.strip() for end in stripped.removeprefix("[").removesuffix("]").split(",")]
        pairs = [(listed[0], listed[1])] if len(listed) == 2 else []
    elif "--" in stripped:
        # A name may have "-" at its end, and "--" within.
        cuts = [at for at in range(len(stripped)) if stripped.startswith("--", at)]
        pairs = [(stripped[:at].strip(), stripped[at + 2 :].strip()) for at in cuts]
    else:
        return None
    wires = [pair for pair in pairs if all(_END.fullmatch(end) for end in pair)]
    if len(wires) != 1:
        raise ValueError(f"{text!r} is no wire; {_HOW}")
    return wires[0]


def _wire_end(value: object) -> str:
    if not isinstance(value, str) or value.count(".") > 1 or not all(value.split(".")):
        raise ValueError("an end of a wire is a host, or a node and its port; write fr1, field.responder or meoc.jan")
    return value


def _two_ends(value: object) -> object:
    if isinstance(value, str) and (ends := ends_of(value)) is not None:
        return ends
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(_HOW)
    return value


WireEnd = Annotated[str, BeforeValidator(_wire_end)]

TwoEnds = Annotated[
    tuple[WireEnd, WireEnd],
    BeforeValidator(_two_ends),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^[^\s,]+--[^\s,]+$"},
                {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            ]
        }
    ),
]
