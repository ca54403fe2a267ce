# SPDX-License-Identifier: GPL-2.0-or-later
"""A run on its way to another machine, and its folder on the way home.

What comes home is data of a neighbour's: it is unpacked into the run's folder, and nothing of it leads elsewhere.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, get_args

from campaigns import digest
from campaigns.engine import Done
from campaigns.order import Order
from campaigns.plan_paths import replaced
from campaigns.work import Work, perform
from campaigns.worker_version import differences, identity
from contracts import durable
from contracts.errors import NetBoxITError, printable
from results.metrics_document import Status

#: Of a run's folder: compressed, in whole, and how many files.
MOST_PACKED: Final = 1 << 30
MOST_UNPACKED: Final = 8 << 30
MOST_FILES: Final = 100_000
#: Fast: tables are compressed already, and captures shrink at any level.
_LEVEL: Final = 1
_CHUNK: Final = 1 << 20


class OtherVersion(NetBoxITError):
    """A worker has another NetBoxIT than the controller."""


class BadArchive(NetBoxITError):
    """What a worker returned is not a run's folder."""


class TooLarge(NetBoxITError):
    """A run's folder is too large to be sent home."""


@dataclass(frozen=True)
class Returned:
    """A run that another machine made."""

    done: Done
    archive: bytes


@dataclass(frozen=True)
class Parcel:
    """A run that another machine is to compute."""

    work: Work
    #: Of the controller.
    identity: Mapping[str, str]

    @staticmethod
    def of(work: Work) -> Parcel:
        return Parcel(work, identity())

    def carry_out(self, heed: Callable[[], None]) -> Returned:
        """On a worker: makes the run in a folder that is gone afterwards. `heed` ends it early by raising.

        Raises OtherVersion, NotWritten and TooLarge.
        """
        check_version(self.identity)
        with tempfile.TemporaryDirectory(prefix="netboxit-run-") as place:
            (folder := Path(place) / "run").mkdir()
            here = {path: str(folder / name) for path, name in self.work.named.items()}
            done = perform(replace(self.work, plan=replaced(self.work.plan, here)), folder, lambda _: heed())
            for record in folder.glob("*.json") if here else ():
                name_as_before(record, {own: path for path, own in here.items()})
            return Returned(done, pack(folder))


class InVirtualTime:
    """What a cluster is to make: runs in virtual time."""

    clock: Literal["virtual"] = "virtual"
    in_labs: Literal[False] = False

    def digest(self, order: Order) -> str:
        computation = order.planned()
        return digest.of_plan(computation.plan, computation.least_s, computation.named)

    def parcel(self, order: Order) -> Parcel:
        return Parcel.of(Work.of(order.planned(), order.keep))


def check_version(controller: Mapping[str, str]) -> None:
    """On a worker. Raises OtherVersion."""
    if other := differences(identity(), controller):
        raise OtherVersion(f"a worker has {', '.join(other)}; bring it to the controller's version and start it again")


def name_as_before(record: Path, paths: Mapping[str, str]) -> None:
    """Has a record of the run name files as the controller does: `paths` are its own, by those here."""
    text = record.read_text()
    for own, path in paths.items():
        text = text.replace(json.dumps(own)[1:-1], json.dumps(path)[1:-1])
    durable.write(record, text)


def pack(folder: Path) -> bytes:
    """Raises TooLarge."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=_LEVEL) as archive:
        for file in sorted(folder.rglob("*")):
            archive.add(file, str(file.relative_to(folder)), recursive=False)
            if packed.tell() > MOST_PACKED:
                raise TooLarge(
                    f"a run's folder has more than {MOST_PACKED >> 20} MiB, compressed; say `keep: figures` or `frames`"
                )
    return packed.getvalue()


def unpack(returned: object, folder: Path) -> Done:
    """Writes the run into its folder, which is empty. Raises BadArchive and NotWritten."""
    if not isinstance(returned, Returned) or not isinstance(returned.archive, bytes) or not _is_done(returned.done):
        raise BadArchive("a worker returned something else than a run")
    if len(returned.archive) > MOST_PACKED:
        raise BadArchive(f"a worker returned more than {MOST_PACKED >> 20} MiB")
    try:
        unzipped = _Bounded(gzip.GzipFile(fileobj=io.BytesIO(returned.archive)))
        with tarfile.open(fileobj=unzipped, mode="r|") as archive:
            for number, member in enumerate(archive):
                if number == MOST_FILES:
                    raise BadArchive(f"a worker returned more than {MOST_FILES} files")
                _unpack(archive, member, folder)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, ValueError, OverflowError) as error:
        raise BadArchive(f"a worker returned what is no archive: {printable(str(error))}") from error
    return returned.done


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Creates one file or folder. None is written over and no link is created, so no path leads out of the folder."""
    parts = member.name.split("/")
    if any(part in ("", ".", "..") or not part.isprintable() for part in parts):
        raise BadArchive(f"a worker returned a file that would be outside of the run: {printable(member.name)}")
    place = folder.joinpath(*parts)
    content = archive.extractfile(member) if member.isreg() and not member.issparse() else None
    if content is None and not member.isdir():
        raise BadArchive(f"a worker returned {printable(member.name)}, which is neither file nor folder")
    try:
        with durable.told(place):
            if content is None:
                place.mkdir()
                return
            with place.open("xb") as file:
                while chunk := content.read(_CHUNK):
                    file.write(chunk)
                os.fsync(file.fileno())
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as error:
        raise BadArchive(f"a worker returned {printable(member.name)} twice, or without its folder") from error


class _Bounded(io.RawIOBase):
    """A reader that ends by an error where the content is longer than a run's may be."""

    def __init__(self, inner: gzip.GzipFile) -> None:
        self._inner, self._left = inner, MOST_UNPACKED

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(min(_CHUNK, size) if size >= 0 else _CHUNK)
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive(f"a worker returned more than {MOST_UNPACKED >> 30} GiB, unpacked")
        return data


def _is_done(done: object) -> bool:
    return (
        isinstance(done, Done)
        and done.status in get_args(Status)
        and isinstance(done.took_s, float)
        and math.isfinite(done.took_s)
        and done.took_s >= 0
        and isinstance(done.failure, str | None)
    )
