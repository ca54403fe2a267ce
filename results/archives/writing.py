# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes an archive of a run, or of a campaign. The same folder gives the same bytes."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Final, cast

from typing_extensions import TypedDict

from contracts import durable
from contracts.campaign import CAMPAIGN_FILE, INDEX_FILE, RUNS_FOLDER
from contracts.campaign_lock import unchanged
from contracts.environment import CheckedOut, FolderVersion
from contracts.errors import WrongInput, printable
from contracts.run_folder import ENVIRONMENT_FILE, METRICS_FILE, NAMED_FILES_FOLDER, PLAN_FILE, REQUEST_FILE, RUN_FILE, VERSION
from contracts.run_records import RunRecord
from contracts.shapes import OtherShape, Shape, parsed
from results.archives.crate import RunTold, crate
from results.archives.layout import (
    ARCHIVE,
    ARCHIVE_FILE,
    CRATE_FILE,
    MANIFEST_FILE,
    MOST_FILES,
    Archive,
    BadArchive,
    check_name,
    check_names,
    manifest,
)
from results.stored_runs import StoredRun, Unreadable, stored_runs
from system.user_privileges import check_new

#: ZIP has no earlier time, and that of a file says nothing about a run.
_TIME: Final = (1980, 1, 1, 0, 0, 0)
#: An ordinary file that all may read (APPNOTE 4.4.15: the upper half is that of the system that made it).
_MODE: Final = (stat.S_IFREG | 0o644) << 16
_UNIX: Final = 3
_LEVEL: Final = 6
_PIECE: Final = 1 << 20
#: Of JSON files of a run that are read for the metadata: a plan of a thousand nodes has 20 MB.
_LONGEST: Final = 256 << 20


class NotExported(WrongInput):
    """A folder of which no archive can be made, with what to do about it."""


class _Judged(TypedDict):
    status: str


class _Metrics(TypedDict):
    verdict: _Judged


class _Planned(TypedDict):
    lab: str
    clock: str
    nodes: list[dict[str, object]]


class _MadeBy(FolderVersion, total=False):
    netboxit: CheckedOut


@dataclass(frozen=True)
class Exported:
    """An archive that was made: its file, how many files and bytes it holds, and what is to be known of it."""

    file: Path
    archive: Archive
    files: int
    content_bytes: int
    notes: Sequence[str]


def export(
    folder: Path, out: Path | None, license: str | None, progress: Callable[[str], None], *, overwrite: bool = False
) -> Exported:
    """Writes the archive of a run's or a campaign's folder, by default NAME.zip in the working folder.

    Raises NoRuns, NotExported, FileThere, NotWritten, and CampaignBusy while runs of the campaign are made.
    """
    root = folder.resolve()
    is_campaign = (root / INDEX_FILE).exists() or (root / CAMPAIGN_FILE).exists()
    with unchanged(root) if is_campaign else nullcontext():
        return _export(folder, root, is_campaign, out, license, progress, overwrite)


def _export(
    folder: Path,
    root: Path,
    is_campaign: bool,
    out: Path | None,
    license: str | None,
    progress: Callable[[str], None],
    overwrite: bool,
) -> Exported:
    runs, problems = stored_runs([folder])
    if not is_campaign and [run.folder for run in runs] != [folder]:
        raise NotExported(f"{printable(str(folder))} has several runs; name one of them, or the folder of a campaign")
    if not runs:
        raise NotExported(f"{printable(str(folder))} has no run that is over: {problems[0] if problems else 'run it first'}")
    told = [_told(run, root.name) for run in runs]
    archive: Archive = {
        "kind": "campaign" if is_campaign else "run",
        "name": root.name,
        "runs": len(runs),
        "run_folder": VERSION,
        "made_by": sorted({commit for run in told if (commit := run.made_by)}),
    }
    notes = [f"{problem} (it is not in the archive)" for problem in problems]
    notes += sorted({note for run in told for note in run.notes})
    if is_campaign and not (root / NAMED_FILES_FOLDER).is_dir():
        notes.append("the campaign's topologies are not in it, which an earlier NetBoxIT did not keep: run its command once more")
    target = out or Path(f"{root.name}.zip")
    if target.absolute().parent.resolve().is_relative_to(root):
        raise NotExported(
            f"{printable(str(target))} is in the folder that it is to be the archive of; say another place by --out"
        )
    try:
        check_name(root.name)
        with (
            _new_file(target, overwrite) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed,
        ):
            written = _Written(packed, progress)
            if is_campaign:
                written.campaign(root, root.name, {run.name for run in runs})
            else:
                written.folder(root, root.name)
            check_names(written.sizes)
            written.text(ARCHIVE_FILE, _json(ARCHIVE.of(archive)))
            written.text(CRATE_FILE, _json(crate(archive, [run.told for run in told], written.sizes, license)))
            written.text(MANIFEST_FILE, manifest(written.digests.items()))
    except BadArchive as error:
        raise NotExported(f"{error}; rename it, or remove it, in {printable(str(folder))}") from None
    return Exported(target, archive, len(written.sizes), sum(written.sizes.values()), notes)


@dataclass(frozen=True)
class _Told:
    """A run for the metadata, the commit of NetBoxIT that made it, and what an archive of it lacks."""

    told: RunTold
    made_by: str | None
    notes: Sequence[str]


