# SPDX-License-Identifier: GPL-2.0-or-later
"""Files into nodes and out of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import NetBoxITError
from system.user_privileges import FileThere
from testbed.labs import copying
from testbed.labs.copying import BadCopy, NotCopied
from testbed.labs.lab import Lab, NoSuchNode
from tests.small_labs import PlanPair

#: Every byte, more than a pipe holds.
_CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def lab(plan_pair: PlanPair, nothing_left: None) -> Iterator[Lab]:
    with Lab.up(plan_pair()) as lab:
        yield lab


def copy(lab: Lab, source: object, target: object, *, overwrite: bool = False) -> str:
    return copying.copy(lab, *copying.ends(str(source), str(target)), overwrite=overwrite)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a", "b", "one end of a copy is in a node"),
        ("left:/a", "right:/b", "one end of a copy is in a node"),
        ("left:", "b", "left: names no file"),
        ("./left:/a", "b", "one end of a copy is in a node"),
    ],
)
def test_words_that_do_not_say_from_where_to_where(source: str, target: str, message: str) -> None:
    with pytest.raises(BadCopy, match=message):
        copying.ends(source, target)


@pytest.mark.lab
@pytest.mark.patient
@pytest.mark.parametrize("name", ["file", "two words", "$(touch made)`touch made`;'\""])
def test_a_file_comes_back_as_it_went(lab: Lab, tmp_path: Path, name: str) -> None:
    (there := tmp_path / name).write_bytes(_CONTENT)
    assert copy(lab, there, "left:/run/netboxit") == "left:/run/netboxit"
    assert copy(lab, f"left:/run/netboxit/{name}", tmp_path / "back") == str(tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == _CONTENT
    (tmp_path / "folder").mkdir()
    assert copy(lab, f"left:/run/netboxit/{name}", tmp_path / "folder") == str(tmp_path / "folder" / name)
    assert (tmp_path / "folder" / name).read_bytes() == _CONTENT
    assert not list(tmp_path.glob("**/made")) and lab.run("left", ["ls", "/run/netboxit"]).stdout.splitlines().count("made") == 0


@pytest.mark.lab
@pytest.mark.patient
def test_what_is_there_is_written_over_only_when_asked_for(lab: Lab, tmp_path: Path) -> None:
    (mine := tmp_path / "mine").write_text("mine")
    lab.run("left", ["sh", "-c", "echo new > /tmp/new"])
    with pytest.raises(FileThere, match="there already"):
        copy(lab, "left:/tmp/new", mine)
    assert mine.read_text() == "mine"
    copy(lab, "left:/tmp/new", mine, overwrite=True)
    assert mine.read_text() == "new\n"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileThere):
        copy(lab, "left:/tmp/new", tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.lab
@pytest.mark.patient
def test_what_cannot_be_copied_is_told_and_leaves_nothing(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (small := tmp_path / "small").write_text("x")
    lab.run("left", ["sh", "-c", "ln -s /nowhere /tmp/link; mkfifo /tmp/pipe; head -c 3000000 /dev/zero > /tmp/long"])
    here = tmp_path / "here"
    monkeypatch.setattr(copying, "LONGEST_COPY", 2_000_000)
    for source, target, message, kind in (
        (tmp_path / "missing", "left:/tmp/x", "No such file", NotCopied),
        (tmp_path / "pipe", "left:/tmp/x", "is no ordinary file", NotCopied),
        (tmp_path, "left:/tmp/x", "is no ordinary file; pack a folder before", NotCopied),
        (small, "left:/usr/x", "Read-only file system.*a node may write in", NotCopied),
        (small, "left:/tmp/none/x", "nonexistent|No such file", NotCopied),
        (small, "middle:/tmp/x", "no node middle", NoSuchNode),
        ("left:/tmp/none", here, "/tmp/none is no file", NotCopied),
        ("left:/tmp/link", here, "/tmp/link is no file", NotCopied),
        ("left:/tmp/pipe", here, "/tmp/pipe is no file", NotCopied),
        ("left:/dev/zero", here, "/dev/zero is no file", NotCopied),
        ("left:/tmp/long", here, "longer than", NotCopied),
        ("left:/tmp/long", tmp_path / "none/here", "No such file", NotCopied),
    ):
        expected: type[NetBoxITError] = kind
        with pytest.raises(expected, match=message):
            copy(lab, source, target)
        assert not here.exists()
