# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
import socket
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


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A folder of a node's own whose place has a link to somebody else's, with a file in it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/config").write_text("of somebody else")
    (tmp_path / "call").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "call"


def test_a_folder_that_leads_elsewhere_is_none(linked: Path, tmp_path: Path) -> None:
    for does in (
        lambda: node_files.write(linked / "config", "ours"),
        lambda: node_files.appended(linked / "config"),
        lambda: node_files.read(linked / "config"),
        lambda: node_files.remove(linked / "config"),
        lambda: node_files.make_folder(linked, 65534),
    ):
        with pytest.raises(NodeFileInTheWay, match="what the node has put there"):
            does()
    assert not node_files.exists(linked / "config")
    assert not node_files.take(linked / "config", tmp_path / "kept")
    assert (tmp_path / "elsewhere/config").read_text() == "of somebody else"
    assert (tmp_path / "elsewhere").stat().st_uid == os.geteuid()


def test_a_folder_in_a_files_place_is_removed_and_what_it_links_to_is_not(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("of somebody else")
    (tmp_path / "ready/deeper").mkdir(parents=True)
    (tmp_path / "ready/deeper/link").symlink_to(tmp_path / "kept")
    node_files.remove(tmp_path / "ready")
    node_files.remove(tmp_path / "ready")
    assert not (tmp_path / "ready").exists()
    assert (tmp_path / "kept").exists()


@pytest.mark.parametrize("what", ["link", "pipe", "folder", "file", "nothing"])
def test_nobody_connects_where_no_socket_is(what: str, tmp_path: Path) -> None:
    place = tmp_path / "control.sock"
    with socket.socket(socket.AF_UNIX) as elsewhere:
        elsewhere.bind(str(tmp_path / "elsewhere.sock"))
        if what == "link":
            place.symlink_to(tmp_path / "elsewhere.sock")
        elif what == "pipe":
            os.mkfifo(place)
        elif what == "folder":
            place.mkdir()
        elif what == "file":
            place.touch()
        with pytest.raises(OSError), node_files.socket_address(place):
            pass


def test_a_socket_is_reached_however_deep_it_is(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["folder-with-a-long-name"] * 6)
    deep.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as client:
        here = Path.cwd()
        os.chdir(deep)
        listening.bind("control.sock")
        os.chdir(here)
        listening.listen()
        with node_files.socket_address(deep / "control.sock") as address:
            client.connect(address)


def test_of_a_file_without_end_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_files, "_MOST_BYTES", 10)
    (tmp_path / "log").write_bytes(b"x" * 1000 + b"\xff the end")
    assert node_files.read(tmp_path / "log") == "x\ufffd the end"
    with pytest.raises(FileNotFoundError):
        node_files.read(tmp_path / "none")