def _told(run: StoredRun, top: str) -> _Told:
    """Raises NotExported for a run that is not over, or not one of this version."""
    record = _read(run, RUN_FILE, RunRecord)
    if record is None or record["ended"] is None:
        raise NotExported(
            f"run {printable(str(run.folder))} goes on, or was cut short: it has no {RUN_FILE} that says when it ended"
        )
    made = _read(run, ENVIRONMENT_FILE, _MadeBy) or {}
    if (version := made.get("run_folder", 1)) != VERSION:
        raise NotExported(
            f"{printable(str(run.folder))} is a run folder of version {version!r}, and this NetBoxIT exports version {VERSION}; "
            f"export it by the one that wrote it, whose commit is in its {ENVIRONMENT_FILE}"
        )
    for time in (record["started"], record["ended"]):
        try:
            datetime.fromisoformat(time)
        except ValueError:
            raise NotExported(f"{RUN_FILE} of {printable(str(run.folder))} is damaged: {printable(time)} is no time") from None
    plan = _read(run, PLAN_FILE, _Planned)
    if plan is None:
        raise NotExported(f"{printable(str(run.folder))} has no {PLAN_FILE}, so it is not the folder of a run")
    metrics = _read(run, METRICS_FILE, _Metrics)
    told = RunTold(
        path="/".join((top, *run.below)),
        lab=plan["lab"],
        clock=plan["clock"],
        status=metrics["verdict"]["status"] if metrics else None,
        started=record["started"],
        ended=record["ended"],
        failure=record["failure"],
    )
    notes = []
    if _read(run, REQUEST_FILE, dict) is None:
        notes.append(f"an earlier NetBoxIT made the run, which kept no {REQUEST_FILE}: `--again` cannot repeat it")
    copied = sorted({path for node in plan["nodes"] for path in cast(dict[str, object], node.get("copied", {}))})
    if copied and not any((run.folder / NAMED_FILES_FOLDER).glob("*/*.tar")):
        notes.append(
            f"an earlier NetBoxIT made the run, which kept no copy of hosts' files ({', '.join(copied)}): `--again` needs them "
            f"beside {top}/topology.yaml"
        )
    return _Told(told, (made.get("netboxit") or {}).get("commit"), notes)


def _read(run: StoredRun, file: str, shape: type[Shape]) -> Shape | None:
    """None where there is no such file. Raises NotExported."""
    try:
        content = run.content(file, _LONGEST)
        return None if content is None else parsed(content.decode(), shape)
    except (Unreadable, OtherShape, UnicodeDecodeError) as error:
        raise NotExported(f"{file} of {printable(str(run.folder))} is damaged: {printable(str(error))}") from None


class _Written:
    """What is in an archive so far: sizes and digests by the files' paths, in the order in which they were written."""

    def __init__(self, packed: zipfile.ZipFile, progress: Callable[[str], None]) -> None:
        self.sizes: dict[str, int] = {}
        self.digests: dict[str, str] = {}
        self._packed, self._progress = packed, progress

    def folder(self, root: Path, name: str) -> None:
        """All that is in it."""
        for path, _, files, descriptor in self._walk(root):
            for file in sorted(files):
                self._file(path / file, "/".join((name, *path.relative_to(root).parts, file)), descriptor)

    def campaign(self, root: Path, name: str, runs: set[str]) -> None:
        """Its own files, and those runs that are over: of others a command that was killed may have left something."""
        for path, folders, files, descriptor in self._walk(root):
            if path == root:
                folders[:] = [folder for folder in folders if folder in (RUNS_FOLDER, NAMED_FILES_FOLDER)]
                files = [file for file in files if not file.startswith(".")]
            elif path == root / RUNS_FOLDER:
                folders[:] = [folder for folder in folders if folder in runs]
                files = []
            for file in sorted(files):
                self._file(path / file, "/".join((name, *path.relative_to(root).parts, file)), descriptor)

    def text(self, name: str, text: str) -> None:
        self._add(name, io.BytesIO(text.encode()), len(text.encode()))

    def _walk(self, root: Path) -> Iterator[tuple[Path, list[str], list[str], int]]:
        """Folders in their order, each with an open one for its files; no link is followed."""
        for path, folders, files, descriptor in os.fwalk(root, onerror=_raise):
            yield Path(path), folders, files, descriptor
            for name in folders:
                if stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                    raise NotExported(
                        f"{printable(f'{path}/{name}')} is a link, which no archive has; put the folder in its place"
                    )
            folders.sort()

    def _file(self, path: Path, name: str, folder: int) -> None:
        try:
            descriptor = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENXIO):
                raise
            raise NotExported(
                f"{printable(str(path))} is a link or a socket, which no archive has; put the file in its place"
            ) from None
        with os.fdopen(descriptor, "rb") as source:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotExported(f"{printable(str(path))} is no ordinary file; remove it")
            self._add(name, source, status.st_size)

    def _add(self, name: str, source: IO[bytes], size: int) -> None:
        if len(self.sizes) == MOST_FILES:
            raise NotExported(f"there are more than {MOST_FILES:,} files; export the runs one by one")
        self._progress(f"packing, {len(self.sizes)} files")
        info = zipfile.ZipInfo(name, _TIME)
        info.compress_type, info.external_attr, info.create_system, info.file_size = zipfile.ZIP_DEFLATED, _MODE, _UNIX, size
        digest, length = hashlib.sha256(), 0
        with self._packed.open(info, "w") as target:
            while piece := source.read(_PIECE):
                digest.update(piece)
                target.write(piece)
                length += len(piece)
        self.sizes[name], self.digests[name] = length, digest.hexdigest()


@contextmanager
def _new_file(target: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    """A file that is there when the block is over, whole. Raises FileThere, NotWritten."""
    if not overwrite:
        check_new([target])
    new = durable.beside(target)
    with durable.told(target):
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(descriptor)
            new.replace(target)
            durable.sync_folder(target.parent)
        finally:
            with suppress(OSError):
                new.unlink(missing_ok=True)


def _json(data: Mapping[str, object]) -> str:
    return json.dumps(data, indent=1) + "\n"


def _raise(error: OSError) -> None:
    raise error
