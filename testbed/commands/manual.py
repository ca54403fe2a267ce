# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual page of the command line, made of what its own help says: `manual.1.j2`, in the words of man(7)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from testbed.commands.options import HOST
from testbed.views import drawing

app = typer.Typer()


@app.command(rich_help_panel=HOST)
def manual(context: typer.Context) -> None:
    """Print the manual page: netboxit manual | man -l -"""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    root = context.find_root()
    program: Any = root.command
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True)
    environment.filters["roff"] = _roff
    commands = [program.get_command(root, name) for name in program.list_commands(root)]
    drawing.say(environment.get_template("manual.1.j2").render(program=program, commands=commands), end="")


def _roff(text: str) -> str:
    """Plain text in roff: backslashes, hyphens that can be typed, and lines that begin like a request."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...").replace("`", "")
    return re.sub(r"^(?=[.'])", r"\\&", escaped.strip(), flags=re.MULTILINE)
