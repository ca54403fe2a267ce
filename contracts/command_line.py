# SPDX-License-Identifier: GPL-2.0-or-later
"""A field that holds a line for the shell of a host."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field


def _without_end(line: str) -> str:
    if "\0" in line:
        raise ValueError("a character with the number 0 ends a command line; leave it out")
    return line


CommandLine = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_without_end)]
