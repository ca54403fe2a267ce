# SPDX-License-Identifier: GPL-2.0-or-later
"""A file, or a folder with all that is in it, which a user's file names and of which a node gets a copy.

It is read with the rights of the calling user. Each part is opened relative to its open folder, and no link is followed. Links in
the folder are copied as links, which lead somewhere only in the node.

A run's folder keeps it as a tar file (`packed`), which is then read in its place: nothing of it is unpacked but in a node. Such a
file may be a stranger's.
"""

from __future__ import annotations

import errno
import hashlib
import io
import itertools
import os
import posixpath
import stat
import tarfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from contracts import durable
from contracts.errors import NetBoxITError, printable
from contracts.run_folder import NAMED_FILES_FOLDER
from system import kernel
from system.user_privileges import as_user

#: Of one copy: files, folders and links together; bytes of all files, with their holes; folders in each other; bytes of a path.
MOST_ENTRIES: Final = 10_000
MOST_BYTES: Final = 1_000_000_000
_DEEPEST: Final = 64
_LONGEST_PATH: Final = 1024
_PIECE: Final = 1 << 20
#: Of a mode: what it grants to owner, group and others. Set-user-ID, set-group-ID and sticky bits are left behind.
_KEPT: Final = 0o777
#: The first member of a packed one, with all others below it.
_ROOT: Final = "copy"
_TAR_KINDS: Final[Mapping[Literal["file", "folder", "link"], bytes]] = {
    "file": tarfile.REGTYPE,
    "folder": tarfile.DIRTYPE,
    "link": tarfile.SYMTYPE,
}


class NotToBeCopied(NetBoxITError):
    """There is no such file or folder, it cannot be read, or something in it cannot be copied into a node."""


class NoRoom(NetBoxITError):
    """A node's disk is too small for what is copied to it."""


@dataclass(frozen=True)
class Extent:
    """How much it is: files, folders and links together, and the bytes of all files."""

    entries: int
    size: int


@dataclass(frozen=True)
class _Entry:
    """`path` is from the source on, "" for the source itself; `descriptor` is of a file or folder, open while it is looked at."""

    path: str
    kind: Literal["file", "folder", "link"]
    mode: int = 0
    size: int = 0
    descriptor: int = -1
    leads_to: str = ""
    #: Where its content begins in the descriptor's file.
    offset: int = 0


def survey(source: Path) -> Extent:
    """Looks at all of it and opens each part, but reads nothing. Raises NotToBeCopied."""
    sizes = [entry.size for entry in _walk(source)]
    return Extent(len(sizes), sum(sizes))


def digest(source: Path) -> str:
    """Names what is in it: names, modes, links and the content of files. Raises NotToBeCopied."""
    digest = _new_digest()
    for entry in _walk(source):
        digest.update(_written(entry, _content(entry) if entry.kind == "file" else ""))
    return digest.hexdigest()


def copy(source: Path, target: Path, owner: int | None) -> str:
    """Copies it to where nothing is yet, with all parts `owner`'s where that is a user; returns its digest.

    What is above the target no node may have been able to write in. Raises NotToBeCopied, NoRoom.
    """
    digest = _new_digest()
    modes: list[tuple[Path, int]] = []
    with room_on_disk(target):
        for entry in _walk(source):
            place = target / entry.path
            content = ""
            if entry.kind == "link":
                place.symlink_to(entry.leads_to)
            elif entry.kind == "folder":
                place.mkdir()
                modes.append((place, entry.mode))  # one that may not be written to gets its content first
            else:
                with place.open("xb") as file:
                    content = _content(entry, file.fileno())
                place.chmod(entry.mode)
            if owner is not None:
                os.chown(place, owner, owner, follow_symlinks=False)
            digest.update(_written(entry, content))
        for folder, mode in reversed(modes):
            folder.chmod(mode)
    return digest.hexdigest()


