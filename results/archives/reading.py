# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes an archive into the results. An archive is a stranger's: data, which are checked before and while they are written.

Nothing is written before names, numbers and sizes of all files are known to be sound, and nothing outside of a new folder of our
own, in which there are only files and folders that this module made. The folder gets its name when all checksums were right.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import math
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from contracts import durable
from contracts.campaign import RUNS_FOLDER
from contracts.environment import FolderVersion
from contracts.errors import NetBoxITError, WrongInput, printable
from contracts.quantities import SIZE
from contracts.run_files import DamagedRun
from contracts.run_files import read as read_json
from contracts.run_folder import ENVIRONMENT_FILE, PLAN_FILE, VERSION
from contracts.shapes import OtherShape, parsed
from results.archives.layout import (
    ARCHIVE,
    ARCHIVE_FILE,
    MANIFEST_FILE,
    MOST_BYTES,
    MOST_FILES,
    MOST_RATIO,
    OWN_FILES,
    Archive,
    BadArchive,
    check_name,
    check_names,
    folder_of,
    read_manifest,
)

#: ZIP's list of files, which Python reads at once; with names of runs that of MOST_FILES is as long.
_LONGEST_READ: Final = 32 << 20
#: Of the archive's own files.
_LONGEST_OWN: Final = 64 << 20
#: Below that a large ratio does no harm.
_SMALL: Final = 100 << 20
_PIECE: Final = 1 << 20
_ENCRYPTED: Final = 0x1
#: Of a member before its content (APPNOTE 4.3.7), besides name and extra field.
_LOCAL_HEADER: Final = 30
#: What Python raises of a damaged archive.
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
)


class OtherArchive(WrongInput):
    """An archive, or a run in it, of a version that this NetBoxIT does not read."""


class ThereAlready(WrongInput):
    """The results have a run or a campaign of that name."""


class NoPlace(WrongInput):
    """There is no folder for what an archive brings, and none can be made."""


class BeingImported(NetBoxITError):
    """Another command imports the same."""


@dataclass(frozen=True)
class Imported:
    """What an archive brought, and where."""

    folder: Path
    archive: Archive
    files: int
    content_bytes: int


def bring(file: Path, results: Path, progress: Callable[[str], None], most_bytes: int | None = None) -> Imported:
    """Takes an archive into the results, by its own name. `most_bytes` bounds its content, in place of what is usual.

    Raises BadArchive, OtherArchive, ThereAlready, BeingImported, NotWritten. Nothing is kept then.
    """
    with _opened(file) as opened, _damage_told(file), zipfile.ZipFile(opened) as packed:
        members = _members(packed, opened.size, most_bytes)
        archive = _archive(packed, members)
        digests = _manifest(packed, members)
        content = {name: member for name, member in members.items() if name not in OWN_FILES}
        _check_below(content, archive["name"])
        target = folder_of(results, archive)
        if target.is_symlink() or target.exists():
            raise ThereAlready(f"{printable(str(target))} is there already; move it away, or say another --results")
        with _new_folder(results, archive["name"]) as place:
            _check_room(place, content)
            for number, (name, member) in enumerate(members.items()):
                progress(f"unpacking, {number} files")
                written = place / name if name in content else None
                _extract(packed, member, written, None if name == MANIFEST_FILE else digests[name])
            _check_runs(place / archive["name"], archive)
            with durable.told(target):
                target.parent.mkdir(exist_ok=True)
                (place / archive["name"]).rename(target)
                durable.sync_folder(target.parent)
    return Imported(target, archive, len(content), sum(member.file_size for member in content.values()))


