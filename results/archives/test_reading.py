# SPDX-License-Identifier: GPL-2.0-or-later
"""An archive of a stranger is data: whatever is wrong with it is told, and nothing of it is left anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import durable
from contracts.run_folder import VERSION
from results.archives import layout, reading
from results.archives.layout import BadArchive
from results.archives.reading import BeingImported, NoPlace, OtherArchive, ThereAlready, bring
from results.archives.writing import export
from results.stored_runs import stored_runs

NAME = "20260101T000000.000Z-x"


@pytest.fixture
def archive(run: Path) -> Path:
    return export(run, run.parents[2] / "x.zip", None, lambda _: None).file


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def taken(archive: Path, results: Path, most: int | None = None) -> Path:
    return bring(archive, results, lambda _: None, most).folder


def left(results: Path) -> list[Path]:
    return [path for path in results.rglob("*") if not path.is_dir() or path.name.startswith(".")] if results.exists() else []


def rewritten(archive: Path, change: Callable[[dict[Any, bytes]], None], manifest: bool = True) -> Path:
    """The archive with other members, by name or by a ZipInfo of their own; its manifest is made to fit, if asked for."""
    with zipfile.ZipFile(archive) as packed:
        members: dict[Any, bytes] = {name: packed.read(name) for name in packed.namelist()}
    change(members)
    if manifest:
        named = ((getattr(name, "filename", name), content) for name, content in members.items())
        digests = [(name, hashlib.sha256(content).hexdigest()) for name, content in named if name != layout.MANIFEST_FILE]
        members[layout.MANIFEST_FILE] = layout.manifest(digests).encode()
    with zipfile.ZipFile(other := archive.with_name("other.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return other


def told(**keys: object) -> Callable[[dict[Any, bytes]], None]:
    def change(members: dict[Any, bytes]) -> None:
        members[layout.ARCHIVE_FILE] = json.dumps(json.loads(members[layout.ARCHIVE_FILE]) | keys).encode()

    return change


def added(name: Any, content: bytes = b"x") -> Callable[[dict[Any, bytes]], None]:
    return lambda members: members.update({name: content})


def of_kind(kind: int, name: str = f"{NAME}/special") -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


def test_a_run_comes_as_it_went_and_is_a_run_as_others(run: Path, archive: Path, results: Path) -> None:
    folder = taken(archive, results)
    assert folder == results / "runs" / NAME
    before = {path.relative_to(run): path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [found.name for found in stored_runs([results])[0]] == [NAME]
    assert export(folder, archive.with_name("again.zip"), None, lambda _: None).file.read_bytes() == archive.read_bytes()
    assert not [*results.glob(".*")]


def test_one_that_was_unpacked_and_packed_by_another_program_comes_too(archive: Path, results: Path) -> None:
    folders = rewritten(archive, lambda members: members.update({of_kind(stat.S_IFDIR, f"{NAME}/nodes/"): b""}), manifest=False)
    assert taken(folders, results).is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "/etc/evil", f"{NAME}/../../evil", f"{NAME}//evil", f"{NAME}/./evil", "elsewhere/evil", f"{NAME}/a\x1b[2Jb",
        f"{NAME}/a\\..\\b", "C:evil", f"{NAME}/" + "x" * 256, f"{NAME}/" + "x/" * 30 + "x", f"{NAME}/TOPOLOGY.yaml",
        f"{NAME}/topology.yaml/x", f"{NAME}/nodes", f"{NAME}/\u202e",
    ],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_or_is_no_name_everywhere_is_refused(name: str, archive: Path, results: Path) -> None:
    with pytest.raises(BadArchive):
        taken(rewritten(archive, added(name)), results)
    assert not left(results)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(archive: Path, results: Path) -> None:
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(f"{NAME}/topology.yaml", "name: y\n")
    with pytest.raises(BadArchive, match="is there twice"):
        taken(archive, results)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR])
def test_what_is_no_ordinary_file_is_refused(kind: int, archive: Path, results: Path) -> None:
    with pytest.raises(BadArchive, match="ordinary files only"):
        taken(rewritten(archive, added(of_kind(kind), b"/etc/passwd")), results)
    assert not left(results)


def test_a_wrong_checksum_is_told_with_the_file(archive: Path, results: Path) -> None:
    other = rewritten(archive, added(f"{NAME}/topology.yaml", b"name: y\n"), manifest=False)
    with pytest.raises(BadArchive, match=r"topology.yaml is not what was exported"):
        taken(other, results)
    assert not left(results)


def test_a_file_that_is_in_the_manifest_alone_or_not_in_it_is_told(archive: Path, results: Path) -> None:
    with pytest.raises(BadArchive, match=r"surplus is in the archive, and not in manifest-sha256.txt"):
        taken(rewritten(archive, added(f"{NAME}/surplus"), manifest=False), results)
    with pytest.raises(BadArchive, match=r"topology.yaml is in manifest-sha256.txt, and not in the archive"):
        taken(rewritten(archive, lambda members: members.__delitem__(f"{NAME}/topology.yaml"), manifest=False), results)
    assert not left(results)


@pytest.mark.parametrize(("key", "version"), [("version", 2), ("run_folder", VERSION + 1), ("run_folder", str(VERSION))])
def test_another_version_is_told_with_the_commit_that_made_it(key: str, version: object, archive: Path, results: Path) -> None:
    with pytest.raises(OtherArchive, match=rf"version {version!r}, .* of commit 0123456789ab"):
        taken(rewritten(archive, told(**{key: version})), results)


def test_a_run_of_another_version_is_told_whatever_the_archive_says(archive: Path, results: Path) -> None:
    with pytest.raises(OtherArchive, match="run folder of version 9"):
        taken(rewritten(archive, added(f"{NAME}/environment.json", b'{"run_folder": 9}')), results)
    assert not left(results)


@pytest.mark.parametrize(
    "keys", [{"name": "../x"}, {"name": ".x"}, {"name": ""}, {"kind": "lab"}, {"made_by": 7}, {"format": "x"}]
)
def test_an_archive_that_says_nonsense_of_itself_is_refused(keys: dict[str, object], archive: Path, results: Path) -> None:
    with pytest.raises(BadArchive):
        taken(rewritten(archive, told(**keys)), results)
    assert not left(results)


def test_a_bomb_is_refused_before_anything_is_written(archive: Path, results: Path) -> None:
    """Of zeros, which deflate to a thousandth."""
    other = rewritten(archive, lambda members: members.update({f"{NAME}/{n}": bytes(1 << 25) for n in range(10)}))
    with pytest.raises(BadArchive, match=r"times as much as the archive, and 200 times is the most"):
        taken(other, results)
    with pytest.raises(BadArchive, match="--most SIZE permits more"):
        taken(other, results, 1 << 20)
    assert not results.exists()


def test_a_file_that_is_longer_than_its_header_says_is_refused(archive: Path, results: Path) -> None:
    other = rewritten(archive, added(f"{NAME}/zeros", bytes(1 << 20)))
    data = bytearray(other.read_bytes())
    with zipfile.ZipFile(other) as packed:
        begin, info = packed.start_dir, packed.getinfo(f"{NAME}/zeros")
    entry = data.index(f"{NAME}/zeros".encode(), begin) - 46  # APPNOTE 4.3.12
    data[entry + 24 : entry + 28] = data[info.header_offset + 22 : info.header_offset + 26] = struct.pack("<L", 1000)
    other.write_bytes(data)
    with pytest.raises(BadArchive):
        taken(other, results)
    assert not left(results)


def test_files_that_share_bytes_are_refused(archive: Path, results: Path) -> None:
    """Of Fifield's bombs, whose headers all lead to the same content."""
    data = bytearray(archive.read_bytes())
    with zipfile.ZipFile(archive) as packed:
        begin, infos = packed.start_dir, packed.infolist()
    entry = data.index(infos[1].filename.encode(), begin) - 46
    data[entry + 42 : entry + 46] = struct.pack("<L", infos[0].header_offset)
    archive.write_bytes(data)
    with pytest.raises(BadArchive, match="share bytes"):
        taken(archive, results)


