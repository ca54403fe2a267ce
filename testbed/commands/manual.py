# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual page of the command line, made of what its own help says (man(7))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import typer

from testbed.commands.options import HOST
from testbed.views import drawing

app = typer.Typer()

#: As in docs/architecture.md and README.
_STATUSES: Final = (
    ("0", "Done. A run is valid."),
    ("1", "The command failed, was interrupted, or found something missing."),
    ("2", "Bad input: the message says the file, the line, the cause and the remedy. Nothing was made."),
    ("3", "The run is degraded: its verdict says why."),
    ("4", "The run is invalid: its verdict says why."),
)


@app.command(rich_help_panel=HOST)
def manual(context: typer.Context) -> None:
    """Print the manual page: netboxit manual | man -l -"""
    drawing.say("\n".join(page(context.find_root())))


def page(root: Any) -> Iterator[str]:
    """The lines of the page of all commands that `--help` tells, by the context of the program."""
    program: Any = root.command
    commands = [program.get_command(root, name) for name in program.list_commands(root)]
    yield '.TH NETBOXIT 1 "" "NetBoxIT" "User Commands"'
    yield from (".SH NAME", r"netboxit \- " + _text(program.help).splitlines()[0])
    yield from (".SH SYNOPSIS", r".B netboxit", r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIARGUMENT\fR]...", ".SH COMMANDS")
    for command in commands:
        if not command.hidden:
            yield from _command(command)
    yield ".SH EXIT STATUS"
    for status, meaning in _STATUSES:
        yield from (".TP", f".B {status}", _text(meaning))


def _command(command: Any) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    usage = " ".join(rf"\fI{_text(_metavar(one))}\fR" for one in arguments)
    yield from (f".SS netboxit {command.name} {usage}", _text(command.help))
    for one in arguments:
        if one.help:
            yield from (".TP", rf"\fI{_text(_metavar(one))}\fR", _text(one.help))
    for one in command.params:
        if one.param_type_name == "option" and one.help:
            names = ", ".join(rf"\fB{_text(name)}\fR" for name in one.opts)
            yield from (".TP", names if one.is_flag else rf"{names} \fI{_text(_metavar(one))}\fR", _text(one.help))


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _text(text: str) -> str:
    """Plain text in roff: backslashes, hyphens that can be typed, and lines that begin like a request."""
    told = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...").replace("`", "")
    return re.sub(r"^(?=[.'])", r"\\&", told.strip(), flags=re.MULTILINE)
