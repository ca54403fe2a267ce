# SPDX-License-Identifier: GPL-2.0-or-later
"""Which NetBoxIT this is: two machines work together only when theirs is the same."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

from contracts.installation import CHECKOUT

#: What plans labs, makes them and measures them; a machine's checkout may lack git's own folder.
_SOURCES: Final = (
    "contracts", "ownership", "system", "testbed", "applications", "results", "netboxes", "campaigns", "click", "middleware"
)  # fmt: skip
_KINDS: Final = (".py", ".cc", ".h", ".click")
#: What runs and benchmarks leave there, configurations of routers among it.
_NO_SOURCES: Final = tuple(f"results/{name}" for name in ("runs", "latest", "bench", "experiments"))


@cache
def version() -> str:
    """A hash of the sources, the same on every machine that has the same ones."""
    sources = hashlib.sha256()
    for folder in _SOURCES:
        for file in sorted((CHECKOUT / folder).rglob("*")):
            name = str(file.relative_to(CHECKOUT))
            ours = file.suffix in _KINDS and not file.name.startswith("test_") and not name.startswith(_NO_SOURCES)
            if ours and file.is_file():
                sources.update(f"{name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return sources.hexdigest()[:16]
