# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user's file names to be copied into a node: copied as it is, or refused before anything is made."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from contracts.files import kept_tree_at
from ownership import operators
from system import file_trees
from system.file_trees import Extent, NoRoom, NotToBeCopied
from tests.small_labs import RoomFor


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (site := tmp_path / "site").mkdir()
    (site / "index.html").write_bytes(bytes(range(256)) * 9000)
    (site / "below/deeper").mkdir(parents=True)
    (site / "below/run").write_text("#!/bin/sh\n")
    (site / "below/run").chmod(0o4755)
    (site / "below").chmod(0o2750)
    (site / "start").symlink_to("below/../index.html")
    (site / os.fsdecode(b"\xff\x1b[31m\n")).write_text("a name that is no text")
    return site


def test_a_copy_has_the_names_the_content_the_links_and_the_modes_without_set_user_id(tree: Path, tmp_path: Path) -> None:
    copied = file_trees.copy(tree, there := tmp_path / "there", None)
    names = sorted(os.fsencode(path.relative_to(tree)) for path in tree.rglob("*"))
    assert sorted(os.fsencode(path.relative_to(there)) for path in there.rglob("*")) == names
    assert (there / "index.html").read_bytes() == (tree / "index.html").read_bytes()
    assert (there / "start").readlink() == Path("below/../index.html")
    assert stat.S_IMODE((there / "below/run").stat().st_mode) == 0o755
    assert stat.S_IMODE((there / "below").stat().st_mode) == 0o750
    assert copied == file_trees.digest(tree) == file_trees.digest(there)
    assert file_trees.survey(tree) == Extent(7, 256 * 9000 + 10 + 22)


def test_a_single_file_is_copied_too(tree: Path, tmp_path: Path) -> None:
    file_trees.copy(tree / "below/run", there := tmp_path / "there", None)
    assert there.read_text() == "#!/bin/sh\n" and stat.S_IMODE(there.stat().st_mode) == 0o755
    assert file_trees.survey(tree / "below/run") == Extent(1, 10)


@pytest.mark.parametrize("change", ["content", "name", "mode", "link", "more"])
def test_whatever_differs_has_another_digest(tree: Path, change: str) -> None:
    before = file_trees.digest(tree)
    match change:
        case "content":
            (tree / "below/run").write_text("#!/bin/st\n")
        case "name":
            (tree / "below/run").rename(tree / "below/ran")
        case "mode":
            (tree / "below/run").chmod(0o700)
        case "link":
            (tree / "start").unlink()
            (tree / "start").symlink_to("index.html")
        case _:
            (tree / "empty").mkdir()
    assert file_trees.digest(tree) != before


@pytest.mark.parametrize(
    "leads_to", ["/etc/shadow", "..", "../secret", "below/../../secret", "below/../../../../etc/passwd", "//"]
)
def test_a_link_that_leads_out_is_refused_and_so_is_what_it_leads_to(tree: Path, leads_to: str) -> None:
    (tree.parent / "secret").write_text("not to be seen")
    (tree / "innocent").symlink_to(leads_to)
    for look in (file_trees.survey, file_trees.digest):
        with pytest.raises(NotToBeCopied, match="leads out of the folder"):
            look(tree)


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_no_file_is_refused_at_once(tree: Path, kind: str) -> None:
    place = tree / "below/special"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(place.parent):
            listening.bind("special")
    else:
        try:
            os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("it takes root to make a device")
    with pytest.raises(NotToBeCopied, match="special is neither a file nor a folder nor a link"):
        file_trees.survey(tree)
    with pytest.raises(NotToBeCopied, match="special is neither a file nor a folder nor a link"):
        file_trees.survey(place)


def test_a_folder_without_end_is_left_when_its_limit_is_reached(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_trees, "MOST_ENTRIES", 50)
    for number in range(44):
        (tree / f"{number}").touch()
    with pytest.raises(NotToBeCopied, match="more than 50 files"):
        file_trees.survey(tree)


