# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in folders: which ones there are, and their files, whoever wrote them.

A folder that is named may be a link, as results/latest is. Below it no link is followed, and only ordinary files are read: a
stranger's folder may hold links to files of others, and pipes to which nobody writes.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contracts.campaign import CAMPAIGN_FILE, INDEX_FILE, RUNS_FOLDER, CampaignRun
from contracts.errors import WrongInput, printable
from contracts.permissions import remedy
from contracts.run_folder import KEPT_FILE, PLAN_FILE
from contracts.shapes import OtherShape, parsed
from system import kernel

#: The longest index that is read: a million runs with a hundred bytes of parameters each have one like this.
_LONGEST_INDEX: Final = 1 << 29


class NoRuns(WrongInput):
    """What was named is no folder of runs."""


class Unreadable(Exception):
    """A file or a folder of a run cannot be used; the message is a cause with its remedy, without the place."""


@dataclass(frozen=True)
class Problem:
    """A run, or a line of an index, that is left out."""

    place: Path
    #: With what to do about it.
    cause: str

    def __str__(self) -> str:
        return f"{printable(str(self.place))}: {printable(self.cause)}"


@dataclass(frozen=True)
class StoredRun:
    """The folder of a run."""

    #: Unique among those that were opened together.
    name: str
    #: As it was named.
    root: Path
    #: The way from there.
    below: tuple[str, ...]
    #: What the campaign's index says; None of a run that is in no campaign.
    indexed: CampaignRun | None

    @property
    def folder(self) -> Path:
        return self.root.joinpath(*self.below)

    @property
    def remedy(self) -> str:
        """What makes its tables again."""
        with suppress(Unreadable), self.opened(KEPT_FILE) as kept:
            if kept is not None:
                return "not all of the run was kept; remove its folder, and run its campaign again, with a `keep` that has this"
        return f"netboxit report {shlex.quote(str(self.folder))}"

    def content(self, file: str, most: int) -> bytes | None:
        """What a file holds; None where there is none. Raises Unreadable, also of one with more bytes than `most`."""
        with self.opened(file) as descriptor:
            return None if descriptor is None else _content(descriptor, most)

    @contextmanager
    def opened(self, file: str) -> Iterator[int | None]:
        """A file, while it is read; None where there is none. Raises Unreadable."""
        with _opened(self.root, *self.below, file) as descriptor:
            yield descriptor


@dataclass
class _Found:
    runs: list[StoredRun] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def stored_runs(paths: Sequence[Path]) -> tuple[list[StoredRun], list[Problem]]:
    """All runs of these folders, each of a campaign, of results, or of one run. Raises NoRuns where one is none of them.

    A run's name is that of its folder; where several have the same one, the folder as it was named.
    """
    found = _Found()
    for path in dict.fromkeys(paths):
        try:
            _look(path, found)
        except Unreadable as error:
            raise NoRuns(f"{printable(str(path))}: {error}") from None
    named = Counter(run.name for run in found.runs)
    runs = [replace(run, name=str(run.folder)) if named[run.name] > 1 else run for run in found.runs]
    return runs, found.problems


def _look(path: Path, found: _Found) -> None:
    if _is_no_text(str(path)):
        raise NoRuns(f"{printable(str(path))}: the name is not UTF-8, which tables are; rename it")
    with _opened(path, folder=True) as descriptor:
        if descriptor is None:
            raise NoRuns(f"{printable(str(path))} is not there; name a folder of runs, say results/campaigns/NAME or results")
        with os.scandir(descriptor) as listed:
            entries = {entry.name for entry in listed}
    if INDEX_FILE in entries or CAMPAIGN_FILE in entries:
        _campaign(path, RUNS_FOLDER in entries, found)
    elif RUNS_FOLDER in entries:
        found.runs += [StoredRun(name, path, (RUNS_FOLDER, name), None) for name in _folders(path, found)]
    elif PLAN_FILE in entries:
        found.runs.append(StoredRun(path.resolve().name, path, (), None))
    else:
        raise NoRuns(
            f"{printable(str(path))} has neither {INDEX_FILE} of a campaign, nor {RUNS_FOLDER}/ of results, "
            f"nor {PLAN_FILE} of a run; name one of these folders, say results/campaigns/NAME or results"
        )


