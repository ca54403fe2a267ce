# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of this machine for the controller: what applications have in nodes, and the part of the run folder that is made here."""

from __future__ import annotations

import itertools
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError
from testbed.labs.lab import Lab
from testbed.several_hosts.messages import PIECE, OfferedFile

#: In the part of the run folder: what was taken out of nodes.
_TAKEN: Final = "taken"


class NoSuchFile(NetBoxITError):
    """The controller asked for a file that is not below the run folder here."""


class AgentFiles:
    def __init__(self, lab: Callable[[], Lab]) -> None:
        self._lab = lab
        self._numbers = itertools.count(1)
        #: By node, folder and name: what has come of files that are not whole yet.
        self._coming: defaultdict[tuple[str, str, str], bytearray] = defaultdict(bytearray)

    @property
    def folder(self) -> Path:
        """The part of the run folder that is made here. It is in the lab's folder, with which it goes."""
        folder = self._lab().folder / "run"
        folder.mkdir(exist_ok=True)
        return folder

    def write(self, node: str, own: str, name: str, offset: int, piece: str, last: bool) -> None:
        """The pieces of a file come in their order, and anew from offset 0. The file is in the node with the last one."""
        self._coming[node, own, name][offset:] = b64decode(piece)
        if last:
            self._lab().own_files(node, own).write(name, bytes(self._coming.pop((node, own, name))))

    def exists(self, node: str, own: str, name: str) -> bool:
        return self._lab().own_files(node, own).exists(name)

    def take(self, node: str, own: str, name: str) -> OfferedFile | None:
        """Moves a file out of the node, for `fetch`. None when there is no such file."""
        (self.folder / _TAKEN).mkdir(exist_ok=True)
        to = self.folder / _TAKEN / str(next(self._numbers))
        return self._offered(to) if self._lab().own_files(node, own).take(name, to) else None

    def remove(self, node: str, own: str, name: str) -> None:
        self._lab().own_files(node, own).remove(name)

    def listing(self) -> list[OfferedFile]:
        """All files of the run folder, but for those that were taken out of nodes."""
        files = sorted(file for file in self.folder.rglob("*") if file.is_file() and not file.is_symlink())
        return [self._offered(file) for file in files if file.relative_to(self.folder).parts[0] != _TAKEN]

    def fetch(self, file: str, offset: int) -> str:
        """A piece of the file from this offset on, in base64; the last piece is shorter, or empty."""
        with self._inside(file).open("rb") as open_file:
            open_file.seek(offset)
            return b64encode(open_file.read(PIECE)).decode()

    def discard(self, file: str) -> None:
        self._inside(file).unlink(missing_ok=True)

    def _offered(self, file: Path) -> OfferedFile:
        return {"file": str(file.relative_to(self.folder)), "bytes": file.stat().st_size}

    def _inside(self, file: str) -> Path:
        path = (self.folder / file).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise NoSuchFile(f"{file} is not in the run's folder")
        return path
