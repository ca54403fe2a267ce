# SPDX-License-Identifier: GPL-2.0-or-later
"""Text that others wrote: names of processes and mount points, environments. It may be any bytes."""

from __future__ import annotations

from pathlib import Path


def read(file: Path) -> str:
    """The whole file. A byte that is not UTF-8 becomes a surrogate (PEP 383), as in names of files. Raises OSError."""
    return file.read_bytes().decode("utf-8", "surrogateescape")


def lines(file: Path) -> list[str]:
    """The same by lines. Only a line feed ends one: names may hold what else `str.splitlines` takes for an end."""
    return read(file).removesuffix("\n").split("\n")
