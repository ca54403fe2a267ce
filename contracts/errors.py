# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong for a user, each with the exit status that the command line ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar


def printable(text: str) -> str:
    """The text with what would move a terminal's cursor, or end the line, made visible: names of files may hold anything."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def listed(words: Sequence[str], last: str = "or") -> str:
    """a, b or c"""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


class NetBoxITError(Exception):
    """Anything that the user is told: names the object, what was tried, what the system answered, what to do next."""

    exit_status: ClassVar[int] = 1


class WrongInput(NetBoxITError):
    """What the user gave is wrong, on the command line or in a file."""

    exit_status = 2


class BadInput(WrongInput):
    """Something in a file of the user's is wrong; nothing was created.

    `path`, `line` and `column` (both from 1; 0 where `path` is an option of the command line) say where, `cause` what, `remedy`
    what to write instead.
    """

    def __init__(self, path: str, line: int, column: int, cause: str, remedy: str = "") -> None:
        self.path, self.line, self.column, self.cause, self.remedy = path, line, column, cause, remedy
        where = f"{printable(path)}:{line}:{column}" if line else printable(path)
        super().__init__(f"{where}: {cause}" + (f"; {remedy}" if remedy else ""))


class BadTopology(WrongInput):
    """Everything that is wrong in one topology file, in the order of its lines; nothing was created."""

    def __init__(self, errors: Sequence[BadInput]) -> None:
        unique_errors = {str(error): error for error in errors}  # what an alias repeats is told once
        self.errors = sorted(unique_errors.values(), key=lambda error: (error.line, error.column))
        super().__init__("\n".join(str(error) for error in self.errors))


class OnlyInCheckout(NetBoxITError):
    """What a package, which pip installed, does not have."""


class AtPlaces(ValueError):
    """Raised by a validator that found errors at places within what it checked."""

    def __init__(self, errors: Mapping[tuple[str | int, ...], str]) -> None:
        self.errors = errors
        super().__init__("; ".join(errors.values()))
