# SPDX-License-Identifier: GPL-2.0-or-later
"""What tables, lists and data on the terminal are drawn with."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: Of words that are answers.
COLOURS = {"valid": "green", "degraded": "yellow", "invalid": "red", "yes": "green", "partly": "yellow", "no": "red"}

#: Tables in a pipe, where there is no terminal to ask for a width.
_PIPE_WIDTH = 160


@cache
def console() -> Console:
    """For what has tables or colours; Rich takes 30 ms to import, which lines of plain text do without."""
    from rich.console import Console

    # Without emoji: ":cd:" is a part of a MAC address.
    return Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def table(title: str, *headers: str) -> Table:
    from rich.table import Table

    drawn = Table(title=title, title_justify="left")
    for header in headers:
        drawn.add_column(header, overflow="fold")
    return drawn


def print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {note}")


def cores(cores: Sequence[int], awake: bool = False) -> str:
    return f"{','.join(map(str, cores))}{', kept awake' if awake else ''}"


def counted(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith(("x", "ch")) else "s"
    return f"{number} {noun}{ending}"


def print_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, indent=1, default=str) + "\n")
