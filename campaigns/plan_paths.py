# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of one machine in a plan, with other text in their places: a digest has none, and on another machine they are others."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def replaced(data: Any, paths: Mapping[str, str]) -> Any:
    """The same data with each path replaced, wherever it stands in a text, also in one that is JSON itself."""
    if not paths:
        return data
    # One that begins like another is longer.
    known = dict(sorted({**_in_json(paths), **paths}.items(), key=lambda pair: len(pair[0]), reverse=True))
    found = re.compile("|".join(map(re.escape, known)))

    def new(part: Any) -> Any:
        match part:
            case str():
                return found.sub(lambda path: known[path[0]], part)
            case dict():
                return {new(key): new(value) for key, value in part.items()}
            case list() | tuple():
                return [new(value) for value in part]
            case _:
                return part

    return new(data)


def _in_json(paths: Mapping[str, str]) -> dict[str, str]:
    """As a text in JSON spells them."""

    def spelt(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)[1:-1]

    return {spelt(path): spelt(text) for path, text in paths.items()}
