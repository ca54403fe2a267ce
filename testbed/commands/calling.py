# SPDX-License-Identifier: GPL-2.0-or-later
"""Calling the command line: Typer tells people what is wrong with it; for programs it is an error as any other."""

from __future__ import annotations

import typer

from testbed.views import console

#: On the PATH, whatever file of a checkout or a package it leads to: shells ask by it for what may come next.
_NAME = "netboxit"


def called(app: typer.Typer) -> object:
    """Runs the command; its exit status, where it has one. Raises UsageError where data was asked for."""
    if not console.for_programs():
        return app(prog_name=_NAME)
    try:
        return app(prog_name=_NAME, standalone_mode=False)
    except typer.TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        verb = context.command_path.partition(" ")[2] if context else ""
        remedy = f"`{' '.join([_NAME, *verb.split(), '--help'])}` says what it takes"
        raise console.UsageError(error.format_message().rstrip("."), remedy) from None