def packed(source: Path) -> bytes:
    """All of it as a tar file, the same for the same content. Raises NotToBeCopied."""
    if _is_packed(source):
        with as_user():
            return source.read_bytes()
    pack = io.BytesIO()
    with tarfile.open(fileobj=pack, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry in _walk(source):
            member = tarfile.TarInfo(posixpath.join(_ROOT, entry.path) if entry.path else _ROOT)
            member.type, member.mode, member.linkname = _TAR_KINDS[entry.kind], entry.mode, entry.leads_to
            if entry.kind == "file":
                content = b"".join(_pieces(entry))
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            else:
                archive.addfile(member)
    return pack.getvalue()


def is_folder(source: Path) -> bool:
    """Whether it is one, also packed. Raises NotToBeCopied."""
    with closing(_walk(source)) as entries:
        return next(entries).kind == "folder"


_new_digest: Final = partial(hashlib.blake2b, digest_size=16)


def _written(entry: _Entry, content: str) -> bytes:
    """What goes into the digest for one entry, with the digest of its content: each word after its length."""
    words = map(os.fsencode, (entry.kind, f"{entry.mode:o}", entry.path, entry.leads_to, content))
    return b"".join(len(word).to_bytes(4, "big") + word for word in words)


def _content(entry: _Entry, target: int | None = None) -> str:
    """The digest of a file's content, which is written to an empty file where there is one; what is all zeros becomes a hole."""
    digest, at = _new_digest(), 0
    for piece in _pieces(entry):
        digest.update(piece)
        if target is not None and any(piece):
            os.lseek(target, at, os.SEEK_SET)
            durable.write_all(target, piece)
        at += len(piece)
    if target is not None:
        os.ftruncate(target, at)
    return digest.hexdigest()


def _pieces(entry: _Entry) -> Iterator[bytes]:
    """The content of a file."""
    at = 0
    while at < entry.size and (piece := os.pread(entry.descriptor, min(_PIECE, entry.size - at), entry.offset + at)):
        yield piece
        at += len(piece)


def _walk(source: Path) -> Generator[_Entry]:
    """The source, and all that is below it in the order of names; each folder before what it has. Raises NotToBeCopied."""
    left = Extent(MOST_ENTRIES, MOST_BYTES)
    with kernel.closing(_opened_without_links(source.parent)) as parent:
        for entry in _unpacked(parent, source) if _is_packed(source) else _below(parent, source.name, "", source, 0):
            left = Extent(left.entries - 1, left.size - entry.size)
            if left.entries < 0:
                raise NotToBeCopied(f"{source.name} has more than {MOST_ENTRIES:,} files and folders; copy a part of it")
            if left.size < 0:
                raise NotToBeCopied(f"{source.name} has more than {MOST_BYTES:,} bytes; copy a part of it")
            yield entry


def _below(parent: int, name: str, path: str, source: Path, depth: int) -> Iterator[_Entry]:
    place = Path(source.name, path)  # as errors name it: what is above is long, and known
    entry, names = _opened(parent, name, path, place)
    try:
        yield entry
        if names and depth == _DEEPEST:
            raise NotToBeCopied(f"{_name(place)} is {_DEEPEST} folders deep; copy a part of {source.name}")
        for inside in names:
            yield from _below(entry.descriptor, inside, posixpath.join(path, inside), source, depth + 1)
    finally:
        if entry.descriptor >= 0:
            os.close(entry.descriptor)


def _is_packed(source: Path) -> bool:
    """It is the copy of a run's folder (`contracts.files.kept_tree_at`)."""
    return source.suffix == ".tar" and source.parent.parent.name == NAMED_FILES_FOLDER


def _unpacked(parent: int, source: Path) -> Iterator[_Entry]:
    """What is in a tar file, if `packed` could have written it."""
    damaged = f"{_name(source)} is damaged, or no copy that a run keeps"
    with kernel.closing(_opened(parent, source.name, "", source)[0].descriptor) as descriptor, _damage_told(damaged):
        size = os.fstat(descriptor).st_size
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotToBeCopied(f"{damaged}: it is no file")
        with os.fdopen(os.dup(descriptor), "rb") as file, tarfile.open(fileobj=file, mode="r:") as archive:
            kinds = dict[str, str]()
            for member in archive:
                entry = _member(member, descriptor, source)
                above, name = posixpath.split(entry.path)
                if entry.path in kinds or (kinds.get(above) != "folder" if entry.path else bool(kinds)):
                    raise NotToBeCopied(f"{damaged}: {_name(Path(name))} is there twice, or without its folder")
                if entry.offset + entry.size > size:
                    raise NotToBeCopied(f"{damaged}: it ends within {_name(Path(name))}")
                kinds[entry.path] = entry.kind
                yield entry
            if not kinds:
                raise NotToBeCopied(f"{damaged}: it is empty")
            # Python takes a damaged header for the end, which is a block of zeros (POSIX.1-2017, pax, ustar Interchange Format).
            if os.pread(descriptor, tarfile.BLOCKSIZE, archive.offset) != bytes(tarfile.BLOCKSIZE):
                raise NotToBeCopied(f"{damaged}: what follows {_name(Path(member.name))} is no file of it")


def _member(member: tarfile.TarInfo, descriptor: int, source: Path) -> _Entry:
    root, _, path = member.name.partition("/")
    kind = next((kind for kind, type in _TAR_KINDS.items() if type == member.type), None)
    parts = path.split("/") if path else []
    wrong = root != _ROOT or member.issparse() or member.size < 0 or (kind == "link" and not parts)
    if kind is None or wrong or not {"", ".", ".."}.isdisjoint(parts):
        raise NotToBeCopied(f"{_name(Path(member.name))} in {_name(source)} is nothing that a run keeps; get the run again")
    if len(parts) > _DEEPEST or len(os.fsencode(path)) > _LONGEST_PATH:
        raise NotToBeCopied(f"a path in {_name(source)} is longer, or deeper, than a copy's may be; get the run again")
    place = Path(source.name, path)
    match kind:
        case "link":
            return _Entry(path, kind, leads_to=_inside(member.linkname, path, place))
        case "folder":
            return _Entry(path, kind, member.mode & _KEPT)
        case "file":
            return _Entry(path, kind, member.mode & _KEPT, member.size, descriptor, offset=member.offset_data)


@contextmanager
def _damage_told(damaged: str) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise NotToBeCopied(f"{damaged}: {printable(str(error))}; get the run again") from None


def _opened(parent: int, name: str, path: str, place: Path) -> tuple[_Entry, list[str]]:
    """Opens an entry; of a folder also the names in it. Has the rights of the calling user here, and nowhere else."""
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise NotToBeCopied(f"the path {_name(Path(path))[:80]}… is longer than {_LONGEST_PATH} bytes; use shorter names")
    with kernel.errors_as(NotToBeCopied, f"{_name(place)} cannot be read", "see `ls -ld`"), as_user():
        kind = stat.S_IFMT(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        if kind == stat.S_IFLNK:
            return _Entry(path, "link", leads_to=_inside(os.readlink(name, dir_fd=parent), path, place)), []
        if kind not in (stat.S_IFREG, stat.S_IFDIR):
            raise NotToBeCopied(f"{_name(place)} is neither a file nor a folder nor a link; remove it")
        folder = os.O_DIRECTORY if kind == stat.S_IFDIR else 0
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | folder, dir_fd=parent)
        try:
            return _looked_at(descriptor, path, place)
        except BaseException:
            os.close(descriptor)
            raise


def _looked_at(descriptor: int, path: str, place: Path) -> tuple[_Entry, list[str]]:
    """The entry of an open file or folder, which nobody can exchange for another one any more."""
    status = os.fstat(descriptor)
    mode = status.st_mode & _KEPT
    if stat.S_ISREG(status.st_mode):
        return _Entry(path, "file", mode, status.st_size, descriptor), []
    if not stat.S_ISDIR(status.st_mode):
        raise NotToBeCopied(f"{_name(place)} is neither a file nor a folder nor a link; remove it")
    with os.scandir(descriptor) as listed:
        names = [entry.name for entry in itertools.islice(listed, MOST_ENTRIES + 1)]
    return _Entry(path, "folder", mode, 0, descriptor), sorted(names, key=os.fsencode)


def _inside(leads_to: str, path: str, place: Path) -> str:
    """Where a link leads. Raises NotToBeCopied when that is not in the folder that is copied."""
    if leads_to.startswith("/") or f"{posixpath.normpath(posixpath.join(posixpath.dirname(path), leads_to))}/".startswith("../"):
        raise NotToBeCopied(
            f"the link {_name(place)} leads out of the folder that is copied, to {_name(Path(leads_to))}; replace it by what it "
            "leads to"
        )
    return leads_to


def _opened_without_links(folder: Path) -> int:
    """A folder by an absolute path that was resolved: what became a link since is refused."""
    with as_user():
        descriptor = os.open("/", os.O_PATH | os.O_DIRECTORY)
        with kernel.errors_as(NotToBeCopied, f"{_name(folder)} cannot be opened", "see `ls -ld`"):
            for part in folder.parts[1:]:
                with kernel.closing(descriptor) as above:
                    descriptor = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    return descriptor


@contextmanager
def room_on_disk(target: Path) -> Iterator[None]:
    """A block that writes to a node's disk. Raises NoRoom, NotToBeCopied."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NoRoom(
                f"there is no room for {_name(target)}: {error.strerror}; give the host more by limits: {{disk: …}}, or free "
                "space (`df`)"
            ) from error
        place = Path(error.filename or target)
        raise NotToBeCopied(f"{_name(place)} cannot be written: {error.strerror}; use other names") from error


def _name(path: Path) -> str:
    return printable(str(path))