def _campaign(path: Path, is_begun: bool, found: _Found) -> None:
    index = _index(path, found)
    there = set(_folders(path, found)) if is_begun else set()
    # Whichever of them were over first.
    for name, line in sorted(index.items(), key=lambda item: (item[1]["point"], item[1]["repetition"])):
        run = StoredRun(name, path, (RUNS_FOLDER, name), line)
        if name in there:
            found.runs.append(run)
        elif not any(problem.place == run.folder for problem in found.problems):
            found.problems.append(
                Problem(run.folder, f"{INDEX_FILE} has this run, and its folder is gone: run the campaign again")
            )
    found.problems += [
        Problem(path / RUNS_FOLDER / name, f"{INDEX_FILE} has no line of this run: it goes on, or was cut short")
        for name in sorted(there - {*index})
    ]


def _index(path: Path, found: _Found) -> dict[str, CampaignRun]:
    """The last line of each name."""
    with _opened(path, INDEX_FILE) as descriptor:
        content = b"" if descriptor is None else _content(descriptor, _LONGEST_INDEX)
    lines: dict[str, CampaignRun] = {}
    # What follows the last end of a line is being written, or was when the campaign was cut short.
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            run = _run(line)
            lines.pop(run["name"], None)
            lines[run["name"]] = run
        except (OtherShape, UnicodeError) as error:
            cause = f"line {number} is damaged, and left out: {error}; remove the line, and run the campaign again"
            found.problems.append(Problem(path / INDEX_FILE, cause))
    return lines


def _run(line: bytes) -> CampaignRun:
    """Raises OtherShape, UnicodeError."""
    run = parsed(line.decode(), CampaignRun)
    if run["name"] in ("", ".", "..") or {"/", "\0"} & {*run["name"]}:
        raise OtherShape(f"name: {run['name']!r} is not the name of a folder")
    for key, value in run.items():
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise OtherShape(f"{key}: {value} is larger than any that a campaign writes")
    json.dumps(run, ensure_ascii=False).encode()  # halves of surrogate pairs are no text
    return run


def _folders(path: Path, found: _Found) -> list[str]:
    """The names of folders in `runs/`, in their order."""
    names = list[str]()
    with _opened(path, RUNS_FOLDER, folder=True) as descriptor:
        if descriptor is None:
            return names
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if _is_no_text(entry.name):
                    found.problems.append(Problem(path / RUNS_FOLDER / entry.name, "its name is not UTF-8: rename it"))
                elif entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
                elif entry.is_symlink():
                    cause = "this is a link, and links are not followed: name the folder that it leads to"
                    found.problems.append(Problem(path / RUNS_FOLDER / entry.name, cause))
    return sorted(names)


@contextmanager
def _opened(root: Path, *below: str, folder: bool = False) -> Iterator[int | None]:
    """An ordinary file, or a folder; None where there is none. The root may be a link. Raises Unreadable."""
    try:
        descriptor = _descended(root, below, folder)
    except FileNotFoundError:
        descriptor = None
    except OSError as error:
        raise Unreadable(_why(error, root.joinpath(*below))) from None
    if descriptor is None:
        yield None
    else:
        with kernel.closing(descriptor):
            yield descriptor


def _descended(root: Path, below: Sequence[str], folder: bool) -> int:
    with ExitStack() as opened:
        place = os.open(root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        opened.callback(os.close, place)
        for at, name in enumerate(below, 1):
            kind = os.O_NONBLOCK if at == len(below) and not folder else os.O_DIRECTORY
            place = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | kind, dir_fd=place)
            opened.callback(os.close, place)
        if not folder and not stat.S_ISREG(os.fstat(place).st_mode):
            raise Unreadable(f"{printable(below[-1])} is no ordinary file; remove it")
        return os.dup(place)


def _is_no_text(name: str) -> bool:
    """Python has bytes that are not UTF-8 as halves of surrogate pairs."""
    return any("\ud800" <= character <= "\udfff" for character in name)


def _why(error: OSError, place: Path) -> str:
    name = printable(Path(str(error.filename)).name)
    match error.errno:
        case errno.ELOOP:
            return f"{name} is a link, and links of a run are not followed; put the file itself in its place"
        case errno.ENOTDIR:
            return f"{name} is no folder, or a link to one, which is not followed; put the folder itself in its place"
        case errno.EACCES:
            return f"{name} cannot be read: {error.strerror}; {remedy(place)}"
        case _:
            return f"{name} cannot be read: {error.strerror}"


def _content(descriptor: int, most: int) -> bytes:
    if (size := os.fstat(descriptor).st_size) > most:
        raise Unreadable(f"it has {size:,} bytes, and a run writes {most:,} at most")
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(most)