def test_a_sparse_file_counts_with_its_holes_and_is_not_read(tree: Path) -> None:
    with (tree / "endless").open("wb") as file:
        file.truncate(1 << 40)
    for look in (file_trees.survey, file_trees.digest):
        with pytest.raises(NotToBeCopied, match="more than 1,000,000,000 bytes"):
            look(tree)


def test_folders_in_folders_without_end_are_refused(tmp_path: Path) -> None:
    (root := tmp_path / "deep").mkdir()
    for make in ("f", "f" * 200):
        at = os.open(root, os.O_PATH)
        for _ in range(100):
            os.mkdir(make, dir_fd=at)
            inner = os.open(make, os.O_PATH, dir_fd=at)
            os.close(at)
            at = inner
        os.close(at)
        with pytest.raises(NotToBeCopied, match="folders deep" if make == "f" else "longer than 1024 bytes"):
            file_trees.survey(root)
        shutil.rmtree(root / make)


def test_a_folder_on_the_way_that_became_a_link_is_not_followed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere/deeper").mkdir(parents=True)
    shutil.rmtree(tree / "below")
    (tree / "below").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotToBeCopied, match="cannot be opened"):
        file_trees.survey(tree / "below/deeper")


def test_what_changed_while_it_was_copied_has_another_digest(tree: Path, tmp_path: Path) -> None:
    planned = file_trees.digest(tree)
    (tree / "below/run").write_text("something else")
    assert file_trees.copy(tree, tmp_path / "there", None) != planned


def test_a_disk_that_is_too_small_is_told_with_the_remedy(tree: Path, tmp_path: Path, room_for: RoomFor) -> None:
    with room_for(1000), pytest.raises(NoRoom, match=r"no room for .*limits: \{disk"):
        file_trees.copy(tree, tmp_path / "there", None)


@pytest.mark.lab
@pytest.mark.patient
@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to give rights up")
def test_an_operator_copies_nothing_that_they_may_not_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (tree, *tree.parents[:3]):
        part.chmod(0o755)
    (tree / "below").chmod(0o755)
    monkeypatch.setenv(operators.VARIABLE, "65534")
    planned = file_trees.digest(tree)
    (tree / "below/run").chmod(0o700)
    for look in (file_trees.survey, file_trees.digest):
        with pytest.raises(NotToBeCopied, match="run cannot be read: Permission denied"):
            look(tree)
    assert os.geteuid() == 0
    (tree / "below/run").chmod(0o4755)
    assert file_trees.copy(tree, tree.parent / "there", 65533) == planned
    assert {path.lstat().st_uid for path in (tree.parent / "there").rglob("*")} == {65533}


def _kept(tree: Path, run: Path, content: bytes | None = None) -> Path:
    """A run folder's copy."""
    kept = run / kept_tree_at("site")
    kept.parent.mkdir(parents=True)
    kept.write_bytes(file_trees.packed(tree) if content is None else content)
    return kept


def test_a_copy_that_a_run_keeps_stands_for_the_folder_itself(tree: Path, tmp_path: Path) -> None:
    kept = _kept(tree, tmp_path / "run")
    assert file_trees.survey(kept) == file_trees.survey(tree)
    assert file_trees.copy(kept, there := tmp_path / "there", None) == file_trees.digest(tree) == file_trees.digest(kept)
    assert file_trees.digest(there) == file_trees.digest(tree)
    assert file_trees.is_folder(kept) and not file_trees.is_folder(tree / "below/run")
    assert file_trees.packed(kept) == file_trees.packed(tree) == file_trees.packed(there)
    single = _kept(tree / "below/run", tmp_path / "other run")
    assert file_trees.copy(single, tmp_path / "file", None) == file_trees.digest(tree / "below/run")


