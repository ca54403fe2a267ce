# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a topology file names: beside it, or in the checkout (in NetBoxIT's own folder, where there is none).

A run folder has copies of them, in a folder beside its topology, so that the run can be made again on another machine.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from contracts.errors import listed
from contracts.installation import CHECKOUT
from contracts.run_folder import NAMED_FILES_FOLDER

#: Of where a copy is: digits of the digest of the path as the topology says it, and characters of the file's own name.
_DIGITS: Final = 12
_LONGEST: Final = 80


@dataclass(frozen=True)
class Found:
    """What a topology names, by the words that name it."""

    files: dict[str, Path] = field(default_factory=dict)
    #: Files, and folders with all that is in them, of which hosts get copies.
    trees: dict[str, Path] = field(default_factory=dict)

    def add(self, other: Found) -> None:
        self.files.update(other.files)
        self.trees.update(other.trees)


_found: ContextVar[Found | None] = ContextVar("found", default=None)


@contextmanager
def files_found() -> Iterator[Found]:
    """A with block that notes which files were found in it; so does one that it is in."""
    found, around = Found(), _found.get()
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)
        if around is not None:
            around.add(found)


def kept_at(text: str) -> str:
    """Where a run folder has its copy of a file that its topology names by that text."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    name = re.sub("[^A-Za-z0-9._-]", "_", PurePosixPath(text).name)[-_LONGEST:]
    return f"{NAMED_FILES_FOLDER}/{digest}/{name}"


def kept_tree_at(text: str) -> str:
    """The same of what hosts get copies of: a tar file (`system.file_trees.packed`), which keeps modes, links and names."""
    return f"{kept_at(text)}.tar"


def find_file(text: str, context: Mapping[str, Path] | None) -> Path:
    """The file that is meant; `context` is that of Pydantic's validation, with the topology's `folder`.

    With `terminal`, the folder of somebody at a terminal, it is any file that this user may read, looked for there first. Raises
    ValueError when there is none, or when it is neither below the topology's folder nor in the checkout.
    """
    if not text.strip() or not text.isprintable():
        raise ValueError(f"{text!r} is not the name of a file; write its path, as it is from the topology's folder")
    folders = context or {}
    homes = [folders[key] for key in ("terminal", "folder") if key in folders] + [CHECKOUT]
    # Not by Path.resolve, which takes a circle of links for a defect.
    paths = [Path(os.path.realpath(home / text)) for home in homes]
    inside = [path for path, home in zip(paths, homes, strict=True) if "terminal" in folders or path.is_relative_to(home)]
    if "folder" in folders and (copy := copy_of(kept_at(text), folders["folder"])) is not None:
        inside.insert(0, copy)
    if not inside:
        raise ValueError(f"{text} leads out of the topology's folder and of the checkout; keep the file beside the topology")
    for path in inside:
        with suppress(OSError):  # a name too long for the file system, a folder that may not be entered
            if path.is_file():
                note(text, path)
                return path
            if path.is_dir():
                raise ValueError(f"{text} is a folder; name a file")
            if path.is_symlink():
                raise ValueError(f"{text} is a circle of links; name a file")
            if path.exists():
                raise ValueError(f"{text} is a pipe, a socket or a device; name a file")
    places = list(dict.fromkeys(map(str, homes)))
    raise ValueError(f"there is no file {text}; looked in {listed(places, 'and')}")


def copy_of(kept: str, folder: Path) -> Path | None:
    """What the folder of a run, or of a campaign, has there; None where it has nothing. It may be a folder."""
    copy = (folder / kept).resolve()
    return copy if copy.is_relative_to(folder.resolve()) and copy.exists() else None


def note(text: str, path: Path) -> None:
    """Tells `files_found` of a file that was found in another way than by `find_file`."""
    if (found := _found.get()) is not None:
        found.files[text] = path


def note_tree(text: str, path: Path) -> None:
    """The same of what hosts get copies of."""
    if (found := _found.get()) is not None:
        found.trees[text] = path
