# SPDX-License-Identifier: GPL-2.0-or-later
"""What lines, tables and data on the terminal are drawn with: all that commands say goes through here.

Names, logs and answers of nodes, and of files, may hold anything. Here it becomes harmless: what would move the cursor, colour
the text or turn its direction round is made visible, and brackets are brackets (Rich would take them for markup).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from contracts.document import Whole
from contracts.errors import printable_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

#: Of words that are answers.
COLOURS = {"valid": "green", "degraded": "yellow", "invalid": "red", "yes": "green", "partly": "yellow", "no": "red"}

#: Tables in a pipe, where there is no terminal to ask for a width.
_PIPE_WIDTH = 160


def say(*lines: str, file: TextIO | None = None, end: str = "\n") -> None:
    """Lines of plain text; on standard output by default."""
    print("".join(printable_lines(line) + end for line in lines), file=file, end="", flush=True)


def show(as_json: bool, document: Whole, *lines: str, file: TextIO | None = None, end: str = "\n") -> None:
    """What a command says: a document for programs, or the same in lines for people."""
    if as_json:
        print_json(document)
    else:
        say(*lines, file=file, end=end)


@cache
def console() -> Console:
    """For what has tables or colours; Rich takes 30 ms to import, which lines of plain text do without."""
    return terminal(soft_wrap=True, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def terminal(**options: Any) -> Console:
    """Rich's, with those options, on which text is nothing but text; `coloured` and `plain` make what it draws."""
    from rich.console import Console

    class Terminal(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(printable_lines(text), **how)

    # Without emoji: ":cd:" is a part of a MAC address.
    return Terminal(highlight=False, emoji=False, markup=False, **options)


def coloured(*parts: str | tuple[str, str]) -> Text:
    """Text of several parts, of which some have a colour, or another of Rich's styles: (text, style)."""
    from rich.text import Text

    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    return Text.assemble(*((printable_lines(text), style) for text, style in pairs))


def plain(text: str, style: str = "", **options: Any) -> Text:
    """A line of text in one style, with Rich's options for it."""
    from rich.text import Text

    return Text(printable_lines(text), style, **options)


def table(title: str, *headers: str) -> Table:
    from rich.table import Table

    drawn = Table(title=title, title_justify="left")
    for header in headers:
        drawn.add_column(header, overflow="fold")
    return drawn


def print_table(title: str, headers: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Where there are no rows it prints nothing."""
    drawn = table(title, *headers)
    for row in rows:
        drawn.add_row(*row)
    if drawn.row_count:
        console().print(drawn)


def notes(notes: Iterable[str]) -> Iterator[str]:
    """As lines."""
    return (f"note: {note}" for note in notes)


def cores(cores: Sequence[int], awake: bool = False) -> str:
    return f"{','.join(map(str, cores))}{', kept awake' if awake else ''}"


def counted(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith(("x", "ch")) else "s"
    return f"{number} {noun}{ending}"


def print_json(document: Whole) -> None:
    """A document on a line of its own (docs/json.md)."""
    sys.stdout.write(json.dumps(document, default=_plain, allow_nan=False) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """Dataclasses and Pydantic's models are objects."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value.model_dump()