def test_other_programs_unpack_it(tree: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "xf", _kept(tree, tmp_path / "run"), "-C", tmp_path], check=True)
    assert file_trees.digest(tmp_path / "copy") == file_trees.digest(tree)


def _member(name: str, kind: bytes = tarfile.REGTYPE, leads_to: str = "", size: int = 0) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, leads_to, size
    return member


_FOLDER = _member("copy", tarfile.DIRTYPE)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "it is empty"),
        ([_member("/etc/passwd")], "nothing that a run keeps"),
        ([_FOLDER, _member("copy/../x")], "nothing that a run keeps"),
        ([_FOLDER, _member("copy//x")], "nothing that a run keeps"),
        ([_FOLDER, _member("copy/x", tarfile.LNKTYPE, "/etc/passwd")], "nothing that a run keeps"),
        ([_FOLDER, _member("copy/x", tarfile.CHRTYPE)], "nothing that a run keeps"),
        ([_member("copy", tarfile.SYMTYPE, "x")], "nothing that a run keeps"),
        ([_FOLDER, _member("copy/x", tarfile.SYMTYPE, "/etc")], "leads out of the folder"),
        ([_FOLDER, _member("copy/x", tarfile.SYMTYPE, "../..")], "leads out of the folder"),
        ([_FOLDER, _member("copy/x", tarfile.SYMTYPE, "y"), _member("copy/x/z")], "without its folder"),
        ([_FOLDER, _member("copy/x"), _member("copy/x")], "is there twice"),
        ([_FOLDER, _FOLDER], "is there twice"),
        ([_member("copy"), _member("copy/x")], "without its folder"),
        ([_FOLDER, _member("copy/x/y")], "without its folder"),
        # Debian's security updates of Python 3.11 refuse it themselves, and take it for the end.
        ([_FOLDER, _member("copy/x", size=-512)], "nothing that a run keeps|what follows copy is no file"),
        ([_FOLDER, _member(f"copy/{'/'.join('a' * 70)}")], "longer, or deeper"),
        ([_FOLDER, _member("copy/x", size=1 << 40)], "it ends within x|unexpected end"),
        ([_FOLDER, *(_member(f"copy/{number}") for number in range(10_000))], "more than 10,000 files"),
    ],
)
def test_of_a_stranger_nothing_is_taken_that_no_run_keeps(members: list[tarfile.TarInfo], message: str, tmp_path: Path) -> None:
    made = b"".join(member.tobuf(tarfile.GNU_FORMAT) for member in members) + bytes(10240)
    kept = _kept(tmp_path, tmp_path / "run", made)
    for look in (file_trees.survey, file_trees.digest, lambda source: file_trees.copy(source, tmp_path / "there", None)):
        with pytest.raises(NotToBeCopied, match=message):
            look(kept)
        shutil.rmtree(tmp_path / "there", ignore_errors=True)


def test_a_header_that_is_damaged_is_no_end(tree: Path, tmp_path: Path) -> None:
    whole = bytearray(file_trees.packed(tree))
    at = whole.index(b"ustar", 2 * tarfile.BLOCKSIZE)
    whole[at - 100] ^= 0xFF  # in the header of the second or a later member, which its checksum then is not of
    with pytest.raises(NotToBeCopied, match="is no file of it"):
        file_trees.digest(_kept(tree, tmp_path / "run", bytes(whole)))


@pytest.mark.parametrize("cut", [1, 511, 5000])
def test_what_is_cut_off_within_a_file_is_told_as_damaged(tree: Path, cut: int, tmp_path: Path) -> None:
    whole = file_trees.packed(tree)
    with pytest.raises(NotToBeCopied):
        file_trees.digest(_kept(tree, tmp_path / "run", whole[:cut]))
    with pytest.raises(NotToBeCopied, match=r"damaged|cannot be read"):
        file_trees.digest(_kept(tree, tmp_path / "other run", b"no tar file" * 100))
