# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that the documents show, as somebody would copy them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts.installation import CHECKOUT

#: An indented line or one of a fenced block; what follows two spaces, or a #, says what it does.
_LINE = re.compile(r"^(?: {4,}|(?=\./))(?:sudo )?(?:\./netboxit\.py|netboxit) (?P<words>.*?)(?: {2,}.*| +#.*)?$", re.MULTILINE)
_INLINE = re.compile(r"`(?:\./netboxit\.py|netboxit) (?P<words>[^`]*)`")


@dataclass(frozen=True)
class Documented:
    """A command, without the name of the program."""

    document: Path
    words: str

    def argv(self) -> list[str]:
        """As the program gets them: up to a pipe."""
        words = shlex.split(self.words)
        return words[: words.index("|")] if "|" in words else words

    def __str__(self) -> str:
        return f"{self.document.relative_to(CHECKOUT)}: netboxit {self.words}"


def documents() -> list[Path]:
    """All that people read."""
    folders = ("", "docs", "click", "netboxes/*")
    return sorted(file for folder in folders for file in CHECKOUT.glob(f"{folder}/*.md" if folder else "*.md"))


def in_blocks(document: Path) -> Iterator[Documented]:
    """Those that stand alone on their lines."""
    return (Documented(document, found["words"].strip()) for found in _LINE.finditer(document.read_text()))


def in_text(document: Path) -> Iterator[Documented]:
    """Those that are mentioned."""
    return (Documented(document, " ".join(found["words"].split())) for found in _INLINE.finditer(document.read_text()))


def section(document: Path, heading: str) -> list[Documented]:
    """Those in blocks below a heading, in their order."""
    text = document.read_text()
    start = text.index(f"\n## {heading}\n")
    end = text.find("\n## ", start + 1)
    return [Documented(document, found["words"].strip()) for found in _LINE.finditer(text[start : end if end > 0 else None])]
