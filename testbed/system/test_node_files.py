# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.system import node_files
from testbed.system.node_files import NodeFileInTheWay


def test_what_a_node_has_put_in_a_files_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").write_text("of somebody else")
    file = tmp_path / "netbox.json"
    file.symlink_to(elsewhere)
    (tmp_path / ".netbox.json.new").symlink_to(elsewhere)
    node_files.write(file, "new")
    assert (file.read_text(), file.is_symlink()) == ("new", False)
    assert elsewhere.read_text() == "of somebody else"


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_a_log_is_appended_to_only_if_it_is_an_ordinary_file(what: str, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").write_text("of somebody else")
    log = tmp_path / "log"
    if what == "link":
        log.symlink_to(elsewhere)
    elif what == "pipe":
        os.mkfifo(log)
    else:
        log.mkdir()
    with pytest.raises(NodeFileInTheWay):
        node_files.appended(log)
    assert elsewhere.read_text() == "of somebody else"


def test_a_log_goes_on_where_it_ended(tmp_path: Path) -> None:
    for line in (b"one\n", b"two\n"):
        with node_files.appended(tmp_path / "log") as log:
            log.write(line)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


def test_an_ordinary_file_is_taken_out_of_a_node(tmp_path: Path) -> None:
    (tmp_path / "heard").write_text("words")
    assert node_files.take(tmp_path / "heard", tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "words"
    assert not (tmp_path / "heard").exists()
    assert not node_files.take(tmp_path / "heard", tmp_path / "kept")


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_what_is_no_ordinary_file_is_not_taken(what: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("of somebody else")
    file = tmp_path / "heard"
    if what == "link":
        file.symlink_to(tmp_path / "elsewhere")
    elif what == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    assert not node_files.take(file, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
