# SPDX-License-Identifier: GPL-2.0-or-later
"""What any command may print with `--json`: its progress, and why it failed."""

from __future__ import annotations

from typing_extensions import TypedDict


class Progress(TypedDict):
    """A step that a command begins. The result comes in the last line."""

    words: str
    #: UTC, ISO 8601, with milliseconds.
    at: str


class Error(TypedDict):
    """One thing that is wrong. What is null is not known, or has no meaning for this error."""

    #: The exception's name; "UsageError" of the command line itself, "Interrupted", "Defect" of NetBoxIT's own.
    kind: str
    cause: str
    #: The file, or the option of the command line.
    path: str | None
    #: From 1; null where `path` is no file.
    line: int | None
    column: int | None
    #: What to do instead, where `cause` does not say it.
    remedy: str | None


class Errors(TypedDict):
    """Why a command failed, in place of its result; its exit status is 1 or 2."""

    errors: list[Error]