class _File(io.RawIOBase):
    """An archive as `zipfile` reads it. A piece that is longer than any of an archive of ours is not read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._at = descriptor, 0
        self.size = os.fstat(descriptor).st_size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        if self._at < 0:
            raise zipfile.BadZipFile("it refers to what is before its beginning")
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, length: int = -1) -> bytes:
        wanted = self.size - self._at if length is None or length < 0 else length
        if wanted > _LONGEST_READ:
            raise BadArchive(f"its list of files has more than {_size(_LONGEST_READ)}, and one of ours never has")
        piece = os.pread(self._descriptor, max(0, wanted), self._at)
        self._at += len(piece)
        return piece


@contextmanager
def _opened(file: Path) -> Iterator[_File]:
    """An ordinary file, or what a link that the user named leads to. Raises BadArchive."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in durable.OF_THE_PLACE or isinstance(error, PermissionError):
            raise
        raise BadArchive(f"{printable(str(file))} cannot be read: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadArchive(f"{printable(str(file))} is no ordinary file; name an archive that `netboxit export` made")
        yield _File(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _damage_told(file: Path) -> Iterator[None]:
    """A with block in which whatever is wrong with the archive is told with its name."""
    try:
        yield
    except (BadArchive, OtherArchive) as error:
        raise type(error)(f"{printable(str(file))}: {error}") from None
    except _DAMAGE as error:
        cause = printable(str(error)) or type(error).__name__
        raise BadArchive(f"{printable(str(file))} is damaged, or is no ZIP file: {cause}; get it again") from None


def _members(packed: zipfile.ZipFile, size: int, most_bytes: int | None) -> dict[str, zipfile.ZipInfo]:
    """The files by their names. Raises BadArchive unless all of them are sound as far as their headers say."""
    infos = packed.infolist()
    if len(infos) > MOST_FILES:
        raise BadArchive(f"it has {len(infos):,} files, and {MOST_FILES:,} are the most")
    for info in infos:
        _check_kind(info)
    files = [info for info in infos if not info.orig_filename.endswith("/")]
    check_names([*(info.orig_filename for info in files)])
    _check_apart(infos, size)
    total, bound = sum(info.file_size for info in files), most_bytes or MOST_BYTES
    if total > bound:
        raise BadArchive(f"its files have {_size(total)}, and {_size(bound)} are the most; --most SIZE permits more")
    if most_bytes is None and total > max(_SMALL, MOST_RATIO * size):
        raise BadArchive(
            f"its files have {_size(total)}, {total // size} times as much as the archive, and {MOST_RATIO} times is the "
            f"most; --most '{math.ceil(total / 1e9)} GB' permits it"
        )
    return {info.orig_filename: info for info in files}


def _check_kind(info: zipfile.ZipInfo) -> None:
    """Raises BadArchive for what is no ordinary file, or folder, that can be unpacked without anybody's secret."""
    name, kind = printable(info.orig_filename), stat.S_IFMT(info.external_attr >> 16)
    is_folder = info.orig_filename.endswith("/")
    if kind not in (0, stat.S_IFDIR if is_folder else stat.S_IFREG):
        what = "a link" if kind == stat.S_IFLNK else "a folder" if kind == stat.S_IFDIR else "a device, a pipe or a socket"
        raise BadArchive(f"{name} is {what}, and an archive has ordinary files only")
    if info.flag_bits & _ENCRYPTED:
        raise BadArchive(f"{name} is encrypted; get the archive without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadArchive(f"{name} is compressed in a way ({info.compress_type}) that no archive of ours is")
    if is_folder and info.file_size:
        raise BadArchive(f"{name} is a folder with content of its own")


def _check_apart(infos: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Raises BadArchive where members share bytes, by which a small archive can have endless content, or are not in it."""
    end, before = 0, ""
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise BadArchive(f"{printable(before)} and {printable(info.orig_filename)} share bytes of the archive")
        end, before = info.header_offset + _LOCAL_HEADER + info.compress_size, info.orig_filename
    if end > size:
        raise BadArchive(f"{printable(before)} ends behind the archive's end: it is cut off; get it again")


def _archive(packed: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> Archive:
    """What it says of itself. Raises BadArchive, OtherArchive."""
    if missing := [name for name in OWN_FILES if name not in members]:
        raise BadArchive(f"it has no {missing[0]}, so it is no archive of NetBoxIT")
    text = _text(packed, members[ARCHIVE_FILE])
    try:
        told = parsed(text, dict)
        if told.get("format") != ARCHIVE.format:
            raise BadArchive(f"{ARCHIVE_FILE} does not say that it is {ARCHIVE.format}")
        versions = (("archive", told.get("version"), ARCHIVE.version), ("run folder", told.get("run_folder"), VERSION))
        for what, version, known in versions:
            if version != known:
                raise OtherArchive(
                    f"it has {what} version {printable(repr(version))}, and this NetBoxIT reads {known}; "
                    f"import it by the one that made it{_made_by(told.get('made_by'))}"
                )
        archive = parsed(text, Archive)
    except OtherShape as error:
        raise BadArchive(f"{ARCHIVE_FILE} is damaged: {error}") from None
    check_name(archive["name"])
    return archive


def _made_by(commits: object) -> str:
    return f", of commit {printable(', '.join(map(str, commits)))}" if isinstance(commits, list) and commits else ""


def _manifest(packed: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> dict[str, str]:
    """Digests of all files but itself. Raises BadArchive."""
    digests = dict[str, str]()
    for name, digest in read_manifest(_text(packed, members[MANIFEST_FILE])):
        if digests.setdefault(name, digest) != digest:
            raise BadArchive(f"{MANIFEST_FILE} has two checksums of {printable(name)}")
    named = members.keys() - {MANIFEST_FILE}
    if missing := sorted(digests.keys() - named):
        raise BadArchive(f"{_some(missing)} in {MANIFEST_FILE}, and not in the archive")
    if beyond := sorted(named - digests.keys()):
        raise BadArchive(f"{_some(beyond)} in the archive, and not in {MANIFEST_FILE}")
    return digests


def _size(size: int) -> str:
    return SIZE.write(float(f"{size:.3g}"))


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:3]))
    return f"{shown} is" if len(names) == 1 else f"{shown}{', …' if len(names) > 3 else ''} ({len(names)} files) are"


def _text(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    if member.file_size > _LONGEST_OWN:
        raise BadArchive(f"{member.filename} has {_size(member.file_size)}, and {_size(_LONGEST_OWN)} are the most")
    with packed.open(member) as opened:
        return opened.read(_LONGEST_OWN).decode()


def _check_below(content: Mapping[str, zipfile.ZipInfo], folder: str) -> None:
    if outside := [name for name in content if not name.startswith(f"{folder}/")]:
        raise BadArchive(f"{_some(outside)} not in the folder {printable(folder)}")


@contextmanager
def _new_folder(results: Path, name: str) -> Iterator[Path]:
    """For what is unpacked, beside the folders of runs, closed to other users; it is gone after the block.

    What a command left there that was killed is removed. Raises BeingImported, NotWritten.
    """
    place = results / f".importing-{name}"
    with durable.told(place):
        try:
            results.mkdir(parents=True, exist_ok=True)
            place.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileExistsError, NotADirectoryError) as error:
            raise NoPlace(f"{printable(str(error.filename))} is no folder; say another place by --results") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BeingImported(
                f"another command imports {printable(name)} to {printable(str(results))}; wait for its end"
            ) from None
        for left in place.iterdir():
            shutil.rmtree(left)
        try:
            with durable.told(place):
                yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(descriptor)


def _check_room(place: Path, content: Mapping[str, zipfile.ZipInfo]) -> None:
    """Raises NotWritten before anything is."""
    total, disk = sum(member.file_size for member in content.values()), os.statvfs(place)
    if total > (free := disk.f_bavail * disk.f_frsize):
        raise durable.NotWritten(
            f"{printable(str(place.parent))} has {_size(free)} free, and the archive needs {_size(total)}; free some "
            "space there, or say another --results"
        )


def _extract(packed: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path | None, digest: str | None) -> None:
    """Reads a file to its end and writes it, unless it is the archive's own. Raises BadArchive where it is not as was said."""
    computed, length = hashlib.sha256(), 0
    with packed.open(member) as source, _created(target) as file:
        while piece := source.read(_PIECE):
            length += len(piece)
            if length > member.file_size:
                raise BadArchive(f"{printable(member.filename)} is longer than the archive says")
            computed.update(piece)
            if file is not None:
                file.write(piece)
    if length != member.file_size:
        raise BadArchive(f"{printable(member.filename)} is shorter than the archive says")
    if digest is not None and computed.hexdigest() != digest:
        raise BadArchive(
            f"{printable(member.filename)} is not what was exported: its checksum is another one; get the archive again"
        )


@contextmanager
def _created(target: Path | None) -> Iterator[IO[bytes] | None]:
    if target is None:
        yield None
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        yield file


def _check_runs(folder: Path, archive: Archive) -> None:
    """Raises BadArchive where there is no run, OtherArchive where one is of another version."""
    runs = [folder] if archive["kind"] == "run" else sorted(path for path in folder.glob(f"{RUNS_FOLDER}/*") if path.is_dir())
    if not runs:
        raise BadArchive("there is no run in it")
    for run in runs:
        if not (run / PLAN_FILE).is_file():
            raise BadArchive(f"{printable(run.name)} has no {PLAN_FILE}, so it is not the folder of a run")
        try:
            version = (read_json(run / ENVIRONMENT_FILE, FolderVersion) or {}).get("run_folder", 1)
        except DamagedRun as error:
            raise BadArchive(f"{ENVIRONMENT_FILE} of {printable(run.name)} is damaged: {error.damage}") from None
        if version != VERSION:
            raise OtherArchive(
                f"{printable(run.name)} is a run folder of version {version!r}, and this NetBoxIT reads version {VERSION}; "
                f"import it by the one that made it{_made_by(archive['made_by'])}"
            )
