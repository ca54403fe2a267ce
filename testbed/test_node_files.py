# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed import node_files
from testbed.node_files import NodeFileInTheWay


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
