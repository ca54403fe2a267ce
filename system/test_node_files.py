# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from system import node_files
from system.node_files import NodeFileInTheWay


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


SECRET = "what only the machine's root may read"
#: Told of each step of this process while it is set; the interpreter keeps its audit hooks for ever.
_watcher: Callable[[str, tuple[Any, ...]], None] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watcher is not None:
        _watcher(event, arguments)


@contextmanager
def swapping(folder: Path, secret: Path) -> Iterator[list[str]]:
    """A node that makes each of its files a link to a secret after the host looked at it and before it opens it."""
    swapped: list[str] = []

    def swap(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and (name := Path(str(arguments[0])).name) not in swapped and (folder / name).is_file():
            swapped.append(name)
            (folder / ".link").symlink_to(secret)
            (folder / ".link").rename(folder / name)

    global _watcher
    sys.addaudithook(_audit)
    _watcher = swap
    try:
        yield swapped
    finally:
        _watcher = None


def test_a_file_that_becomes_a_link_when_it_has_been_looked_at_is_not_followed(tmp_path: Path) -> None:
    (secret := tmp_path / "secret").write_text(SECRET)
    (node := tmp_path / "node").mkdir()
    (kept := tmp_path / "kept").mkdir()
    for number in range(20):
        (node / f"file-{number}").write_text("the node's own")
    with swapping(node, secret) as swapped:
        problems = node_files.copy_all(node, kept)
    assert len(swapped) == 20
    assert len(problems) == 20
    assert not list(kept.iterdir())


def test_a_recording_that_becomes_a_link_when_it_has_been_looked_at_is_not_followed(tmp_path: Path) -> None:
    (secret := tmp_path / "secret").write_text(SECRET)
    (node := tmp_path / "node").mkdir()
    (node / "heard").write_text("words")
    with swapping(node, secret) as swapped:
        assert not node_files.take(node / "heard", tmp_path / "kept")
    assert swapped == ["heard"]
    assert not (tmp_path / "kept").exists()


def test_all_ordinary_files_are_copied_but_those_that_are_kept_already(tmp_path: Path) -> None:
    (node := tmp_path / "node").mkdir()
    (kept := tmp_path / "kept").mkdir()
    (kept / "statistics.json").write_text("of the end of the traffic")
    (node / "statistics.json").write_text("of the end of the lab")
    (node / os.fsdecode(b"not UTF-8 \xff")).write_text("bytes")
    (node / "folder").mkdir()
    (node / "link").symlink_to(tmp_path)
    os.mkfifo(node / "pipe")
    assert node_files.copy_all(node, kept) == []
    assert {file.name: file.read_text() for file in kept.iterdir()} == {
        "statistics.json": "of the end of the traffic",
        os.fsdecode(b"not UTF-8 \xff"): "bytes",
    }


def test_a_file_with_a_second_name_is_not_copied_written_or_read(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").write_text(SECRET)
    (node := tmp_path / "node").mkdir()
    (kept := tmp_path / "kept").mkdir()
    (node / "log").hardlink_to(elsewhere)
    assert ["several names" in problem for problem in node_files.copy_all(node, kept)] == [True]
    assert not node_files.take(node / "log", kept / "log")
    with pytest.raises(NodeFileInTheWay, match="several names"):
        node_files.appended(node / "log")
    with pytest.raises(NodeFileInTheWay, match="several names"):
        node_files.opened(node / "log")
    assert not list(kept.iterdir())


def test_holes_stay_holes_and_what_is_between_them_is_the_same(tmp_path: Path) -> None:
    (node := tmp_path / "node").mkdir()
    (kept := tmp_path / "kept").mkdir()
    for name, places in {"ends-in-data": (0, 1 << 30), "ends-in-a-hole": (5 << 20,), "all-hole": ()}.items():
        with (node / name).open("wb") as file:
            file.truncate(1 << 30)
            for place in places:
                file.seek(place)
                file.write(b"data")
    assert node_files.copy_all(node, kept) == []
    assert node_files.take(node / "ends-in-data", kept / "taken")
    for copy, source, places in (
        ("ends-in-a-hole", "ends-in-a-hole", (5 << 20,)),
        ("all-hole", "all-hole", ()),
        ("taken", "ends-in-data", (0, 1 << 30)),
        ("ends-in-data", "ends-in-data", (0, 1 << 30)),
    ):
        with (kept / copy).open("rb") as file:
            assert os.fstat(file.fileno()).st_size == (1 << 30) + (4 if source == "ends-in-data" else 0)
            assert os.fstat(file.fileno()).st_blocks * 512 < 1 << 20
            for place in places:
                assert os.pread(file.fileno(), 4, place) == b"data"


def test_a_file_that_is_too_long_is_cut_and_that_is_told(tmp_path: Path) -> None:
    (node := tmp_path / "node").mkdir()
    (kept := tmp_path / "kept").mkdir()
    with (node / "frames.bin").open("wb") as file:
        file.write(b"records")
        file.truncate(8 << 40)
    assert ["only up to byte" in problem for problem in node_files.copy_all(node, kept)] == [True]
    copy = (kept / "frames.bin").stat()
    assert (copy.st_size, copy.st_blocks * 512 < 1 << 20) == (node_files.LONGEST_COPY, True)
    with pytest.raises(node_files.NodeFileTooLong, match="longer than"):
        node_files.take(node / "frames.bin", kept / "taken")
    assert not (kept / "taken").exists()


def test_so_much_data_is_copied_and_so_many_files_and_the_rest_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_files, "MOST_COPIED", 3 << 20)
    monkeypatch.setattr(node_files, "MOST_FILES", 5)
    (node := tmp_path / "node").mkdir()
    (kept := tmp_path / "kept").mkdir()
    for number in range(7):
        (node / f"file-{number}").write_bytes(b"x" * (2 << 20))
    problems = node_files.copy_all(node, kept)
    assert sum(file.stat().st_size for file in kept.iterdir()) == 3 << 20
    assert ["more than 5 files" in problem for problem in problems] == [False] * 4 + [True]


def test_a_pipe_is_made_in_the_place_of_what_is_there(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").write_text("of somebody else")
    (tmp_path / "capture").symlink_to(elsewhere)
    reader = node_files.make_pipe(tmp_path / "capture", None)
    with (tmp_path / "capture").open("wb") as writer:
        writer.write(b"frames")
    assert os.read(reader, 100) == b"frames"
    os.close(reader)
    assert elsewhere.read_text() == "of somebody else"


def test_ordinary_files_of_ended_programs_are_moved_and_nothing_else_is_touched(tmp_path: Path) -> None:
    (kept := tmp_path / "kept").mkdir()
    (outside := tmp_path / "outside").mkdir()
    (outside / "secret").write_text("mine")
    (outside / "other").write_text("mine, too")
    (left := tmp_path / "place/nodes/field").mkdir(parents=True)
    (left / "frames.bin").write_text("frames")
    (left / "link").symlink_to(outside / "secret")
    (left / "name").hardlink_to(outside / "other")
    os.mkfifo(left / "pipe")
    node_files.move_all(tmp_path / "place", "nodes/field", kept)
    assert {file.name: file.read_text() for file in kept.iterdir()} == {"frames.bin": "frames"}
    assert not (left / "frames.bin").exists()


@pytest.mark.parametrize("link", ["nodes/field", "nodes"])
def test_no_file_is_moved_from_where_a_link_leads(link: str, tmp_path: Path) -> None:
    (kept := tmp_path / "kept").mkdir()
    (outside := tmp_path / "outside/field").mkdir(parents=True)
    (outside / "secret").write_text("mine")
    (step := tmp_path / "place" / link).parent.mkdir(parents=True)
    step.symlink_to(outside if link.endswith("field") else outside.parent)
    with pytest.raises(NotADirectoryError):
        node_files.move_all(tmp_path / "place", "nodes/field", kept)
    assert (outside / "secret").read_text() == "mine"
