# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a topology names: what is found, in a run's folder its copies first; and what is refused with its reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.files import files_found, find_file, kept_at


def test_a_file_beside_the_topology_is_found_also_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").symlink_to("a")
    assert find_file("a", {"folder": tmp_path}) == find_file("b", {"folder": tmp_path}) == tmp_path / "a"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder", "folder is a folder; name a file"),
        ("pipe", "pipe is a pipe, a socket or a device; name a file"),
        ("circle", "circle is a circle of links; name a file"),
        ("circle/a", "there is no file circle/a"),
        ("none", "there is no file none; looked in"),
        ("x" * 300, "there is no file x"),
        ("out", "there is no file out; looked in"),
        ("../up", "leads out of the topology's folder"),
        ("a\nb", "is not the name of a file"),
        (" ", "is not the name of a file"),
    ],
)
def test_what_is_no_file_is_refused_with_its_reason(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("other")
    (tmp_path / "other").symlink_to("circle")
    (tmp_path / "out").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match=message):
        find_file(name, {"folder": tmp_path})


def test_what_is_found_is_noted_by_the_words_that_named_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    with files_found() as found:
        find_file("./a.csv", {"folder": tmp_path})
    find_file("a.csv", {"folder": tmp_path})
    assert found.files == {"./a.csv": tmp_path / "a.csv"}


@pytest.mark.parametrize("text", ["a.csv", "traces/../a.csv", "click/meoc.click"])
def test_a_copy_is_taken_before_the_file_itself(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    (copy := tmp_path / kept_at(text)).parent.mkdir(parents=True)
    copy.touch()
    assert find_file(text, {"folder": tmp_path}) == copy


def test_a_copy_that_leads_elsewhere_is_not_taken(tmp_path: Path) -> None:
    (folder := tmp_path / "run").mkdir()
    (elsewhere := tmp_path / kept_at("a.csv").replace("topology-files", "elsewhere")).parent.mkdir(parents=True)
    elsewhere.touch()
    (folder / "topology-files").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"no file a\.csv"):
        find_file("a.csv", {"folder": folder})


@pytest.mark.parametrize("text", ["../a.csv", "/tmp/x/a.csv", "a b%c:d\\e.csv", "x" * 300, "ä.csv"])
def test_copies_of_whatever_is_named_have_a_plain_name_of_their_own(text: str) -> None:
    folder, digest, name = kept_at(text).split("/")
    assert folder == "topology-files" and digest.isalnum()
    assert name.isascii() and len(name) < 100 and not {"/", "%", ":", "\\", " "} & {*name}
    assert kept_at(text) != kept_at(f"./{text}")
