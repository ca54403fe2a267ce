# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON files of a run folder, read by the types of what they hold: the only place that knows what a damaged one looks like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import WrongInput
from contracts.shapes import OtherShape, Shape, shaped


class DamagedRun(WrongInput):
    """A file of a run folder does not hold what a run writes there."""

    def __init__(self, file: Path, damage: str) -> None:
        super().__init__(f"{file} is damaged: {damage}")
        #: The place in the file, and what ought to be there.
        self.damage = damage


def read(file: Path, shape: type[Shape]) -> Shape | None:
    """What the file holds; None when there is none. Raises DamagedRun."""
    text = _text(file)
    return None if text is None else _understood(file, text, shape)


def read_lines(file: Path, shape: type[Shape]) -> Iterator[Shape]:
    """What each line holds; nothing when there is no file. An incomplete line is ignored: the run was cut short as it wrote it.

    Raises DamagedRun.
    """
    for number, line in enumerate((_text(file) or "").splitlines(), 1):
        try:
            yield _understood(file, line, shape, f"line {number}: ")
        except _NotJson:
            continue


class _NotJson(DamagedRun):
    pass


def _text(file: Path) -> str | None:
    try:
        return file.read_text()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise DamagedRun(file, f"its byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise DamagedRun(file, f"cannot be read: {error.strerror}") from error


def _understood(file: Path, text: str, shape: type[Shape], place: str = "") -> Shape:
    try:
        return shaped(json.loads(text), shape)
    except OtherShape as error:
        raise DamagedRun(file, f"{place}{error}") from None
    except ValueError as error:
        raise _NotJson(file, f"is not JSON: {error}") from None
    except RecursionError:
        raise _NotJson(file, "is not JSON of a run: it is nested too deeply") from None