def test_too_many_files_are_refused(archive: Path, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_FILES", 5)
    with pytest.raises(BadArchive, match="9 files, and 5 are the most"):
        taken(archive, results)


def test_a_list_of_files_that_would_fill_the_memory_is_not_read(
    archive: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_LONGEST_READ", 500)
    with pytest.raises(BadArchive, match="its list of files"):
        taken(archive, results)


def test_an_archive_that_is_cut_off_anywhere_or_has_a_wrong_byte_is_told(archive: Path, results: Path) -> None:
    """Whatever it is: no traceback, and nothing left."""
    whole, chance = archive.read_bytes(), random.Random(1)
    other = archive.with_name("other.zip")
    for _ in range(150):
        data = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.3 else whole)
        for _ in range(chance.randrange(1, 4)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        other.write_bytes(data)
        try:
            folder = taken(other, results)
        except (BadArchive, OtherArchive):
            assert not left(results)
        else:  # the byte is of no meaning, as a time
            for path in sorted(folder.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            folder.rmdir()


def test_what_is_there_is_not_written_over(archive: Path, results: Path) -> None:
    (results / "runs").mkdir(parents=True)
    (results / "runs" / NAME).symlink_to("/nowhere")
    with pytest.raises(ThereAlready):
        taken(archive, results)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path, archive: Path, results: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    for place in (pipe, tmp_path, Path("/dev/zero"), tmp_path / "nothing"):
        with pytest.raises(BadArchive):
            taken(place, results)
    (link := tmp_path / "link").symlink_to(archive)
    assert taken(link, results).is_dir()


def test_two_that_import_the_same_do_not_meet_and_what_one_left_that_was_killed_goes(archive: Path, results: Path) -> None:
    with reading._new_folder(results, NAME), pytest.raises(BeingImported):
        taken(archive, results)
    (results / f".importing-{NAME}/old").mkdir(parents=True)
    taken(archive, results)
    assert not [*results.glob(".*")]


def test_results_that_are_no_folder_are_told(archive: Path, tmp_path: Path) -> None:
    (file := tmp_path / "file").touch()
    with pytest.raises(NoPlace):
        taken(archive, file / "results")


def test_a_full_disk_is_told_before_anything_is_written(archive: Path, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.statvfs_result((4096, 4096, 9, 1, 1, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    with pytest.raises(durable.NotWritten, match=r"has 4.1 kB free"):
        taken(archive, results)
    assert not left(results)
