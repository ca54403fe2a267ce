# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a user wants a capture to go, by the words and options of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from contracts.errors import NetBoxITError
from results.pcapng import Point
from system.user_privileges import as_user, check_new
from testbed.observation.capture_files import CaptureFile, LivePipe, Ring, Sink, of_ring


class BadTarget(NetBoxITError):
    """A capture cannot go where the user says."""

    exit_status = 2


def target(
    words: Sequence[str], *, ring: str | None, live: bool, json: bool, overwrite: bool = False
) -> tuple[Sequence[str], Callable[[Sequence[Point]], Sink]]:
    """The words that name points, and what opens the sink. Raises BadTarget, BadRing, FileThere."""
    if live:
        if ring or json:
            raise BadTarget(f"--live writes the frames to standard output, where {'--ring' if ring else '--json'} has no place")
        if sys.stdout.isatty():
            raise BadTarget("--live writes a pcapng stream, which is nothing for a terminal: add `| wireshark -k -i -`")
        return words, lambda points: LivePipe(sys.stdout.buffer, points)
    if len(words) < 2:
        raise BadTarget(f"name at least one point, and then the file: netboxit capture {words[0]} {words[0]}.pcapng")
    *names, file = words
    path, kept = Path(file).absolute(), None if ring is None else Ring.read(ring)
    if (wrong := _unsuitable(path)) is not None:
        raise BadTarget(f"{path} cannot be written: {wrong}")
    if not overwrite:
        check_new(of_ring(path) if kept else [path])
    return names, lambda points: CaptureFile(path, points, kept, overwrite=overwrite)


def _unsuitable(path: Path) -> str | None:
    """Why a capture cannot be written there; opening a pipe would wait for its reader."""
    try:
        with as_user():
            return _unwritable(path)
    except OSError as error:
        return error.strerror


def _unwritable(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"{path.parent} is no folder"
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.is_file():
        return "it is a pipe or a device; with --live a capture goes to standard output, and from there to a pipe"
    return None
