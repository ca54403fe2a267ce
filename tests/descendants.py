# SPDX-License-Identifier: GPL-2.0-or-later
"""The processes that a process has started, and those have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def descendants(process: int) -> Iterator[int]:
    """By their numbers (proc(5), /proc/pid/task/tid/children); one that ends meanwhile may be missing."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in map(int, (task / "children").read_text().split()):
                    yield child
                    yield from descendants(child)
