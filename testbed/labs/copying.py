# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies a file into a node, or out of one. It has the caller's rights on the host, and those of root in the node.

A program in the node (`cat`) reads or writes there, so the host never resolves a path of the node's.
"""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from contracts.errors import NetBoxITError, WrongInput, printable
from system.node_files import LONGEST_COPY
from system.user_privileges import as_user, check_new
from testbed.labs.lab import Lab

#: In the node: a folder takes the file by its own name.
_WRITE: Final = 'if [ -d "$1" ]; then cat >"$1/$2"; else cat >"$1"; fi'
_READ: Final = '[ -f "$1" ] || { echo "$1 is no file" >&2; exit 1; }; cat <"$1"'
_CHUNK: Final = 1 << 20
#: How many bytes are kept of what a failed copy says.
_LONGEST_CAUSE: Final = 400


class BadCopy(WrongInput):
    """The arguments of a copy do not name one file on this machine and one in a node."""


class NotCopied(NetBoxITError):
    """A file could not be read, or not be written."""


@dataclass(frozen=True)
class Place:
    """One end of a copy: a path in a node, or on this machine (`node` is None)."""

    node: str | None
    path: str

    @classmethod
    def read(cls, text: str) -> Place:
        """`node:path`; any other text is a path of this machine, as is one with a slash before its colon."""
        node, colon, path = text.partition(":")
        if not colon or "/" in node:
            return cls(None, text)
        if not path:
            raise BadCopy(f"{printable(text)} names no file; say {printable(node)}:/run/netboxit/FILE")
        return cls(node, path)


def ends(source: str, target: str) -> tuple[Place, Place]:
    """From the words of the command line. Raises BadCopy."""
    places = Place.read(source), Place.read(target)
    if [place.node for place in places].count(None) != 1:
        raise BadCopy("one end of a copy is in a node and the other is on this machine: FILE NODE:PATH, or NODE:PATH FILE")
    return places


def copy(lab: Lab, source: Place, target: Place, *, overwrite: bool = False) -> str:
    """Returns where it is now. Raises NotCopied, FileThere, NotConfined, NoSuchNode, NodeFailed."""
    try:
        if source.node is None:
            return _into(lab, Path(source.path), str(target.node), target.path)
        return str(_out(lab, source.node, source.path, Path(target.path), overwrite=overwrite))
    except OSError as error:
        raise NotCopied(f"{printable(str(error.filename or source.path))}: {error.strerror}") from error


def _into(lab: Lab, source: Path, node: str, path: str) -> str:
    with as_user():
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotCopied(f"{printable(str(source))} is no ordinary file; pack a folder before: tar -cf FOLDER.tar FOLDER")
    with os.fdopen(descriptor, "rb") as file:
        done = subprocess.run(
            lab.exec_argv(node, ("sh", "-c", _WRITE, "sh", path, source.name)),
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    if done.returncode:
        raise NotCopied(
            f"{_failure(done.stderr, node)}; a node may write in /run/netboxit, /tmp and /run, and in folders of its `files`"
        )
    return f"{node}:{path}"


def _out(lab: Lab, node: str, path: str, target: Path, *, overwrite: bool) -> Path:
    argv = lab.exec_argv(node, ("sh", "-c", _READ, "sh", path))
    with as_user():
        file = target / Path(path).name if target.is_dir() else target
    if not overwrite:
        check_new([file])
    with (
        TemporaryFile() as errors,
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as program,
    ):
        assert program.stdout is not None
        try:
            first = program.stdout.read(_CHUNK)
            # What cannot be read leaves no file behind.
            if not first and program.wait():
                errors.seek(0)
                raise NotCopied(_failure(errors.read(_LONGEST_CAUSE), node))
            _keep(first, program, program.stdout, file, overwrite=overwrite)
        finally:
            program.kill()
    return file


def _keep(first: bytes, program: subprocess.Popen[bytes], rest: IO[bytes], file: Path, *, overwrite: bool) -> None:
    """Writes with the caller's rights. Removes a new file that did not get whole."""
    how = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if overwrite else os.O_EXCL | os.O_NOFOLLOW)
    with as_user(), os.fdopen(os.open(file, how, 0o666), "wb") as kept:
        try:
            size, piece = 0, first
            while piece:
                if (size := size + len(piece)) > LONGEST_COPY:
                    raise NotCopied(f"the file is longer than {LONGEST_COPY >> 30} GiB, and stays in the node")
                kept.write(piece)
                piece = rest.read(_CHUNK)
            kept.flush()
            # Where the node ends meanwhile, its part of the copy does, too.
            if status := program.wait():
                raise NotCopied(f"the copy ended with status {status} before the file was whole")
        except BaseException:
            # What was there before may be anything, a device say.
            if not overwrite:
                file.unlink(missing_ok=True)
            raise


def _failure(errors: bytes, node: str) -> str:
    cause = errors[:_LONGEST_CAUSE].decode(errors="replace").strip().removeprefix("sh: 1: ")
    return f"{node}: {printable(cause) or 'the copy failed'}"
